"""Questions that another machine may have to answer: whether spaces can be reached, and whose key it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, move_on_after, to_thread

from memorist.errors import Error

T = TypeVar("T")
READY_WITHIN = 2.0
"""Seconds in which the database must answer for the server to be ready."""
LOOKUPS = 16
"""Keys that are looked up at once."""


class Readiness:
    """Whether spaces can be reached. One question is asked at a time, however many want to know."""

    def __init__(self, check: Callable[[], object], within: float = READY_WITHIN) -> None:
        self._check = check
        self._within = within
        self._asked: asyncio.Future[bool] | None = None

    async def reached(self) -> bool:
        """Whether the question is answered in time."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.ensure_future(to_thread.run_sync(self._answered, limiter=CapacityLimiter(1)))
        with move_on_after(self._within):
            return await asyncio.shield(self._asked)
        return False

    def _answered(self) -> bool:
        try:
            self._check()
        except Error:
            return False
        return True


class Lookups:
    """Looks things up that may lie on another machine: in threads of their own if that may wait, else at once."""

    def __init__(self, waits: bool) -> None:
        self._waits = waits
        self._limiter: CapacityLimiter | None = None

    async def run(self, look: Callable[[], T]) -> T:
        """What was found."""
        if not self._waits:
            return look()
        self._limiter = self._limiter or CapacityLimiter(LOOKUPS)
        return await to_thread.run_sync(look, limiter=self._limiter)
