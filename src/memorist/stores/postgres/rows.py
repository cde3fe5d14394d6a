"""Values as PostgreSQL keeps them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector.psycopg.halfvec import register_halfvec_info
from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from memorist.stores.listing import SqlDialect
from memorist.stores.rows import COLUMNS, USAGE_COLUMNS, Row

TEXT = 25
"""The number of the type `text`."""


def disguised(text: str) -> str:
    """A text as the server keeps it."""
    return text.replace("\1", "\1\2").replace("\0", "\1\1") if "\0" in text or "\1" in text else text


def revealed(text: str) -> str:
    """A text as it was; the inverse of `disguised`."""
    return text.replace("\1\1", "\0").replace("\1\2", "\1") if "\1" in text else text


class _Out(Dumper):
    oid = TEXT

    def dump(self, obj: str) -> Buffer:
        return disguised(obj).encode()


class _OutBinary(_Out):
    format = Format.BINARY


class _In(Loader):
    def load(self, data: Buffer) -> str:
        return revealed(str(data, "utf-8"))


class _InBinary(_In):
    format = Format.BINARY


class _HalvesIn(Loader):
    """Dimension and padding, two bytes each, then the numbers, all big-endian."""

    format = Format.BINARY

    def load(self, data: Buffer) -> NDArray[np.float16]:
        return np.frombuffer(bytes(data), ">f2", offset=4).astype(np.float16)


def adapt(connection: Connection[Any]) -> None:
    """Teach a connection our texts and, where the server has pgvector, half-precision vectors."""
    adapters = connection.adapters
    for dumper in (_OutBinary, _Out):
        adapters.register_dumper(str, dumper)
    for loader in (_In, _InBinary):
        adapters.register_loader(TEXT, loader)
    halfvec = TypeInfo.fetch(connection, "halfvec")
    if halfvec is not None:
        register_halfvec_info(connection, halfvec)
        adapters.register_loader(halfvec.oid, _HalvesIn)


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


POSTGRES = SqlDialect(_parameter, _among)
