"""Filters as masks of rows, the times that memories mention, and the entities that they relate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from threading import Lock
from typing import overload

import numpy as np
from numpy.typing import NDArray

from memorist.model import Condition, FactGraph, FieldCheck, Filter, Kind
from memorist.stores.index.arrays import Chosen, GrowingArray, Mapped, Written, under
from memorist.stores.index.columns import NEVER, Columns, distinct, renumber
from memorist.stores.index.entries import MICROSECOND, IndexEntry, micros
from memorist.stores.index.postings import TextIndex
from memorist.stores.index.texts import Numbering, SortedTexts, Texts, in_order, pack_texts

Mask = NDArray[np.bool_]
_DAY = timedelta(days=1) // MICROSECOND


class EntityEdges:
    """Edges between entities, with the rows of the memories that they come from; append-only."""

    def __init__(self, nodes: Numbering | None = None) -> None:
        self._nodes = nodes or Numbering()
        self._source = GrowingArray(np.int32)
        self._target = GrowingArray(np.int32)
        self._rows = GrowingArray(np.int32)
        self._graph: FactGraph | None = None
        self._lock = Lock()

    def extend(self, entries: Sequence[IndexEntry], start: int) -> None:
        """Append the edges of entries, whose rows begin at `start`."""
        number = self._nodes.number
        edges = [(row, *pair) for row, entry in enumerate(entries, start) for pair in entry.pairs]
        if edges:
            rows, source, target = np.array([(row, number(one), number(two)) for row, one, two in edges], np.int32).T
            self._append(rows, source, target)

    def select(self, rows: NDArray[np.intp]) -> EntityEdges:
        """The edges of some of the rows, renumbered."""
        kept = EntityEdges(self._nodes)
        own = self._rows.head(len(self._rows))
        places = np.flatnonzero(np.isin(own, rows))
        numbers = np.searchsorted(rows, own[places]).astype(np.int32)
        kept._append(numbers, self._source.head(len(own))[places], self._target.head(len(own))[places])
        return kept

    def parts(self, alive: Mask) -> Written:
        """The arrays of the living rows, renumbered, without entities that only others relate, to write."""
        own = self._until(len(alive))
        places = np.flatnonzero(alive[own])
        ends = np.column_stack([column.head(len(own))[places] for column in (self._source, self._target)])
        used, numbers = renumber(ends.reshape(-1))
        chosen: list[int] = used.tolist()
        names = in_order(pack_texts(map(self._nodes.name, chosen)))
        source, target = numbers.reshape(-1, 2).T
        rows = (np.cumsum(alive) - 1)[own[places]].astype(np.int32)
        return {
            **under("nodes", names.parts()),
            "source": Chosen(source),
            "target": Chosen(target),
            "rows": Chosen(rows),
        }

    @classmethod
    def of(cls, parts: Mapped) -> EntityEdges:
        """The edges of mapped arrays."""
        made = cls(Numbering(SortedTexts.of(parts.under("nodes"))))
        made._source, made._target, made._rows = map(parts.growing, ("source", "target", "rows"))
        return made

    def of_rows(self, admitted: Mask) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """The edges of the rows that a mask admits: their rows, ascending, and their ends."""
        rows = self._until(len(admitted))
        edges = np.flatnonzero(admitted[rows])
        return rows[edges], self._source.head(len(rows))[edges], self._target.head(len(rows))[edges]

    @property
    def nodes(self) -> Numbering:
        """The entities, by their numbers."""
        return self._nodes

    def graph(self, ids: Texts[str], count: int) -> tuple[FactGraph, NDArray[np.int32]]:
        """The graph of the first `count` rows, and the row of each edge; the same object while no edge is added."""
        rows = self._until(count)
        with self._lock:
            known = self._graph
            if known is None or len(known.memories) != len(rows):
                known = self._graph = self._build(ids, rows)
        return known, rows

    def part(self, ids: Texts[str], rows: NDArray[np.intp]) -> tuple[FactGraph, NDArray[np.int32]]:
        """The graph of some of the rows alone, and the row of each edge: no trace is left of any other."""
        own = self._rows.head(len(self._rows))
        edges = np.flatnonzero(np.isin(own, rows))
        ends: list[list[int]] = [column.head(len(own))[edges].tolist() for column in (self._source, self._target)]
        numbers = {node: number for number, node in enumerate(dict.fromkeys((*ends[0], *ends[1])))}
        source, target = (np.array([numbers[node] for node in column], np.int32) for column in ends)
        nodes = {self._nodes.name(node): number for node, number in numbers.items()}
        return FactGraph(nodes, source, target, RowIds(ids, own[edges])), own[edges]

    def _build(self, ids: Texts[str], rows: NDArray[np.int32]) -> FactGraph:
        size = len(rows)
        nodes = self._nodes.first(len(self._nodes))
        return FactGraph(nodes, self._source.head(size), self._target.head(size), RowIds(ids, rows))

    def _until(self, count: int) -> NDArray[np.int32]:
        rows = self._rows.head(len(self._rows))
        return rows[: int(np.searchsorted(rows, count))]

    def _append(self, rows: NDArray[np.int32], source: NDArray[np.int32], target: NDArray[np.int32]) -> None:
        # The rows are appended last: a reader that sees them also sees their edges.
        self._source.extend(source)
        self._target.extend(target)
        self._rows.extend(rows)


class RowIds(Sequence[str]):
    """The ids of some rows, each read when it is asked for."""

    def __init__(self, ids: Texts[str], rows: NDArray[np.int32]) -> None:
        self._ids = ids
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return self._ids.chosen(self._rows[place].astype(np.intp))
        return self._ids[int(self._rows[place])]

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])


class MentionIndex:
    """The time spans that memories mention, with their rows; append-only."""

    def __init__(self) -> None:
        self._spans = GrowingArray(np.int64, 3)

    def extend(self, entries: Sequence[IndexEntry], start: int) -> None:
        """Append the mentions of entries, whose rows begin at `start`."""
        spans = [(row, *span) for row, entry in enumerate(entries, start) for span in entry.mentions]
        if spans:
            self._spans.extend(np.array(spans, np.int64))

    def select(self, rows: NDArray[np.intp]) -> MentionIndex:
        """The mentions of some of the rows, renumbered."""
        kept, spans = MentionIndex(), self._spans.head(len(self._spans))
        place = np.searchsorted(rows, spans[:, 0])
        same = (place < len(rows)) & (rows[np.minimum(place, len(rows) - 1)] == spans[:, 0]) if len(rows) else place < 0
        if same.any():
            kept._spans.extend(np.column_stack((place[same], spans[same, 1:])))
        return kept

    def parts(self, alive: Mask) -> Written:
        """The arrays of the living rows, renumbered, to write."""
        spans = self._spans.head(len(self._spans))
        spans = spans[spans[:, 0] < len(alive)]
        spans = spans[alive[spans[:, 0]]]
        spans[:, 0] = (np.cumsum(alive) - 1)[spans[:, 0]]
        return {"spans": Chosen(spans)}

    @classmethod
    def of(cls, parts: Mapped) -> MentionIndex:
        """The mentions of mapped arrays."""
        made = cls()
        made._spans = parts.growing("spans")
        return made

    def within(self, start: int, end: int, alive: NDArray[np.bool_]) -> NDArray[np.int32]:
        """The living rows that mention a time wholly inside the window [start, end), ascending."""
        spans = self._spans.head(len(self._spans))
        rows = spans[(spans[:, 1] >= start) & (spans[:, 2] <= end) & (spans[:, 0] < len(alive)), 0]
        return distinct(rows[alive[rows]]).astype(np.int32)

    def closeness(self, count: int, window: tuple[int, int], reach: int) -> NDArray[np.float64]:
        """How close the times that each of the first rows mentions come to the window [start, end); 0 without any.

        A time that is longer than the window counts the square root of the share of it that the window is, because a
        month is weak evidence for one of its days.
        """
        close, spans = np.zeros(count), self._spans.head(len(self._spans))
        spans = spans[spans[:, 0] < count]
        length = np.maximum(spans[:, 2] - spans[:, 1], 1)
        share = np.sqrt(np.minimum((window[1] - window[0]) / length, 1.0))
        np.maximum.at(close, spans[:, 0], share * closeness(spans[:, 1], spans[:, 2], window, reach))
        return close


def closeness(
    begin: NDArray[np.int64], stop: NDArray[np.int64], window: tuple[int, int], reach: int
) -> NDArray[np.float64]:
    """1 for times in the window [start, end); outside 1 / (1 + gap / (its length + a day)), and 0 from `reach` on.

    The day more is because what happens on one day is often told on the next, and clocks differ.
    """
    start, end = window
    gap = np.maximum(np.maximum(start - (stop - 1), begin - (end - 1)), 0)
    return np.where(gap < reach, 1 / (1 + gap / (end - start + _DAY)), gap == 0)


def filter_mask(where: Filter, columns: Columns, alive: Mask) -> Mask:
    """A mask of the first `len(alive)` rows: those that are alive and pass the filter."""
    mask = alive.copy()
    if where.tier is not None:
        mask &= columns.tier.among((where.tier,), len(alive))
        if not mask.any():
            return mask  # every recall looks for pinned memories, and there are seldom any
    for condition in chain(_labels(where, columns, len(alive)), _times(where, columns, len(alive))):
        mask &= condition
    return mask


def _labels(where: Filter, columns: Columns, count: int) -> Iterator[Mask]:
    if where.scopes is not None:
        below = [scope for scope in list(columns.scope.numbers) if scope and scope.startswith(where.scope_prefixes)]
        yield columns.scope.among({*where.scopes, *below}, count)
    if where.kinds is not None:
        yield columns.kind.among(where.kinds, count)
    if where.topic is not None:
        yield columns.topic.among((where.topic,), count)
    yield columns.classification.head(count) <= where.max_classification


def _times(where: Filter, columns: Columns, count: int) -> Iterator[Mask]:
    valid_from = columns.valid_from.head(count)
    if where.since is not None:
        yield valid_from >= micros(where.since)
    if where.until is not None:
        yield valid_from <= micros(where.until)
    if where.known_at is not None:
        yield columns.ingested_at.head(count) <= micros(where.known_at)
        yield columns.retracted_at.head(count) > micros(where.known_at)
    if where.as_of is not None:
        begun = valid_from <= micros(where.as_of)
        yield begun | columns.kind.among((Kind.EPISODIC,), count) if where.planned else begun
        if not where.include_expired:
            yield from _still_valid(where, columns, count, micros(where.as_of))


def _still_valid(where: Filter, columns: Columns, count: int, as_of: int) -> Iterator[Mask]:
    yield columns.expires_at.head(count) > as_of
    open_ended = columns.valid_to.head(count) > as_of
    if where.known_at is not None:
        open_ended |= columns.expired_at.head(count) > micros(where.known_at)
    yield open_ended


class TimedMask:
    """The rows that a filter admits, which are the same until one of them begins or ends on one of its clocks."""

    def __init__(self, mask: Mask, where: Filter) -> None:
        self.mask = mask
        self.where = where
        self._ends: tuple[int, int] | None = None
        """When the rows change: asked for by the second recall, because a write makes a new view."""

    def still_holds(self, where: Filter, columns: Columns) -> bool:
        """Whether a filter that differs in its moments alone admits the same rows."""
        if self._ends is None:
            self._ends = self._until(columns)
        moments = ((self.where.as_of, where.as_of), (self.where.known_at, where.known_at))
        return all(
            before is None or later is None or micros(before) <= micros(later) < end
            for (before, later), end in zip(moments, self._ends, strict=True)
        )

    def _until(self, columns: Columns) -> tuple[int, int]:
        truth = (columns.valid_from, columns.valid_to, columns.expires_at)
        knowledge = (columns.ingested_at, columns.expired_at, columns.retracted_at)
        return self._next(truth, self.where.as_of), self._next(knowledge, self.where.known_at)

    def _next(self, columns: Sequence[GrowingArray[np.int64]], moment: datetime | None) -> int:
        """The first time in some columns after a moment."""
        if moment is None:
            return NEVER
        times, after = (column.head(len(self.mask)) for column in columns), micros(moment)
        return min(int(np.min(column, initial=NEVER, where=column > after)) for column in times)


def condition_mask(condition: Condition, meeting: Callable[[FieldCheck], Mask]) -> Mask:
    """A mask of the rows for which a condition holds; `meeting` gives those that meet one check."""
    if isinstance(condition, FieldCheck):
        return meeting(condition)
    masks = [condition_mask(part, meeting) for part in condition.parts]
    if condition.how == "and":
        return np.logical_and.reduce(masks)
    met = np.logical_or.reduce(masks)
    return met if condition.how == "or" else ~met


def with_words(words: Iterable[str], fields: Iterable[TextIndex], count: int) -> Mask:
    """A mask of the first `count` rows: those that have every word, in any of the fields."""
    fields = list(fields)
    mask = np.ones(count, np.bool_)
    for word in words:
        having = np.zeros(count, np.bool_)
        for field in fields:
            having[field.rows_with(word, count)] = True
        mask &= having
    return mask
