"""Sessions that learn: every step is kept as it came; a commit derives lessons, links and rewards from the steps."""

from memorist.remember.sessions.session import IDLE, Session, Sessions

__all__ = ["IDLE", "Session", "Sessions"]
