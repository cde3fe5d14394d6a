"""Changes since a generation, the whole store as records, and copies of a file."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from memorist.errors import StoreError
from memorist.model import Entity, Link, Memory, Noise, Showing
from memorist.ports import Entry, Job, Kept, Record, StoreStats
from memorist.stores.common import RELATING
from memorist.stores.index import IndexEntry, moment
from memorist.stores.index_sync import ENTRY_COLUMNS, Counters, entries
from memorist.stores.rows import Row, read
from memorist.stores.sqlite import opening
from memorist.stores.sqlite.connection import Connections, Database, translated
from memorist.stores.sqlite.reads import active_generation, counters, entities, journal, stats, vectors
from memorist.stores.sqlite.rows import SELECT

CHANGED = f"""
    SELECT m.row, {ENTRY_COLUMNS}, mentions, view, data
    FROM memories AS m LEFT JOIN vectors AS v ON v.row = m.row AND v.generation = :generation
    WHERE m.seq > :seq ORDER BY m.seq, m.row
"""  # noqa: S608 - names of our own

LINKED = """
    SELECT l.source, l.relation, l.target FROM memories AS m JOIN links AS l ON l.source = m.id
    WHERE m.seq > :seq AND l.relation IN (:subject, :object, :mentions) ORDER BY l.source, l.relation, l.target
"""


class FileSource:
    """The file behind a store's connections."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def counters(self) -> Counters:
        """Where the newest commit stands."""
        with self._connections.reading() as db:
            return counters(db)

    @contextmanager
    def snapshot(self) -> Generator[FileSnapshot]:
        """The newest state, held still."""
        with self._connections.snapshot() as db:
            yield FileSnapshot(db)


class FileSnapshot:
    """One state of a file."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._generation = active_generation(db)

    def counters(self) -> Counters:
        """Where its content stands."""
        return counters(self._db)

    def embedding(self) -> str | None:
        """The embedding generation that is searched."""
        return self._generation and self._generation.name

    def changed(self, seen: int) -> Iterator[IndexEntry]:
        """What was written after a `seq`."""
        links = self._db.execute(LINKED, {"seq": seen, **{relation: relation for relation in RELATING}})
        rows = self._db.execute(CHANGED, {"generation": self._generation and self._generation.id, "seq": seen})
        return entries(((*row, data and np.frombuffer(data, "<f2")) for *row, data in rows), links)

    def deleted(self, seen: int) -> Iterator[str]:
        """What was erased after a `seq`."""
        return (id for (id,) in self._db.execute("SELECT id FROM deletions WHERE seq > ?", (seen,)))


PAGE = 500
EVERY_ENTRY = -1  # SQLite's LIMIT for all
JOBS = "SELECT task, subject, due, attempts, error FROM jobs"
OF_A_PAGE = f"{JOBS} WHERE subject IN (SELECT value FROM json_each(?)) ORDER BY task, subject"  # noqa: S608 - names of our own
OF_NO_MEMORY = f"{JOBS} WHERE subject NOT IN (SELECT id FROM memories) ORDER BY task, subject"  # noqa: S608


def records(db: Database, path: Path) -> Iterator[StoreStats | Record]:
    """How much there is, then all of it; the caller holds a snapshot."""
    yield stats(db, path)
    yield from _memories(db)
    yield from _entities(db)
    for link in db.execute("SELECT source, relation, target, weight FROM links ORDER BY source, relation, target"):
        yield Link(*link)
    yield from map(_job, db.execute(OF_NO_MEMORY))
    yield from _entries(db)
    for session, id, at in db.execute("SELECT session, id, at FROM shown ORDER BY at, session, id"):
        yield Showing(session, id, moment(at))
    for (text,) in db.execute("SELECT text FROM noise ORDER BY row"):
        yield Noise(text)


def _memories(db: Database) -> Iterator[Kept]:
    last = 0
    while page := [read(row) for row in db.execute(f"{SELECT} WHERE m.row > ? ORDER BY m.row LIMIT ?", (last, PAGE))]:
        yield from _kept(db, [stored.memory for stored in page])
        last = page[-1].row


def _kept(db: Database, memories: list[Memory]) -> Iterator[Kept]:
    ids = [memory.id for memory in memories]
    having = vectors(db, ids)
    jobs: defaultdict[str, list[Job]] = defaultdict(list)
    for job in map(_job, db.execute(OF_A_PAGE, (json.dumps(ids),))):
        jobs[job.subject].append(job)
    for memory in memories:
        yield Kept(memory, having.get(memory.id, {}), tuple(jobs[memory.id]))


def _entities(db: Database) -> Iterator[Entity]:
    yield from entities(db, [id for (id,) in db.execute("SELECT id FROM entities ORDER BY id")]).values()


def _entries(db: Database) -> Iterator[Entry]:
    yield from reversed(journal(db, None, None, EVERY_ENTRY))


def _job(row: Row) -> Job:
    task, subject, due, attempts, error = row
    return Job(task, subject, moment(due), attempts, error)


def copy(db: Database, path: Path, source: Path) -> None:
    """Copy an open file, and check the copy."""
    with translated(path):
        db.copy_to(path)
        shutil.copymode(source, path)
        with closing(Database(path, create=False)) as made:
            problems = opening.damage(made)
    if problems:
        raise damaged(source, problems)


def damaged(file: Path, problems: Sequence[str]) -> StoreError:
    """What to say of a file that failed its checks."""
    return StoreError(
        f"{file} is damaged. {problems[0]}",
        remedy="Restore an older backup; `memorist export` may save what can still be read.",
    )
