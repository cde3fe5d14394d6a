"""PDF: the text of each page, with the number of the page as its origin."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memorist.errors import InvalidInput, MissingExtra
from memorist.model import Kind
from memorist.remember.ingest.documents import content_keys
from memorist.remember.ingest.html import WRITTEN_BY_OTHERS
from memorist.remember.ingest.model import DraftMemory, Found, Skipped, joined_blocks, split_text
from memorist.remember.ingest.values import moment
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    from pypdf import PdfReader

    from memorist.remember.record import Fields

MAGIC = b"%PDF-"
SCANNED = "no text on any page, probably because it is a scan"
NO_TEXT = "page without text"
MOST_PAGES = 20_000
_BLANK = lazy(r"\n\s*\n")


def pdf_drafts(path: Path, name: str) -> Iterator[Found]:
    """The chunks of every page that has text."""
    reader = _opened(path, name)
    shared = _shared(reader)
    empty: list[Skipped] = []
    drafts: list[DraftMemory] = []
    for number in range(1, min(_pages(reader, name), MOST_PAGES) + 1):
        where = f"{name}, page {number}"
        text = _text(reader, number, where)
        found = list(_page(text, where, number, shared)) if isinstance(text, str) else []
        drafts += found
        if not found:
            empty.append(text if isinstance(text, Skipped) else Skipped(where, NO_TEXT))
    if not drafts and all(one.reason == NO_TEXT for one in empty):
        raise InvalidInput(f"{name} has {SCANNED}", remedy="Recognise its text first, for example with ocrmypdf.")
    yield from empty
    yield from content_keys(drafts, name)


def _opened(path: Path, name: str) -> PdfReader:
    try:
        from pypdf import PasswordType, PdfReader
    except ImportError:
        raise MissingExtra(
            f"{name} is a PDF, and pypdf is not installed", remedy="Install it with: pip install 'memorist[pdf]'."
        ) from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it would print a line for every oddity of a file
    try:
        reader = PdfReader(path)
        locked = reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED
    except Exception as error:
        raise _damaged(name, error) from None
    if locked:
        raise InvalidInput(f"{name} is encrypted", remedy="Save a copy without a password, and ingest that.")
    return reader


def _pages(reader: PdfReader, name: str) -> int:
    try:
        return len(reader.pages)
    except Exception as error:
        raise _damaged(name, error) from None


def _damaged(name: str, error: Exception) -> InvalidInput:
    """The library raises many kinds of errors, with parts of the file in some messages."""
    return InvalidInput(
        f"{name} is a damaged PDF ({type(error).__name__})", remedy="Open it and save or print it as a new PDF."
    )


def _text(reader: PdfReader, number: int, where: str) -> str | Skipped:
    try:
        return reader.pages[number - 1].extract_text()
    except Exception as error:
        return Skipped(where, f"damaged page ({type(error).__name__})")


def _page(text: str, where: str, number: int, shared: Fields) -> Iterator[DraftMemory]:
    paragraphs = (part for one in _BLANK.split(text) if one.strip() for part in split_text(one))
    for chunk in joined_blocks(paragraphs):
        metadata = {**(shared.get("metadata") or {}), "page": number}
        yield DraftMemory(chunk, where, {**shared, "kind": Kind.SEMANTIC, "metadata": metadata})


def _shared(reader: PdfReader) -> Fields:
    """The title and the date of the document, as far as they can be read."""
    fields: dict[str, Any] = {"trust": WRITTEN_BY_OTHERS}
    try:
        about = reader.metadata
        title = str(about.title or "").strip()[:500] if about else ""
        made = about.creation_date if about else None
    except Exception:
        return cast("Fields", fields)
    if title:
        fields["metadata"] = {"title": title}
    if at := moment(made):
        fields["at"] = at
    return cast("Fields", fields)
