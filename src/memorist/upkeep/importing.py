"""Import: read an export into a space, which may hold memories already."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TypeVar

from memorist.errors import EmbeddingMismatch, Error, InvalidInput, NotFound, Remedy, VerbCall
from memorist.model import DENIES, STATES, Entity, Link, Memory, NoiseText, Showing, new_or_changed
from memorist.ports import Batch, Entry, Job, Kept, Progress, Reader, Record, Store
from memorist.remember.derived import DERIVED, LABELS
from memorist.remember.fact_rows import CLAIMS, Slot, claims_in, slot_of, sources_of
from memorist.remember.fact_updates import settle
from memorist.remember.journal import SYNC
from memorist.results.moving import ExportHeader, Imported, from_line, header_from_data
from memorist.upkeep.export_format import record_from_data

T = TypeVar("T")
R = TypeVar("R", Entity, Link, Job, Entry, Showing, NoiseText)
BATCH = 256
"""Lines per write: a killed import loses at most these."""
FROM_TEXT = ("subject", "object", "mentions", STATES, DENIES)
"""Relations of links that are derived from the text of a memory."""
CanEmbed = Callable[[str], bool]
"""Whether this memory can make vectors of an embedding generation."""
Admit = Callable[[Sequence[Record]], Sequence[Record]]
"""Passes records through the gates."""


def import_(
    store: Store,
    source: str | os.PathLike[str] | IO[bytes],
    *,
    able: CanEmbed | None = None,
    vectors: bool = True,
    admit: Admit | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Read an export into a store; `vectors=False` leaves its vectors out, `admit` passes records through the gates.

    Vectors of a generation that `able` rejects are refused, because no query could be compared with them.
    """
    with ExitStack() as stack:
        lines = _ExportLines(_opened(source, stack), _name_of(source))
        head = lines.header()
        if vectors and head.embedding is not None and head.dimension is not None:
            _adopt(store, head.embedding, head.dimension, able)
        merged = _Merged()
        for batch in lines.batches(head, vectors=vectors):
            passed = batch if admit is None else batch.admitted(admit)
            merged.counts["masked"] += passed.masked
            _write(store, passed, merged)
            if progress is not None:
                progress(len(batch.kept))
        _check_complete(head, merged)
        _settle_facts(store, merged)
        _write_held_back(store, merged)
    counts = {name: merged.counts[name] for name in ("added", "known", "updated", "masked")}
    return Imported(head.space, lines.number, **counts, conflicts=tuple(sorted(merged.conflicts)))


def _adopt(store: Store, embedding: str, dim: int, able: CanEmbed | None) -> None:
    if store.embedding not in (None, embedding):
        raise _mismatch(embedding, f"and those of the store are of {store.embedding!r}")
    if store.embedding is None and able is not None and not able(embedding):
        raise _mismatch(embedding, "which the embedder of this memory does not make")
    store.adopt(embedding, dim)


def _mismatch(embedding: str, other: str) -> EmbeddingMismatch:
    return EmbeddingMismatch(
        f"The vectors of the export are of {embedding!r}, {other}",
        remedy=Remedy("Embed the texts again, with ", VerbCall("import_", {"without_vectors": True}), "."),
    )


def _check_complete(head: ExportHeader, merged: _Merged) -> None:
    promised = head.counts.get("memories", 0) + head.counts.get("versions", 0)
    if merged.counts["read"] < promised:
        raise InvalidInput(
            f"The export ends early: {merged.counts['read']:,} of {promised:,} memories were there",
            remedy="Import the complete file to get the rest; the memories read so far are kept.",
        )


# Reading


class _ImportBatch:
    """Records to be written together."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.kept: dict[str, Kept] = {}
        self.last = False
        """Whether it ends the file."""
        self.masked = 0
        """The memories whose secrets the gates masked."""

    def add(self, record: Record) -> None:
        """Add a record."""
        if isinstance(record, Kept):
            if record.memory.id in self.kept:
                raise InvalidInput(f"memory {record.memory.id} occurs twice", remedy="Export it again.")
            self.kept[record.memory.id] = record
        self.records.append(record)

    def admitted(self, admit: Admit) -> _ImportBatch:
        """The same records as the gates leave them."""
        after = _ImportBatch()
        after.last = self.last
        written = {entry.id for entry in self.of(Entry)}
        for record in admit(self.records):
            after.add(record)
        decided = (entry for entry in after.of(Entry) if entry.id not in written)
        after.masked = sum(entry.data.get("decision") == "mask" for entry in decided)
        return after

    def of(self, kind: type[R]) -> list[R]:
        """The records of one kind."""
        return [record for record in self.records if isinstance(record, kind)]


class _ExportLines:
    """The numbered lines of an export."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = iter(file)
        self._name = name
        self.number = 0

    def header(self) -> ExportHeader:
        """The first line."""
        line = next(self._file, b"")
        self.number = 1
        return self._read(lambda: header_from_data(from_line(line)))

    def batches(self, head: ExportHeader, *, vectors: bool) -> Iterator[_ImportBatch]:
        """The other lines, in batches that are written together."""
        batch = _ImportBatch()
        for line in self._file:
            self.number += 1
            if line.strip():
                self._read(lambda line=line, batch=batch: batch.add(_record(line, head, vectors=vectors)))
            if len(batch.records) == BATCH:
                yield batch
                batch = _ImportBatch()
        if batch.records:
            batch.last = True
            yield batch

    def _read(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            problem = error.problem if isinstance(error, Error) else str(error) or type(error).__name__
            kept = "" if self.number == 1 else "; complete batches before it are kept: import the rest again"
            raise InvalidInput(
                f"Line {self.number} of {self._name} cannot be read ({problem}){kept}",
                remedy=error.remedy if isinstance(error, Error) else "Correct the line, or export again.",
            ) from error


def _record(line: bytes, head: ExportHeader, *, vectors: bool) -> Record:
    record = record_from_data(from_line(line), head.embedding)
    if isinstance(record, Entry) and record.verb == SYNC:
        raise InvalidInput("it is about a shared folder of another database", remedy="Remove the line.")
    return replace(record, vectors={}) if isinstance(record, Kept) and not vectors else record


def _opened(source: str | os.PathLike[str] | IO[bytes], stack: ExitStack) -> IO[bytes]:
    if not isinstance(source, str | os.PathLike):
        return source
    try:
        return stack.enter_context(Path(source).open("rb"))
    except OSError as error:
        raise NotFound(f"{os.fspath(source)} cannot be read ({error.strerror})", remedy="Check the path.") from error


def _name_of(source: str | os.PathLike[str] | IO[bytes]) -> str:
    return os.fspath(source) if isinstance(source, str | os.PathLike) else "the input"


# Merging


@dataclass(slots=True)
class _Merged:
    """An import so far. Facts whose slot has a history in the store wait until the end and are settled together."""

    counts: Counter[str] = field(default_factory=Counter[str])
    """The memories read, added, known and updated."""
    conflicts: set[str] = field(default_factory=set[str])
    begun: set[Slot] = field(default_factory=set[Slot])
    """Slots whose history this import wrote."""
    meeting: dict[Slot, dict[str, Kept]] = field(default_factory=dict[Slot, dict[str, Kept]])
    """Imported facts of slots that have a history in the store."""
    waiting: set[str] = field(default_factory=set[str])
    links: list[Link] = field(default_factory=list[Link])
    """Links of facts that wait."""
    held: dict[str, Kept] = field(default_factory=dict[str, Kept])
    """Memories that are held back until what they rest on is there: labels, and what was derived from later lines."""
    held_links: list[Link] = field(default_factory=list[Link])

    def add(self, other: _Merged) -> None:
        """Add the outcome of another batch."""
        self.counts.update(other.counts)
        self.conflicts |= other.conflicts
        self.begun |= other.begun
        for slot, rows in other.meeting.items():
            self.meeting.setdefault(slot, {}).update(rows)
        self.waiting |= other.waiting
        self.links += other.links
        self.held |= other.held
        self.held_links += other.held_links


def _write(store: Store, batch: _ImportBatch, merged: _Merged) -> None:
    merge = _Merge(batch, merged)
    store.update(merge.plan)
    merged.add(merge.outcome)
    known = store.noise()
    if fresh := [noise.text for noise in batch.of(NoiseText) if noise.text not in known]:
        store.learn_noise(fresh, keep=len(known) + len(fresh))
    for showing in batch.of(Showing):
        if showing.id not in store.shown(showing.session, showing.at):
            store.show(showing.session, [showing.id], showing.at)


@dataclass(slots=True)
class _Merge:
    """Merges one batch into the store, given what is `merged` already.

    A store may run the plan again after it lost its connection, so each run of the plan starts a new outcome.
    """

    batch: _ImportBatch
    merged: _Merged
    outcome: _Merged = field(default_factory=_Merged)

    def plan(self, reader: Reader) -> Batch:
        """The records that the store lacks."""
        self.outcome = _Merged()
        kept = self.batch.kept
        met = self._meeting(reader)
        known = {id: memory for id, memory in reader.get(list(kept)).items() if id not in met}
        new = {id: one for id, one in kept.items() if id not in known and id not in met}
        changed = [memory.id for memory in new_or_changed([kept[id].memory for id in known], known)]
        later = [id for id in changed if self._follows(known[id], kept[id].memory, reader)]
        earlier = [id for id in changed if self._follows(kept[id].memory, known[id], reader)]
        conflicts = self.outcome.conflicts = {*changed} - {*later, *earlier}
        same = len(known) - len(later) - len(conflicts)
        self.outcome.counts.update(read=len(kept), added=len(new), updated=len(later), known=same)
        if not self.batch.last:
            self.outcome.held = _unsupported(new, reader)
            new = {id: one for id, one in new.items() if id not in self.outcome.held}
        written = [*new.values(), *(kept[id] for id in later)]
        return Batch(
            revised=[row.memory for row in written],
            vectors={row.memory.id: row.vectors for row in written if row.vectors},
            unlinked=[link for link in reader.links(later) if link.source in later and link.relation in FROM_TEXT],
            links=self._links(),
            entities=self.batch.of(Entity),
            jobs=[*(job for row in new.values() for job in row.jobs), *self.batch.of(Job)],
            journal=self.batch.of(Entry),
        )

    def _follows(self, old: Memory, new: Memory, reader: Reader) -> bool:
        """Whether a memory is a later version of another one, which is then part of its history."""
        id = old.archived(old).id
        past = self.batch.kept[id].memory if id in self.batch.kept else reader.get([id]).get(id)
        return new.version > old.version and past is not None and past.text == old.text

    def _meeting(self, reader: Reader) -> set[str]:
        """Set aside facts whose slot has a history in the store, unless this import wrote that history."""
        kept = self.batch.kept
        facts = {id: slot for id, one in kept.items() if (slot := _slot(one.memory)) is not None}
        rows = reader.by_key(list({slot.key for slot in facts.values()})) if facts else []
        there = {(row.scope, row.origin.key, row.worth.classification) for row in rows}
        for id, slot in facts.items():
            if slot in self.merged.begun or (slot.scope, slot.key, slot.classification) not in there:
                self.outcome.begun.add(slot)
            else:
                self.outcome.meeting.setdefault(slot, {})[id] = kept[id]
                self.outcome.waiting.add(id)
        return (self.merged.waiting | self.outcome.waiting) & kept.keys()

    def _links(self) -> list[Link]:
        waiting = self.merged.waiting | self.outcome.waiting
        conflicts = self.merged.conflicts | self.outcome.conflicts
        held = self.merged.held.keys() | self.outcome.held.keys()
        written: list[Link] = []
        for link in self.batch.of(Link):
            if link.source in held or link.target in held:
                self.outcome.held_links.append(link)
            elif link.source in waiting or link.target in waiting:
                self.outcome.links.append(link)
            elif link.source not in conflicts:
                written.append(link)
        return written


def _unsupported(new: Mapping[str, Kept], reader: Reader) -> dict[str, Kept]:
    """The new memories that would rest on nothing if the import were killed after their batch."""
    derived = {id: sources_of(one.memory) for id, one in new.items() if one.memory.kind in DERIVED}
    held = {id for id, one in new.items() if one.memory.kind in LABELS}
    there = reader.get([source for some in derived.values() for source in some]).keys() | new.keys()
    more = held
    while more:
        there -= more
        more = {id for id, some in derived.items() if id not in held and some and there.isdisjoint(some)}
        held |= more
    return {id: one for id, one in new.items() if id in held}


def _write_held_back(store: Store, merged: _Merged) -> None:
    """Write the memories that were held back, in one write with all their links."""

    def plan(reader: Reader) -> Batch:
        known = reader.get([*merged.held, *merged.waiting]).keys()
        new = [one for id, one in merged.held.items() if id not in known]
        lost = merged.waiting - known
        links = [link for link in merged.held_links if lost.isdisjoint((link.source, link.target))]
        return Batch(
            revised=[row.memory for row in new],
            vectors={row.memory.id: row.vectors for row in new if row.vectors},
            links=[link for link in links if link.source not in merged.conflicts],
            jobs=[job for row in new for job in row.jobs],
        )

    if merged.held:
        store.update(plan)


def _settle_facts(store: Store, merged: _Merged) -> None:
    """Write the facts that waited: beside those of the store if the export has them all, else settled together."""
    for slot, rows in merged.meeting.items():
        before = store.get(list(rows)).keys()
        store.update(lambda reader, slot=slot, rows=rows: _history(slot, rows, merged.links, reader))
        merged.counts["added"] += len(store.get(list(rows)).keys() - before)
        merged.counts["known"] += len(before)


def _history(slot: Slot, rows: Mapping[str, Kept], links: Sequence[Link], reader: Reader) -> Batch:
    held = {row.id for row in reader.by_key([slot.key]) if slot.holds(row)}
    if not held <= rows.keys():
        fresh = {row.memory.text: row.vectors for row in rows.values() if row.vectors}
        return settle({slot: claims_in(row.memory for row in rows.values())}, reader, fresh).batch(reader)
    absent = [one for id, one in rows.items() if id not in held]
    return Batch(
        revised=[row.memory for row in absent],
        vectors={row.memory.id: row.vectors for row in absent if row.vectors},
        links=[link for link in links if link.source in rows or link.target in rows],
        jobs=[job for row in absent for job in row.jobs],
    )


def _slot(memory: Memory) -> Slot | None:
    """The slot of a fact that was settled from claims; None for any other memory."""
    if memory.fact is None or CLAIMS not in memory.metadata:
        return None
    return slot_of(memory.fact, memory.scope, memory.worth.classification)
