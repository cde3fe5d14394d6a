"""Files, folders and Python objects as sources of texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

from memorist.errors import Error, InvalidInput, MissingExtra
from memorist.remember.ingest.decoding import (
    MissingReader,
    UnreadableFile,
    array_items,
    reason_of,
    refuse_binary,
    suffix_of,
    text_of,
)
from memorist.remember.ingest.documents import HEADING_LINE, markdown_drafts, text_drafts
from memorist.remember.ingest.formats import (
    EXTRA,
    HEAD,
    FileFormat,
    FolderFormat,
    Head,
    InputFile,
    check_format,
    installed,
    refuse_foreign,
)
from memorist.remember.ingest.model import DraftOrigin, Found, Item, Skipped, pieces
from memorist.remember.ingest.objects import (
    ObjectReader,
    document_drafts,
    format_of,
    jsonl_drafts,
    object_drafts,
    value_drafts,
)
from memorist.remember.ingest.values import NotJson, parse_json
from memorist.text.patterns import lazy

STREAMED = 32 * 1024 * 1024
"""The bytes of a JSON file above which the items of its list are read one by one."""
_JSON = lazy(r"\s*(?:\{\s*[\"}]|\[\s*[{\"\]])")
_LINES = (".jsonl", ".ndjson")
_MARKDOWN = (".md", ".markdown", ".mdx", ".mkd")
_PROSE = (".txt", ".text", "")


def is_jsonl(head: Head) -> bool:
    """Whether a file has a JSON document on each line."""
    return head.suffix in _LINES or bool(_JSON.match(head.text) and _has_json_lines(head.text))


def _has_json_lines(text: str) -> bool:
    """Whether the first line is a complete JSON document and another one follows."""
    first, _, rest = text.strip().partition("\n")
    if not rest.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def is_json(head: Head) -> bool:
    """Whether a file is, or claims to be, one JSON document."""
    return head.suffix == ".json" or bool(_JSON.match(head.text))


def is_markdown(head: Head) -> bool:
    """Whether a file is Markdown, by its name or its headings."""
    return head.suffix in _MARKDOWN or (head.suffix in _PROSE and len(HEADING_LINE.findall(head.text)) >= 2)


def read_jsonl(file: InputFile) -> Iterator[Found]:
    """The drafts in every line."""
    with file.open() as stream:
        yield from jsonl_drafts(stream, file.name, ObjectReader(file.format))


def read_json(file: InputFile) -> Iterator[Found]:
    """The drafts in a document; a text that only looked like JSON is read as what it is."""
    if _is_long_list(file):
        yield from value_drafts(_array(file), file.name, file.format)
        return
    text, notes = file.text()
    document = _document(text, file) if text.strip() else TEXT
    if isinstance(document, FileFormat):
        yield from document.read(file)
        return
    if document[0] and not installed() and format_of(document[0]) is None:
        problem = "has no messages and no memories in our form, and no other reader is installed"
        raise MissingReader(file.name, problem, EXTRA)
    yield from notes
    yield from document_drafts(document[0], file.name, file.format)


def json_format(file: InputFile) -> str:
    """The format of the objects in a document."""
    if _is_long_list(file):
        return format_of(list(islice(_array(file), 1))) or JSON.name
    document = _document(file.text()[0], file)
    return document.name if isinstance(document, FileFormat) else format_of(document[0]) or JSON.name


def _document(text: str, file: InputFile) -> tuple[object] | FileFormat:
    """A JSON document in a tuple, or the format of a text that only looked like JSON."""
    try:
        return (parse_json(text),)
    except NotJson as error:
        if _is_document(text.strip().split("\n", 1)[0]):
            return JSONL
        if suffix_of(file.name) == ".json" or file.format not in (None, MARKDOWN.name, TEXT.name):
            raise UnreadableFile(file.name, "is not JSON", detail=error.detail, remedy=error.remedy) from None
        return TEXT


def _is_document(line: str) -> bool:
    try:
        return isinstance(parse_json(line), dict | list)
    except InvalidInput:
        return False


def _is_long_list(file: InputFile) -> bool:
    with file.open() as stream:
        head = text_of(stream.read(HEAD), file.name)[0]
        return stream.seek(0, 2) > STREAMED and head.lstrip().startswith("[")


def _array(file: InputFile) -> Iterator[Any]:
    with file.open() as stream:
        yield from array_items(stream, file.name)


def read_markdown(file: InputFile) -> Iterator[Found]:
    """The chunks of a Markdown file."""
    text, notes = file.text()
    yield from notes
    yield from markdown_drafts(text, file.name)


def read_text(file: InputFile) -> Iterator[Found]:
    """The turns of a transcript, or the paragraphs of another text."""
    text, notes = file.text()
    yield from notes
    yield from text_drafts(text, file.name)


JSONL = FileFormat("jsonl", is_jsonl, read_jsonl)
JSON = FileFormat("json", is_json, read_json, inner=json_format)
MARKDOWN = FileFormat("markdown", is_markdown, read_markdown)
TEXT = FileFormat("text", lambda head: True, read_text)
OWN = (JSONL, JSON, MARKDOWN, TEXT)
"""Memorist's own formats of files, the most specific first."""


def file_format(head: Head, chosen: str | None = None) -> FileFormat:
    """How to read a file, by its beginning and the format that the caller named; raises if it is binary."""
    others = [format for format in installed() if isinstance(format, FileFormat)]
    found = next((format for format in others if format.recognises(head)), None)
    if found is None:
        refuse_foreign(head)
        refuse_binary(head.data, head.name)
        found = next(format for format in OWN if format.recognises(head))
    if chosen in (None, found.name) or found.packed:
        return found
    named = [format for format in (*others, *OWN) if format.name == chosen]
    if named:
        return next((format for format in named if format.recognises(head)), named[-1])
    return JSONL if found is JSONL else JSON


def folder_format(name: str, inside: Sequence[str]) -> FolderFormat | None:
    """How to read a folder as one, by its name and the names in it; None if its files are read one by one."""
    others = (format for format in installed() if isinstance(format, FolderFormat))
    return next((format for format in others if format.recognises(name, inside)), None)


@dataclass(frozen=True, slots=True)
class File(InputFile):
    """A file as a source of texts."""

    session: str | None = None
    among: bool = False
    """Whether it is part of a folder; then it is skipped if it cannot be read, and the others are read."""
    files = 1

    def items(self) -> Iterator[Item]:
        """Its texts in order, with notes on what was skipped or cleaned."""
        try:
            found = file_format(self.head(), self.format).read(self)
            yield from pieces(found, DraftOrigin(self.name, self.session))
        except (InvalidInput, MissingExtra, OSError) as error:
            refusal = error if isinstance(error, Error) else self.unreadable(error)
            if not self.among:
                raise refusal from None
            yield Skipped(self.name, reason_of(refusal))

    def detected(self) -> str:
        """Its format, detected from the content; raises if it is missing, unreadable or binary."""
        format = file_format(self.head())
        return format.inner(self) if format.inner else format.name


def is_folder(path: Path) -> bool:
    """Whether a path is an accessible folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class ExportFolder:
    """A folder whose files are read as one."""

    path: Path
    name: str
    format: FolderFormat
    session: str | None = None

    @property
    def files(self) -> int:
        """How many files with memories it has."""
        return self.format.files(self.path)

    def items(self) -> Iterator[Item]:
        """Its texts in order, with notes on what was skipped."""
        return pieces(self.format.read(self.path, self.name), DraftOrigin(session=self.session))


def below(folder: Path, session: str | None, format: str | None) -> Iterator[File | ExportFolder | Skipped]:
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
            if export := folder_format(name, [entry.name for entry in inside]):
                yield ExportFolder(path, name or "the folder", export, session)
                continue
            waiting += [(entry, f"{name}/{shown(entry.name)}".lstrip("/")) for entry in inside]
        else:
            yield File(path, name, format, f"{session}/{name}" if session else None, among=True)


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
    file = File(path, shown(path.name) or "the path", format, session)
    file_format(file.head())
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
    """The format of a file or folder, detected from its content: one of `format_names`, or zip."""
    path = resolved(path)
    export = folder_format("", [entry.name for entry in path.iterdir()]) if is_folder(path) else None
    return export.name if export else File(path, path.name).detected()


def _objects(what: object, session: str | None, format: str | None) -> Objects:
    if isinstance(what, bytes | bytearray) or not isinstance(what, Iterable):
        raise InvalidInput(f"cannot ingest a {type(what).__name__}", remedy="Pass a path or a list of messages.")
    return Objects(cast("Iterable[Any]", what), session, format)
