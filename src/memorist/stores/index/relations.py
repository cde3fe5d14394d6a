"""Which entities each memory relates: the edges of the graph that PageRank walks."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from memorist.model import FactGraph
from memorist.stores.index.entry import Entry
from memorist.stores.index.growing import Growing


class Relations:
    """Edges between entities, each with the row of the memory it comes from; append-only."""

    def __init__(self) -> None:
        self._nodes: dict[str, int] = {}
        self._source = Growing(np.int32)
        self._target = Growing(np.int32)
        self._rows = Growing(np.int32)
        self._graph: FactGraph | None = None
        self._lock = Lock()

    def extend(self, entries: Sequence[Entry], start: int) -> None:
        """Append the edges of entries whose rows begin at `start`."""
        edges = [(row, *pair) for row, entry in enumerate(entries, start) for pair in entry.pairs]
        self._append([(row, self._node(source), self._node(target)) for row, source, target in edges])

    def taken(self, rows: NDArray[np.intp]) -> Relations:
        """The edges of some of the rows, renumbered."""
        kept = Relations()
        kept._nodes = self._nodes
        new = np.full(int(max(rows.max(initial=-1), self._rows.first(len(self._rows)).max(initial=-1))) + 1, -1)
        new[rows] = np.arange(len(rows))
        columns = [column.first(len(column)).tolist() for column in (self._rows, self._source, self._target)]
        edges = zip(*columns, strict=True)
        kept._append([(int(new[row]), source, target) for row, source, target in edges if new[row] >= 0])
        return kept

    def graph(self, ids: Sequence[str], count: int) -> tuple[FactGraph, NDArray[np.int32]]:
        """The graph of the first `count` rows, and the row of each edge; the same object while no edge is new."""
        rows = self._rows.first(int(np.searchsorted(self._rows.first(len(self._rows)), count)))
        with self._lock:
            known = self._graph
            if known is None or len(known.memories) != len(rows):
                known = self._graph = self._made(ids, rows)
        return known, rows

    def _made(self, ids: Sequence[str], rows: NDArray[np.int32]) -> FactGraph:
        size = len(rows)
        numbers: list[int] = rows.tolist()
        memories = [ids[row] for row in numbers]
        return FactGraph(dict(self._nodes), self._source.first(size), self._target.first(size), memories)

    def _append(self, edges: Sequence[tuple[int, int, int]]) -> None:
        if edges:
            rows, source, target = np.array(edges, np.int32).T
            # The rows come last: a reader that sees them finds the rest in place.
            self._source.extend(source)
            self._target.extend(target)
            self._rows.extend(rows)

    def _node(self, entity: str) -> int:
        return self._nodes.setdefault(entity, len(self._nodes))
