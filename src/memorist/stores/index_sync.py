"""Keeps the in-memory index in sync with a database, including what other processes write."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from memorist.errors import Error
from memorist.stores.index.arrays import Unfetched
from memorist.stores.index.entries import IndexEntry, joins, related_pairs
from memorist.stores.index_file import Counters, IndexFile
from memorist.stores.rows import Row

if TYPE_CHECKING:
    from memorist.stores.index import Index, IndexView
    from memorist.stores.index_server import Served, ServerIndex

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


Origin = Literal["rows", "file", "server"]
"""What an index began with: the rows, the index file of this machine, or the pages in the server."""


@dataclass(frozen=True, slots=True)
class _State:
    """An index, its newest view, the counters that it was loaded at, and the counters and rows that it began with.

    `served` is what it began with in the server, from which more is fetched.
    """

    index: Index
    view: IndexView
    at: Counters
    began: Counters
    began_with: int
    origin: Origin
    served: Served | None = None

    @property
    def is_worth_a_file(self) -> bool:
        """Whether a new file would spare the next process much work."""
        return _is_stale(self.index.rows, self.index.rows - self.began_with)

    @property
    def is_being_fetched(self) -> bool:
        """Whether some of it lies in the server alone."""
        return self.served is not None and not self.served.file.is_complete

    @property
    def is_lost(self) -> bool:
        """Whether some of it can no longer be fetched."""
        return self.served is not None and self.served.file.is_gone


def _begun(index: Index, at: Counters, origin: Origin, served: Served | None = None) -> _State:
    return _State(index, index.view(), at, at, index.rows, origin, served)


def _is_stale(rows: int, lacking: int) -> bool:
    return lacking > max(FEWEST_ROWS, rows // STALE_SHARE)


class Load(NamedTuple):
    """A load of every row, because no file had them: how many, and how many seconds it took."""

    rows: int
    seconds: float


class IndexCache:
    """One index for all threads of a store; a view costs one small query while nothing changes.

    `counters` reads the newest counters, and `snapshot` opens the newest state.
    With a `file`, a process begins with what it holds, and writes it again when much has changed. With a `server`, a
    process without a file begins with what is published there.
    """

    def __init__(
        self,
        counters: Callable[[], Counters],
        snapshot: Callable[[], AbstractContextManager[IndexSnapshot]],
        file: IndexFile | None = None,
        server: ServerIndex | None = None,
    ) -> None:
        self._counters = counters
        self._snapshot = snapshot
        self._file = file
        self._server = server
        self._lock = threading.Lock()
        self._state: _State | None = None
        self._worker: threading.Thread | None = None
        self._rests_until = 0.0
        self.load: Load | None = None
        """The load that the next process is spared by a file; None if there was none, or no file is worth it."""
        self._may_have_to_publish = server is not None
        self._closing = threading.Event()

    def view(self) -> IndexView:
        """The newest committed content."""
        now = self._counters()
        state = self._state
        if state is not None and state.at == now and not state.is_lost:
            return state.view
        with self._lock:
            state = self._newest()
            self._work_if_due(state)
            return state.view

    @property
    def nbytes(self) -> int:
        """About how many bytes the index takes."""
        state = self._state
        return 0 if state is None else state.index.nbytes

    @property
    def origin(self) -> Origin | None:
        """What the index began with; None before the first view."""
        state = self._state
        return None if state is None else state.origin

    def is_closing_within(self, seconds: float) -> bool:
        """Wait for some seconds, or until it is closed; returns whether it is."""
        return self._closing.wait(seconds)

    def close(self) -> None:
        """Write a file that is due, so that the next process need not begin with the rows; safe to call twice."""
        was_closed = self._closing.is_set()
        self._closing.set()
        self._finish_work()
        with self._lock, suppress(Error):
            state = self._state
            if state is not None and state.index.rows >= FEWEST_ROWS and not was_closed and not state.is_being_fetched:
                self._work_if_due(self._advance(state), last=True)
        self._finish_work()

    def _finish_work(self) -> None:
        with self._lock:  # whoever holds it may have made a thread that is not started yet
            worker = self._worker
        if worker is not None:
            worker.join()

    def _newest(self) -> _State:
        """The newest state. One that can no longer be fetched gives way to what is published now, or to the rows."""
        state = self._state
        if state is not None and not state.is_lost:
            with suppress(Unfetched):
                return self._advance(state)
        with suppress(Unfetched):
            return self._advance(self._kept())
        return self._advance(None)

    def _kept(self) -> _State | None:
        """What the file holds, or else what the server has."""
        kept = None if self._file is None else self._file.open()
        if kept is not None:
            return _begun(*kept, "file")
        opened = None if self._server is None else self._server.open(self._counters().epoch)
        return None if opened is None else _begun(opened[0], opened[1].at, "server", opened[1])

    def _advance(self, base: _State | None) -> _State:
        from memorist.stores.index import Index

        if base is not None and base.is_being_fetched and base.at != self._counters():
            base.index.prepare()  # here, because the snapshot holds a connection
        began = time.monotonic()
        with self._snapshot() as snapshot:
            now = snapshot.counters()
            if base is not None and base is self._state and base.at == now:
                return base
            self._state = None  # a load that fails halfway leaves nothing behind
            if base is None or base.at.epoch != now.epoch or base.at.seq > now.seq:
                base = _begun(Index(), Counters(now.epoch, 0), "rows")
                base.index.expect(snapshot.count())
            deleted = list(snapshot.deleted(base.at.seq))
            if deleted and base.is_being_fetched:
                self._drop_unlisted()
                raise Unfetched("Something was erased, and with it what is not fetched yet", remedy="Try again.")
            self._apply(snapshot, base, deleted, now)
        if deleted:
            self._drop_unlisted()
        if not base.began_with and self._server is not None:
            self._server.note_load(base.index.rows)
        if base.at.seq == 0 and base.origin == "rows" and base.index.rows >= FEWEST_ROWS:
            self.load = Load(base.index.rows, time.monotonic() - began)
        self._state = replace(base, view=base.index.view(), at=now)
        return self._state

    def _drop_unlisted(self) -> None:
        """Remove the files of this machine, because something was erased elsewhere."""
        if self._file is not None:
            self._file.drop_unlisted()
        if self._server is not None:
            self._server.remove_sparse()

    def _apply(self, snapshot: IndexSnapshot, base: _State, deleted: list[str], now: Counters) -> None:
        """Apply what changed, page by page: rows are let go of as they become columns. Ids are distinct."""
        changed, embedding = iter(snapshot.changed(base.at.seq)), snapshot.embedding()
        base.index.apply(islice(changed, PAGE), deleted, generation=now.seq, embedding=embedding)
        while page := list(islice(changed, PAGE)):
            base.index.apply(page, (), generation=now.seq, embedding=embedding)

    def _work_if_due(self, state: _State, *, last: bool = False) -> None:
        """Let a thread do what is due, if there is none already."""
        if self._file is None or self._worker is not None or self._closing.is_set() != last:
            return
        work = self._fetching(state) or self._due(state, self._file)
        if work is not None:
            self._worker = threading.Thread(target=self._run, args=(work,), daemon=True)
            self._worker.start()

    def _fetching(self, state: _State) -> Callable[[], None] | None:
        """Fetches the rest of an index, unless it has to be written anyway."""
        if self._server is None or state.served is None or not state.is_being_fetched or state.is_worth_a_file:
            return None
        return partial(self._server.fill, state.served, self._closing)

    def _due(self, state: _State, file: IndexFile) -> Callable[[], None] | None:
        """Writes or publishes the file; not soon after it was done or tried, unless this is the last chance."""
        rows, server = state.index.rows, self._server
        if time.monotonic() < self._rests_until and not self._closing.is_set():
            return None
        if rows >= FEWEST_ROWS and (state.is_worth_a_file or not file.exists()):
            return partial(self._write_file, file, state)
        if server is not None and self._may_have_to_publish and rows >= server.fewest:
            return self._publish
        return None

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (Error, OSError, MemoryError):
            return  # the store was closed, or is damaged: whoever asks next is told
        finally:
            self._worker = None

    def _write_file(self, file: IndexFile, state: _State) -> None:
        """Write the file, unless another process did, and go on with its arrays in place of our own."""
        with self._resting():
            kept = self._kept()
            if kept is None or kept.at.epoch != state.at.epoch or kept.at.seq <= state.began.seq:
                kept = self._kept() if file.take(state.view, state.at) else None
            if kept is not None:
                with self._lock:
                    self._advance(kept)
                self._publish()

    def _publish(self) -> None:
        """Publish the file, if the server has none that is nearly as new."""
        self._may_have_to_publish = False
        if self._server is not None:
            with self._resting():
                self._server.publish(_is_stale)

    @contextmanager
    def _resting(self) -> Generator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self._rests_until = time.monotonic() + REST * (time.monotonic() - began)


def entries_of(rows: Iterable[Row], links: Iterable[Row]) -> Iterator[IndexEntry]:
    """Index entries from rows: a row number, the entry's columns, mentions as JSON, a view and its vector.

    A memory has one row per view. Links are (source, relation, target), sorted.
    """
    linked = {id: [row[1:] for row in group] for id, group in groupby(links, _first)}
    for _, group in groupby(rows, _first):
        yield _entry(list(group), linked)


def _entry(rows: list[Row], linked: dict[str, list[Row]]) -> IndexEntry:
    _, *columns, mentions, _, _ = rows[0]
    spans = () if mentions == "[]" else _spans(mentions)
    views = {view: vector for *_, view, vector in rows if view is not None}
    roles = linked.get(columns[0], ())
    entry = IndexEntry(*columns, vectors=views, mentions=spans, pairs=related_pairs(roles))
    return entry if entry.relation is None or joins(roles) else entry._replace(relation=None)


def _spans(mentions: str) -> tuple[tuple[int, int], ...]:
    """The times of mentions; none if they are damaged."""
    try:
        return tuple((start, end) for _, start, end in json.loads(mentions))
    except (ValueError, TypeError):
        return ()
