"""Everything in a space, read in one go: for moving it elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from memorist.model import Link, Memory, Noise, Showing
from memorist.ports import Job, Kept, Record, StoreStats
from memorist.stores.index import moment
from memorist.stores.postgres.database import Database
from memorist.stores.postgres.reads import Reads, job

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
