"""The columns of the index: growing arrays, labels, times, and the best rows by score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memorist.model import FieldCheck, instant
from memorist.model.filter import CREATED, FELT, METADATA, ORIGIN
from memorist.stores.index.arrays import AccessPattern, Chosen, GrowingArray, Mapped, Written, under
from memorist.stores.index.entries import IndexEntry, micros, read_felt, value_in
from memorist.stores.index.texts import Numbering, Packed, SortedTexts, decode_text, in_order, pack_texts

_SAMPLED_FROM = 8192
_STRIDE = 64


def distinct(rows: NDArray[Any]) -> NDArray[Any]:
    """Each row number once, in ascending order; `np.unique` loads masked arrays on its first call."""
    ordered = np.sort(rows)
    return ordered[np.diff(ordered, prepend=-1) > 0]


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

    def select(self, rows: NDArray[np.intp]) -> LabelColumn:
        """The labels of some of the rows, without labels that no row uses any more."""
        kept = LabelColumn()
        kept.numbers, codes = self._used(rows)
        kept.codes.extend(codes)
        return kept

    def parts(self, rows: NDArray[np.intp]) -> Written:
        """The arrays of some of the rows, to write."""
        numbers, codes = self._used(rows)
        return {**pack_texts(numbers).parts(), "codes": Chosen(codes)}

    @classmethod
    def of(cls, parts: Mapped) -> LabelColumn:
        """The column of mapped arrays."""
        made, labels = cls(), Packed.of(parts)
        made.numbers = {decode_text(raw): code for code, raw in enumerate(labels.raws(0, len(labels.ends)))}
        made.codes = parts.growing("codes")
        return made

    def _used(self, rows: NDArray[np.intp]) -> tuple[dict[str | None, int], NDArray[np.int32]]:
        """The labels that some of the rows use, numbered as they come, and the number of each row."""
        used, codes = renumber(self.codes.head(len(self.codes))[rows])
        names, chosen = list(self.numbers), used.tolist()
        return {names[old]: new for new, old in enumerate(chosen)}, codes


def renumber(codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct numbers in the order in which they come, and each number as its place among them."""
    used, firsts, places = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    new = np.empty(len(order), np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    return used[order], new[places]


class NamedColumn:
    """A column that conditions name: of labels that may be as many as the rows. Those of a file stay there."""

    def __init__(self, labels: Numbering | None = None) -> None:
        self._labels = labels or Numbering()
        self._codes = GrowingArray(np.int32)

    def extend(self, labels: Iterable[str | None]) -> None:
        """Append labels."""
        labels = list(labels)
        codes = {label: _NONE if label is None else self._labels.number(label) for label in dict.fromkeys(labels)}
        self._codes.extend(np.fromiter(map(codes.__getitem__, labels), np.int32, len(labels)))

    def meeting(self, check: FieldCheck, count: int) -> NDArray[np.bool_]:
        """A mask of the first `count` rows: those whose value meets a check, which is asked once per distinct label."""
        values = self._values(check.field)
        admitted = np.fromiter(map(check.admits, (*values, None)), np.bool_, len(values) + 1)
        return admitted.take(self._codes.head(count))

    def _values(self, field: str) -> Sequence[object]:
        return self._labels.names[:]

    def prepare(self) -> None:
        """Fetch what a new label is looked up in, if it lies on a server."""
        self._labels.prepare()

    def select(self, rows: NDArray[np.intp]) -> Self:
        """The labels of some of the rows."""
        kept = type(self)(self._labels)
        kept._codes = self._codes.select(rows)
        return kept

    def parts(self, rows: NDArray[np.intp]) -> Written:
        """The arrays of some of the rows, without labels that only others have, to write."""
        codes = self._codes.head(len(self._codes))[rows]
        known = codes != _NONE
        used, codes[known] = renumber(codes[known])
        labels = in_order(pack_texts(map(self._labels.name, used.tolist())))
        return {**labels.parts(AccessPattern.RUNS), "codes": Chosen(codes, read=AccessPattern.RUNS)}

    @classmethod
    def of(cls, parts: Mapped) -> Self:
        """The column of mapped arrays."""
        made = cls(Numbering(SortedTexts.of(parts)))
        made._codes = parts.growing("codes")
        return made


_NONE = -1
"""The number of no label; as an index, it takes the last value."""


class MetadataColumn(NamedColumn):
    """A column of metadata as JSON; the values under a key are read when a condition first asks for it."""

    def __init__(self, labels: Numbering | None = None) -> None:
        super().__init__(labels)
        self._by_key: dict[str, list[object]] = {}

    def _values(self, field: str) -> Sequence[object]:
        key = field.removeprefix(METADATA)
        if key not in self._by_key and len(self._by_key) >= _KEYS_KEPT:
            self._by_key.clear()
        known = self._by_key.get(key, [])
        fresh = [value_in(text, key) for text in self._labels.names[len(known) :]]
        values = self._by_key[key] = [*known, *fresh] if fresh else known
        return values


_KEYS_KEPT = 8


class FeltColumn(NamedColumn):
    """A column of emotions or their tags, each as JSON."""

    def extend(self, labels: Iterable[object]) -> None:
        """Append values; a number is written as JSON."""
        super().extend(str(label) for label in labels)

    def _values(self, field: str) -> Sequence[object]:
        return [read_felt(text) for text in self._labels.names[:]]


class Columns:
    """The columns that filters test: labels, classification, times, and what conditions name."""

    def __init__(self) -> None:
        self.kind = LabelColumn()
        self.scope = LabelColumn()
        self.tier = LabelColumn()
        self.topic = LabelColumn()
        self.relation = LabelColumn()
        self.folded = GrowingArray(np.int64)
        self.classification = GrowingArray(np.int64)
        self.valid_from = GrowingArray(np.int64)
        self.ingested_at = GrowingArray(np.int64)
        self.valid_to = GrowingArray(np.int64)
        self.expired_at = GrowingArray(np.int64)
        self.expires_at = GrowingArray(np.int64)
        self.retracted_at = GrowingArray(np.int64)
        self.speaker = NamedColumn()
        self.session = NamedColumn()
        self.source = NamedColumn()
        self.emotion = FeltColumn()
        self.emotion_tags = FeltColumn()
        self.metadata = MetadataColumn()

    def meeting(self, check: FieldCheck, count: int) -> NDArray[np.bool_]:
        """A mask of the first `count` rows: those with a value that meets a check."""
        if check.field == CREATED:
            return _created(check, self.ingested_at.head(count))
        column: NamedColumn = getattr(self, check.field) if check.field in (*ORIGIN, *FELT) else self.metadata
        return column.meeting(check, count)

    def prepare(self) -> None:
        """Fetch what new labels are looked up in, if it lies on a server."""
        for column in (self.speaker, self.session, self.source, self.emotion, self.emotion_tags, self.metadata):
            column.prepare()

    def extend(self, entries: Sequence[IndexEntry]) -> None:
        """Append one row per entry."""
        for name, column in vars(self).items():
            values = [getattr(entry, name) for entry in entries]
            if isinstance(column, LabelColumn | NamedColumn):
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

    def parts(self, rows: NDArray[np.intp]) -> Written:
        """The arrays of some of the rows, to write."""
        made: Written = {}
        for name, column in vars(self).items():
            labelled = isinstance(column, LabelColumn | NamedColumn)
            made |= under(name, column.parts(rows) if labelled else {"": Chosen(column.head(len(column)), rows)})
        return made

    @classmethod
    def of(cls, parts: Mapped) -> Columns:
        """The columns of mapped arrays."""
        made = cls()
        for name, column in vars(made).items():
            own = parts.under(name)
            labelled = isinstance(column, LabelColumn | NamedColumn)
            setattr(made, name, type(column).of(own) if labelled else own.growing(""))
        return made


_COMPARED = {"gt": np.greater, "gte": np.greater_equal, "lt": np.less, "lte": np.less_equal}


def _created(check: FieldCheck, times: NDArray[np.int64]) -> NDArray[np.bool_]:
    """A mask of the rows whose time of creation meets a check."""
    if check.operator == "exists":
        return np.full(len(times), ("boolean", True) in check.values)
    bounds = [micros(instant(str(text))) for _, text in check.values]
    if check.operator in _COMPARED:
        return _COMPARED[check.operator](times, bounds[0])
    same = np.isin(times, bounds)
    return ~same if check.operator == "ne" else same
