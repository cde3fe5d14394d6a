"""The same verbs for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from memorist.engine.engine import Engine
from memorist.errors import InvalidInput
from memorist.model import Memory
from memorist.remember.sessions import Commit, Session

P = ParamSpec("P")
R = TypeVar("R")


def _threaded(
    verb: Callable[Concatenate[Engine, P], R],
) -> Callable[Concatenate[AsyncEngine, P], Awaitable[R]]:
    @wraps(verb)
    async def call(self: AsyncEngine, *args: P.args, **kwargs: P.kwargs) -> R:
        own: Callable[P, R] = getattr(self.engine, verb.__name__)
        return await asyncio.to_thread(own, *args, **kwargs)

    return call


class AsyncEngine:
    """An `Engine`, or a `Client` in its place, whose verbs are awaited."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def session(self, goal: str | None = None, id: str | None = None, *, scope: str | None = None) -> AsyncSession:
        """A run of an agent, to be used in an `async with` block."""
        return AsyncSession(self.engine, goal, id, scope)

    remember = _threaded(Engine.remember)
    remember_many = _threaded(Engine.remember_many)
    ingest = _threaded(Engine.ingest)
    relate = _threaded(Engine.relate)
    recall = _threaded(Engine.recall)
    recall_in_context = _threaded(Engine.recall_in_context)
    work = _threaded(Engine.work)
    jobs = _threaded(Engine.jobs)
    explain = _threaded(Engine.explain)
    why_not = _threaded(Engine.why_not)
    get = _threaded(Engine.get)
    history = _threaded(Engine.history)
    list = _threaded(Engine.list)
    forget = _threaded(Engine.forget)
    stats = _threaded(Engine.stats)
    feedback = _threaded(Engine.feedback)
    invalidate = _threaded(Engine.invalidate)
    tidy = _threaded(Engine.tidy)
    consolidate = _threaded(Engine.consolidate)
    audit = _threaded(Engine.audit)
    mend = _threaded(Engine.mend)
    journal = _threaded(Engine.journal)
    undo = _threaded(Engine.undo)
    reembed = _threaded(Engine.reembed)
    backup = _threaded(Engine.backup)
    export = _threaded(Engine.export)
    import_ = _threaded(Engine.import_)
    close = _threaded(Engine.close)


class AsyncSession:
    """A `Session` whose verbs are awaited; it begins with the `async with` block."""

    def __init__(self, engine: Engine, goal: str | None, id: str | None, scope: str | None) -> None:
        self._open = lambda: engine.session(goal, id, scope=scope)
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        """The session underneath."""
        if self._session is None:
            raise InvalidInput("The session has not begun", remedy="Use it in an `async with` block.")
        return self._session

    @property
    def id(self) -> str:
        """The session's id."""
        return self.session.id

    async def step(self, observation: str, action: str | None = None, reward: float | None = None) -> Memory:
        """Keep what was observed and what was then done."""
        return await asyncio.to_thread(self.session.step, observation, action, reward)

    async def commit(self) -> Commit:
        """Learn from the steps so far and close the session."""
        return await asyncio.to_thread(self.session.commit)

    async def __aenter__(self) -> Self:
        self._session = await asyncio.to_thread(self._open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.session.__exit__, kind, error, trace)
