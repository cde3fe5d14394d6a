"""Keeping the in-memory index level with the file, whoever writes it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from recollect.stores.common import RELATING
from recollect.stores.index import Entry, Index, IndexView
from recollect.stores.index.entry import related
from recollect.stores.sqlite.connection import Connections
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.reads import Counters, active_generation, counters

ENTRY_COLUMNS = 14
_first = itemgetter(0)
CHANGED = """
    SELECT m.row, id, kind, scope, tier, topic, classification, valid_from, ingested_at,
        valid_to, expired_at, expires_at, retracted_at, words, original_words, mentions, view, data
    FROM memories AS m LEFT JOIN vectors AS v ON v.row = m.row AND v.generation = :generation
    WHERE m.seq > :seq ORDER BY m.seq, m.row
"""

LINKED = """
    SELECT l.source, l.relation, l.target FROM memories AS m JOIN links AS l ON l.source = m.id
    WHERE m.seq > :seq AND l.relation IN (:subject, :object, :mentions) ORDER BY l.source, l.relation, l.target
"""


@dataclass(frozen=True, slots=True)
class _State:
    """An index, its newest view, and the counters it stands at."""

    index: Index
    view: IndexView
    at: Counters


class Cache:
    """One index for all threads of a store; a view costs one tiny query while nothing changes."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._lock = threading.Lock()
        self._state: _State | None = None

    def view(self) -> IndexView:
        """The newest committed content."""
        with self._connections.reading() as db:
            now = counters(db)
        state = self._state
        if state is not None and state.at == now:
            return state.view
        with self._lock:
            return self._advance().view

    def _advance(self) -> _State:
        with self._connections.snapshot() as db:
            now = counters(db)
            state = self._state
            if state is not None and state.at == now:
                return state
            self._state = None  # a load that fails half-way leaves nothing behind
            if state is None or state.at.epoch != now.epoch or state.at.seq > now.seq:
                index, seen = Index(), 0
            else:
                index, seen = state.index, state.at.seq
            active = active_generation(db)
            changed, deleted = _changed(db, seen), _deleted(db, seen)
            index.apply(changed, deleted, generation=now.seq, embedding=active and active.name)
        self._state = _State(index, index.view(), now)
        return self._state


def _changed(db: Database, seen: int) -> Iterator[Entry]:
    generation = active_generation(db)
    linked_rows = db.execute(LINKED, {"seq": seen, **{relation: relation for relation in RELATING}})
    linked = {id: related(row[1:] for row in rows) for id, rows in groupby(linked_rows, _first)}
    rows = db.execute(CHANGED, {"generation": generation and generation.id, "seq": seen})
    for _, group in groupby(rows, _first):
        yield _entry(list(group), linked)


def _entry(rows: list[tuple[Any, ...]], linked: Mapping[str, tuple[tuple[str, str], ...]]) -> Entry:
    columns = rows[0][1 : 1 + ENTRY_COLUMNS]
    mentions = rows[0][1 + ENTRY_COLUMNS]
    spans = () if mentions == "[]" else tuple((start, end) for _, start, end in json.loads(mentions))
    views = {view: np.frombuffer(data, "<f2") for *_, view, data in rows if view is not None}
    return Entry(*columns, vectors=views, mentions=spans, pairs=linked.get(columns[0], ()))


def _deleted(db: Database, seen: int) -> Iterator[str]:
    return (id for (id,) in db.execute("SELECT id FROM deletions WHERE seq > ?", (seen,)))
