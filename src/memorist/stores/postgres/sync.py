"""Changes since a generation, and the whole store as records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from memorist.model import Link, Memory, Noise, Showing
from memorist.ports import Job, Kept, Record, StoreStats
from memorist.stores.common import RELATING
from memorist.stores.index import IndexEntry, moment
from memorist.stores.index_sync import ENTRY_COLUMNS, Counters, entries
from memorist.stores.postgres.database import Database
from memorist.stores.postgres.pool import Connections
from memorist.stores.postgres.reads import Reads, job

CHANGED = f"""
    SELECT m.row, {ENTRY_COLUMNS}, mentions, view, data
    FROM memorist.memories AS m LEFT JOIN memorist.vectors AS v
    ON v.space = m.space AND v.row = m.row AND v.generation = %(generation)s
    WHERE m.space = %(space)s AND m.seq > %(seen)s ORDER BY m.seq, m.row
"""  # noqa: S608 - names of our own

LINKED = """
    SELECT l.source, l.relation, l.target FROM memorist.memories AS m
    JOIN memorist.links AS l ON l.space = m.space AND l.source = m.id
    WHERE m.space = %(space)s AND m.seq > %(seen)s AND l.relation = ANY(%(relations)s)
    ORDER BY l.source, l.relation, l.target
"""


class SpaceSource:
    """The space behind a store's connections."""

    def __init__(self, connections: Connections, space: str) -> None:
        self._connections = connections
        self._space = space

    def counters(self) -> Counters:
        """Where the newest commit stands."""
        return self._connections.read(lambda connection: Reads(Database(connection, self._space)).counters())

    @contextmanager
    def snapshot(self) -> Generator[SpaceSnapshot]:
        """The newest state, held still."""
        with self._connections.snapshot() as connection:
            yield SpaceSnapshot(Database(connection, self._space))


class SpaceSnapshot:
    """One state of a space."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._reads = Reads(db)
        self._generation = self._reads.generation()

    def counters(self) -> Counters:
        """Where its content stands."""
        return self._reads.counters()

    def embedding(self) -> str | None:
        """The embedding generation that is searched."""
        return self._generation and self._generation.name

    def changed(self, seen: int) -> Iterator[IndexEntry]:
        """What was written after a `seq`."""
        links = self._db.execute(LINKED, seen=seen, relations=list(RELATING))
        rows = self._db.execute(CHANGED, seen=seen, generation=self._generation and self._generation.id)
        return entries(rows, links)

    def deleted(self, seen: int) -> Iterator[str]:
        """What was erased after a `seq`."""
        rows = self._db.execute(
            "SELECT id FROM memorist.deletions WHERE space = %(space)s AND seq > %(seen)s", seen=seen
        )
        return (id for (id,) in rows)


PAGE = 500
JOBS = "SELECT task, subject, due, attempts, error FROM memorist.jobs WHERE space = %(space)s"
OF_A_PAGE = f"{JOBS} AND subject = ANY(%(ids)s) ORDER BY task, subject"
OF_NO_MEMORY = (
    f"{JOBS} AND NOT EXISTS (SELECT 1 FROM memorist.memories AS m WHERE m.space = %(space)s AND m.id = jobs.subject) "  # noqa: S608 - names of our own
    "ORDER BY task, subject"
)


def records(db: Database) -> Iterator[StoreStats | Record]:
    """How much there is, then all of it; the caller holds a snapshot."""
    reads = Reads(db)
    yield reads.stats()
    for page in reads.pages(PAGE):
        yield from _kept(db, reads, page)
    yield from reads.entities_of(None).values()
    for link in db.execute(
        "SELECT source, relation, target, weight FROM memorist.links "
        "WHERE space = %(space)s ORDER BY source, relation, target"
    ):
        yield Link(*link)
    yield from map(job, db.execute(OF_NO_MEMORY))
    yield from reversed(reads.journal(limit=None))
    for session, id, at in db.execute(
        "SELECT session, id, at FROM memorist.shown WHERE space = %(space)s ORDER BY at, session, id"
    ):
        yield Showing(session, id, moment(at))
    yield from map(Noise, reads.noise())


def _kept(db: Database, reads: Reads, memories: list[Memory]) -> Iterator[Kept]:
    ids = [memory.id for memory in memories]
    having = reads.vectors(ids)
    jobs: defaultdict[str, list[Job]] = defaultdict(list)
    for one in map(job, db.execute(OF_A_PAGE, ids=ids)):
        jobs[one.subject].append(one)
    for memory in memories:
        yield Kept(memory, having.get(memory.id, {}), tuple(jobs[memory.id]))
