"""Files, folders, zip archives and Python objects as sources of texts."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, cast

from memorist.errors import Error, InvalidInput, MissingExtra
from memorist.remember.ingest.archives import Archive, Folder, Tree, json_in, open_zip
from memorist.remember.ingest.claude_code import TOOLS, is_tool_output
from memorist.remember.ingest.cognee import cogx_files, cogx_root
from memorist.remember.ingest.databases import database_drafts, database_format
from memorist.remember.ingest.documents import markdown_drafts, text_drafts
from memorist.remember.ingest.formats import (
    HEAD,
    WHOLE_FILES,
    array_items,
    check_format,
    detect_kind,
    suffix_of,
    text_of,
)
from memorist.remember.ingest.html import html_drafts
from memorist.remember.ingest.model import DraftOrigin, Found, Item, Skipped, pieces
from memorist.remember.ingest.objects import (
    ObjectReader,
    document_drafts,
    format_of,
    jsonl_drafts,
    object_drafts,
    value_drafts,
)
from memorist.remember.ingest.pdf import pdf_drafts
from memorist.remember.ingest.slack import slack_drafts, slack_files, slack_root
from memorist.remember.ingest.values import parse_json
from memorist.text.patterns import lazy

_WANTED = lazy(r"(?:.*/)?(?:conversations(?:[-_]\d+)?|documents/\d++|observations|mental_models|directives)\.json")
"""The files that are read in a zip: conversations of ChatGPT and Claude, and what Hindsight exports."""
UNSAFE = "its name leads out of the archive"


def zip_drafts(path: Path, name: str, format: str | None = None) -> Iterator[Found]:
    """An export of several files, or every file of conversations or memories; the rest is skipped with a reason."""
    with open_zip(path, name) as archive:
        yield from (Skipped(f"{name}/{one}", UNSAFE) for one in archive.unsafe())
        safe = archive.names()
        if export := export_of(safe):
            archive.refuse_bombs(safe, name)
            yield from _EXPORTS[export].drafts(archive, name)
            return
        wanted = [one for one in safe if _WANTED.fullmatch(one)]
        if not wanted:
            raise InvalidInput(
                f"{name} contains no conversations.json and is no export of Slack, Hindsight or Cognee",
                remedy="If it contains texts, unpack it and ingest the folder.",
            )
        archive.refuse_bombs(wanted, name)
        for one in wanted:
            yield from _member(archive, one, f"{name}/{one.rpartition('/')[2]}", format)
        others = sorted({*safe} - {*wanted})
        yield from (Skipped(f"{name}/{one}", "not a file of conversations or memories") for one in others)


def _member(archive: Archive, member: str, where: str, format: str | None) -> Iterator[Found]:
    try:
        document, notes = json_in(archive, member, where)
    except InvalidInput as error:
        yield Skipped(where, error.problem.removeprefix(f"{where} "))
        return
    yield from notes
    yield from document_drafts(document, where, format)


def cogx_drafts(tree: Tree, name: str) -> Iterator[Found]:
    """The records of an archive of Cognee, the names before the facts that need them."""
    reader, files = ObjectReader("cognee"), cogx_files(tree)
    for file in files:
        try:
            stream = BytesIO(tree.read(file))
        except InvalidInput as error:
            yield Skipped(file, error.problem)
            continue
        yield from jsonl_drafts(stream, file, reader)
    yield from (Skipped(one, "not a file of records") for one in tree.names() if one not in files)


@dataclass(frozen=True, slots=True)
class Export:
    """How an export of several files is recognised and read as one."""

    root: Callable[[Sequence[str]], str | None]
    files: Callable[[Tree], Sequence[str]]
    drafts: Callable[[Tree, str], Iterator[Found]]


_EXPORTS: Mapping[str, Export] = {
    "slack": Export(slack_root, slack_files, slack_drafts),
    "cognee": Export(cogx_root, cogx_files, cogx_drafts),
}


def export_of(names: Sequence[str]) -> str | None:
    """Whose export these files are, if they are read as one."""
    return next((format for format, export in _EXPORTS.items() if export.root(names) is not None), None)


MOST_WHOLE = 256 * 1024 * 1024
"""The most bytes of a file that is read whole; JSONL and lists in JSON have no limit."""
STREAMED = 32 * 1024 * 1024
"""The bytes of a JSON file above which the items of its list are read one by one."""
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
    files = 1

    def items(self) -> Iterator[Item]:
        """Its texts in order, with notes on what was skipped or cleaned."""
        try:
            yield from pieces(self._found(), DraftOrigin(self.name, self.session))
        except (InvalidInput, MissingExtra, OSError) as error:
            refusal = error if isinstance(error, Error) else self._unreadable(error)
            if not self.among:
                raise refusal from None
            reason = refusal.problem.removeprefix(f"{self.name} ").partition(":")[0]
            remedy = f": {refusal.remedy}" if isinstance(refusal, MissingExtra) else ""
            yield Skipped(self.name, reason + remedy)

    def check(self) -> str:
        """How it will be read; raises if it is missing, unreadable or binary."""
        with self._opened() as stream:
            return detect_kind(stream.read(HEAD), self.name)

    def detected(self) -> str:
        """Its format, detected from the content."""
        kind = self.check()
        if kind == "sqlite":
            return database_format(self.path, self.name)
        if kind != "json":
            return kind
        if self._is_long_list():
            return format_of(list(islice(self._array(), 1)))
        document = self._document(text_of(self._whole(), self.name)[0])
        return document if isinstance(document, str) else format_of(document[0])

    def _found(self) -> Iterator[Found]:
        kind = self.check()
        if kind == "zip":
            return zip_drafts(self.path, self.name, self.format)
        if kind == "sqlite":
            return database_drafts(self.path, self.name, self.format)
        if self.format in WHOLE_FILES:
            kind = self.format
        elif self.format and kind != "jsonl":
            kind = "json"
        if kind == "pdf":
            return pdf_drafts(self.path, self.name)
        if kind == "html":
            return html_drafts(self._whole(), self.name)
        if kind == "json" and self._is_long_list():
            return value_drafts(self._array(), self.name, self.format)
        return self._lines() if kind == "jsonl" else self._from_whole(kind)

    def _lines(self) -> Iterator[Found]:
        with self._opened() as stream:
            yield from jsonl_drafts(stream, self.name, ObjectReader(self.format))

    def _is_long_list(self) -> bool:
        with self._opened() as stream:
            head = text_of(stream.read(HEAD), self.name)[0]
            return stream.seek(0, 2) > STREAMED and head.lstrip().startswith("[")

    def _array(self) -> Iterator[Any]:
        with self._opened() as stream:
            yield from array_items(stream, self.name)

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
            return (parse_json(text),)
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
        return isinstance(parse_json(line), dict | list)
    except InvalidInput:
        return False


def is_folder(path: Path) -> bool:
    """Whether a path is an accessible folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class ExportFolder:
    """An unpacked export of several files, which is read as one."""

    path: Path
    name: str
    export: Export
    session: str | None = None

    @property
    def files(self) -> int:
        """How many files with memories it has."""
        return len(self.export.files(Folder(self.path)))

    def items(self) -> Iterator[Item]:
        """Its texts in order, with notes on what was skipped."""
        return pieces(self.export.drafts(Folder(self.path), self.name), DraftOrigin(session=self.session))


def below(folder: Path, session: str | None, format: str | None) -> Iterator[File | ExportFolder | Skipped]:
    """Every file below a folder, sorted by name; hidden files, links and special files are skipped."""
    waiting = [(folder, "")]
    while waiting:
        path, name = waiting.pop()
        if name and (reason := _left_out(path)):
            yield Skipped(name, reason)
        elif is_tool_output(name):
            yield Skipped(name, TOOLS)
        elif is_folder(path):
            try:
                inside = sorted(path.iterdir(), reverse=True)
            except OSError:
                yield Skipped(name or ".", "unreadable folder")
                continue
            if export := export_of([one.name for one in inside]):
                yield ExportFolder(path, name or "the folder", _EXPORTS[export], session)
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

    name = "the objects"
    given: Iterable[Any] | Mapping[str, Any]
    session: str | None = None
    format: str | None = None
    files = 0

    def items(self) -> Iterator[Item]:
        """Their texts in order, with notes on what was skipped or cleaned."""
        return pieces(object_drafts(self.given, format=self.format), DraftOrigin(session=self.session))


def sources(
    what: Given, *, session: str | None = None, format: str | None = None
) -> Iterator[File | ExportFolder | Objects | Skipped]:
    """The files or objects to read, in order; a path that cannot be read raises at once."""
    check_format(format)
    if session is not None and not session.strip():
        raise InvalidInput("session is empty", remedy="Pass a non-blank name, or omit it.")
    if not isinstance(what, str | Path):
        return iter([_objects(what, session, format)])
    path = resolved(what)
    if is_folder(path):
        return below(path, session, format)
    file = File(path, shown(path.name) or "the path", session, format)
    file.check()
    return iter([file])


def resolved(given: str | Path) -> Path:
    """The path without links, so that a file has the same name however it was given."""
    try:
        return Path(given).resolve()
    except (OSError, ValueError, RuntimeError):
        return Path(given)  # refused when it is opened, with the reason


def read(what: Given, *, session: str | None = None, format: str | None = None) -> Iterator[Item]:
    """Every text of a file, a folder or objects, in order, with what was skipped or cleaned and why.

    The same input gives the same pieces each time. Inside a folder a file that cannot be read is skipped.
    """
    found = sources(what, session=session, format=format)
    return (item for source in found for item in ([source] if isinstance(source, Skipped) else source.items()))


def detect(path: str | Path) -> str:
    """The format of a file, detected from its content: one of FORMATS, or zip."""
    path = resolved(path)
    export = export_of([one for one in Folder(path).names() if "/" not in one]) if is_folder(path) else None
    return export or File(path, path.name).detected()


def _objects(what: object, session: str | None, format: str | None) -> Objects:
    if isinstance(what, bytes | bytearray) or not isinstance(what, Iterable):
        raise InvalidInput(f"cannot ingest a {type(what).__name__}", remedy="Pass a path or a list of messages.")
    return Objects(cast("Iterable[Any]", what), session, format)
