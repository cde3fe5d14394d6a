"""What an export adds to a store that may know some of it already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memorist.model import DENIES, STATES, Entity, Link, Memory
from memorist.ports import Batch, Entry, Job, Kept, Reader, Store
from memorist.remember.ledger import CLAIMS, Slot, claims_in, slot_of
from memorist.remember.settle import settle

FROM_TEXT = ("subject", "object", "mentions", STATES, DENIES)
"""Relations of links that follow from a memory's text."""


@dataclass(slots=True)
class Merged:
    """An import so far. Facts of which the store has a history of its own wait for the end, to be told together."""

    read: int = 0
    added: int = 0
    known: int = 0
    updated: int = 0
    conflicts: set[str] = field(default_factory=set[str])
    begun: set[Slot] = field(default_factory=set[Slot])
    meeting: dict[Slot, dict[str, Kept]] = field(default_factory=dict[Slot, dict[str, Kept]])
    waiting: set[str] = field(default_factory=set[str])
    links: list[Link] = field(default_factory=list[Link])

    def add(self, other: Merged) -> None:
        """What another batch came to."""
        self.read += other.read
        self.added += other.added
        self.known += other.known
        self.updated += other.updated
        self.conflicts |= other.conflicts
        self.begun |= other.begun
        for slot, rows in other.meeting.items():
            self.meeting.setdefault(slot, {}).update(rows)
        self.waiting |= other.waiting
        self.links += other.links


@dataclass(slots=True)
class Merge:
    """One batch of an export, as a plan for the store, after what is `merged` already; `outcome` is what it came to.

    A store may ask for the plan again when it lost its connection, so each plan begins its outcome anew.
    """

    kept: Mapping[str, Kept]
    entities: Sequence[Entity]
    links: Sequence[Link]
    jobs: Sequence[Job]
    entries: Sequence[Entry]
    merged: Merged
    outcome: Merged = field(default_factory=Merged)

    def plan(self, reader: Reader) -> Batch:
        """What the store lacks."""
        self.outcome = Merged()
        met = self._meeting(reader)
        known = {id: memory for id, memory in reader.get(list(self.kept)).items() if id not in met}
        new = {id: one for id, one in self.kept.items() if id not in known and id not in met}
        changed = [id for id, memory in known.items() if memory.text != self.kept[id].memory.text]
        later = [id for id in changed if self._follows(known[id], self.kept[id].memory, reader)]
        earlier = [id for id in changed if self._follows(self.kept[id].memory, known[id], reader)]
        self._count(len(new), len(later), {*changed} - {*later, *earlier}, len(known))
        written = [*new.values(), *(self.kept[id] for id in later)]
        return Batch(
            revised=[one.memory for one in written],
            vectors={one.memory.id: one.vectors for one in written if one.vectors},
            unlinked=[one for one in reader.links(later) if one.source in later and one.relation in FROM_TEXT],
            links=self._links(),
            entities=self.entities,
            jobs=[*(job for one in new.values() for job in one.jobs), *self.jobs],
            journal=self.entries,
        )

    def _follows(self, old: Memory, new: Memory, reader: Reader) -> bool:
        """Whether a memory is a later version of another: then that one is among its history."""
        id = old.archived(old).id
        past = self.kept[id].memory if id in self.kept else reader.get([id]).get(id)
        return new.version > old.version and past is not None and past.text == old.text

    def _meeting(self, reader: Reader) -> set[str]:
        """Set facts aside that have a history in the store, unless this import wrote it."""
        facts = {id: slot for id, one in self.kept.items() if (slot := _slot(one.memory)) is not None}
        rows = reader.keyed(list({slot.key for slot in facts.values()})) if facts else []
        there = {(row.scope, row.origin.key) for row in rows}
        for id, slot in facts.items():
            if slot in self.merged.begun or (slot.scope, slot.key) not in there:
                self.outcome.begun.add(slot)
            else:
                self.outcome.meeting.setdefault(slot, {})[id] = self.kept[id]
                self.outcome.waiting.add(id)
        return (self.merged.waiting | self.outcome.waiting) & self.kept.keys()

    def _links(self) -> list[Link]:
        waiting = self.merged.waiting | self.outcome.waiting
        conflicts = self.merged.conflicts | self.outcome.conflicts
        self.outcome.links += [one for one in self.links if one.source in waiting or one.target in waiting]
        return [
            one
            for one in self.links
            if one.source not in waiting and one.target not in waiting and one.source not in conflicts
        ]

    def _count(self, new: int, later: int, conflicts: set[str], known: int) -> None:
        self.outcome.read = len(self.kept)
        self.outcome.added = new
        self.outcome.updated = later
        self.outcome.known = known - later - len(conflicts)
        self.outcome.conflicts |= conflicts


def resettled(store: Store, merged: Merged) -> None:
    """Tell the history of the facts that waited: the store's, if all of it is the file's too, else that of both."""
    for slot, rows in merged.meeting.items():
        before = store.get(list(rows)).keys()
        store.update(lambda reader, slot=slot, rows=rows: _history(slot, rows, merged.links, reader))
        merged.added += len(store.get(list(rows)).keys() - before)
        merged.known += len(before)


def _history(slot: Slot, rows: Mapping[str, Kept], links: Sequence[Link], reader: Reader) -> Batch:
    held = {row.id for row in reader.keyed([slot.key]) if row.scope == slot.scope}
    if not held <= rows.keys():
        fresh = {one.memory.text: one.vectors for one in rows.values() if one.vectors}
        return settle({slot: claims_in(one.memory for one in rows.values())}, reader, fresh).batch(reader)
    absent = [one for id, one in rows.items() if id not in held]
    return Batch(
        revised=[one.memory for one in absent],
        vectors={one.memory.id: one.vectors for one in absent if one.vectors},
        links=[one for one in links if one.source in rows or one.target in rows],
        jobs=[job for one in absent for job in one.jobs],
    )


def _slot(memory: Memory) -> Slot | None:
    """The slot of a fact that was settled from claims; others are memories like any."""
    return slot_of(memory.fact, memory.scope) if memory.fact is not None and CLAIMS in memory.metadata else None
