"""The default store: one SQLite file holds one space, and is the truth; searching happens in memory."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock

import apsw

from memorist.errors import InvalidInput
from memorist.model import Entity, Filter, Link, Memory
from memorist.ports import Batch, Entry, Job, Page, Plan, Record, StoreStats, Vectors
from memorist.stores.common import Ready, check_adoption, check_limit, check_vectors, prepared
from memorist.stores.index import IndexView, micros
from memorist.stores.index_sync import Cache
from memorist.stores.sqlite import generations, opening, reads, remnants, sync, writes
from memorist.stores.sqlite.connection import Connections, Database, Synchronous
from memorist.stores.sqlite.opening import located, prepare
from memorist.stores.sqlite.rows import packed
from memorist.stores.sqlite.sync import FileSource, copy

TOUCH_PATIENCE = 0.25
"""Seconds that counting a recall may wait: an answer is worth more than its count."""
SCRUB_PATIENCE = 0.25
"""Seconds that erasing waits for readers of the log; what they still hold is overwritten later."""


class SqliteStore:
    """Memories in one file; threads and processes may share it, a fork may not."""

    def __init__(self, connections: Connections, space: str) -> None:
        self._connections = connections
        self._space = space
        self._cache = Cache(FileSource(connections))
        self._debts = Lock()
        self._erased = set[bytes]()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        space: str | None = None,
        create: bool = True,
        synchronous: Synchronous = "normal",
    ) -> SqliteStore:
        """Open a file, or create it with its folder; a new space is named after the file.

        With `synchronous="full"` a write survives a power cut too, at about a sixth of the commits a second.
        """
        connections = Connections(located(path, create=create), synchronous=synchronous)
        try:
            return cls(connections, prepare(connections, asked=space))
        except BaseException:
            connections.close(tidy=False)
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._connections.path

    @property
    def space(self) -> str:
        """The name of the space."""
        return self._space

    @property
    def embedding(self) -> str | None:
        """The embedding generation of the store's vectors, None before the first."""
        with self._connections.reading() as db:
            generation = reads.active_generation(db)
        return generation and generation.name

    def adopt(self, embedding: str, dim: int) -> None:
        """Declare the embedding generation of vectors to come; refused when the store has another."""
        with self._connections.reading() as db:
            known = _adopted(db)
            check_adoption(known, embedding, dim)
        if known is None:
            self._adopt_first(embedding, dim)

    def prepare(self, embedding: str, dim: int) -> None:
        """Make room for vectors of another embedding generation, beside those that are searched."""
        with self._connections.writing() as db:
            generations.prepare(db, embedding, dim)

    def lacking(self, embedding: str, limit: int) -> list[Memory]:
        """Memories in every form that have no vectors of a prepared generation, in the order written."""
        with self._connections.snapshot() as db:
            return generations.lacking(db, embedding, limit)

    def add_vectors(self, embedding: str, memories: Sequence[Memory], vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors of a prepared generation, of those memories whose text is still the one given."""
        ready = generations.packed_all(vectors)
        with self._connections.writing() as db:
            generations.add_vectors(db, embedding, memories, ready)

    def switch(self, embedding: str) -> bool:
        """Search by a prepared generation from now on, and drop every other; False while any memory lacks it."""
        with self._connections.writing() as db:
            return generations.switch(db, embedding)

    def put(self, batch: Batch) -> list[Memory]:
        """Write a batch atomically and return its memories as the store now has them."""
        ready = prepared(batch, packed)
        with self._connections.writing() as db, _refusals():
            stored = self._write(db, ready)
        return self._written(stored, batch)

    def update(self, plan: Plan) -> list[Memory]:
        """`put` what a plan makes of the store, with nobody writing in between."""
        with self._connections.writing() as db, _refusals():
            batch = plan(reads.Inside(db))
            stored = self._write(db, prepared(batch, packed))
        return self._written(stored, batch)

    def _write(self, db: Database, ready: Ready[bytes]) -> list[Memory]:
        check_vectors(ready.batch, _adopted(db))
        write = writes.Write(db)
        stored = write.everything(ready, reads.active_generation(db))
        self._owe(write.erased)
        return stored

    def _written(self, stored: list[Memory], batch: Batch) -> list[Memory]:
        if batch.erased:
            self._connections.checkpoint(wait=SCRUB_PATIENCE)  # the log still holds what was erased
        return stored

    def _owe(self, erased: set[bytes]) -> None:
        with self._debts:
            if len(self._erased) <= remnants.MOST:
                self._erased |= erased

    def embedded(self, ids: Sequence[str]) -> set[str]:
        """Which of these memories have vectors of the store's embedding generation."""
        with self._connections.reading() as db:
            return reads.embedded(db, ids)

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories with these ids, with their usage; unknown ids are left out."""
        with self._connections.reading() as db:
            return {id: stored.memory for id, stored in reads.fetch(db, ids).items()}

    def scan(self, where: Filter, limit: int, cursor: str | None = None) -> Page:
        """Memories that a filter admits, in the order they were written."""
        check_limit(limit)
        with self._connections.reading() as db:
            return reads.scan(db, where, limit, cursor)

    def history(self, id: str) -> list[Memory]:
        """All versions of a memory, newest first."""
        with self._connections.reading() as db:
            return reads.history(db, id)

    def keyed(self, keys: Sequence[str]) -> list[Memory]:
        """Every memory with one of these keys, in every scope and form, in the order written."""
        with self._connections.reading() as db:
            return reads.keyed(db, keys)

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        """The memories of a session from one position to another, by position and then by the order of writing."""
        with self._connections.reading() as db:
            return reads.turns(db, session, first, last)

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """All views of each memory that has one."""
        with self._connections.reading() as db:
            return reads.vectors(db, ids)

    def jobs(self, task: str | None = None, limit: int = 1000) -> list[Job]:
        """What is left to do, the first due first."""
        with self._connections.reading() as db:
            return reads.jobs(db, task, limit)

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        """The journal, newest first: of a verb, or about a memory."""
        with self._connections.reading() as db:
            return reads.journal(db, verb, subject, limit)

    def neighbours(self, ids: Sequence[str], before: int, after: int) -> dict[str, list[Memory]]:
        """The memories around each of these in its session, by position, itself included."""
        with self._connections.snapshot() as db:
            return reads.neighbours(db, ids, before, after)

    def links(self, ids: Sequence[str], *relations: str) -> list[Link]:
        """Links that start or end at any of these ids, of these relations or else of any."""
        with self._connections.reading() as db:
            return reads.links(db, ids, *relations)

    def entities(self, names: Sequence[str]) -> list[Entity]:
        """Entities whose name or alias is one of these, case aside."""
        with self._connections.snapshot() as db:
            return reads.entities_named(db, names)

    def alike(self, names: Sequence[str]) -> list[Entity]:
        """Entities of which a name or alias begins as one of these does, for three letters."""
        with self._connections.snapshot() as db:
            return reads.entities_alike(db, names)

    def touch(self, ids: Sequence[str], at: datetime) -> None:
        """Count a recall of each memory; invalidates no cache, and does not wait long for its turn."""
        with self._connections.writing(wait=TOUCH_PATIENCE) as db:
            writes.touch(db, ids, at)

    def show(self, session: str, ids: Sequence[str], at: datetime) -> None:
        """Remember that a session was shown these memories; does not wait long for its turn."""
        with self._connections.writing(wait=TOUCH_PATIENCE) as db:
            writes.show(db, session, ids, at)

    def shown(self, session: str, since: datetime) -> set[str]:
        """What a session was shown since a moment."""
        with self._connections.reading() as db:
            rows = db.execute("SELECT id FROM shown WHERE session = ? AND at >= ?", (session, micros(since)))
            return {id for (id,) in rows}

    def learn_noise(self, texts: Sequence[str], *, keep: int) -> None:
        """Add texts that say nothing to the noise bank, which keeps the newest `keep`."""
        with self._connections.writing() as db:
            writes.learn_noise(db, texts, keep)

    def noise(self) -> list[str]:
        """The texts of the noise bank, oldest first."""
        with self._connections.reading() as db:
            return [text for (text,) in db.execute("SELECT text FROM noise ORDER BY row")]

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Erase memories with their versions, vectors, links and usage; returns the ids that went."""
        with self._connections.writing() as db:
            write = writes.Write(db)
            gone = write.erase(ids)
            self._owe(write.erased)
        if gone:
            self.scrub()
        return gone

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Overwrite what was erased: empty the log, and where a page kept a copy of a row, write the file anew."""
        if not self._connections.checkpoint(wait=SCRUB_PATIENCE):
            return False
        with self._debts:
            erased = frozenset(self._erased)
        if rewrite or remnants.left(self.path, erased):
            rewritten = self._connections.rewrite(wait=SCRUB_PATIENCE)
            if not rewritten or not self._connections.checkpoint(wait=SCRUB_PATIENCE):
                return False
        with self._debts:
            self._erased -= erased
        return True

    def view(self) -> IndexView:
        """The newest state, including what other processes have committed."""
        return self._cache.view()

    def stats(self) -> StoreStats:
        """How much there is."""
        with self._connections.snapshot() as db:
            return reads.stats(db, self.path)

    def records(self) -> Generator[StoreStats | Record]:
        """How much there is, then all of it as of one moment."""
        with self._connections.snapshot() as db:
            yield from sync.records(db, self.path)

    def backup(self, path: Path) -> None:
        """Copy the store as of one moment to a new file, and check the copy; others may go on writing."""
        with self._connections.reading() as db:
            copy(db, path, self.path)

    def integrity(self) -> list[str]:
        """What is wrong with the file, one sentence each; empty when it is sound."""
        with self._connections.snapshot() as db:
            return opening.problems(db)

    def close(self) -> None:
        """Release the file and every thread's connection; twice is harmless."""
        self._connections.close()

    def _adopt_first(self, embedding: str, dim: int) -> None:
        with self._connections.writing() as db:
            known = _adopted(db)  # another process may have been faster
            check_adoption(known, embedding, dim)
            if known is None:
                db.execute("INSERT INTO generations (name, dim, active) VALUES (?, ?, 1)", (embedding, dim))


@contextmanager
def _refusals() -> Generator[None]:
    """What the file cannot hold, as our error."""
    try:
        yield
    except (UnicodeEncodeError, OverflowError, apsw.ConstraintError) as error:
        raise InvalidInput(
            f"a value of the batch cannot be kept ({error})",
            remedy="Remove lone surrogates from texts and NaN from numbers; keep integers below 2⁶³.",
        ) from error


def _adopted(db: Database) -> tuple[str, int] | None:
    generation = reads.active_generation(db)
    return generation and (generation.name, generation.dim)
