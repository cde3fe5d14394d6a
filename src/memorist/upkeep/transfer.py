"""Export, and moving between stores."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from memorist.errors import InvalidInput, StoreError
from memorist.ports import Kept, Progress, Record, Store, StoreStats
from memorist.upkeep.export_format import Head, head_of, head_to_data, record_to_data, to_line
from memorist.upkeep.importing import import_

PROGRESS_EVERY = 256


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds: its first line, and how many lines there are."""

    head: Head
    lines: int


def export(
    store: Store, to: str | os.PathLike[str] | IO[bytes], *, overwrite: bool = False, progress: Progress | None = None
) -> Exported:
    """Write all of a store as of one moment; a file appears whole or not at all."""
    if not isinstance(to, str | os.PathLike):
        return _write(store, to, progress)
    path = Path(to)
    refuse_existing(path, overwrite=overwrite)
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        with part.open("wb") as file:
            exported = _write(store, file, progress)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror})", remedy="Choose another place, or free some space."
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return exported


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Refuse a path that is a folder, or a file that may not be overwritten."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder", remedy="Give the path of a file in it.")
    if path.exists() and not overwrite:
        raise InvalidInput(f"{path} is there already", remedy="Choose another name, or allow it to be overwritten.")


def _write(store: Store, to: IO[bytes], progress: Progress | None) -> Exported:
    with closing(store.records()) as records:
        head = head_of(cast("StoreStats", next(records)))
        to.write(to_line(head_to_data(head)))
        lines, told = 1, 0
        for record in cast("Iterator[Record]", records):
            to.write(to_line(record_to_data(record)))
            lines += 1
            told += isinstance(record, Kept)
            if told == PROGRESS_EVERY:
                told = _tell(progress, told)
        _tell(progress, told)
    return Exported(head, lines)


def _tell(progress: Progress | None, count: int) -> int:
    if progress is not None and count:
        progress(count)
    return 0


IN_MEMORY = 64 * 1024 * 1024
"""Bytes of an export above which it waits in a temporary file."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved: how much of it is new there, and the checksum of the content that both now have."""

    memories: int
    added: int
    known: int
    checksum: str


def move(source: Store, target: Store, *, progress: Progress | None = None) -> Moved:
    """Copy everything a store holds, as of one moment, into one that is empty or holds a part of it.

    What is there already adds nothing, so a move that was interrupted is run again. At the end the counts and the
    checksums of both must agree, else StoreError.
    """
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as lines:
        sent = _Summed(lines)
        exported = export(source, cast("IO[bytes]", sent))
        lines.seek(0)
        imported = import_(target, cast("IO[bytes]", lines), progress=progress)
    arrived = _Summed(io.BytesIO(), keep=False)
    check = export(target, cast("IO[bytes]", arrived))
    if (check.lines, arrived.checksum) != (exported.lines, sent.checksum):
        raise _differing(exported, check)
    counts = exported.head.counts
    return Moved(counts["memories"] + counts["versions"], imported.added, imported.known, sent.checksum)


class _Summed:
    """A file whose lines after the first are summed up, in whatever order they come."""

    def __init__(self, file: IO[bytes] | tempfile.SpooledTemporaryFile[bytes], *, keep: bool = True) -> None:
        self._file = file
        self._keep = keep
        self._first = True
        self._sum = 0

    def write(self, line: bytes) -> int:
        """Take a line; the first tells the space and is not part of the content."""
        if not self._first:
            self._sum += int.from_bytes(hashlib.sha256(line).digest(), "big")
        self._first = False
        return self._file.write(line) if self._keep else len(line)

    @property
    def checksum(self) -> str:
        """The sum of the SHA-256 of all lines, modulo 2²⁵⁶."""
        return f"{self._sum % 2**256:064x}"


def _differing(sent: Exported, arrived: Exported) -> StoreError:
    counted = ", ".join(
        f"{arrived.head.counts.get(sort, 0):,} {sort} for {number:,}"
        for sort, number in sent.head.counts.items()
        if arrived.head.counts.get(sort, 0) != number
    )
    return StoreError(
        f"What is there now is not what was moved ({counted or 'the same counts, and another content'})",
        remedy="Move into an empty space; to join two memories, export the one and import it into the other.",
    )
