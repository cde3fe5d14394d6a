"""Worlds for tests of sessions: a store, a clock that stands still, a worker, and views of what was written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memorist.asking import Askers, Models
from memorist.model import Filter, Kind, Memory
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import LLM, Embedder, Store
from memorist.ports.notices import Notice, Notices
from memorist.remember.gates import Gates, Policy
from memorist.remember.jobs import COMMIT_TASK, Worker
from memorist.remember.sessions import Session, Sessions
from memorist.remember.writer import Writer
from memorist.stores.memory import MemoryStore
from memorist.testing import FakeClock, FakeEmbedder
from tests.recorded_run import GOAL, STEPS, RecordedStep

EMBEDDER = FakeEmbedder(256)


@dataclass
class World:
    """Sessions over one store; `told` keeps every notice."""

    store: Store = field(default_factory=MemoryStore)
    embedder: Embedder | None = EMBEDDER
    llm: LLM | None = None
    clock: FakeClock = field(default_factory=FakeClock)
    told: list[Notice] = field(default_factory=list[Notice])

    def __post_init__(self) -> None:
        notices = Notices(self.told.append)
        askers = Askers(Models(self.llm)) if self.llm is not None else None
        embedder = None if self.embedder is None else StoreEmbedder(self.embedder, self.store)
        writer = Writer(self.store, embedder, Gates(Policy(), self.clock))
        self.sessions = Sessions(self.store, writer, self.clock, askers=askers, notices=notices)
        self.worker = Worker(self.store, self.clock, {COMMIT_TASK: self.sessions.work}, notices)

    def play(self, id: str = "run", steps: Sequence[RecordedStep] = STEPS, goal: str | None = GOAL) -> Session:
        """An open session with these steps."""
        session = self.sessions.open(goal, id)
        for step in steps:
            session.step(step.observation, step.action, step.reward)
        return session

    def all(self, *kinds: Kind) -> list[Memory]:
        """Everything kept, or all of some kinds, in the order written."""
        return list(self.store.scan(Filter(kinds=kinds or None), 10_000).items)

    def runs(self) -> list[Memory]:
        """The memories of the sessions themselves, which are sources that no step is linked to."""
        return [memory for memory in self.all(Kind.SOURCE) if (memory.origin.key or "").startswith("session/")]

    def one(self, kind: Kind, text: str) -> Memory:
        """The only memory of a kind whose text contains this."""
        (found,) = [memory for memory in self.all(kind) if text in memory.text]
        return found

    def links(self) -> Mapping[tuple[str, str, str], int]:
        """How many links there are, by kind of their start, relation, and kind of their end."""
        kinds = {memory.id: str(memory.kind) for memory in self.all()}
        counted: defaultdict[tuple[str, str, str], int] = defaultdict(int)
        for link in self.store.links(list(kinds)):
            if link.target in kinds:
                counted[kinds[link.source], link.relation, kinds[link.target]] += 1
        return counted

    def snapshot(self) -> Any:
        """All that is kept, to tell whether anything changed."""
        memories = self.all()
        return memories, self.store.links([memory.id for memory in memories]), self.store.jobs()
