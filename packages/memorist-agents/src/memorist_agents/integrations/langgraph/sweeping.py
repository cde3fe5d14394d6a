"""A thread that does something regularly until it is stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread

logger = logging.getLogger("memorist")


class Sweeper:
    """Calls a function at an interval, in a thread of its own; a failure is logged, and the next call follows."""

    def __init__(self, sweep: Callable[[], object]) -> None:
        self._sweep = sweep
        self._stop = Event()
        self._thread: Thread | None = None

    def start(self, every: timedelta) -> None:
        """Begin, unless it runs already."""
        if self._thread is None or not self._thread.is_alive():
            self._stop.clear()
            self._thread = Thread(target=self._run, args=(every.total_seconds(),), name="memorist-sweep", daemon=True)
            self._thread.start()

    def stop(self, timeout: float | None = None) -> bool:
        """End it; whether it ended within the timeout."""
        self._stop.set()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self, seconds: float) -> None:
        while not self._stop.wait(seconds):
            try:
                self._sweep()
            except Exception:
                logger.exception("expired items could not be swept; the next sweep is in %s seconds", seconds)
