"""The columns of the index: growing arrays, labels, times, and the best rows by score."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from memorist.model import Check, Hit
from memorist.model.filter import METADATA, ORIGIN
from memorist.stores.index.entries import IndexEntry, Named

S = TypeVar("S", bound=np.generic)


class GrowingArray(Generic[S]):
    """An append-only array of numbers or of rows of fixed width; values never change once appended."""

    def __init__(self, dtype: type[S], width: int | None = None) -> None:
        self._array: NDArray[S] = np.empty((0,) if width is None else (0, width), dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, values: NDArray[S]) -> None:
        """Append values in amortized constant time: the capacity doubles when it runs out.

        The first allocation has an eighth of spare capacity, because a bulk load is often followed by a few writes.
        """
        size = self._size + len(values)
        if size > len(self._array):
            capacity = max(size + size // 8, 2 * len(self._array))
            larger = np.empty((capacity, *self._array.shape[1:]), self._array.dtype)
            larger[: self._size] = self._array[: self._size]
            self._array = larger
        self._array[self._size : size] = values
        self._size = size

    def head(self, count: int) -> NDArray[S]:
        """The first `count` values, without a copy; callers must not change them."""
        return self._array[:count]

    def copy(self) -> GrowingArray[S]:
        """An independent copy."""
        copy = GrowingArray(self._array.dtype.type, *self._array.shape[1:])
        copy._array, copy._size = self._array.copy(), self._size
        return copy

    def select(self, rows: NDArray[np.intp]) -> GrowingArray[S]:
        """A new array with the values of these rows."""
        copy = GrowingArray(self._array.dtype.type, *self._array.shape[1:])
        copy.extend(self._array[rows])
        return copy


_SAMPLED_FROM = 8192
_STRIDE = 64


def top_positions(scores: NDArray[Any], limit: int) -> NDArray[np.intp]:
    """The positions of the `limit` best scores and of all scores tied with the last of them, unordered."""
    if limit <= 0:
        return np.empty(0, np.intp)
    if len(scores) <= limit:
        return np.arange(len(scores))
    places = _above_sampled_quantile(scores, limit)
    values = scores[places]
    last = np.partition(values, len(values) - limit)[len(values) - limit]
    return places[values >= last]


def top_hits(ids: Sequence[str], rows: NDArray[Any], scores: NDArray[Any], limit: int) -> list[Hit]:
    """The best rows as hits, best first, ties by id."""
    places = top_positions(scores, limit)
    values: list[float] = scores[places].tolist()
    chosen: list[int] = rows[places].tolist()
    best = sorted([(-value, ids[row]) for row, value in zip(chosen, values, strict=True)])
    return [Hit(id, -value) for value, id in best[:limit]]


def _above_sampled_quantile(scores: NDArray[Any], limit: int) -> NDArray[np.intp]:
    """Positions that include the best `limit`; the quantile of a sample excludes most, faster than a partition."""
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
"""The latest moment: the end of something without an end."""
ALWAYS = np.iinfo(np.int64).min
"""The earliest moment: the time at which an unknown fact was learnt."""


_MISSING = {"valid_to": NEVER, "expired_at": ALWAYS, "expires_at": NEVER, "retracted_at": NEVER}


class LabelColumn:
    """A column of labels, stored as small integers."""

    def __init__(self) -> None:
        self.numbers: dict[str | None, int] = {}
        self.codes = GrowingArray(np.int32)

    def extend(self, labels: Iterable[str | None]) -> None:
        """Append labels; a new label gets the next number."""
        labels = list(labels)
        for label in dict.fromkeys(labels):
            self.numbers.setdefault(label, len(self.numbers))
        self.codes.extend(np.fromiter(map(self.numbers.__getitem__, labels), np.int32, len(labels)))

    def among(self, wanted: Iterable[str | None], count: int) -> NDArray[np.bool_]:
        """A mask of the first `count` rows: those with one of the wanted labels."""
        codes = [self.numbers[label] for label in wanted if label in self.numbers]
        column = self.codes.head(count)
        if len(codes) == 1:
            return column == codes[0]
        chosen = np.zeros(len(self.numbers), np.bool_)
        chosen[codes] = True
        return chosen.take(column)

    def meeting(self, check: Check, count: int) -> NDArray[np.bool_]:
        """A mask of the first `count` rows: those whose value meets a check, which is asked once per distinct label."""
        column, values = self.codes.head(count), self._values(check)
        return np.fromiter(map(check.admits, values), np.bool_, len(values)).take(column)

    def _values(self, check: Check) -> Sequence[object]:
        return list(self.numbers)

    def select(self, rows: NDArray[np.intp]) -> LabelColumn:
        """The labels of some of the rows, without labels that no row uses any more."""
        kept = LabelColumn()
        names = list(self.numbers)
        codes: list[int] = self.codes.head(len(self.codes))[rows].tolist()
        kept.extend([names[code] for code in codes])
        return kept


class MetadataColumn(LabelColumn):
    """A column of metadata as JSON; the values under a key are read when a condition first asks for it."""

    def __init__(self) -> None:
        super().__init__()
        self._by_key: dict[str, list[object]] = {}

    def _values(self, check: Check) -> Sequence[object]:
        key = check.field.removeprefix(METADATA)
        if key not in self._by_key and len(self._by_key) >= _KEYS_KEPT:
            self._by_key.clear()
        known = self._by_key.get(key, [])
        fresh = [read_metadata(text).get(key) for text in list(self.numbers)[len(known) :]]
        values = self._by_key[key] = [*known, *fresh] if fresh else known
        return values


_KEYS_KEPT = 8


def read_metadata(text: str | None) -> Mapping[str, object]:
    """The metadata of a memory; empty if it is damaged."""
    try:
        read: object = {} if text is None or text == "{}" else json.loads(text)
    except ValueError:
        return {}
    return cast("Mapping[str, object]", read) if isinstance(read, dict) else {}


ReadNamed = Callable[[Sequence[str]], Mapping[str, Named]]
"""Reads from a store what conditions name, for memories by their ids."""
_NOTHING: Named = (None, None, None, None)


class NamedColumns:
    """The columns that conditions name. They stay empty until a condition asks, so that only filters pay for them."""

    def __init__(self, read: ReadNamed) -> None:
        self.read = read
        self._columns = (*(LabelColumn() for _ in ORIGIN), MetadataColumn())
        self._rows = 0
        self._lock = Lock()

    def meeting(self, check: Check, ids: Sequence[str], count: int) -> NDArray[np.bool_]:
        """A mask of the first `count` rows: those whose value meets a check; `ids` are those of the rows."""
        place = ORIGIN.index(check.field) if check.field in ORIGIN else -1
        with self._lock:
            if fresh := ids[self._rows : count]:
                known = self.read(fresh)
                rows = [known.get(id, _NOTHING) for id in fresh]
                for number, column in enumerate(self._columns):
                    column.extend([row[number] for row in rows])
                self._rows = count
            return self._columns[place].meeting(check, count)


class Columns:
    """The columns that filters test: labels, classification and times."""

    def __init__(self) -> None:
        self.kind = LabelColumn()
        self.scope = LabelColumn()
        self.tier = LabelColumn()
        self.topic = LabelColumn()
        self.classification = GrowingArray(np.int64)
        self.valid_from = GrowingArray(np.int64)
        self.ingested_at = GrowingArray(np.int64)
        self.valid_to = GrowingArray(np.int64)
        self.expired_at = GrowingArray(np.int64)
        self.expires_at = GrowingArray(np.int64)
        self.retracted_at = GrowingArray(np.int64)

    def extend(self, entries: Sequence[IndexEntry]) -> None:
        """Append one row per entry."""
        for name, column in vars(self).items():
            values = [getattr(entry, name) for entry in entries]
            if isinstance(column, LabelColumn):
                column.extend(values)
            else:
                missing = _MISSING.get(name, 0)
                numbers = [missing if value is None else value for value in values]
                column.extend(np.array(numbers, np.int64))

    def select(self, rows: NDArray[np.intp]) -> Columns:
        """The columns of some of the rows."""
        kept = Columns()
        for name, column in vars(self).items():
            setattr(kept, name, column.select(rows))
        return kept
