"""The columns of the index: growing arrays, labels, times, and the best rows by score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from memorist.model import Hit
from memorist.stores.index.entries import IndexEntry

S = TypeVar("S", bound=np.generic)


class Growing(Generic[S]):
    """An append-only array of numbers, or of rows of a fixed width; what it once held never changes."""

    def __init__(self, dtype: type[S], width: int | None = None) -> None:
        self._array: NDArray[S] = np.empty((0,) if width is None else (0, width), dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, values: NDArray[S]) -> None:
        """Append values; the room doubles when it runs out, so each costs constant time on average.

        The first ones get an eighth more than they need: what is loaded at once is often added to soon after.
        """
        size = self._size + len(values)
        if size > len(self._array):
            room = max(size + size // 8, 2 * len(self._array))
            larger = np.empty((room, *self._array.shape[1:]), self._array.dtype)
            larger[: self._size] = self._array[: self._size]
            self._array = larger
        self._array[self._size : size] = values
        self._size = size

    def first(self, count: int) -> NDArray[S]:
        """The first so many values, without a copy; the caller only reads them."""
        return self._array[:count]

    def copy(self) -> Growing[S]:
        """The same values, to be changed apart."""
        copy = Growing(self._array.dtype.type, *self._array.shape[1:])
        copy._array, copy._size = self._array.copy(), self._size
        return copy

    def taken(self, places: NDArray[np.intp]) -> Growing[S]:
        """A new array of the values at these places."""
        copy = Growing(self._array.dtype.type, *self._array.shape[1:])
        copy.extend(self._array[places])
        return copy


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


NEVER = np.iinfo(np.int64).max
"""A moment after all others: when something ends that has no end."""
ALWAYS = np.iinfo(np.int64).min
"""A moment before all others: when something was learnt that nobody has learnt."""


class Labels:
    """A column of labels, each kept as a small number."""

    def __init__(self) -> None:
        self.numbers: dict[str | None, int] = {}
        self.codes = Growing(np.int32)

    def extend(self, labels: Iterable[str | None]) -> None:
        """Append labels; an unseen one gets the next number."""
        labels = list(labels)
        for label in dict.fromkeys(labels):
            self.numbers.setdefault(label, len(self.numbers))
        self.codes.extend(np.fromiter(map(self.numbers.__getitem__, labels), np.int32, len(labels)))

    def among(self, wanted: Iterable[str | None], count: int) -> NDArray[np.bool_]:
        """Which of the first `count` rows carry one of the wanted labels."""
        codes = [self.numbers[label] for label in wanted if label in self.numbers]
        column = self.codes.first(count)
        if len(codes) == 1:
            return column == codes[0]
        chosen = np.zeros(len(self.numbers), np.bool_)
        chosen[codes] = True
        return chosen.take(column)

    def taken(self, rows: NDArray[np.intp]) -> Labels:
        """The same labels for some of the rows, without those that no row has any more."""
        kept = Labels()
        names = list(self.numbers)
        codes: list[int] = self.codes.first(len(self.codes))[rows].tolist()
        kept.extend([names[code] for code in codes])
        return kept


class Columns:
    """All label and time columns of the index."""

    def __init__(self) -> None:
        self.kind = Labels()
        self.scope = Labels()
        self.tier = Labels()
        self.topic = Labels()
        self.classification = Growing(np.int64)
        self.valid_from = Growing(np.int64)
        self.ingested_at = Growing(np.int64)
        self.valid_to = Growing(np.int64)
        self.expired_at = Growing(np.int64)
        self.expires_at = Growing(np.int64)
        self.retracted_at = Growing(np.int64)

    def extend(self, entries: Sequence[IndexEntry]) -> None:
        """Append one row an entry."""
        self.kind.extend(entry.kind for entry in entries)
        self.scope.extend(entry.scope for entry in entries)
        self.tier.extend(entry.tier for entry in entries)
        self.topic.extend(entry.topic for entry in entries)
        self.classification.extend(_numbers(entry.classification for entry in entries))
        self.valid_from.extend(_numbers(entry.valid_from for entry in entries))
        self.ingested_at.extend(_numbers(entry.ingested_at for entry in entries))
        self.valid_to.extend(_numbers((entry.valid_to for entry in entries), missing=NEVER))
        self.expired_at.extend(_numbers((entry.expired_at for entry in entries), missing=ALWAYS))
        self.expires_at.extend(_numbers((entry.expires_at for entry in entries), missing=NEVER))
        self.retracted_at.extend(_numbers((entry.retracted_at for entry in entries), missing=NEVER))

    def taken(self, rows: NDArray[np.intp]) -> Columns:
        """The same columns for some of the rows."""
        kept = Columns()
        for name, column in vars(self).items():
            setattr(kept, name, column.taken(rows))
        return kept


def _numbers(values: Iterable[int | None], missing: int = 0) -> NDArray[np.int64]:
    return np.array([missing if value is None else value for value in values], np.int64)
