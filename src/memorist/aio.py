"""The same verbs for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Self, TypeVar

from memorist.errors import InvalidInput
from memorist.model import GateDecision, Remembered
from memorist.results.records import Receipt
from memorist.results.writing import Commit
from memorist.verbs import SessionVerbs, Verbs

P = ParamSpec("P")
R = TypeVar("R")


def _threaded(verb: Callable[Concatenate[Verbs, P], R]) -> Callable[Concatenate[AsyncEngine, P], Awaitable[R]]:
    @wraps(verb)
    async def call(self: AsyncEngine, *args: P.args, **kwargs: P.kwargs) -> R:
        own: Callable[P, R] = getattr(self.engine, verb.__name__)
        return await asyncio.to_thread(own, *args, **kwargs)

    return call


class AsyncEngine:
    """An `Engine` or a `Client` whose verbs are awaited; each runs in a thread."""

    def __init__(self, engine: Verbs) -> None:
        self.engine = engine

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def session(self, goal: str | None = None, id: str | None = None, *, scope: str | None = None) -> AsyncSession:
        """A run of an agent, used in an `async with` block."""
        return AsyncSession(self.engine, goal, id, scope)

    remember = _threaded(Verbs.remember)
    remember_many = _threaded(Verbs.remember_many)
    ingest = _threaded(Verbs.ingest)
    relate = _threaded(Verbs.relate)
    update = _threaded(Verbs.update)
    recall = _threaded(Verbs.recall)
    recall_in_context = _threaded(Verbs.recall_in_context)
    work = _threaded(Verbs.work)
    jobs = _threaded(Verbs.jobs)
    explain = _threaded(Verbs.explain)
    why_not = _threaded(Verbs.why_not)
    get = _threaded(Verbs.get)
    history = _threaded(Verbs.history)
    list = _threaded(Verbs.list)
    pinned = _threaded(Verbs.pinned)
    wake_up = _threaded(Verbs.wake_up)
    forget = _threaded(Verbs.forget)
    entities = _threaded(Verbs.entities)
    neighbours = _threaded(Verbs.neighbours)
    stats = _threaded(Verbs.stats)
    feedback = _threaded(Verbs.feedback)
    pin = _threaded(Verbs.pin)
    unpin = _threaded(Verbs.unpin)
    invalidate = _threaded(Verbs.invalidate)
    tidy = _threaded(Verbs.tidy)
    consolidate = _threaded(Verbs.consolidate)
    sleep = _threaded(Verbs.sleep)
    audit = _threaded(Verbs.audit)
    mend = _threaded(Verbs.mend)
    journal = _threaded(Verbs.journal)
    undo = _threaded(Verbs.undo)
    reembed = _threaded(Verbs.reembed)
    backup = _threaded(Verbs.backup)
    export = _threaded(Verbs.export)
    import_ = _threaded(Verbs.import_)
    close = _threaded(Verbs.close)


class AsyncSession:
    """A session whose verbs are awaited; it starts with the `async with` block."""

    def __init__(self, engine: Verbs, goal: str | None, id: str | None, scope: str | None) -> None:
        self._open = lambda: engine.session(goal, id, scope=scope)
        self._session: SessionVerbs | None = None

    @property
    def session(self) -> SessionVerbs:
        """The session underneath."""
        if self._session is None:
            raise InvalidInput("The session has not started", remedy="Use it in an `async with` block.")
        return self._session

    @property
    def id(self) -> str:
        """The session's id."""
        return self.session.id

    @property
    def gates(self) -> tuple[GateDecision, ...]:
        """What gates decided about the goal when the session was opened."""
        return self.session.gates

    async def step(
        self,
        observation: str,
        action: str | None = None,
        reward: float | None = None,
        *,
        number: int | None = None,
    ) -> Remembered:
        """Keep an observation and the action that followed."""
        return await asyncio.to_thread(self.session.step, observation, action, reward, number=number)

    async def commit(self) -> Commit:
        """Learn from the steps so far and close the session."""
        return await asyncio.to_thread(self.session.commit)

    async def discard(self) -> Receipt:
        """Erase the steps that were not committed, and close the session."""
        return await asyncio.to_thread(self.session.discard)

    async def __aenter__(self) -> Self:
        self._session = await asyncio.to_thread(self._open)
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self.session.__exit__, *error)
