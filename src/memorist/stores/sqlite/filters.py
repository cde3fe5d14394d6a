"""A filter in SQLite's SQL."""

from __future__ import annotations

import json
from typing import NamedTuple

from memorist.model import Filter
from memorist.stores.filters import Dialect
from memorist.stores.sqlite.database import Value


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


_SQLITE = Dialect(_parameter, _among)
