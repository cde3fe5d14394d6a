"""All of a store to another one, of whatever sort, checked at the end."""

from __future__ import annotations

import hashlib
import io
import tempfile
from dataclasses import dataclass
from typing import IO, cast

from memorist.errors import StoreError
from memorist.ports import Progress, Store
from memorist.upkeep.exporting import Exported, export
from memorist.upkeep.importing import import_

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
