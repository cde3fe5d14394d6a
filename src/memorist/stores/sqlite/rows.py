"""Rows as SQLite keeps them, and filters as SQL."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memorist.model import Filter
from memorist.stores.listing import SqlDialect
from memorist.stores.rows import COLUMNS, USAGE_COLUMNS
from memorist.stores.sqlite.connection import Value

UPDATE = (
    f"UPDATE memories SET seq = ?, {', '.join(f'{name} = ?' for name in COLUMNS)}, "  # noqa: S608 - names of our own
    "words = ?, original_words = ? WHERE row = ?"
)
INSERT = (
    f"INSERT INTO memories (row, seq, {', '.join(COLUMNS)}, words, original_words) "  # noqa: S608 - names of our own
    f"VALUES ({', '.join('?' * (len(COLUMNS) + 4))})"
)
SELECT = (
    f"SELECT row, {', '.join(f'm.{name}' for name in COLUMNS)}, u.id, {', '.join(USAGE_COLUMNS)} "  # noqa: S608
    "FROM memories AS m LEFT JOIN usage AS u ON u.id = m.id"
)
"""Rows for `read`; a caller adds WHERE and ORDER BY, with columns of `memories` named `m.…`."""


def packed(vector: NDArray[np.float16]) -> bytes:
    """A vector as it is kept."""
    return vector.astype("<f2", copy=False).tobytes()


class Clause(NamedTuple):
    """A condition on the columns of `memories`, and its named parameters."""

    sql: str
    values: dict[str, Value]


def clause(where: Filter) -> Clause:
    """The condition that admits what the filter admits."""
    sql, values = _SQLITE.clause(where)
    return Clause(sql, {name: json.dumps(one) if isinstance(one, list) else one for name, one in values.items()})


def _parameter(name: str) -> str:
    return f":{name}"


def _among(column: str, values: str) -> str:
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - names of our own


_SQLITE = SqlDialect(_parameter, _among)
