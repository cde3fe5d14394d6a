"""A filter as a yes or no for every row; agrees with `Filter.admits`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from memorist.model import Filter
from memorist.stores.index.columns import Columns
from memorist.stores.index.entry import micros

Mask = NDArray[np.bool_]


def admitted(where: Filter, columns: Columns, alive: Mask) -> Mask:
    """Which of the first `len(alive)` rows are alive and pass the filter."""
    mask = alive.copy()
    for condition in (*_labels(where, columns, len(alive)), *_times(where, columns, len(alive))):
        mask &= condition
    return mask


def _labels(where: Filter, columns: Columns, count: int) -> Iterator[Mask]:
    if where.scopes is not None:
        yield columns.scope.among(where.scopes, count)
    if where.kinds is not None:
        yield columns.kind.among(where.kinds, count)
    if where.topic is not None:
        yield columns.topic.among((where.topic,), count)
    if where.tier is not None:
        yield columns.tier.among((where.tier,), count)
    yield columns.classification.first(count) <= where.max_classification


def _times(where: Filter, columns: Columns, count: int) -> Iterator[Mask]:
    valid_from = columns.valid_from.first(count)
    if where.since is not None:
        yield valid_from >= micros(where.since)
    if where.until is not None:
        yield valid_from <= micros(where.until)
    if where.known_at is not None:
        yield columns.ingested_at.first(count) <= micros(where.known_at)
        yield columns.retracted_at.first(count) > micros(where.known_at)
    if where.as_of is not None:
        yield valid_from <= micros(where.as_of)
        if not where.include_expired:
            yield from _still_valid(where, columns, count, micros(where.as_of))


def _still_valid(where: Filter, columns: Columns, count: int, as_of: int) -> Iterator[Mask]:
    yield columns.expires_at.first(count) > as_of
    open_ended = columns.valid_to.first(count) > as_of
    if where.known_at is not None:
        open_ended |= columns.expired_at.first(count) > micros(where.known_at)
    yield open_ended
