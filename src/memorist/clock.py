"""The system's clock, made safe against being set back while we run."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Lock


class SystemClock:
    """UTC now; within a process it never goes backwards, or fresh memories would lie in the future."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._latest = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        """The current moment, or the latest one told if the clock was set back."""
        with self._lock:
            self._latest = max(self._latest, datetime.now(UTC))
            return self._latest
