"""Everything in a file, read in one go: for moving it elsewhere."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from memorist.model import Entity, Link, Memory, Noise, Showing
from memorist.ports import Entry, Job, Kept, Record, StoreStats
from memorist.stores.index import moment
from memorist.stores.rows import Row, read
from memorist.stores.sqlite.database import Database
from memorist.stores.sqlite.reads import entities, journal, stats, vectors
from memorist.stores.sqlite.rows import SELECT

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
