"""The best of many scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memorist.model import Hit

_SAMPLED_FROM = 8192
_STRIDE = 64


def best_places(scores: NDArray[Any], limit: int) -> NDArray[np.intp]:
    """Places of the `limit` best scores and of those equal to the last of them, in no order."""
    if limit <= 0:
        return np.empty(0, np.intp)
    if len(scores) <= limit:
        return np.arange(len(scores))
    places = _above_sample(scores, limit)
    values = scores[places]
    last = np.partition(values, len(values) - limit)[len(values) - limit]
    return places[values >= last]


def best_hits(ids: Sequence[str], rows: NDArray[Any], scores: NDArray[Any], limit: int) -> list[Hit]:
    """The best rows as hits, best first, ties by id."""
    places = best_places(scores, limit)
    values: list[float] = scores[places].tolist()
    chosen: list[int] = rows[places].tolist()
    best = sorted([(-value, ids[row]) for row, value in zip(chosen, values, strict=True)])
    return [Hit(id, -value) for value, id in best[:limit]]


def _above_sample(scores: NDArray[Any], limit: int) -> NDArray[np.intp]:
    """Places that include the best `limit`: a sample's quantile rules most out far faster than a partition."""
    if len(scores) >= _SAMPLED_FROM:
        sample = scores[::_STRIDE]
        rank = 2 * limit // _STRIDE + 4
        if rank < len(sample):
            floor = np.partition(sample, len(sample) - rank)[len(sample) - rank]
            places = np.flatnonzero(scores >= floor)
            if len(places) >= limit:
                return places
    return np.arange(len(scores))
