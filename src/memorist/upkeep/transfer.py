"""Export a store, and move its content into another store."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from memorist.errors import StoreError
from memorist.files import refuse_existing, replacing
from memorist.ports import Entry, Kept, Progress, Record, Store, StoreStats
from memorist.remember.journal import SYNC
from memorist.results.moving import Exported, header_for, header_to_data
from memorist.upkeep.export_format import record_to_data, to_line
from memorist.upkeep.importing import import_

PROGRESS_EVERY = 256


def export(
    store: Store, to: str | os.PathLike[str] | IO[bytes], *, overwrite: bool = False, progress: Progress | None = None
) -> Exported:
    """Write a consistent snapshot of a store; a file appears complete or not at all."""
    if not isinstance(to, str | os.PathLike):
        return _write(store, to, progress)
    path = Path(to).absolute()
    refuse_existing(path, overwrite=overwrite)
    home: Path | None = getattr(store, "path", None)
    with replacing(path, home=home) as part, part.open("wb") as file:
        return _write(store, file, progress)


def _write(store: Store, to: IO[bytes], progress: Progress | None) -> Exported:
    with closing(store.records()) as records:
        head = header_for(cast("StoreStats", next(records)))
        to.write(to_line(header_to_data(head)))
        lines, memories = 1, 0
        for record in cast("Iterator[Record]", records):
            if isinstance(record, Entry) and record.verb == SYNC:
                continue
            to.write(to_line(record_to_data(record)))
            lines += 1
            memories += isinstance(record, Kept)
            if progress is not None and isinstance(record, Kept) and memories % PROGRESS_EVERY == 0:
                progress(PROGRESS_EVERY)
        if progress is not None and memories % PROGRESS_EVERY:
            progress(memories % PROGRESS_EVERY)
    return Exported(head, lines)


IN_MEMORY = 64 * 1024 * 1024
"""Bytes above which an export is buffered in a temporary file."""


@dataclass(frozen=True, slots=True)
class Moved:
    """How many memories were moved, how many are new in the target, and the checksum that both stores now have."""

    memories: int
    added: int
    known: int
    checksum: str


def move(source: Store, target: Store, *, progress: Progress | None = None) -> Moved:
    """Copy a snapshot of a store into one that is empty or holds a part of it.

    Records that the target has already are skipped, so an interrupted move can simply be run again. Raises StoreError
    unless the counts and checksums of both stores agree in the end.
    """
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as lines:
        sent = _ChecksumFile(lines)
        exported = export(source, cast("IO[bytes]", sent))
        lines.seek(0)
        imported = import_(target, cast("IO[bytes]", lines), progress=progress)
    arrived = _ChecksumFile()
    check = export(target, cast("IO[bytes]", arrived))
    if (check.lines, arrived.checksum) != (exported.lines, sent.checksum):
        raise _differing(exported, check)
    counts = exported.head.counts
    return Moved(counts["memories"] + counts["versions"], imported.added, imported.known, sent.checksum)


class _ChecksumFile:
    """A file that computes a checksum of its lines after the first; the order of the lines does not matter."""

    def __init__(self, file: tempfile.SpooledTemporaryFile[bytes] | None = None) -> None:
        self._file = file
        self._first = True
        self._sum = 0

    def write(self, line: bytes) -> int:
        """Write a line; the first one, the header, does not count."""
        if not self._first:
            self._sum += int.from_bytes(hashlib.sha256(line).digest(), "big")
        self._first = False
        return len(line) if self._file is None else self._file.write(line)

    @property
    def checksum(self) -> str:
        """The sum of the SHA-256 digests of all lines, modulo 2²⁵⁶."""
        return f"{self._sum % 2**256:064x}"


def _differing(sent: Exported, arrived: Exported) -> StoreError:
    counted = ", ".join(
        f"{arrived.head.counts.get(kind, 0):,} {kind} for {number:,}"
        for kind, number in sent.head.counts.items()
        if arrived.head.counts.get(kind, 0) != number
    )
    return StoreError(
        f"The target differs from the source ({counted or 'same counts, different content'})",
        remedy="Move into an empty space; to merge two memories, export one and import it into the other.",
    )
