"""Sessions that learn: every step kept as it came, and on commit what the steps teach, with its links and rewards."""

from recollect.remember.sessions.commit import Commit
from recollect.remember.sessions.log import IDLE
from recollect.remember.sessions.run import TASK
from recollect.remember.sessions.session import Session
from recollect.remember.sessions.sessions import Sessions

__all__ = ["IDLE", "TASK", "Commit", "Session", "Sessions"]
