"""What there is to write notes about: the memories of each day that is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256

from memorist.model import Filter, Kind, Memory
from memorist.ports import Store
from memorist.remember.ledger import CLAIMS
from memorist.upkeep.consolidate.model import Item

KINDS = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL)
MOST_CLASSIFIED = 2
"""What a recall does not give unless it is asked to is in no note."""
UNFIT = frozenset(("noise", "loop", "instructions", "contradicted", "doubted"))
"""Flags that keep a memory out of notes."""
PAGE = 1000


@dataclass(slots=True)
class Day:
    """The memories of a day, and a digest that changes with any of them."""

    ids: list[str] = field(default_factory=list[str])
    _digest: int = 0

    def add(self, memory: Memory) -> None:
        """One more; the order does not matter."""
        self.ids.append(memory.id)
        told = f"{memory.id}\0{memory.text}".encode("utf-8", "surrogatepass")
        self._digest ^= int.from_bytes(sha256(told).digest()[:16])

    @property
    def digest(self) -> str:
        """Of all of them."""
        return f"{self._digest:032x}"


def survey(store: Store, now: datetime) -> dict[date, Day]:
    """The days that are over, in order, each with what was said or learnt on it and may be told."""
    days: dict[date, Day] = {}
    today = now.astimezone(UTC).date()
    for memory in _known(store, now):
        day = memory.times.valid_from.astimezone(UTC).date()
        if day < today and _fit(memory, now):
            days.setdefault(day, Day()).add(memory)
    return dict(sorted(days.items()))


def items_of(store: Store, day: Day) -> list[Item]:
    """A day's memories in the order of events."""
    memories = sorted(
        store.get(day.ids).values(), key=lambda one: (one.times.valid_from, one.origin.position or 0, one.id)
    )
    return [
        Item(
            text=one.text,
            scope=one.scope,
            at=one.times.valid_from,
            cites=(one.id,),
            speaker=one.origin.speaker,
            weight=0.5 + one.worth.importance * one.worth.confidence,
            trust=one.worth.trust,
            classification=one.worth.classification,
        )
        for one in memories
    ]


def _fit(memory: Memory, now: datetime) -> bool:
    """Verbatim or learnt, current and trusted; what was true once and is no longer was still said that day."""
    expires = memory.times.expires_at
    return (
        memory.version_of is None
        and (expires is None or expires > now)
        and CLAIMS not in memory.metadata
        and memory.worth.trust > 0
        and UNFIT.isdisjoint(memory.worth.flags)
    )


def _known(store: Store, now: datetime) -> Iterator[Memory]:
    where = Filter(kinds=KINDS, known_at=now, max_classification=MOST_CLASSIFIED)
    cursor = None
    while True:
        page = store.scan(where, PAGE, cursor)
        yield from page.items
        if (cursor := page.cursor) is None:
            return
