"""Threads for verbs: a fixed number, shared out among keys and spaces. None keeps a process from ending."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from anyio import CapacityLimiter, move_on_after, to_thread

from memorist_server.rest.limits import ConcurrencyLimit

T = TypeVar("T")
CLOSING = 10.0
"""Seconds to close everything when a process ends."""
logger = logging.getLogger(__name__)


class OutOfTime(Exception):
    """A verb did not end in its time; if it had begun, it runs on."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A verb that waits for a thread."""

    caller: str | None
    space: str | None
    admitted: asyncio.Future[None]


class VerbThreads:
    """Runs verbs in threads, so that they do not block the event loop. Used only in the event loop.

    A key has at most half of the threads and a space three quarters, so that a slow one leaves some for the others. A
    thread cannot be stopped: it keeps its place until its verb ends, even if nobody waits for it any more.
    """

    def __init__(self, most: int, calls: ConcurrencyLimit) -> None:
        """`calls` limits the verbs that run or wait; a caller may go away before its verb has begun."""
        self._calls = calls
        self._most = max(1, most)
        self._of_caller = Counter[str | None]()
        self._of_space = Counter[str | None]()
        self._waiting: list[_Waiting] = []
        self._began = 0
        self._waited = 0.0

    @property
    def waiting(self) -> int:
        """The verbs that wait for a thread."""
        return len(self._waiting)

    @property
    def waited(self) -> tuple[int, float]:
        """The verbs that got a thread so far, and the seconds that they waited for it."""
        return self._began, self._waited

    async def run(
        self,
        caller: str | None,
        work: Callable[[], T],
        seconds: float | None,
        space: str | None = None,
        opened: Callable[[], AbstractAsyncContextManager[object]] = nullcontext,
    ) -> T:
        """What `work` returns, if it ends in time. A `caller` or `space` of None is the only one and has no share.

        `opened` prepares for the work, for as long as somebody waits for it, and needs no thread of ours.
        """
        with self._calls.place(caller), move_on_after(seconds):
            async with opened():
                return await asyncio.shield(await self._begun(_Waiting(caller, space, asyncio.Future()), work))
        raise OutOfTime

    async def _begun(self, verb: _Waiting, work: Callable[[], T]) -> asyncio.Future[T]:
        """The running work, as soon as there is a thread for it."""
        came = perf_counter()
        self._waiting.append(verb)
        self._admit()
        try:
            await verb.admitted
        except BaseException:
            if verb in self._waiting:
                self._waiting.remove(verb)
            else:
                self._release(verb)
            raise
        self._began += 1
        self._waited += perf_counter() - came
        running = asyncio.ensure_future(to_thread.run_sync(work, limiter=CapacityLimiter(1)))
        running.add_done_callback(lambda _: self._release(verb))
        return running

    def _admit(self) -> None:
        """Give the free threads to those who wait, in their order and within their shares."""
        for verb in list(self._waiting):
            if self._of_caller.total() >= self._most:
                return
            if self._has_room(verb):
                self._waiting.remove(verb)
                self._of_caller[verb.caller] += 1
                self._of_space[verb.space] += 1
                verb.admitted.set_result(None)

    def _has_room(self, verb: _Waiting) -> bool:
        half, three_quarters = max(1, self._most // 2), self._most - self._most // 4
        if verb.caller is not None and self._of_caller[verb.caller] >= half:
            return False
        return verb.space is None or self._of_space[verb.space] < three_quarters

    def _release(self, verb: _Waiting) -> None:
        for counted, name in ((self._of_caller, verb.caller), (self._of_space, verb.space)):
            counted[name] -= 1
            if not counted[name]:
                del counted[name]
        self._admit()


def end_soon() -> None:
    """End this process even if a verb hangs: a store survives that as it survives a kill."""
    last = threading.Timer(CLOSING, _end)
    last.daemon = True
    last.start()


def _end() -> None:
    logger.error("a verb did not end; the process ends without it")
    os._exit(1)
