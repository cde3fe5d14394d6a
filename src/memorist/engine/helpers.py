"""Helpers: threads that all engines of a process share, for what a verb can have done beside its own work."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import cache, partial
from threading import Lock
from typing import Any, ParamSpec, TypeVar, cast

T = TypeVar("T")
P = ParamSpec("P")


@cache
def _threads(_pid: int) -> ThreadPoolExecutor:
    """The threads of a process; a fork has none of its parent's."""
    return ThreadPoolExecutor(max(2, os.cpu_count() or 1), thread_name_prefix="memorist")


class _Task(Future[T]):
    """Work that is done by a helper or, if none has begun when its result is asked for, by whoever asks.

    So nobody waits for a free thread, however few there are and whatever keeps them busy.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__()
        self._work: Callable[[], T] | None = work
        self._taking = Lock()

    def run(self) -> None:
        """Do the work, unless somebody has begun or it was cancelled."""
        with self._taking:
            work, self._work = self._work, None
            if work is None or not self.set_running_or_notify_cancel():
                return
        try:
            self.set_result(work())
        except BaseException as error:
            self.set_exception(error)

    def result(self, timeout: float | None = None) -> T:
        """What the work returns."""
        self.run()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What the work raises."""
        self.run()
        return super().exception(timeout)


class Helpers(Executor):
    """The helpers as one engine sees them: closing it waits for its own work only. Keeps no thread of its own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tasks: set[_Task[Any]] = set()
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have something done meanwhile."""
        task = _Task[T](partial(fn, *args, **kwargs))
        with self._lock:
            if self._closed:
                raise RuntimeError("This engine is closed")
            self._tasks.add(task)
        task.add_done_callback(self._over)
        _threads(os.getpid()).submit(task.run)
        return task

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Take no more work, drop what nobody has begun, and wait for what is being done. Safe to call twice."""
        with self._lock:
            self._closed = True
            tasks = list(self._tasks)
        for task in tasks:
            if not task.cancel() and wait:
                task.exception()

    def _over(self, task: Future[Any]) -> None:
        with self._lock:
            self._tasks.discard(cast("_Task[Any]", task))
