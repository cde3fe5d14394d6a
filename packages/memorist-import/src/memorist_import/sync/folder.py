"""The folder that replicas share: change files, each written once, by one replica, and never changed.

A file's name holds its writer, a number and the SHA-256 of its content. So a file that is cut short, still being copied
or changed by somebody is noticed, two replicas never write the same name, and a copy under another name is no change
file. Whatever else is in the folder is left alone.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

from memorist.errors import Error, InvalidInput, NotFound
from memorist.files import PRIVATE, make_folder, refusing, scratch, sync
from memorist.results.moving import ExportHeader, from_line, header_from_data, header_to_data
from memorist.text.patterns import lazy
from memorist.upkeep.export_format import to_line
from memorist.validate import validate
from memorist_import.sync.records import Change, Stamp, change_from_data, change_to_data, check_strings

FORMAT = 1
_NAME = lazy(r"memorist-([0-9a-f]{16})-([0-9]{6,12})-([0-9a-f]{32})\.jsonl")
LONGEST_LINE = 32 * 1024 * 1024
"""Bytes of a line that are read; no memory is nearly as long."""
LARGEST_FILE = 64 * 1024 * 1024
"""Bytes after which a replica begins another file."""
MOST_READ = 4 * LARGEST_FILE
"""Bytes of a file that are read; a larger one was not written by a replica."""

UNUSABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, RecursionError)
"""What reading and writing raise about a line that no replica has written, our own errors about values among them."""
MOST_SKIPPED = 100
"""Lines that are named in a report; others are counted."""


class ChangeFile(NamedTuple):
    """The name of a change file, read."""

    replica: str
    number: int
    digest: str

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"memorist-{self.replica}-{self.number:06}-{self.digest}.jsonl"


@dataclass(frozen=True, slots=True)
class Line:
    """A change with its stamp, and where it is."""

    file: ChangeFile
    number: int
    offset: int
    change: Change
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A file or a line that was not read, and why; never what it says."""

    name: str
    reason: str


@dataclass(slots=True)
class UnreadReport:
    """Files and lines that were not read so far."""

    named: list[UnreadLine] = field(default_factory=list[UnreadLine])
    more: Counter[str] = field(default_factory=Counter[str])
    """How many lines of each file are not named, because they are too many."""

    @property
    def skipped(self) -> tuple[UnreadLine, ...]:
        """All of them."""
        return (
            *self.named,
            *(UnreadLine(name, f"{count:,} more lines cannot be used") for name, count in self.more.items()),
        )

    def line(self, file: ChangeFile, number: int) -> None:
        """Note a line that cannot be used."""
        if len(self.named) < MOST_SKIPPED:
            self.named.append(UnreadLine(file.name, f"line {number} cannot be used"))
        else:
            self.more[file.name] += 1


class Unreadable(Exception):
    """A file that cannot be read now; its reason is for the report."""


class SharedFolder:
    """The shared folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise InvalidInput(f"{path} is not a folder", remedy="Give the folder that the replicas share.")

    def files(self) -> list[ChangeFile]:
        """The change files in it, by name."""
        try:
            names = sorted(entry.name for entry in os.scandir(self.path))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise NotFound(f"{self.path} cannot be read ({error.strerror})", remedy="Check the folder.") from error
        matches = (_NAME.fullmatch(name) for name in names)
        return [ChangeFile(match[1], int(match[2]), match[3]) for match in matches if match]

    def read(self, file: ChangeFile, report: UnreadReport) -> Iterator[Line]:
        """The changes of a file whose content is what its name says; lines that cannot be used are reported.

        The content is checked before the first line is returned.
        """
        with self._opened(file) as opened:
            _check_digest(opened, file)
            opened.seek(0)
            head = _header(opened.readline(LONGEST_LINE), file)
            number = 1
            while True:
                offset, number = opened.tell(), number + 1
                line = opened.readline(LONGEST_LINE)
                if not line:
                    return
                try:
                    change, stamp = _change(line, file, head)
                except (Error, *UNUSABLE):
                    report.line(file, number)
                else:
                    yield Line(file, number, offset, change, stamp)

    def again(self, file: ChangeFile, offsets: Iterable[int]) -> Iterator[tuple[Change, ExportHeader]]:
        """The changes at places of a file that was read before, with its header."""
        with self._opened(file) as opened:
            head = _header(opened.readline(LONGEST_LINE), file)
            for offset in offsets:
                opened.seek(offset)
                yield _change(opened.readline(LONGEST_LINE), file, head)[0], head

    @contextmanager
    def _opened(self, file: ChangeFile) -> Generator[BufferedReader]:
        """A file, opened without following a link or waiting for a pipe."""
        path = self.path / file.name
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise Unreadable(f"it cannot be read ({error.strerror})") from error
        there = os.fstat(descriptor)
        if not stat.S_ISREG(there.st_mode):
            os.close(descriptor)
            raise Unreadable("it is not a file")
        with os.fdopen(descriptor, "rb") as opened:
            if there.st_size > MOST_READ:
                raise Unreadable(f"it is larger than {MOST_READ // 2**20} MB")
            yield opened

    @contextmanager
    def writing(
        self, replica: str, number: int, head: ExportHeader, changes: Iterable[tuple[Change, Stamp]]
    ) -> Generator[list[tuple[Path, ChangeFile]]]:
        """Write changes to files that are not in place yet; yields where they are, and the files they will be."""
        make_folder(self.path)
        with refusing(self.path), scratch(self.path / "memorist") as folder:
            yield list(_written(folder, replica, number, head, changes))

    def place(self, written: Iterable[tuple[Path, ChangeFile]]) -> None:
        """Give written files their names; each is complete when it appears."""
        with refusing(self.path):
            for part, file in written:
                part.replace(self.path / file.name)
            sync(self.path)

    def remove(self, files: Iterable[ChangeFile]) -> None:
        """Remove files."""
        with refusing(self.path):
            for file in files:
                (self.path / file.name).unlink(missing_ok=True)


def _written(
    folder: Path, replica: str, number: int, head: ExportHeader, changes: Iterable[tuple[Change, Stamp]]
) -> Iterator[tuple[Path, ChangeFile]]:
    waiting = iter(changes)
    one = next(waiting, None)
    while one is not None:
        part, digest, size = folder / str(number), hashlib.sha256(), 0
        with part.open("wb") as file:
            first = {**header_to_data(head), "sync": {"format": FORMAT, "replica": replica, "number": number}}
            line: bytes | None = to_line(first)
            while line is not None:
                file.write(line)
                digest.update(line)
                size += len(line)
                line = None if one is None or size > LARGEST_FILE else to_line(change_to_data(*one))
                one = one if line is None else next(waiting, None)
        part.chmod(PRIVATE)
        sync(part)
        yield part, ChangeFile(replica, number, digest.hexdigest()[:32])
        number += 1


def _check_digest(opened: BufferedReader, file: ChangeFile) -> None:
    if hashlib.file_digest(opened, "sha256").hexdigest()[:32] != file.digest:
        raise Unreadable("it is incomplete, or was changed; it is read when it is complete")


def _header(line: bytes, file: ChangeFile) -> ExportHeader:
    try:
        data = from_line(line)
        head = header_from_data(data)
        kind = validate(data.get("sync"), Mapping[str, Any], "sync")
        if (kind.get("replica"), kind.get("number")) != (file.replica, file.number):
            raise Unreadable("its first line does not fit its name")
        if kind.get("format") != FORMAT:
            raise Unreadable("it was written by a newer version; upgrade Memorist")
    except (Error, *UNUSABLE) as error:
        raise Unreadable("its first line is invalid") from error
    return head


def _change(line: bytes, file: ChangeFile, head: ExportHeader) -> tuple[Change, Stamp]:
    """The change of a line, with its stamp; refused if some store could not keep its texts."""
    data = from_line(line)
    if b"\\u" in line:  # only so can JSON write a NUL character or half a surrogate
        check_strings(data)
    return change_from_data(data, file.replica, head.embedding)
