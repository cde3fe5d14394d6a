"""A filter as SQL, with every value a parameter; agrees with `Filter.admits`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from recollect.model import Filter
from recollect.stores.index import micros
from recollect.stores.sqlite.database import Value


class Clause(NamedTuple):
    """A condition on the columns of `memories`, and its named parameters."""

    sql: str
    values: dict[str, Value]


def clause(where: Filter) -> Clause:
    """The condition that admits what the filter admits."""
    values = dict(_values(where))
    return Clause(" AND ".join(_conditions(where)), values)


def _conditions(where: Filter) -> Iterator[str]:
    yield "classification <= :max_classification"
    if where.scopes is not None:
        yield "scope IN (SELECT value FROM json_each(:scopes))"
    if where.kinds is not None:
        yield "kind IN (SELECT value FROM json_each(:kinds))"
    if where.topic is not None:
        yield "topic = :topic"
    if where.tier is not None:
        yield "tier = :tier"
    if where.since is not None:
        yield "valid_from >= :since"
    if where.until is not None:
        yield "valid_from <= :until"
    if where.known_at is not None:
        yield "ingested_at <= :known_at"
        yield "(retracted_at IS NULL OR retracted_at > :known_at)"
    if where.as_of is not None:
        yield "valid_from <= :as_of"
        if not where.include_expired:
            yield "(expires_at IS NULL OR expires_at > :as_of)"
            yield _still_true(where)


def _still_true(where: Filter) -> str:
    unknown = "" if where.known_at is None else " OR expired_at > :known_at"
    return f"(valid_to IS NULL OR valid_to > :as_of{unknown})"


def _values(where: Filter) -> Iterator[tuple[str, Value]]:
    yield "max_classification", where.max_classification
    for name in ("scopes", "kinds"):
        labels: tuple[str, ...] | None = getattr(where, name)
        if labels is not None:
            yield name, json.dumps(labels)
    for name in ("topic", "tier"):
        label: str | None = getattr(where, name)
        if label is not None:
            yield name, str(label)
    for name in ("since", "until", "known_at", "as_of"):
        at: datetime | None = getattr(where, name)
        if at is not None:
            yield name, micros(at)
