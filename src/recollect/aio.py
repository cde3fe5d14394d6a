"""The same verbs for asyncio: each runs in a thread, so the event loop never waits for a model or a disk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from recollect.engine import Engine

P = ParamSpec("P")
R = TypeVar("R")


def _threaded(
    verb: Callable[Concatenate[Engine, P], R],
) -> Callable[Concatenate[AsyncEngine, P], Awaitable[R]]:
    @wraps(verb)
    async def call(self: AsyncEngine, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(verb, self.engine, *args, **kwargs)

    return call


class AsyncEngine:
    """An `Engine` whose verbs are awaited."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    remember = _threaded(Engine.remember)
    remember_many = _threaded(Engine.remember_many)
    relate = _threaded(Engine.relate)
    recall = _threaded(Engine.recall)
    explain = _threaded(Engine.explain)
    why_not = _threaded(Engine.why_not)
    get = _threaded(Engine.get)
    history = _threaded(Engine.history)
    list = _threaded(Engine.list)
    forget = _threaded(Engine.forget)
    stats = _threaded(Engine.stats)
    close = _threaded(Engine.close)
