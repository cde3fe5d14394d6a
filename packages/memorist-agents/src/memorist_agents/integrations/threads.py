"""Work in threads, for frameworks that await: the verbs of a memory block."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import RLock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class OneAtATime:
    """Runs work in threads, one piece at a time, and to its end even if the caller is cancelled."""

    def __init__(self) -> None:
        self._lock = RLock()

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do some work, after all work that came before it."""

        def alone() -> R:
            with self._lock:
                return work(*args, **kwargs)

        return await asyncio.shield(asyncio.to_thread(alone))
