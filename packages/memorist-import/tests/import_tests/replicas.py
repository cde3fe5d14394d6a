"""Replicas that live apart and meet in a folder, and what they must agree about in the end."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import memorist
from memorist.engine.engine import Engine
from memorist.errors import InvalidInput
from memorist.model import Entity, Link, Memory, Usage
from memorist.ports import Embedder, Kept, Store
from memorist.stores.memory import MemoryStore
from memorist.testing.fakes import FakeClock
from memorist_import.sync import Synced

TEXTS = (
    "Alice moved to Stockholm.",
    "Alice lives in Oslo.",
    "Bo is allergic to nuts.",
    "The boiler was serviced in May.",
    "Cleo works at Heron and likes chess.",
    "ALICE sold the car to Bo.",
)
SECRET = "The treasure lies under the old oak."
PLACES = ("Oslo", "Rome", "Lyon", "oslo")


class Replica:
    """An engine with a clock of its own, which may be wrong."""

    def __init__(self, folder: Path, *, store: Store | None = None, late: timedelta = timedelta(), **more: Any) -> None:
        self.folder = folder
        self.clock = FakeClock()
        self.clock.advance(late)
        embedder: Embedder | None = more.pop("embedder", None)
        self.store = store or MemoryStore()
        self.engine = Engine(self.store, embedder=embedder, clock=self.clock, background=False, **more)

    def sync(self, **options: Any) -> Synced:
        return memorist.sync(self.engine, self.folder, **options)

    def shared(self) -> dict[str, Any]:
        """Everything that replicas must agree about.

        Usage, vectors, the journal and jobs are a replica's own, and so are the capitals and the kind of a name and
        the links from facts to names, which depend on what was met first.
        """
        found: dict[str, Any] = {}
        facts: set[str] = set()
        for record in self.store.records():
            if isinstance(record, Kept):
                found[record.memory.id] = _comparable(record.memory)
                facts |= {record.memory.id} if record.memory.fact else set()
            elif isinstance(record, Link) and record.source not in facts:
                found[f"{record.source} {record.relation} {record.target}"] = record.weight
            elif isinstance(record, Entity):
                found[record.id] = sorted({name.casefold() for name in (record.name, *record.aliases)})
        return found


def _comparable(memory: Memory) -> Memory:
    fact = memory.fact and replace(memory.fact, subject=memory.fact.subject.casefold())
    text = memory.text.casefold() if fact else memory.text
    return replace(memory, usage=Usage(), fact=fact, text=text)


def meet(replicas: Sequence[Replica], order: random.Random | None = None) -> None:
    """Sync until nothing moves any more; after a few rounds it must be so."""
    moved: list[Synced] = []
    for _ in range(6):
        some = list(replicas)
        if order is not None:
            order.shuffle(some)
        moved = [replica.sync() for replica in some]
        if not any(synced.came or synced.went for synced in moved):
            return
    raise AssertionError(f"Replicas go on changing: {moved}")


def _chosen(engine: Engine, dice: random.Random) -> Memory | None:
    there = engine.list(1000, as_of="9999-12-31", include_expired=True).items
    return dice.choice(there) if there else None


def _remember(engine: Engine, dice: random.Random) -> None:
    engine.remember(dice.choice(TEXTS), at="2024-06-03" if dice.random() < 0.5 else None)


def _remember_keyed(engine: Engine, dice: random.Random) -> None:
    engine.remember(f"The key is {dice.choice(PLACES)}.", key="door")


def _relate(engine: Engine, dice: random.Random) -> None:
    day = f"2024-0{dice.randint(1, 6)}-01"
    engine.relate(
        dice.choice(("Ann", "ann", "Bo")), dice.choice(("lives_in", "likes")), dice.choice(PLACES), valid_from=day
    )


def _on_one(verb: Callable[[Engine, Memory, random.Random], object]) -> Callable[[Engine, random.Random], None]:
    def act(engine: Engine, dice: random.Random) -> None:
        memory = _chosen(engine, dice)
        if memory is not None:
            with suppress(InvalidInput):  # such as ending what has ended
                verb(engine, memory, dice)

    return act


ACTIONS: Sequence[Callable[[Engine, random.Random], None]] = (
    _remember,
    _remember,
    _remember_keyed,
    _relate,
    _relate,
    _on_one(lambda engine, memory, dice: engine.update(memory.id, dice.choice(TEXTS)) if memory.fact is None else None),
    _on_one(
        lambda engine, memory, dice: engine.update(memory.id, importance=dice.random()) if memory.fact is None else None
    ),
    _on_one(lambda engine, memory, _: engine.forget(memory.id)),
    _on_one(lambda engine, memory, _: engine.pin(memory.id)),
    _on_one(lambda engine, memory, _: engine.unpin(memory.id)),
    _on_one(lambda engine, memory, _: engine.invalidate(memory.id)),
    _on_one(
        lambda engine, memory, dice: engine.feedback(memory.id, dice.choice(("useful", "wrong", "hide", "outdated")))
    ),
)


def live(replica: Replica, dice: random.Random, steps: int) -> None:
    """Do anything that a user may do."""
    for _ in range(steps):
        replica.clock.advance(timedelta(seconds=dice.randint(0, 3)))
        dice.choice(ACTIONS)(replica.engine, dice)


def holding(folder: Path, text: str) -> list[str]:
    """The files in a folder that hold a text."""
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def agree(*replicas: Replica) -> None:
    states = [replica.shared() for replica in replicas]
    assert all(state == states[0] for state in states)
