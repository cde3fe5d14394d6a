"""The columns of the index: growing arrays, entries, the best rows of a score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memorist.model import Hit, Link, Memory
from memorist.text.words import analyse

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


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class IndexEntry(NamedTuple):
    """One memory as stores keep it for searching; times are microseconds since the epoch, UTC."""

    id: str
    kind: str
    scope: str
    tier: str
    topic: str | None
    classification: int
    valid_from: int
    ingested_at: int
    valid_to: int | None
    expired_at: int | None
    expires_at: int | None
    retracted_at: int | None
    words: str
    original: str | None
    vectors: Mapping[str, NDArray[np.float16]]
    mentions: tuple[tuple[int, int], ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    """Entities that the memory relates, by their ids."""


def entry_of(memory: Memory, vectors: Mapping[str, NDArray[Any]], links: Sequence[Link] = ()) -> IndexEntry:
    """A memory, its vectors by view name, and its links to entities, as the index sees them."""
    times = memory.times
    relation = () if memory.fact is None else (memory.fact.relation,)
    return IndexEntry(
        id=memory.id,
        kind=memory.kind.value,
        scope=memory.scope,
        tier=memory.tier.value,
        topic=memory.topic,
        classification=memory.worth.classification,
        valid_from=micros(times.valid_from),
        ingested_at=micros(times.ingested_at),
        valid_to=_micros_or_none(times.valid_to),
        expired_at=_micros_or_none(times.expired_at),
        expires_at=_micros_or_none(times.expires_at),
        retracted_at=_micros_or_none(times.retracted_at),
        words=analyse(memory.text, *memory.keywords, *relation),
        original=None if memory.original is None else analyse(memory.original),
        vectors={view: halved(vector) for view, vector in vectors.items()},
        mentions=tuple((micros(one.start), micros(one.end)) for one in memory.mentions),
        pairs=related((link.relation, link.target) for link in links),
    )


def related(links: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs of entities that a memory's links relate.

    The subject and the object; the subject, or else the first one mentioned, and every other one mentioned.
    """
    found: dict[str, list[str]] = {"subject": [], "object": [], "mentions": []}
    for relation, entity in links:
        if relation in found:
            found[relation].append(entity)
    ends = [*found["subject"], *found["object"], *sorted(found["mentions"])]
    others = dict.fromkeys(entity for entity in ends[1:] if entity != ends[0])
    return tuple((ends[0], other) for other in others)


HALF_PRECISION = 2**-11
"""The largest relative error of rounding to float16, and so of the length of a rounded vector."""


def halved(vector: NDArray[Any]) -> NDArray[np.float16]:
    """A vector of length 1 as float16; one without a direction (zero, NaN) keeps what it has.

    What has been halved before stays as it is, bit for bit, so that vectors can be moved.
    """
    wide = np.asarray(vector, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(np.linalg.norm(wide))
        half = wide.astype(np.float16)
        if abs(length - 1) <= HALF_PRECISION and np.array_equal(half, wide):
            return half
        if np.isfinite(length) and length > 0:
            wide = wide / length
        return wide.astype(np.float16)


def micros(moment: datetime) -> int:
    """Microseconds from the epoch to a moment; a naive one is taken as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // MICROSECOND


def moment(micros: int) -> datetime:
    """The UTC moment so many microseconds after the epoch; the inverse of `micros`."""
    return EPOCH + micros * MICROSECOND


def _micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)


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
