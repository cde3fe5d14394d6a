"""The store over a relational database: the rows are the truth, and searching happens in memory."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from functools import cached_property, wraps
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Concatenate, Generic, ParamSpec, TypeVar

from memorist.errors import Error, StoreBusy
from memorist.model import Filter, Memory
from memorist.ports import Batch, Page, Plan, Record, StoreStats, Vectors
from memorist.ports.notices import inner_span
from memorist.stores.encoding import Pack, encode, pack_all
from memorist.stores.index_file import Counters, IndexFile
from memorist.stores.index_sync import IndexCache, Load, Origin
from memorist.stores.rules import check_adoption, check_limit
from memorist.stores.sql import bookkeeping, generations
from memorist.stores.sql.reads import Noted, Reads
from memorist.stores.sql.writes import Write

if TYPE_CHECKING:
    from memorist.stores.index import IndexView
    from memorist.stores.index_server import ServerIndex
    from memorist.stores.sql.usage_queue import UsageQueue, Waiting

A = ParamSpec("A")
T = TypeVar("T")
P = TypeVar("P")
PUBLISH_EVERY, PUBLISH_PATIENCE = 0.1, 10.0
"""Seconds between two tries to list an index file, and for how long it waits for the lock unless the store closes."""


class SqlStore(ABC, Generic[P]):
    """A store of which a subclass opens connections, and P is the database's type for vectors."""

    def __init__(
        self,
        space: str,
        pack: Pack[P],
        index_file: Path,
        home: Path | None = None,
        server_index: Callable[[IndexFile], ServerIndex] | None = None,
    ) -> None:
        self._space = space
        self._pack = pack
        self._index_file = IndexFile(
            index_file, tokens=lambda: self._read(Reads.index_files)[1], publish=self._publish, home=home
        )
        self._server_index = None if server_index is None else server_index(self._index_file)
        self._cache = IndexCache(
            self._counters,
            self._snapshot,
            self._index_file,
            self._server_index,
        )

        self._noted = Noted()

    def _counters(self) -> Counters:
        at = self._read(Reads.counters)
        self._note(at)
        return at

    def _note(self, at: Counters) -> None:
        """Begin to note answers anew if the content changed."""
        if self._noted.at != at:
            self._noted = Noted(at)

    @abstractmethod
    def _read(self, question: Callable[[Reads], T]) -> T:
        """Answer a question; each statement sees the newest commit."""

    @abstractmethod
    def _read_still(self, question: Callable[[Reads], T]) -> T:
        """Answer a question; all statements see one state."""

    @abstractmethod
    def _snapshot(self) -> AbstractContextManager[Reads]:
        """One state of the space, for as long as the context lasts."""

    @abstractmethod
    def _write(self, change: Callable[[Write[P]], T], *, wait: float | None = None) -> T:
        """Make a change in a transaction; `wait` is how many seconds it may wait for the lock."""

    @abstractmethod
    def _size(self, reads: Reads) -> int:
        """The size of the space in bytes."""

    @abstractmethod
    def scrub(self, *, rewrite: bool = False) -> bool:
        """Remove every byte of erased data from the files."""

    @abstractmethod
    def close(self) -> None:
        """Release files and connections; safe to call twice."""

    @property
    def space(self) -> str:
        """The name of the space."""
        return self._space

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory it takes while it is open."""
        return self._cache.nbytes

    @property
    def index_origin(self) -> Origin | None:
        """What the searched index began with: rows, a file, or pages in the server; None before the first search."""
        return self._cache.origin

    @property
    def index_load(self) -> Load | None:
        """The load of all rows that a search had to wait for, and that a file now spares the next process."""
        return self._cache.load

    @property
    def embedding(self) -> str | None:
        """The embedding generation of the store's vectors, None before the first."""
        return self._read(Reads.embedding)

    def adopt(self, embedding: str, dim: int) -> None:
        """Declare the embedding generation of vectors to come; refused when the store has another."""
        known = self._read(Reads.generation)
        check_adoption(known and known.adopted, embedding, dim)
        if known is None:
            self._write(lambda write: generations.adopt(write, embedding, dim))

    def prepare(self, embedding: str, dim: int) -> None:
        """Make room for vectors of another embedding generation, next to the searched ones."""
        self._write(lambda write: generations.prepare(write, embedding, dim))

    @staticmethod
    def _answered(
        question: Callable[Concatenate[Reads, A], T], *, still: bool = False
    ) -> Callable[Concatenate[SqlStore[P], A], T]:
        """A method that passes a question on to a connection; `still` if all statements must see one state."""

        @wraps(question)
        def ask(self: SqlStore[P], *args: A.args, **kwargs: A.kwargs) -> T:
            read = self._read_still if still else self._read
            return read(lambda reads: question(reads, *args, **kwargs))

        return ask

    without_vectors = _answered(Reads.without_vectors, still=True)
    embedded = _answered(Reads.embedded)
    get = _answered(Reads.get)
    history = _answered(Reads.history)
    by_key = _answered(Reads.by_key)
    by_text = _answered(Reads.by_text)
    turns = _answered(Reads.turns)
    last_position = _answered(Reads.last_position)
    vectors = _answered(Reads.vectors, still=True)
    jobs = _answered(Reads.jobs)
    journal = _answered(Reads.journal, still=True)
    neighbours = _answered(Reads.neighbours)
    links = _answered(Reads.links)
    entities = _answered(Reads.entities)
    entities_by_id = _answered(Reads.entities_by_id)
    entities_by_prefix = _answered(Reads.entities_by_prefix)
    noise = _answered(Reads.noise)
    held = _answered(Reads.held, still=True)

    def add_vectors(self, embedding: str, memories: Sequence[Memory], vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors of a prepared generation for those memories whose text is unchanged."""
        packed = pack_all(vectors, self._pack)
        self._write(lambda write: generations.add_vectors(write, embedding, memories, vectors, packed))

    def switch(self, embedding: str) -> bool:
        """Search a prepared generation from now on and drop every other; False while any memory lacks it."""
        return self._write(lambda write: generations.switch(write, embedding))

    def put(self, batch: Batch) -> list[Memory]:
        encoded = encode(batch, self._pack)
        return self._traced(lambda write: write.batch(encoded))

    def update(self, plan: Plan, draft: Batch | None = None) -> list[Memory]:
        """`put` the batch that a plan makes, with no other write in between; the draft is encoded before the lock."""
        encoded = None if draft is None else encode(draft, self._pack)
        return self._traced(lambda write: write.batch(encode(plan(write.reads), self._pack, encoded)))

    def delete(self, ids: Sequence[str]) -> list[str]:
        return self._traced(lambda write: write.erase(ids))

    def _traced(self, change: Callable[[Write[P]], T]) -> T:
        with inner_span("memorist.store.write"):
            return self._write(change)

    def scan(self, where: Filter, limit: int, cursor: str | None = None) -> Page:
        """Memories that a filter admits, in the order written."""
        check_limit(limit)
        read = self._read if where.conditions is None else self._read_still
        return read(lambda reads: reads.scan(where, limit, cursor))

    def touch(self, ids: Sequence[str], at: datetime) -> None:
        """Count a recall of each memory; while another writer has the lock, the next write counts it."""
        self._count(bookkeeping.Use(ids, at))

    def show(self, session: str, ids: Sequence[str], at: datetime) -> None:
        """Remember that a session was shown these memories; like `touch`, it does not wait for the lock."""
        self._count(bookkeeping.Use(ids, at, session))

    def _count(self, use: bookkeeping.Use) -> None:
        """Let a use wait; without room for it, or if others would not see it waiting, count it if the lock is free."""
        if self._index_file.is_beside_database and self._read(lambda _: self._queue.add(use)):
            return
        try:
            self._write(lambda write: bookkeeping.count_uses(write.db, write.sql, [use]), wait=0)
        except StoreBusy:
            if not self._queue.add(use):
                raise

    def _count_begun(self, write: Write[P]) -> Waiting | None:
        """Count what a killed process set aside, or else the uses that wait, which are returned to be set aside."""
        write.has_counted = self._has_queue() and self._queue.can_be_set_aside()
        if not write.has_counted:
            return None
        aside, waiting = self._queue.aside(), self._queue.waiting()
        if aside and not bookkeeping.are_counted(write.db, write.sql, aside):
            bookkeeping.count_uses(write.db, write.sql, aside)
            return None
        bookkeeping.count_uses(write.db, write.sql, waiting.uses)
        return waiting

    def _committed(self, write: Write[P]) -> None:
        """Called after a commit: what was set aside is counted."""
        if write.has_counted:
            self._queue.remove_aside()
        self._note(write.counters)

    def _count_set_aside(self) -> None:
        """Count what a killed process set aside, unless another writer has the lock."""
        if os.path.lexists(self._index_file.usage[1]):
            self._count_waiting()

    def _count_waiting(self) -> None:
        """Count the uses that wait, unless another writer has the lock."""
        if self._has_queue():
            with suppress(Error):
                self._write(lambda write: None, wait=0)

    def _has_queue(self) -> bool:
        return any(map(os.path.lexists, self._index_file.usage))

    @cached_property
    def _queue(self) -> UsageQueue:
        """The uses that wait; imported only where some do."""
        from memorist.stores.sql.usage_queue import UsageQueue

        return UsageQueue(self._index_file)

    def _waiting(self) -> Waiting | None:
        return self._queue.waiting() if os.path.lexists(self._index_file.usage[0]) else None

    def shown(self, session: str, since: datetime) -> set[str]:
        """The memories that a session was shown since a moment."""
        return self._read(lambda reads: reads.shown(session, since))

    def learn_noise(self, texts: Sequence[str], *, keep: int) -> None:
        """Add meaningless texts to the noise bank, which keeps the newest `keep`."""
        self._write(lambda write: write.learn_noise(texts, keep))

    def view(self) -> IndexView:
        """The newest state, including what other processes have committed."""
        return self._cache.view()

    def stats(self) -> StoreStats:
        """The size of the store."""
        return self._read_still(self._stats)

    def records(self) -> Generator[StoreStats | Record]:
        """The statistics, then every record as of one moment."""
        self._count_waiting()
        with self._snapshot() as reads:
            yield self._stats(reads)
            yield from reads.records()

    def _carry_out(self, write: Write[P], change: Callable[[Write[P]], T]) -> T:
        """Count the uses that wait, make a change, and end the write, just before it is committed.

        A change may set or read usages, so the uses come first. What was erased must not live on in the index file.
        """
        counted = self._count_begun(write)
        done = change(write)
        if counted is not None:
            bookkeeping.count_uses(write.db, write.sql, self._queue.set_aside(counted))
        write.finish()
        if write.outdates_index_files:
            self._index_file.remove()
            if self._server_index is not None:
                self._server_index.remove_sparse()
        return done

    def _outdated_index_files(self, wait: float) -> bool:
        """Let no index file be used that was made so far; False while another writer has the lock."""
        try:
            self._write(lambda write: write.outdate_index_files(), wait=wait)
        except StoreBusy:
            return False
        return True

    def _publish(self, token: str, at: Counters, place: Callable[[], object]) -> bool:
        """Put an index file in place, unless something was erased since it was read; no other write is in between."""

        def change(write: Write[P]) -> bool:
            listed = write.list_index_file(token, at.seq)
            if listed:
                place()
            return listed

        deadline = monotonic() + PUBLISH_PATIENCE
        while True:
            try:
                return self._write(change, wait=0)
            except StoreBusy:
                if self._cache.is_closing_within(PUBLISH_EVERY) or monotonic() > deadline:
                    return False

    def _stats(self, reads: Reads) -> StoreStats:
        return reads.stats(self._space, self._size(reads))
