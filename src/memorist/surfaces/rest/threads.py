"""Threads for verbs: a fixed number, of which one key never has more than half. None keeps a process from ending."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Iterable
from typing import TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, move_on_after, to_thread

from memorist.surfaces.rest.limits import ConcurrencyLimit

T = TypeVar("T")
CLOSING = 10.0
"""Seconds to close everything when a process ends."""
logger = logging.getLogger(__name__)


class OutOfTime(Exception):
    """A verb did not end in its time; if it had begun, it runs on."""


class VerbThreads:
    """Runs verbs in threads, so that they do not block the event loop. Used only in the event loop.

    A thread cannot be stopped: it keeps its place until its verb ends, even if nobody waits for it any more.
    """

    def __init__(self, most: int, calls: ConcurrencyLimit) -> None:
        """`calls` limits the verbs that run or wait; a caller may go away before its verb has begun."""
        most = max(1, most)
        self._calls = calls
        self._all = asyncio.Semaphore(most)
        self._share = max(1, most // 2)
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def run(self, caller: str | None, work: Callable[[], T], seconds: float | None) -> T:
        """What `work` returns, if it ends in time. A `caller` of None is the only one and has no share."""
        with self._calls.place(caller), move_on_after(seconds):
            return await asyncio.shield(await self._begun(caller, work))
        raise OutOfTime

    async def _begun(self, caller: str | None, work: Callable[[], T]) -> asyncio.Future[T]:
        """The running work. A caller waits for its share first, so that it fills no more of the common queue."""
        held: list[asyncio.Semaphore] = []
        try:
            for places in (self._all,) if caller is None else (self._share_of(caller), self._all):
                await places.acquire()
                held.append(places)
        except BaseException:
            _release(held)
            raise
        running = asyncio.ensure_future(to_thread.run_sync(work, limiter=CapacityLimiter(1)))
        running.add_done_callback(lambda _: _release(held))
        return running

    def _share_of(self, caller: str) -> asyncio.Semaphore:
        return self._shares.setdefault(caller, asyncio.Semaphore(self._share))


def _release(places: Iterable[asyncio.Semaphore]) -> None:
    for one in places:
        one.release()


def end_soon() -> None:
    """End this process even if a verb hangs: a store survives that as it survives a kill."""
    last = threading.Timer(CLOSING, _end)
    last.daemon = True
    last.start()


def _end() -> None:
    logger.error("a verb did not end; the process ends without it")
    os._exit(1)
