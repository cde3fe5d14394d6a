"""Keeps the in-memory index in sync with a database, including what other processes write."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from memorist.errors import Error
from memorist.stores.index.entries import IndexEntry, ReadNamed, related_pairs
from memorist.stores.index_file import Counters, IndexFile
from memorist.stores.rows import Row

if TYPE_CHECKING:
    from memorist.stores.index import Index, IndexView

FEWEST_ROWS = 2_000
"""An index of fewer rows is built faster than a file is worth."""
STALE_SHARE = 16
"""A file is written anew when its index lacks a sixteenth of the rows."""
PAGE = 5_000
"""Rows that are read together: a load holds so many besides the columns that they become."""
REST = 10
"""After writing a file, no other is written for this many times as long."""
_first = itemgetter(0)


class IndexSnapshot(Protocol):
    """One state of a database, to load an index from."""

    def counters(self) -> Counters:
        """The content counters of this state."""
        ...

    def embedding(self) -> str | None:
        """The searched embedding generation."""
        ...

    def count(self) -> int:
        """The number of memories, in every form."""
        ...

    def changed(self, seen: int) -> Iterable[IndexEntry]:
        """The memories written after a `seq`, in the order of writing."""
        ...

    def deleted(self, seen: int) -> Iterable[str]:
        """The ids erased after a `seq`."""
        ...


@dataclass(frozen=True, slots=True)
class _State:
    """An index, its newest view, the counters that it was loaded at, and the counters and rows that it began with."""

    index: Index
    view: IndexView
    at: Counters
    began: Counters
    began_with: int

    @property
    def is_worth_a_file(self) -> bool:
        """Whether a new file would spare the next process much work."""
        rows = self.index.rows
        return rows - self.began_with > max(FEWEST_ROWS, rows // STALE_SHARE)


def _begun(index: Index, at: Counters) -> _State:
    return _State(index, index.view(), at, at, index.rows)


class IndexCache:
    """One index for all threads of a store; a view costs one small query while nothing changes.

    `counters` reads the newest counters, `snapshot` opens the newest state, and `read` reads what conditions name.
    With a `file`, a process begins with what it holds, and writes it again when much has changed.
    """

    def __init__(
        self,
        counters: Callable[[], Counters],
        snapshot: Callable[[], AbstractContextManager[IndexSnapshot]],
        read: ReadNamed,
        file: IndexFile | None = None,
    ) -> None:
        self._counters = counters
        self._snapshot = snapshot
        self._read = read
        self._file = file
        self._lock = threading.Lock()
        self._state: _State | None = None
        self._writer: threading.Thread | None = None
        self._rests_until = 0.0
        self._closed = False

    def view(self) -> IndexView:
        """The newest committed content."""
        now = self._counters()
        state = self._state
        if state is not None and state.at == now:
            return state.view
        with self._lock:
            state = self._advance(self._state or self._kept())
            self._write_file_if_due(state)
            return state.view

    @property
    def nbytes(self) -> int:
        """About how many bytes the index takes."""
        state = self._state
        return 0 if state is None else state.index.nbytes

    def close(self) -> None:
        """Write a file that is due, so that the next process need not begin with the rows; safe to call twice."""
        self._finish_writing()
        with self._lock, suppress(Error):
            state = self._state
            if state is not None and state.index.rows >= FEWEST_ROWS and not self._closed:
                self._write_file_if_due(self._advance(state))
        self._closed = True
        self._finish_writing()

    def _finish_writing(self) -> None:
        writer = self._writer
        if writer is not None:
            writer.join()

    def _kept(self) -> _State | None:
        kept = None if self._file is None else self._file.open(self._read)
        return None if kept is None else _begun(*kept)

    def _advance(self, base: _State | None) -> _State:
        from memorist.stores.index import Index

        with self._snapshot() as snapshot:
            now = snapshot.counters()
            if base is not None and base is self._state and base.at == now:
                return base
            self._state = None  # a load that fails halfway leaves nothing behind
            if base is None or base.at.epoch != now.epoch or base.at.seq > now.seq:
                base = _begun(Index(self._read), Counters(now.epoch, 0))
                base.index.expect(snapshot.count())
            deleted = list(snapshot.deleted(base.at.seq))
            self._apply(snapshot, base, deleted, now)
        if deleted and self._file is not None:
            self._file.drop_unlisted()
        self._state = replace(base, view=base.index.view(), at=now)
        return self._state

    def _apply(self, snapshot: IndexSnapshot, base: _State, deleted: list[str], now: Counters) -> None:
        """Apply what changed, page by page: rows are let go of as they become columns. Ids are distinct."""
        changed, embedding = iter(snapshot.changed(base.at.seq)), snapshot.embedding()
        base.index.apply(islice(changed, PAGE), deleted, generation=now.seq, embedding=embedding)
        while page := list(islice(changed, PAGE)):
            base.index.apply(page, (), generation=now.seq, embedding=embedding)

    def _write_file_if_due(self, state: _State) -> None:
        file = self._file
        if file is None or self._writer is not None or self._closed or time.monotonic() < self._rests_until:
            return
        if state.index.rows >= FEWEST_ROWS and (state.is_worth_a_file or not file.exists()):
            self._writer = threading.Thread(target=self._write_file, args=(file, state), daemon=True)
            self._writer.start()

    def _write_file(self, file: IndexFile, state: _State) -> None:
        """Write the file, unless another process did, and go on with its arrays in place of our own."""
        began = time.monotonic()
        try:
            kept = self._kept()
            if kept is None or kept.at.epoch != state.at.epoch or kept.at.seq <= state.began.seq:
                kept = self._kept() if file.take(state.view, state.at) else None
            if kept is not None:
                with self._lock:
                    self._advance(kept)
        except (Error, OSError, MemoryError):
            return  # the store was closed, or is damaged: whoever asks next is told
        finally:
            self._rests_until = time.monotonic() + REST * (time.monotonic() - began)
            self._writer = None


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
