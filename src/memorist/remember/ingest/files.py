"""The files below a path: which are read, and how."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from memorist.errors import InvalidInput
from memorist.remember.ingest.archive import MOST_MEMBER, zip_drafts
from memorist.remember.ingest.decode import HEAD, text_of
from memorist.remember.ingest.detect import kind_of, suffix_of
from memorist.remember.ingest.documents import document_drafts
from memorist.remember.ingest.draft import Found, Place, settled
from memorist.remember.ingest.jsonl import jsonl_drafts
from memorist.remember.ingest.markdown import markdown_drafts
from memorist.remember.ingest.model import Item, Skipped
from memorist.remember.ingest.objects import format_of
from memorist.remember.ingest.plain import text_drafts
from memorist.remember.ingest.values import parsed

MOST_WHOLE = MOST_MEMBER
"""Bytes of a file that is read whole, as JSON, Markdown and text are; JSONL has no limit."""
_PROSE = ("markdown", "text")


@dataclass(frozen=True, slots=True)
class File:
    """A file to read: where it lies, and its name below the path that was given."""

    path: Path
    name: str
    session: str | None = None
    format: str | None = None
    among: bool = False
    """Whether it is one of a folder's, so that the others are read even if it cannot be."""

    def items(self) -> Iterator[Item]:
        """Its texts in order, and what was skipped or cleaned; unreadable, it is refused, or skipped among others."""
        try:
            yield from settled(self._found(), Place(self.name, self.session))
        except (InvalidInput, OSError) as error:
            refusal = error if isinstance(error, InvalidInput) else self._unreadable(error)
            if not self.among:
                raise refusal from None
            yield Skipped(self.name, refusal.problem.removeprefix(f"{self.name} ").partition(":")[0])

    def check(self) -> str:
        """How it will be read; refuses one that is missing, closed to us, or binary."""
        with self._opened() as stream:
            return kind_of(stream.read(HEAD), self.name)

    def detected(self) -> str:
        """Its format by what it holds."""
        kind = self.check()
        if kind != "json":
            return kind
        document = self._document(text_of(self._whole(), self.name)[0])
        return document if isinstance(document, str) else format_of(document[0])

    def _found(self) -> Iterator[Found]:
        kind = self.check()
        if kind == "zip":
            return zip_drafts(self.path, self.name, self.format)
        if self.format in ("jsonl", *_PROSE):
            kind = self.format
        elif self.format == "json" or (self.format and kind in _PROSE):
            kind = "json"
        return self._lines() if kind == "jsonl" else self._from_whole(kind)

    def _lines(self) -> Iterator[Found]:
        with self._opened() as stream:
            yield from jsonl_drafts(stream, self.name, self.format)

    def _from_whole(self, kind: str) -> Iterator[Found]:
        text, notes = text_of(self._whole(), self.name)
        yield from notes
        if not text.strip():
            yield Skipped(self.name, "an empty file")
            return
        document = self._document(text) if kind == "json" else kind
        if isinstance(document, tuple):
            yield from document_drafts(document[0], self.name, self.format)
        elif document == "jsonl":
            yield from self._lines()
        else:
            yield from (markdown_drafts if document == "markdown" else text_drafts)(text, self.name)

    def _document(self, text: str) -> tuple[object] | str:
        """A JSON document, or the format of what only looked like one."""
        try:
            return (parsed(text),)
        except InvalidInput as error:
            if _is_document(text.strip().split("\n", 1)[0]):
                return "jsonl"
            if suffix_of(self.name) == ".json" or self.format not in (None, *_PROSE):
                raise InvalidInput(f"{self.name} is {error.problem}", remedy=error.remedy) from None
            return "text"

    def _whole(self) -> bytes:
        with self._opened() as stream:
            data = stream.read(MOST_WHOLE + 1)
        if len(data) > MOST_WHOLE:
            raise InvalidInput(
                f"{self.name} is larger than {MOST_WHOLE // 2**20} MiB",
                remedy="Split it, or write it as JSONL, one object a line, which is read without a limit.",
            )
        return data

    def _opened(self) -> BufferedReader:
        try:
            mode = self.path.stat().st_mode
            if not stat.S_ISREG(mode):
                raise InvalidInput(f"{self.name} is no regular file", remedy="Give a file or a folder.")
            return self.path.open("rb")
        except (OSError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> InvalidInput:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        return InvalidInput(f"{self.name} cannot be read: {reason}", remedy="Check that it exists and may be read.")


def _is_document(line: str) -> bool:
    try:
        return isinstance(parsed(line), dict | list)
    except InvalidInput:
        return False


def is_folder(path: Path) -> bool:
    """Whether a path is a folder that can be seen."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def below(folder: Path, session: str | None, format: str | None) -> Iterator[File | Skipped]:
    """Every file below a folder in the order of the names, hidden ones, links and special files left out."""
    waiting = [(folder, "")]
    while waiting:
        path, name = waiting.pop()
        if name and (reason := _left_out(path)):
            yield Skipped(name, reason)
        elif is_folder(path):
            try:
                inside = sorted(path.iterdir(), reverse=True)
            except OSError:
                yield Skipped(name or ".", "a folder that cannot be read")
                continue
            waiting += [(one, f"{name}/{shown(one.name)}".lstrip("/")) for one in inside]
        else:
            yield File(path, name, f"{session}/{name}" if session else None, format, among=True)


def shown(name: str) -> str:
    """A file's name as text; the bytes of a name need not be UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _left_out(path: Path) -> str | None:
    if path.name.startswith("."):
        return "hidden"
    if path.is_symlink():
        return "a link"
    return None if path.is_file() or is_folder(path) else "no regular file"
