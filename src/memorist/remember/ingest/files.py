"""Files, folders, zip archives and Python objects as sources of texts."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

from memorist.errors import InvalidInput
from memorist.remember.ingest.documents import markdown_drafts, text_drafts
from memorist.remember.ingest.formats import HEAD, check_format, detect_kind, refuse_binary, suffix_of, text_of
from memorist.remember.ingest.model import DraftOrigin, Found, Item, Skipped, pieces
from memorist.remember.ingest.objects import document_drafts, format_of, jsonl_drafts, object_drafts
from memorist.remember.ingest.values import parsed
from memorist.text.patterns import lazy

MOST_MEMBER = 256 * 1024 * 1024
"""The most unpacked bytes per archive member, the same as for a JSON file outside an archive."""
MOST_TOTAL = 4 * MOST_MEMBER
MOST_MEMBERS = 100_000
_CONVERSATIONS = lazy(r"(?:.*/)?conversations(?:[-_]\d+)?\.json")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError),
    *(OSError, ValueError, KeyError),
)


def zip_drafts(path: Path, name: str, format: str | None = None) -> Iterator[Found]:
    """The turns of every conversations.json in an archive; other files are skipped with a reason."""
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        raise InvalidInput(f"{name} is not a readable zip file: {error}", remedy="Download the export again.") from None
    with archive:
        members = archive.infolist()
        wanted = [member for member in members if _CONVERSATIONS.fullmatch(member.filename)]
        _refuse_bombs(members, wanted, name)
        for member in sorted(wanted, key=lambda member: member.filename):
            yield from _member(archive, member, f"{name}/{member.filename.rsplit('/', 1)[-1]}", format)
        for member in members:
            if member not in wanted and not member.is_dir():
                yield Skipped(f"{name}/{member.filename}", "not a conversations file")


def _refuse_bombs(members: list[zipfile.ZipInfo], wanted: list[zipfile.ZipInfo], name: str) -> None:
    if not wanted:
        raise InvalidInput(
            f"{name} contains no conversations.json", remedy="If it contains texts, unpack it and ingest the folder."
        )
    if len(members) > MOST_MEMBERS or sum(member.file_size for member in wanted) > MOST_TOTAL:
        raise InvalidInput(
            f"{name} unpacks to more than {MOST_MEMBERS:,} files or {MOST_TOTAL // 2**20:,} MiB of conversations",
            remedy="Unpack it and ingest its files one by one.",
        )


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str, format: str | None) -> Iterator[Found]:
    try:
        if member.compress_type not in _METHODS:
            raise NotImplementedError
        with archive.open(member) as stream:
            data = stream.read(MOST_MEMBER + 1)
        if len(data) > MOST_MEMBER:
            yield Skipped(where, f"unpacks to more than {MOST_MEMBER // 2**20} MiB")
            return
        refuse_binary(data[:HEAD], where)
        text, notes = text_of(data, where)
        document = parsed(text)
    except _BROKEN as error:
        reason = error.problem if isinstance(error, InvalidInput) else "damaged, encrypted or in an unknown format"
        yield Skipped(where, reason)
        return
    yield from notes
    yield from document_drafts(document, where, format)


MOST_WHOLE = MOST_MEMBER
"""The most bytes of a JSON, Markdown or text file, which is read whole; JSONL has no limit."""
_PROSE = ("markdown", "text")


@dataclass(frozen=True, slots=True)
class File:
    """A file to read: its path, and its name relative to the path given."""

    path: Path
    name: str
    session: str | None = None
    format: str | None = None
    among: bool = False
    """Whether it is part of a folder; then it is skipped if it cannot be read, and the others are read."""

    def items(self) -> Iterator[Item]:
        """Its texts in order, with notes on what was skipped or cleaned."""
        try:
            yield from pieces(self._found(), DraftOrigin(self.name, self.session))
        except (InvalidInput, OSError) as error:
            refusal = error if isinstance(error, InvalidInput) else self._unreadable(error)
            if not self.among:
                raise refusal from None
            yield Skipped(self.name, refusal.problem.removeprefix(f"{self.name} ").partition(":")[0])

    def check(self) -> str:
        """How it will be read; raises if it is missing, unreadable or binary."""
        with self._opened() as stream:
            return detect_kind(stream.read(HEAD), self.name)

    def detected(self) -> str:
        """Its format, detected from the content."""
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
            yield Skipped(self.name, "empty file")
            return
        document = self._document(text) if kind == "json" else kind
        if isinstance(document, tuple):
            yield from document_drafts(document[0], self.name, self.format)
        elif document == "jsonl":
            yield from self._lines()
        else:
            yield from (markdown_drafts if document == "markdown" else text_drafts)(text, self.name)

    def _document(self, text: str) -> tuple[object] | str:
        """A JSON document in a tuple, or the format of a text that only looked like JSON."""
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
                remedy="Split it, or write it as JSONL with one object per line, which has no size limit.",
            )
        return data

    def _opened(self) -> BufferedReader:
        try:
            mode = self.path.stat().st_mode
            if not stat.S_ISREG(mode):
                raise InvalidInput(f"{self.name} is not a regular file", remedy="Pass a file or a folder.")
            return self.path.open("rb")
        except (OSError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> InvalidInput:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        return InvalidInput(f"{self.name} cannot be read: {reason}", remedy="Check that it exists and is readable.")


def _is_document(line: str) -> bool:
    try:
        return isinstance(parsed(line), dict | list)
    except InvalidInput:
        return False


def is_folder(path: Path) -> bool:
    """Whether a path is an accessible folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def below(folder: Path, session: str | None, format: str | None) -> Iterator[File | Skipped]:
    """Every file below a folder, sorted by name; hidden files, links and special files are skipped."""
    waiting = [(folder, "")]
    while waiting:
        path, name = waiting.pop()
        if name and (reason := _left_out(path)):
            yield Skipped(name, reason)
        elif is_folder(path):
            try:
                inside = sorted(path.iterdir(), reverse=True)
            except OSError:
                yield Skipped(name or ".", "unreadable folder")
                continue
            waiting += [(one, f"{name}/{shown(one.name)}".lstrip("/")) for one in inside]
        else:
            yield File(path, name, f"{session}/{name}" if session else None, format, among=True)


def shown(name: str) -> str:
    """A file name as text; its bytes may not be valid UTF-8."""
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # half a surrogate pair: no file has such a name
        return name.encode("utf-8", "replace").decode()


def _left_out(path: Path) -> str | None:
    if path.name.startswith("."):
        return "hidden"
    if path.is_symlink():
        return "symbolic link"
    return None if path.is_file() or is_folder(path) else "not a regular file"


Given = str | Path | Iterable[Any] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Objects:
    """Messages, memories or conversations passed as Python objects."""

    given: Iterable[Any] | Mapping[str, Any]
    session: str | None = None
    format: str | None = None

    def items(self) -> Iterator[Item]:
        """Their texts in order, with notes on what was skipped or cleaned."""
        return pieces(object_drafts(self.given, format=self.format), DraftOrigin(session=self.session))


def sources(
    what: Given, *, session: str | None = None, format: str | None = None
) -> Iterator[File | Objects | Skipped]:
    """The files or objects to read, in order; a path that cannot be read raises at once."""
    check_format(format)
    if session is not None and not session.strip():
        raise InvalidInput("session is empty", remedy="Pass a non-blank name, or omit it.")
    if not isinstance(what, str | Path):
        return iter([_objects(what, session, format)])
    path = Path(what)
    if is_folder(path):
        return below(path, session, format)
    file = File(path, shown(path.name) or "the path", session, format)
    file.check()
    return iter([file])


def read(what: Given, *, session: str | None = None, format: str | None = None) -> Iterator[Item]:
    """Every text of a file, a folder or objects, in order, with what was skipped or cleaned and why.

    The same input gives the same pieces each time. Inside a folder a file that cannot be read is skipped.
    """
    found = sources(what, session=session, format=format)
    return (item for source in found for item in ([source] if isinstance(source, Skipped) else source.items()))


def detect(path: str | Path) -> str:
    """The format of a file, detected from its content: one of FORMATS, or zip."""
    return File(Path(path), Path(path).name).detected()


def _objects(what: object, session: str | None, format: str | None) -> Objects:
    if isinstance(what, bytes | bytearray) or not isinstance(what, Iterable):
        raise InvalidInput(f"cannot ingest a {type(what).__name__}", remedy="Pass a path or a list of messages.")
    return Objects(cast("Iterable[Any]", what), session, format)
