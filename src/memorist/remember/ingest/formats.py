"""The registry of formats: what recognises each, and what reads it.

A format is of a file, of the objects in a JSON file, or of a folder whose files belong together. Memorist has a few of
its own, and finds those of other distributions by the entry points of a group when something is ingested. An entry
point names a sequence of formats, the most specific first; Memorist's own come after them.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from io import BufferedReader
from pathlib import Path
from typing import Protocol

from memorist.errors import InvalidInput
from memorist.remember.ingest.decoding import MissingReader, UnreadableFile, suffix_of, text_of, whole_characters
from memorist.remember.ingest.model import Cleaned, Found, Skipped
from memorist.remember.ingest.values import Object

ENTRY_POINTS = "memorist.formats"
"""The group of entry points, each of which names formats."""
EXTRA = "import"
"""The extra that brings the formats of other products."""
OWN_NAMES = ("messages", "jsonl", "json", "markdown", "text")
HEAD = 64 * 1024
"""The bytes at the beginning of a file by which its format is recognised."""
MOST_WHOLE = 256 * 1024 * 1024
"""The most bytes of a file that is read whole; JSONL and lists in JSON have no limit."""


class Head:
    """The beginning of a file, by which its format is recognised."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        self.suffix = suffix_of(name)

    @cached_property
    def text(self) -> str:
        """The beginning as text."""
        return text_of(whole_characters(self.data), self.name)[0]


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read: its path, its name relative to the path given, and the format that the caller named."""

    path: Path
    name: str
    format: str | None = None

    def head(self) -> Head:
        """The beginning of the file."""
        with self.open() as stream:
            return Head(stream.read(HEAD), self.name)

    def open(self) -> BufferedReader:
        """Open the file; raises if it is missing, unreadable or no regular file."""
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise UnreadableFile(self.name, "is not a regular file", remedy="Pass a file or a folder.")
            return self.path.open("rb")
        except (OSError, ValueError) as error:
            raise error if isinstance(error, InvalidInput) else self.unreadable(error) from None

    def whole(self) -> bytes:
        """All bytes of the file; raises if there are too many."""
        with self.open() as stream:
            data = stream.read(MOST_WHOLE + 1)
        if len(data) > MOST_WHOLE:
            remedy = "Split it, or write it as JSONL with one object per line, which has no size limit."
            raise UnreadableFile(self.name, f"is larger than {MOST_WHOLE // 2**20} MiB", remedy=remedy)
        return data

    def text(self) -> tuple[str, Sequence[Cleaned | Skipped]]:
        """All of the file as text, and notes on how it was cleaned, or that it is empty."""
        text, notes = text_of(self.whole(), self.name)
        return text, notes if text.strip() else [*notes, Skipped(self.name, "empty file")]

    def unreadable(self, error: Exception) -> UnreadableFile:
        """The error for a file that the system does not let us read."""
        detail = str(error.strerror) if isinstance(error, OSError) else "not a path"
        return UnreadableFile(
            self.name, "cannot be read", detail=detail, remedy="Check that it exists and is readable."
        )


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How a file is recognised by its beginning, and read."""

    name: str
    recognises: Callable[[Head], bool]
    read: Callable[[InputFile], Iterator[Found]]
    inner: Callable[[InputFile], str] | None = None
    """The format of what is in a file, if that says more than the name."""
    packed: bool = False
    """Whether the file contains others: it is read as what it is, and a format that the caller names is of those."""


Read = Callable[[Object, str, str | None], Iterator[Found]]
"""Yields what is in an object; takes it, its place, and a name for a conversation without one."""


class ObjectReading(Protocol):
    """Reads the objects of one file in order, and remembers what later ones need."""

    def drafts(self, given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        """What is in an object."""
        ...


@dataclass(frozen=True, slots=True)
class ObjectFormat:
    """How an object in a JSON file is recognised, and read by a function, or by a new instance of a class per file."""

    name: str
    recognises: Callable[[Object], bool]
    read: Read | type[ObjectReading]

    def reader(self) -> Read:
        """The reader for the objects of one file."""
        return self.read().drafts if isinstance(self.read, type) else self.read


@dataclass(frozen=True, slots=True)
class FolderFormat:
    """How a folder is recognised by its name and the names in it, and read as one."""

    name: str
    recognises: Callable[[str, Sequence[str]], bool]
    read: Callable[[Path, str], Iterator[Found]]
    files: Callable[[Path], int]
    """How many files with memories it has."""


Format = FileFormat | ObjectFormat | FolderFormat


@cache
def installed() -> tuple[Format, ...]:
    """The formats of other distributions, the most specific first."""
    from importlib.metadata import entry_points

    return tuple(format for entry in entry_points(group=ENTRY_POINTS) for format in entry.load())


def format_names() -> tuple[str, ...]:
    """The names of all formats that a caller can choose."""
    others = (format.name for format in installed() if not (isinstance(format, FileFormat) and format.packed))
    return tuple(dict.fromkeys((*OWN_NAMES, *others)))


def check_format(format: str | None) -> None:
    """Raise for an unknown format."""
    if format is not None and format not in format_names():
        more = "" if installed() else f" Those of other products come with: pip install 'memorist[{EXTRA}]'."
        raise InvalidInput(f"format {format!r} is unknown", remedy=f"Choose one of {', '.join(format_names())}.{more}")


_SIGNATURES = (
    (b"PK\x03\x04", "is a zip archive", EXTRA),
    (b"SQLite format 3\0", "is a SQLite database", EXTRA),
    (b"%PDF-", "is a PDF", "pdf"),
)
PAGES = (".html", ".htm", ".xhtml")
_PAGE = ("<!doctype html", "<html>", "<html ")


def refuse_foreign(head: Head) -> None:
    """Raise for a file that no installed format reads, but one of memorist-import would."""
    for sign, problem, extra in _SIGNATURES:
        if head.data.startswith(sign):
            raise MissingReader(head.name, f"{problem}, and its reader is not installed", extra)
    text = head.text.lstrip().lower()
    if text.startswith(_PAGE) or (head.suffix in PAGES and text.startswith("<")):
        raise MissingReader(head.name, "is an HTML page, and its reader is not installed", EXTRA)
