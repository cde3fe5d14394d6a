"""Bytes as text: encodings, lines of any number, and the items of a long JSON array."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from typing import IO, Any

from memorist.errors import Error, InvalidInput, MissingExtra
from memorist.remember.ingest.model import Cleaned, Skipped
from memorist.text.patterns import lazy

LONGEST_LINE = 64 * 1024 * 1024
NOT_UTF8 = "invalid UTF-8 bytes replaced"
NUL = "NUL characters removed"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY = (
    *(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"OggS", b"ID3", b"\x7fELF"),
    *(b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"Rar!", b"\xfd7zXZ", b"PK\x05\x06", b"\xd0\xcf\x11\xe0"),
)
_ESCAPED = lazy("[\udc80-\udcff]")
_CONTROL = lazy("[\0-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_TOLERATED = 0.1


def encoding_of(head: bytes) -> str:
    """The encoding given by a byte order mark; UTF-8 without one."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")


class UnreadableFile(InvalidInput):
    """A file cannot be read.

    `reason` says why, without its name and without details.
    """

    def __init__(self, name: str, reason: str, *, detail: str = "", remedy: str) -> None:
        self.reason = reason
        super().__init__(f"{name} {reason}: {detail}" if detail else f"{name} {reason}", remedy=remedy)


class MissingReader(MissingExtra):
    """The reader of a file is not installed.

    `reason` names the extra that brings it.
    """

    def __init__(self, name: str, problem: str, extra: str) -> None:
        remedy = f"Install it with: pip install 'memorist[{extra}]'."
        self.reason = f"{problem}: {remedy}"
        super().__init__(f"{name} {problem}", remedy=remedy)


def reason_of(error: Error) -> str:
    """Why a file or a part of it cannot be read, for a report that names its place elsewhere."""
    return error.reason if isinstance(error, UnreadableFile | MissingReader) else error.problem


def refuse_binary(head: bytes, name: str) -> None:
    """Raise for binary data and for text in an unknown encoding."""
    encoding = encoding_of(head)
    text = codecs.getincrementaldecoder(encoding)(_errors(encoding)).decode(head)
    if (encoding == "utf-8" and head.startswith(_BINARY)) or len(_CONTROL.findall(text)) > _TOLERATED * len(text):
        raise UnreadableFile(name, "is a binary file, not text", remedy="Pass text, Markdown, JSON or JSONL.")
    if len(_ESCAPED.findall(text)) + text.count("\ufffd") > _TOLERATED * len(text):
        remedy = "Convert it first, for example with: iconv -f GB18030 -t UTF-8 FILE."
        raise UnreadableFile(name, "is not UTF-8 text", remedy=remedy)


def text_of(data: bytes, name: str) -> tuple[str, list[Cleaned]]:
    """The text of a whole file with `\\n` line ends, and notes on how it was cleaned."""
    encoding = encoding_of(data)
    text = data.decode(encoding, _errors(encoding)).replace("\r\n", "\n").replace("\r", "\n")
    notes: list[Cleaned] = []
    for sign, put, reason in ((_ESCAPED, "\ufffd", NOT_UTF8), (lazy("\0"), "", NUL)):
        if first := sign.search(text):
            line = text.count("\n", 0, first.start()) + 1
            notes.append(Cleaned(f"{name}:{line}", reason))
            text = sign.sub(put, text)
    return text, notes


def lines(stream: IO[bytes], name: str) -> Iterator[tuple[str, str] | Skipped | Cleaned]:
    """The non-blank lines of a stream, each with its place; the file may be of any size."""
    head = stream.read(4)
    stream.seek(0)
    encoding = encoding_of(head)
    text = io.TextIOWrapper(stream, encoding, _errors(encoding))
    number = 0
    try:
        while line := text.readline(LONGEST_LINE):
            number += 1
            where = f"{name}:{number}"
            if len(line) == LONGEST_LINE and not line.endswith("\n"):
                yield Skipped(where, f"line longer than {LONGEST_LINE:,} characters")
                _to_line_end(text)
                continue
            cleaned = _ESCAPED.sub("\ufffd", line)
            if cleaned != line:
                yield Cleaned(where, NOT_UTF8)
            if "\0" in cleaned:
                yield Cleaned(where, NUL)
                cleaned = cleaned.replace("\0", "")
            if cleaned.strip():
                yield where, cleaned
    finally:
        text.detach()


def _to_line_end(text: io.TextIOWrapper) -> None:
    while (more := text.readline(LONGEST_LINE)) and not more.endswith("\n"):
        pass


_PORTION = 1024 * 1024


def array_items(stream: IO[bytes], name: str) -> Iterator[Any]:
    """The items of a JSON array one by one; the file may be of any size."""
    encoding = encoding_of(stream.read(4))
    stream.seek(0)
    text = io.TextIOWrapper(stream, encoding, "replace")
    decoder = json.JSONDecoder(parse_constant=lambda _: None)
    held, at = text.read(_PORTION).lstrip()[1:], 0  # without its opening bracket
    try:
        while not held.startswith("]", at := at + _gap(held, at)):
            item = _item(decoder, held, at)
            if item is not None:
                value, at = item
                yield value
                continue
            held, at = held[at:], 0
            # Twice as much each time, so that a long item is not decoded again and again.
            portion = text.read(max(_PORTION, len(held))) if len(held) <= LONGEST_LINE else ""
            if not portion:
                raise UnreadableFile(name, "is not JSON", detail="its list is broken", remedy="Export it again.")
            held += portion
    finally:
        text.detach()


def _gap(text: str, at: int) -> int:
    """How many spaces and commas there are before the next item."""
    between = _BETWEEN.match(text, at)
    return between.end() - at if between else 0


def _item(decoder: json.JSONDecoder, text: str, at: int) -> tuple[Any, int] | None:
    """The item at a place, and the place after it; None if the text may end within it."""
    try:
        value, end = decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return (value, end) if end < len(text) else None


_BETWEEN = lazy(r"[\s,]*+")


def _errors(encoding: str) -> str:
    return "surrogateescape" if encoding.startswith("utf-8") else "replace"


def suffix_of(name: str) -> str:
    """The extension of a file name in lower case, with its dot, or an empty string."""
    last = name.rsplit("/", 1)[-1]
    return f".{last.rsplit('.', 1)[-1].lower()}" if "." in last[1:] else ""


def whole_characters(head: bytes) -> bytes:
    """The bytes without an incomplete character at their end."""
    if encoding_of(head).startswith("utf-8"):
        return head[: len(head) - next((n for n in (1, 2, 3) if head[-n : -n + 1 or None] >= b"\xc0"), 0)]
    return head[: len(head) // 4 * 4]
