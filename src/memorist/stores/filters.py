"""A filter as SQL, with every value a parameter; agrees with `Filter.admits`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from memorist.model import Filter
from memorist.stores.index import micros

Value = str | int | list[str]


class Clause(NamedTuple):
    """A condition on the columns of `memories`, and its named parameters."""

    sql: str
    values: dict[str, Value]


class Dialect(NamedTuple):
    """How a database writes a named parameter, and a column that is one of a list of texts."""

    parameter: Callable[[str], str]
    among: Callable[[str, str], str]

    def clause(self, where: Filter) -> Clause:
        """The condition that admits what the filter admits."""
        return Clause(" AND ".join(_conditions(where, self)), dict(_values(where)))


def _conditions(where: Filter, dialect: Dialect) -> Iterator[str]:
    at = dialect.parameter
    yield f"classification <= {at('max_classification')}"
    for column, name in (("scope", "scopes"), ("kind", "kinds")):
        if getattr(where, name) is not None:
            yield dialect.among(column, at(name))
    for name in ("topic", "tier"):
        if getattr(where, name) is not None:
            yield f"{name} = {at(name)}"
    if where.since is not None:
        yield f"valid_from >= {at('since')}"
    if where.until is not None:
        yield f"valid_from <= {at('until')}"
    if where.known_at is not None:
        yield f"ingested_at <= {at('known_at')}"
        yield f"(retracted_at IS NULL OR retracted_at > {at('known_at')})"
    if where.as_of is not None:
        yield f"valid_from <= {at('as_of')}"
        if not where.include_expired:
            yield f"(expires_at IS NULL OR expires_at > {at('as_of')})"
            yield _still_true(where, at)


def _still_true(where: Filter, at: Callable[[str], str]) -> str:
    unknown = "" if where.known_at is None else f" OR expired_at > {at('known_at')}"
    return f"(valid_to IS NULL OR valid_to > {at('as_of')}{unknown})"


def _values(where: Filter) -> Iterator[tuple[str, Value]]:
    yield "max_classification", where.max_classification
    for name in ("scopes", "kinds"):
        labels: tuple[str, ...] | None = getattr(where, name)
        if labels is not None:
            yield name, [str(label) for label in labels]
    for name in ("topic", "tier"):
        label: str | None = getattr(where, name)
        if label is not None:
            yield name, str(label)
    for name in ("since", "until", "known_at", "as_of"):
        at: datetime | None = getattr(where, name)
        if at is not None:
            yield name, micros(at)
