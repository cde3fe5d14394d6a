"""The index's one writer."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memorist.stores.index.entry import Entry
from memorist.stores.index.growing import Growing
from memorist.stores.index.table import Table
from memorist.stores.index.view import IndexView

_FEW_DEAD = 1024


class Index:
    """Memories in columns, searched through views; a cache that can be made again from a store's rows.

    One writer at a time: the caller locks `apply`. Views, old and new, are read by any thread meanwhile.
    """

    def __init__(self) -> None:
        self._table = Table()
        self._alive = Growing(np.bool_)
        self._dead = 0
        self._view = IndexView(self._table, self._alive.first(0), 0)

    def apply(
        self, entries: Iterable[Entry], removed: Iterable[str], *, generation: int, embedding: str | None = None
    ) -> None:
        """Take out removed memories, then put entries in, each in place of any of its id; all or nothing.

        An id among both is there afterwards. Views taken before stay as they were. `embedding` names what made the
        vectors.
        """
        fresh = list({entry.id: entry for entry in entries}.values())
        self._table.check(fresh)
        self._bury([*removed, *(entry.id for entry in fresh)])
        if fresh:
            self._table.extend(fresh)
            self._alive.extend(np.ones(len(fresh), np.bool_))
        self._compact()
        self._view = IndexView(self._table, self._alive.first(len(self._alive)), generation, embedding)

    def view(self) -> IndexView:
        """The state after the last `apply`."""
        return self._view

    def _bury(self, ids: list[str]) -> None:
        alive = self._alive.first(len(self._alive))
        rows = [row for row in set(self._table.rows_of(ids, len(alive))) if alive[row]]
        if rows:
            self._alive = self._alive.copy()  # earlier views keep theirs
            self._alive.first(len(alive))[rows] = False
            self._dead += len(rows)

    def _compact(self) -> None:
        if self._dead > max(_FEW_DEAD, len(self._alive) // 4):
            living = np.flatnonzero(self._alive.first(len(self._alive)))
            self._table = self._table.taken(living)
            self._alive = self._alive.taken(living)
            self._dead = 0
