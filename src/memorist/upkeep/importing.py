"""Import: reading an export into a space that may hold something already."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TypeVar

from memorist.errors import EmbeddingMismatch, Error, InvalidInput, NotFound
from memorist.model import DENIES, STATES, Entity, Link, Memory, Noise, Showing, new_or_changed
from memorist.ports import Batch, Entry, Job, Kept, Progress, Reader, Record, Store
from memorist.remember.fact_rows import CLAIMS, Slot, claims_in, slot_of
from memorist.remember.fact_updates import settle
from memorist.upkeep.export_format import Head, from_line, head_from_data, record_from_data

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
        given = [self.kept[id].memory for id in known]
        changed = [memory.id for memory in new_or_changed(given, known)]
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


T = TypeVar("T")
BATCH = 256
"""Lines written together: what a kill can lose."""
Able = Callable[[str], bool]
"""Whether vectors of an embedding generation can be made here."""
Admit = Callable[[Sequence[Record]], Sequence[Record]]
"""Passes records through the gates."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: memories that were new, were there already, got later versions, or contradict the store's."""

    space: str
    lines: int
    added: int
    known: int
    updated: int
    conflicts: tuple[str, ...]


@dataclass(slots=True)
class _Gathered:
    """Lines to be written together, by their sort."""

    kept: dict[str, Kept] = field(default_factory=dict[str, Kept])
    entities: list[Entity] = field(default_factory=list[Entity])
    links: list[Link] = field(default_factory=list[Link])
    jobs: list[Job] = field(default_factory=list[Job])
    entries: list[Entry] = field(default_factory=list[Entry])
    shown: list[Showing] = field(default_factory=list[Showing])
    noise: list[str] = field(default_factory=list[str])
    size: int = 0

    def admitted(self, admit: Admit) -> _Gathered:
        """The same lines as the gates leave them."""
        noise = [Noise(text) for text in self.noise]
        after = _Gathered()
        for record in admit(
            [*self.kept.values(), *self.entities, *self.links, *self.jobs, *self.entries, *self.shown, *noise]
        ):
            after.add(record)
        return after

    def add(self, record: Record) -> None:
        """Take a record."""
        self.size += 1
        match record:
            case Kept():
                if record.memory.id in self.kept:
                    raise InvalidInput(f"memory {record.memory.id} is there twice", remedy="Export it again.")
                self.kept[record.memory.id] = record
            case Entity():
                self.entities.append(record)
            case Link():
                self.links.append(record)
            case Job():
                self.jobs.append(record)
            case Entry():
                self.entries.append(record)
            case Showing():
                self.shown.append(record)
            case Noise():
                self.noise.append(record.text)


def import_(
    store: Store,
    source: str | os.PathLike[str] | IO[bytes],
    *,
    able: Able | None = None,
    vectors: bool = True,
    admit: Admit | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Take in an export; `vectors=False` leaves its vectors out.

    Vectors of a generation that `able` does not make are refused, because no question could be put to them.
    """
    with ExitStack() as stack:
        lines = _Lines(_opened(source, stack), _named(source))
        head = lines.head()
        if vectors and head.embedding is not None and head.dimension is not None:
            _adopt(store, head.embedding, head.dimension, able)
        merged = Merged()
        for gathered in lines.batches(head):
            if not vectors:
                gathered.kept = {id: replace(one, vectors={}) for id, one in gathered.kept.items()}
            _write(store, gathered if admit is None else gathered.admitted(admit), merged)
            if progress is not None:
                progress(len(gathered.kept))
        _check_whole(head, merged)
        resettled(store, merged)
    return Imported(
        head.space, lines.number, merged.added, merged.known, merged.updated, tuple(sorted(merged.conflicts))
    )


def _adopt(store: Store, embedding: str, dim: int, able: Able | None) -> None:
    if store.embedding not in (None, embedding):
        raise _mismatch(embedding, f"and the store's are of {store.embedding!r}")
    if store.embedding is None and able is not None and not able(embedding):
        raise _mismatch(embedding, "which the embedder of this memory does not make")
    store.adopt(embedding, dim)


def _mismatch(embedding: str, other: str) -> EmbeddingMismatch:
    return EmbeddingMismatch(
        f"The vectors of the export are of {embedding!r}, {other}",
        remedy="Import it without its vectors (`--without-vectors`), and its texts are embedded anew.",
    )


def _write(store: Store, gathered: _Gathered, merged: Merged) -> None:
    merge = Merge(gathered.kept, gathered.entities, gathered.links, gathered.jobs, gathered.entries, merged)
    store.update(merge.plan)
    merged.add(merge.outcome)
    known = store.noise()
    if fresh := [text for text in gathered.noise if text not in known]:
        store.learn_noise(fresh, keep=len(known) + len(fresh))
    for one in gathered.shown:
        if one.id not in store.shown(one.session, one.at):
            store.show(one.session, [one.id], one.at)


def _check_whole(head: Head, merged: Merged) -> None:
    promised = head.counts.get("memories", 0) + head.counts.get("versions", 0)
    if merged.read < promised:
        raise InvalidInput(
            f"The export ends early: {merged.read:,} of {promised:,} memories were there",
            remedy="What was read is kept; import the whole file to have the rest.",
        )


class _Lines:
    """The lines of an export, numbered."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = iter(file)
        self._name = name
        self.number = 0

    def head(self) -> Head:
        """The first line."""
        line = next(self._file, b"")
        self.number = 1
        return self._read(lambda: head_from_data(from_line(line)))

    def batches(self, head: Head) -> Iterator[_Gathered]:
        """The other lines, as many together as are written together."""
        gathered = _Gathered()
        for line in self._file:
            self.number += 1
            if line.strip():
                self._read(lambda line=line, into=gathered: into.add(record_from_data(from_line(line), head.embedding)))
            if gathered.size == BATCH:
                yield gathered
                gathered = _Gathered()
        if gathered.size:
            yield gathered

    def _read(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            problem = error.problem if isinstance(error, Error) else str(error) or type(error).__name__
            after = "" if self.number == 1 else "; whole batches before it are kept, and the rest can be imported again"
            raise InvalidInput(
                f"Line {self.number} of {self._name} cannot be read ({problem}){after}",
                remedy=error.remedy if isinstance(error, Error) else "Mend the line, or export again.",
            ) from error


def _opened(source: str | os.PathLike[str] | IO[bytes], stack: ExitStack) -> IO[bytes]:
    if not isinstance(source, str | os.PathLike):
        return source
    try:
        return stack.enter_context(Path(source).open("rb"))
    except OSError as error:
        raise NotFound(f"{os.fspath(source)} cannot be read ({error.strerror})", remedy="Check the path.") from error


def _named(source: str | os.PathLike[str] | IO[bytes]) -> str:
    return os.fspath(source) if isinstance(source, str | os.PathLike) else "the input"
