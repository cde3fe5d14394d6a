"""An export taken into a store: into an empty one exactly as it was, into another as far as it adds something.

What both have stays as the store has it, unless the file has later versions of it. Reading the same file again changes
nothing, so an import that was interrupted is simply run again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TypeVar

from memorist.errors import EmbeddingMismatch, Error, InvalidInput, NotFound
from memorist.model import Entity, Link, Noise, Showing
from memorist.ports import Entry, Job, Kept, Progress, Record, Store
from memorist.upkeep.lines import Head, from_line, head_from_data, record_from_data
from memorist.upkeep.merging import Merge, Merged, resettled

T = TypeVar("T")
BATCH = 256
"""Lines written together: what a kill can lose."""
Able = Callable[[str], bool]
"""Whether vectors of an embedding generation can be made here."""


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
            _write(store, gathered, merged)
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
