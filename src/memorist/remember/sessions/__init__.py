"""Sessions that learn: every step kept as it came, and on commit what the steps teach, with its links and rewards."""

from memorist.remember.sessions.commit import Commit
from memorist.remember.sessions.run import TASK
from memorist.remember.sessions.session import IDLE, Session, Sessions

__all__ = ["IDLE", "TASK", "Commit", "Session", "Sessions"]
