"""The statements that write a memory's row and read it."""

from __future__ import annotations

from memorist.stores.filters import Dialect
from memorist.stores.rows import COLUMNS, USAGE_COLUMNS, Row

_WRITTEN = (*COLUMNS, "words", "original_words")

INSERT = (
    f"INSERT INTO memorist.memories (space, row, seq, {', '.join(_WRITTEN)}) "  # noqa: S608 - names of our own
    f"VALUES (%(space)s, %(row)s, %(seq)s, {', '.join(f'%({name})s' for name in _WRITTEN)})"
)
UPDATE = (
    f"UPDATE memorist.memories SET seq = %(seq)s, {', '.join(f'{name} = %({name})s' for name in _WRITTEN)} "  # noqa: S608
    "WHERE space = %(space)s AND row = %(row)s"
)
SELECT = (
    f"SELECT m.row, {', '.join(f'm.{name}' for name in COLUMNS)}, "  # noqa: S608
    f"u.id, {', '.join(f'u.{name}' for name in USAGE_COLUMNS)} "
    "FROM memorist.memories AS m LEFT JOIN memorist.usage AS u ON u.space = m.space AND u.id = m.id "
    "WHERE m.space = %(space)s"
)
"""Rows for `read`; a caller adds AND and ORDER BY, with columns of `memories` named `m.…`."""


def named(columns: Row) -> dict[str, object]:
    """The values of a memory's columns by their names."""
    return dict(zip(_WRITTEN, columns, strict=True))


def _parameter(name: str) -> str:
    return f"%({name})s"


def _among(column: str, values: str) -> str:
    return f"{column} = ANY({values})"


POSTGRES = Dialect(_parameter, _among)
