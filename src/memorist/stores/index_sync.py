"""Keeps an index in step with the rows, whoever wrote them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, Protocol

from memorist.stores.index import Index, IndexEntry, IndexView
from memorist.stores.index.columns import related
from memorist.stores.rows import Row

ENTRY_COLUMNS = (
    "id, kind, scope, tier, topic, classification, valid_from, ingested_at, "
    "valid_to, expired_at, expires_at, retracted_at, words, original_words"
)
_WIDTH = ENTRY_COLUMNS.count(",") + 1
_first = itemgetter(0)


class Counters(NamedTuple):
    """Where the content stands: a new `seq` adds to a cache, a new `epoch` voids it."""

    epoch: int
    seq: int


class Snapshot(Protocol):
    """One state of a database."""

    def counters(self) -> Counters:
        """Where its content stands."""
        ...

    def embedding(self) -> str | None:
        """The embedding generation that is searched."""
        ...

    def changed(self, seen: int) -> Iterable[IndexEntry]:
        """What was written after a `seq`, in the order of writing."""
        ...

    def deleted(self, seen: int) -> Iterable[str]:
        """What was erased after a `seq`."""
        ...


class IndexSource(Protocol):
    """A database to follow."""

    def counters(self) -> Counters:
        """Where the newest commit stands: one tiny query."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """The newest state, held still."""
        ...


@dataclass(frozen=True, slots=True)
class _State:
    """An index, its newest view, and the counters it stands at."""

    index: Index
    view: IndexView
    at: Counters


class Cache:
    """One index for all threads of a store; a view costs one tiny query while nothing changes."""

    def __init__(self, source: IndexSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._state: _State | None = None

    def view(self) -> IndexView:
        """The newest committed content."""
        now = self._source.counters()
        state = self._state
        if state is not None and state.at == now:
            return state.view
        with self._lock:
            return self._advance().view

    def _advance(self) -> _State:
        with self._source.snapshot() as snapshot:
            now = snapshot.counters()
            state = self._state
            if state is not None and state.at == now:
                return state
            self._state = None  # a load that fails half-way leaves nothing behind
            if state is None or state.at.epoch != now.epoch or state.at.seq > now.seq:
                index, seen = Index(), 0
            else:
                index, seen = state.index, state.at.seq
            changed, deleted = snapshot.changed(seen), snapshot.deleted(seen)
            index.apply(changed, deleted, generation=now.seq, embedding=snapshot.embedding())
        self._state = _State(index, index.view(), now)
        return self._state


def entries(rows: Iterable[Row], links: Iterable[Row]) -> Iterator[IndexEntry]:
    """Entries of rows: a number, `ENTRY_COLUMNS`, mentions as JSON, a view and its vector.

    A memory has a row for each of its views. Links are (source, relation, target), sorted.
    """
    linked = {id: related(row[1:] for row in group) for id, group in groupby(links, _first)}
    for _, group in groupby(rows, _first):
        yield _entry(list(group), linked)


def _entry(rows: list[Row], linked: dict[str, tuple[tuple[str, str], ...]]) -> IndexEntry:
    columns = rows[0][1 : 1 + _WIDTH]
    mentions = rows[0][1 + _WIDTH]
    spans = () if mentions == "[]" else tuple((start, end) for _, start, end in json.loads(mentions))
    views = {view: vector for *_, view, vector in rows if view is not None}
    return IndexEntry(*columns, vectors=views, mentions=spans, pairs=linked.get(columns[0], ()))
