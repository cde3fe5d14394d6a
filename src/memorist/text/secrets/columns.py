"""Passwords in the columns of a table, below the word that names them."""

from __future__ import annotations

from collections.abc import Iterator

from memorist.text.patterns import lazy
from memorist.text.secrets.form import Secret
from memorist.text.secrets.values import is_strong

_HEADER = lazy(
    r"(?im)^[^\n]*\b(?:pass(?:word|wd|phrase|code)|pwd|kennwort|passwort|api[ _-]?key|token|secret)\b[^\n]*$"
)
_NAMES = lazy(r"(?i)[\w -]{0,30}(?:pass(?:word|wd|phrase|code)?|pwd|kennwort|passwort|key|token|secret)s?")
_SEPARATORS = "|\t,;"
_ROWS = 200
"""Rows that are read below a header."""
_CELLS = 50


def in_columns(text: str) -> Iterator[Secret]:
    """The passwords in the columns of tables that such a word heads: Markdown, CSV or tabs."""
    read = 0
    for header in _HEADER.finditer(text):
        separator = next((sign for sign in _SEPARATORS if sign in header[0]), None)
        if separator is None or header.start() < read:
            continue
        names = header[0].split(separator, _CELLS)
        places = {place for place, name in enumerate(names) if _NAMES.fullmatch(name.strip(" *\"'`"))}
        read = header.end()
        for _ in range(_ROWS if places else 0):
            end = text.find("\n", read + 1)
            row = text[read + 1 : end if end >= 0 else len(text)]
            if separator not in row:
                break
            yield from _cells(row, read + 1, separator, places)
            if end < 0:
                return
            read = end


def _cells(row: str, start: int, separator: str, places: set[int]) -> Iterator[Secret]:
    for place, cell in enumerate(row.split(separator, _CELLS)):
        value = cell.strip(" *\"'`")
        if place in places and is_strong(value):
            at = start + cell.index(value)
            yield Secret("password", at, at + len(value))
        start += len(cell) + 1
