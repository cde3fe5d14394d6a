"""Memories on a server: the rows are the truth, searching happens in memory as it does for a file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from pathlib import Path
from typing import TypeVar

from pgvector import HalfVector

from memorist.errors import InvalidInput
from memorist.model import Entity, Filter, Link, Memory
from memorist.ports import Batch, Entry, Job, Page, Plan, Record, StoreStats, Vectors
from memorist.stores.common import check_adoption, check_limit, prepared
from memorist.stores.index import IndexView
from memorist.stores.index_sync import Cache
from memorist.stores.postgres import bookkeeping, generations, sync
from memorist.stores.postgres.database import Connection, Database, prepare
from memorist.stores.postgres.pool import Connections, checked
from memorist.stores.postgres.reads import Reads
from memorist.stores.postgres.sync import SpaceSource
from memorist.stores.postgres.writes import Write

T = TypeVar("T")
TOUCH_PATIENCE = 0.25
"""Seconds that counting a recall may wait: an answer is worth more than its count."""


class PostgresStore:
    """A space in a database; threads, processes and machines may share it, a fork may not share the handle."""

    def __init__(self, connections: Connections, space: str) -> None:
        self._connections = connections
        self._space = space
        self._cache = Cache(SpaceSource(connections, space))

    @classmethod
    def open(cls, url: str, *, space: str) -> PostgresStore:
        """Open a space of a database, or create it; brings the database's tables up to date."""
        conninfo = checked(url)
        prepare(conninfo, space)
        return cls(Connections(conninfo), space)

    @property
    def space(self) -> str:
        """The name of the space."""
        return self._space

    @property
    def embedding(self) -> str | None:
        """The embedding generation of the store's vectors, None before the first."""
        generation = self._read(Reads.generation)
        return generation and generation.name

    def adopt(self, embedding: str, dim: int) -> None:
        """Declare the embedding generation of vectors to come; refused when the store has another."""
        known = self._read(Reads.generation)
        check_adoption(known and (known.name, known.dim), embedding, dim)
        if known is None:
            self._write(lambda db, write: _adopt(db, write, embedding, dim))

    def prepare(self, embedding: str, dim: int) -> None:
        """Make room for vectors of another embedding generation, beside those that are searched."""
        self._write(lambda db, write: generations.prepare(db, write, embedding, dim))

    def lacking(self, embedding: str, limit: int) -> list[Memory]:
        """Memories in every form that have no vectors of a prepared generation, in the order written."""
        return self._connections.read_still(
            lambda connection: generations.lacking(Database(connection, self._space), embedding, limit)
        )

    def add_vectors(self, embedding: str, memories: Sequence[Memory], vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors of a prepared generation, of those memories whose text is still the one given."""
        packed = generations.packed_all(vectors)
        self._write(lambda db, write: generations.add_vectors(db, write, embedding, memories, packed))

    def switch(self, embedding: str) -> bool:
        """Search by a prepared generation from now on, and drop every other; False while any memory lacks it."""
        return self._write(lambda db, write: generations.switch(db, write, embedding))

    def put(self, batch: Batch) -> list[Memory]:
        """Write a batch atomically and return its memories as the store now has them."""
        ready = prepared(batch, HalfVector)
        return self._write(lambda _, write: write.everything(ready))

    def update(self, plan: Plan) -> list[Memory]:
        """`put` what a plan makes of the store, with nobody writing in between; a plan may be asked again."""
        return self._write(lambda _, write: write.everything(prepared(plan(write.reads), HalfVector)))

    def embedded(self, ids: Sequence[str]) -> set[str]:
        """Which of these memories have vectors of the store's embedding generation."""
        return self._read(lambda reads: reads.embedded(ids))

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories with these ids, with their usage; unknown ids are left out."""
        return self._read(lambda reads: reads.get(ids))

    def scan(self, where: Filter, limit: int, cursor: str | None = None) -> Page:
        """Memories that a filter admits, in the order they were written."""
        check_limit(limit)
        return self._read(lambda reads: reads.scan(where, limit, cursor))

    def history(self, id: str) -> list[Memory]:
        """All versions of a memory, newest first."""
        return self._read(lambda reads: reads.history(id))

    def keyed(self, keys: Sequence[str]) -> list[Memory]:
        """Every memory with one of these keys, in every scope and form, in the order written."""
        return self._read(lambda reads: reads.keyed(keys))

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        """The memories of a session from one position to another, by position and then by the order of writing."""
        return self._read(lambda reads: reads.turns(session, first, last))

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """All views of each memory that has one."""
        return self._snapshot(lambda reads: reads.vectors(ids))

    def jobs(self, task: str | None = None, limit: int = 1000) -> list[Job]:
        """What is left to do, the first due first."""
        return self._read(lambda reads: reads.jobs(task, limit))

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        """The journal, newest first: of a verb, or about a memory."""
        return self._snapshot(lambda reads: reads.journal(verb, subject, limit))

    def neighbours(self, ids: Sequence[str], before: int, after: int) -> dict[str, list[Memory]]:
        """The memories around each of these in its session, by position, itself included."""
        return self._snapshot(lambda reads: reads.neighbours(ids, before, after))

    def links(self, ids: Sequence[str], *relations: str) -> list[Link]:
        """Links that start or end at any of these ids, of these relations or else of any."""
        return self._read(lambda reads: reads.links(ids, *relations))

    def entities(self, names: Sequence[str]) -> list[Entity]:
        """Entities whose name or alias is one of these, case aside."""
        return self._snapshot(lambda reads: reads.entities(names))

    def alike(self, names: Sequence[str]) -> list[Entity]:
        """Entities of which a name or alias begins as one of these does, for three letters."""
        return self._snapshot(lambda reads: reads.alike(names))

    def touch(self, ids: Sequence[str], at: datetime) -> None:
        """Count a recall of each memory; invalidates no cache, and does not wait long for its turn."""
        self._write(lambda db, _: bookkeeping.touch(db, ids, at), wait=TOUCH_PATIENCE)

    def show(self, session: str, ids: Sequence[str], at: datetime) -> None:
        """Remember that a session was shown these memories; does not wait long for its turn."""
        self._write(lambda db, _: bookkeeping.show(db, session, ids, at), wait=TOUCH_PATIENCE)

    def shown(self, session: str, since: datetime) -> set[str]:
        """What a session was shown since a moment."""
        return self._read(lambda reads: reads.shown(session, since))

    def learn_noise(self, texts: Sequence[str], *, keep: int) -> None:
        """Add texts that say nothing to the noise bank, which keeps the newest `keep`."""
        self._write(
            lambda db, write: bookkeeping.learn_noise(db, texts, keep, map(lambda _: write.draw(), repeat(None)))
        )

    def noise(self) -> list[str]:
        """The texts of the noise bank, oldest first."""
        return self._read(Reads.noise)

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Erase memories with their versions, vectors, links and usage; returns the ids that went."""
        return self._write(lambda _, write: write.erase(ids))

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Nothing of ours to overwrite: dead rows leave a server's files with its vacuum and its log."""
        return True

    def view(self) -> IndexView:
        """The newest state, including what other processes have committed."""
        return self._cache.view()

    def stats(self) -> StoreStats:
        """How much there is; bytes count texts and vectors."""
        return self._snapshot(Reads.stats)

    def records(self) -> Generator[StoreStats | Record]:
        """How much there is, then all of it as of one moment."""
        with self._connections.snapshot() as connection:
            yield from sync.records(Database(connection, self._space))

    def backup(self, path: Path) -> None:
        """Refused: a server has its own ways."""
        raise InvalidInput(
            f"{path} cannot be a backup of a server's space",
            remedy="Use pg_dump for the database, or export the space: an export holds everything.",
        )

    def close(self) -> None:
        """Release the connections; twice is harmless."""
        self._connections.close()

    def _read(self, question: Callable[[Reads], T]) -> T:
        return self._connections.read(lambda connection: question(self._reads(connection)))

    def _snapshot(self, question: Callable[[Reads], T]) -> T:
        return self._connections.read_still(lambda connection: question(self._reads(connection)))

    def _reads(self, connection: Connection) -> Reads:
        return Reads(Database(connection, self._space))

    def _write(self, change: Callable[[Database, Write], T], *, wait: float | None = None) -> T:
        def job(connection: Connection) -> T:
            db = Database(connection, self._space)
            if wait is not None:
                db.execute("SELECT set_config('lock_timeout', %(wait)s, true)", wait=f"{int(wait * 1000)}ms")
            write = Write(db)
            done = change(db, write)
            write.finish()
            return done

        return self._connections.write(job)


def _adopt(db: Database, write: Write, embedding: str, dim: int) -> None:
    known = write.reads.generation()  # another process may have been faster
    check_adoption(known and (known.name, known.dim), embedding, dim)
    if known is None:
        generations.add(db, write, embedding, dim, active=True)
