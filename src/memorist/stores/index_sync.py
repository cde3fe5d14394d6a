"""Keeps the in-memory index in sync with a database, including what other processes write."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, Protocol

from memorist.stores.index import Index, IndexEntry, IndexView
from memorist.stores.index.columns import ReadNamed
from memorist.stores.index.entries import related_pairs
from memorist.stores.rows import Row

_first = itemgetter(0)


class Counters(NamedTuple):
    """The content counters of a space: a higher `seq` adds to a cache, a new `epoch` invalidates it."""

    epoch: int
    seq: int


class IndexSnapshot(Protocol):
    """One state of a database, to load an index from."""

    def counters(self) -> Counters:
        """The content counters of this state."""
        ...

    def embedding(self) -> str | None:
        """The searched embedding generation."""
        ...

    def changed(self, seen: int) -> Iterable[IndexEntry]:
        """The memories written after a `seq`, in the order of writing."""
        ...

    def deleted(self, seen: int) -> Iterable[str]:
        """The ids erased after a `seq`."""
        ...


@dataclass(frozen=True, slots=True)
class _State:
    """An index, its newest view, and the counters that it was loaded at."""

    index: Index
    view: IndexView
    at: Counters


class IndexCache:
    """One index for all threads of a store; a view costs one small query while nothing changes.

    `counters` reads the newest counters, `snapshot` opens the newest state, and `read` reads what conditions name.
    """

    def __init__(
        self,
        counters: Callable[[], Counters],
        snapshot: Callable[[], AbstractContextManager[IndexSnapshot]],
        read: ReadNamed,
    ) -> None:
        self._counters = counters
        self._snapshot = snapshot
        self._read = read
        self._lock = threading.Lock()
        self._state: _State | None = None

    def view(self) -> IndexView:
        """The newest committed content."""
        now = self._counters()
        state = self._state
        if state is not None and state.at == now:
            return state.view
        with self._lock:
            return self._advance().view

    def _advance(self) -> _State:
        with self._snapshot() as snapshot:
            now = snapshot.counters()
            state = self._state
            if state is not None and state.at == now:
                return state
            self._state = None  # a load that fails halfway leaves nothing behind
            if state is None or state.at.epoch != now.epoch or state.at.seq > now.seq:
                index, seen = Index(self._read), 0
            else:
                index, seen = state.index, state.at.seq
            changed, deleted = snapshot.changed(seen), snapshot.deleted(seen)
            index.apply(changed, deleted, generation=now.seq, embedding=snapshot.embedding())
        self._state = _State(index, index.view(), now)
        return self._state


def entries_of(rows: Iterable[Row], links: Iterable[Row]) -> Iterator[IndexEntry]:
    """Index entries from rows: a row number, the entry's columns, mentions as JSON, a view and its vector.

    A memory has one row per view. Links are (source, relation, target), sorted.
    """
    linked = {id: related_pairs(row[1:] for row in group) for id, group in groupby(links, _first)}
    for _, group in groupby(rows, _first):
        yield _entry(list(group), linked)


def _entry(rows: list[Row], linked: dict[str, tuple[tuple[str, str], ...]]) -> IndexEntry:
    _, *columns, mentions, _, _ = rows[0]
    spans = () if mentions == "[]" else _spans(mentions)
    views = {view: vector for *_, view, vector in rows if view is not None}
    return IndexEntry(*columns, vectors=views, mentions=spans, pairs=linked.get(columns[0], ()))


def _spans(mentions: str) -> tuple[tuple[int, int], ...]:
    """The times of mentions; none if they are damaged."""
    try:
        return tuple((start, end) for _, start, end in json.loads(mentions))
    except (ValueError, TypeError):
        return ()
