"""The pairs of entities that memories relate: by a fact, or because they mention both."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memorist.model import Related
from memorist.stores.index.filtering import Mask, RowIds
from memorist.stores.index.table import IndexTable

MOST_NAMES = 20
"""Names taken from one memory; a long one may list hundreds."""
Numbers = NDArray[np.int64]


class Pairs(NamedTuple):
    """Pairs of entities, one element per pair and row; `key` is the same for the same pair."""

    key: Numbers
    source: Numbers
    target: Numbers
    rows: Numbers

    def chosen(self, places: NDArray[np.intp] | Mask) -> Pairs:
        """Some of them."""
        return Pairs(*(column[places] for column in self))


def related_to(table: IndexTable, names: Collection[str], admitted: Mask, limit: int) -> list[Related]:
    """The pairs of which one is among these names: all that facts relate, and the `limit` most frequent others."""
    nodes = table.relations.nodes
    front = np.zeros(len(nodes), np.bool_)
    front[[number for name in names if (number := nodes.get(name)) is not None]] = True
    rows, source, target = table.relations.of_rows(admitted)
    mentioning = np.zeros(len(admitted), np.bool_)
    mentioning[rows[front[source] | front[target]]] = True
    own = mentioning[rows]
    rows, source, target = (column[own].astype(np.int64) for column in (rows, source, target))
    relation = table.columns.relation
    stated = relation.codes.head(len(admitted))[rows].astype(np.int64)
    is_fact = stated != relation.numbers.get(None, -1)
    firsts = np.diff(rows, prepend=-1) > 0  # the first edge of a fact joins its subject and its object
    facts = _pairs(source, target, rows, len(nodes), ordered=True).chosen(is_fact & firsts)
    labels = stated[is_fact & firsts]
    together = _mentioned_together(source[~is_fact], target[~is_fact], rows[~is_fact], front)
    fact_keys = _pairs(facts.source, facts.target, facts.rows, len(nodes), ordered=False).key
    together = together.chosen(~np.isin(together.key, fact_keys))
    told = _Telling(table)
    return [*told.facts(facts, labels), *told.most_frequent(together, limit)]


def _pairs(source: Numbers, target: Numbers, rows: Numbers, nodes: int, *, ordered: bool) -> Pairs:
    low, high = (source, target) if ordered else (np.minimum(source, target), np.maximum(source, target))
    return Pairs(low * nodes + high, low, high, rows)


def _mentioned_together(source: Numbers, target: Numbers, rows: Numbers, front: Mask) -> Pairs:
    """Every two names of a row of which one is in front; its edges join its first name to each of the others."""
    begins = np.diff(rows, prepend=-1) > 0
    places = np.arange(len(rows)) - np.maximum.accumulate(np.where(begins, np.arange(len(rows)), 0))
    few = places < MOST_NAMES - 1
    source, target, rows = source[few], target[few], rows[few]
    ends = [(source, target, rows)]
    for apart in range(1, min(MOST_NAMES - 1, len(rows))):
        same = np.flatnonzero(rows[apart:] == rows[:-apart])
        if not len(same):
            break
        ends.append((target[same], target[same + apart], rows[same]))
    one, other, found = (np.concatenate(columns) for columns in zip(*ends, strict=True))
    in_front = front[one] | front[other]
    return _pairs(one[in_front], other[in_front], found[in_front], len(front), ordered=False)


class _Telling:
    """Pairs with the names of their entities and the ids of their memories."""

    def __init__(self, table: IndexTable) -> None:
        self._table = table
        self._names: dict[int, str] = {}

    def facts(self, pairs: Pairs, labels: Numbers) -> Iterator[Related]:
        """Pairs that facts relate, each relation apart."""
        relations = list(self._table.columns.relation.numbers)
        numbers: list[int] = labels.tolist()
        for label in dict.fromkeys(numbers):
            for source, target, ids in self._by_pair(pairs.chosen(labels == label)):
                yield Related(source, relations[label], target, ids)

    def most_frequent(self, pairs: Pairs, limit: int) -> Iterator[Related]:
        """The pairs that the most rows mention, ties by name."""
        keys, firsts, counts = np.unique(pairs.key, return_index=True, return_counts=True)
        if limit <= 0:
            return
        if limit < len(keys):
            least = np.partition(counts, len(counts) - limit)[len(counts) - limit]
            likely = np.flatnonzero(counts >= least)
            names = map(self._in_order, pairs.source[firsts[likely]].tolist(), pairs.target[firsts[likely]].tolist())
            ranked = sorted(zip((-counts[likely]).tolist(), names, keys[likely].tolist(), strict=True))
            pairs = pairs.chosen(np.isin(pairs.key, [key for *_, key in ranked[:limit]]))
        for source, target, ids in self._by_pair(pairs):
            one, other = sorted((source, target))
            yield Related(one, None, other, ids)

    def _by_pair(self, pairs: Pairs) -> Iterator[tuple[str, str, RowIds]]:
        """Each pair once, with its memories, the latest said first."""
        said = self._table.columns.valid_from.head(len(self._table.ids))
        ordered = pairs.chosen(np.lexsort((pairs.rows, -said[pairs.rows], pairs.key)))
        begins = np.flatnonzero(np.diff(ordered.key, prepend=-1) > 0).tolist()
        for start, end in pairwise((*begins, len(ordered.key))):
            source, target = int(ordered.source[start]), int(ordered.target[start])
            ids = RowIds(self._table.ids, ordered.rows[start:end].astype(np.int32))
            yield self._name(source), self._name(target), ids

    def _in_order(self, one: int, other: int) -> tuple[str, ...]:
        return tuple(sorted((self._name(one), self._name(other))))

    def _name(self, node: int) -> str:
        name = self._names.get(node)
        if name is None:
            name = self._names[node] = self._table.relations.nodes.name(node)
        return name
