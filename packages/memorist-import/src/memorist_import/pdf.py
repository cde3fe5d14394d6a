"""PDF: the text of each page, with the number of the page as its origin."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memorist.model import Kind
from memorist.remember.ingest.decoding import MissingReader, UnreadableFile
from memorist.remember.ingest.documents import content_keys
from memorist.remember.ingest.formats import Head, InputFile
from memorist.remember.ingest.model import DraftMemory, Found, Skipped, join_blocks, split_text
from memorist.remember.ingest.values import LONGEST_TITLE, moment
from memorist.text.patterns import lazy
from memorist_import.html import WRITTEN_BY_OTHERS

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

    from memorist.remember.record import Fields

MAGIC = b"%PDF-"
SCANNED = "has no text on any page, probably because it is a scan"
NO_TEXT = "page without text"
MOST_PAGES = 20_000
TOO_MUCH = "not read: the pages before took as much work as a file of this size may take"
STEPS, STEPS_PER_BYTE = 100_000, 0.5
BYTES, BYTES_PER_BYTE = 8 * 1024 * 1024, 20
"""The most operations, and unpacked bytes, of all pages: for any file, and for each of its bytes."""
_BLANK = lazy(r"\n\s*\n")


def is_pdf(head: Head) -> bool:
    """Whether a file is a PDF."""
    return MAGIC in head.data[:1024]


def pdf_drafts(file: InputFile) -> Iterator[Found]:
    """The chunks of every page that has text."""
    name = file.name
    reader, work = _opened(file.path, name), _Work(file.path.stat().st_size)
    shared = _shared(reader)
    left_out: list[Skipped] = []
    drafts: list[DraftMemory] = []
    is_scanned = True
    for number in range(1, min(_pages(reader, name), MOST_PAGES) + 1):
        where = f"{name}, page {number}"
        text = _text(reader, number, where, work)
        if isinstance(text, Skipped):
            left_out.append(text)
            is_scanned = False
        elif found := list(_page(text, where, number, shared)):
            drafts += found
            is_scanned = False
        else:
            left_out.append(Skipped(where, NO_TEXT))
    if is_scanned:
        raise UnreadableFile(name, SCANNED, remedy="Recognise its text first, for example with ocrmypdf.")
    yield from left_out
    yield from content_keys(drafts, name)


def _opened(path: Path, name: str) -> PdfReader:
    try:
        from pypdf import PasswordType, PdfReader
    except ImportError:
        raise MissingReader(name, "is a PDF, and pypdf is not installed", "pdf") from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it would print a line for every oddity of a file
    try:
        reader = PdfReader(path)
        locked = reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED
    except Exception as error:
        raise _damaged(name, error) from None
    if locked:
        raise UnreadableFile(name, "is encrypted", remedy="Save a copy without a password, and ingest that.")
    return reader


def _pages(reader: PdfReader, name: str) -> int:
    try:
        return len(reader.pages)
    except Exception as error:
        raise _damaged(name, error) from None


def _damaged(name: str, error: Exception) -> UnreadableFile:
    """The library raises many kinds of errors, with parts of the file in some messages."""
    reason = f"is a damaged PDF ({type(error).__name__})"
    return UnreadableFile(name, reason, remedy="Open it and save or print it as a new PDF.")


class _Work:
    """Counts what the pages of a file cost; a small file may draw one long stream on each of thousands of pages."""

    def __init__(self, size: int) -> None:
        self._forms: dict[str, int] = {}
        """The bytes of each form, by the name under which the page draws it."""
        self._steps, self._bytes = STEPS + int(STEPS_PER_BYTE * size), BYTES + BYTES_PER_BYTE * size

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return self._steps < 0 or self._bytes < 0

    def begin(self, page: PageObject) -> None:
        """Take the drawing of a page, and each form that it may draw."""
        drawing = page.get_contents()
        self._take(b"" if drawing is None else drawing.get_data())
        self._forms = {}
        waiting, seen = [page.get("/Resources")], set[int]()
        while waiting:
            resources = _object(waiting.pop())
            for name, value in _object(resources.get("/XObject")).items():
                form = _object(value)
                if form.get("/Subtype") == "/Form":
                    content: bytes = form.get_data()
                    self._forms[name] = max(len(content), self._forms.get(name, 0))
                    if id(form) not in seen:
                        seen.add(id(form))
                        self._take(content)
                        waiting.append(form.get("/Resources"))

    def step(self, operation: bytes, given: Any, *_: object) -> None:
        """Take one operation, and the bytes of the form that it draws, which are read each time."""
        self._take(b"", self._forms.get(str(given[0]), 0) if operation == b"Do" and given else 0)

    def _take(self, content: bytes, again: int = 0) -> None:
        self._steps -= 1
        self._bytes -= len(content) + again
        if self.is_done:
            raise ValueError


def _object(value: Any) -> Any:
    """What a reference of a file leads to; nothing if that is no object."""
    value = value.get_object() if hasattr(value, "get_object") else value
    return cast("Any", value) if isinstance(value, dict) else {}


def _text(reader: PdfReader, number: int, where: str, work: _Work) -> str | Skipped:
    if work.is_done:
        return Skipped(where, TOO_MUCH)
    try:
        page = reader.pages[number - 1]
        work.begin(page)
        return page.extract_text(visitor_operand_before=work.step)
    except Exception as error:
        if work.is_done:
            return Skipped(where, TOO_MUCH)
        return Skipped(where, f"damaged page ({type(error).__name__})")


def _page(text: str, where: str, number: int, shared: Fields) -> Iterator[DraftMemory]:
    paragraphs = (part for paragraph in _BLANK.split(text) if paragraph.strip() for part in split_text(paragraph))
    for chunk in join_blocks(paragraphs):
        metadata = {**(shared.get("metadata") or {}), "page": number}
        yield DraftMemory(chunk, where, {**shared, "kind": Kind.SEMANTIC, "metadata": metadata})


def _shared(reader: PdfReader) -> Fields:
    """The title and the date of the document, as far as they can be read."""
    fields: dict[str, Any] = {"trust": WRITTEN_BY_OTHERS}
    try:
        about = reader.metadata
        title = str(about.title or "").strip()[:LONGEST_TITLE] if about else ""
        made = about.creation_date if about else None
    except Exception:
        return cast("Fields", fields)
    if title:
        fields["metadata"] = {"title": title}
    if at := moment(made):
        fields["at"] = at
    return cast("Fields", fields)
