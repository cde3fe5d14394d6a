"""Reading: each function is one question to the file, put to a connection."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import numpy as np

from memorist.model import Entity, Filter, Link, Memory
from memorist.ports import Embedded, Entry, Job, Page, StoreStats, Vectors
from memorist.stores.common import cursor_after, position_of
from memorist.stores.index import moment
from memorist.stores.index_sync import Counters
from memorist.stores.rows import Stored, read
from memorist.stores.sqlite.connection import Database
from memorist.stores.sqlite.rows import SELECT, clause
from memorist.text.words import beginning, fold

AMONG = "m.id IN (SELECT value FROM json_each(?))"
KEYED = "m.key IN (SELECT value FROM json_each(?))"
VIEWS = (
    "SELECT m.id, view, data FROM memories AS m JOIN vectors AS v ON v.row = m.row "
    "JOIN generations AS g ON g.id = v.generation AND g.active WHERE m.id IN (SELECT value FROM json_each(?))"
)
LINKS = """
    WITH asked AS MATERIALIZED (SELECT value FROM json_each(:ids)), found AS (
        SELECT source, relation, target, weight FROM links WHERE source IN asked
        UNION SELECT source, relation, target, weight FROM links WHERE target IN asked
    )
    SELECT * FROM found WHERE :relations IS NULL OR relation IN (SELECT value FROM json_each(:relations))
    ORDER BY source, relation, target
"""
AROUND = """
    SELECT asked.id, near.id FROM memories AS asked JOIN memories AS near ON near.row IN (
        SELECT asked.row
        UNION ALL SELECT row FROM (
            SELECT row FROM memories WHERE session = asked.session AND version_of IS NULL
            AND (position, row) < (asked.position, asked.row) ORDER BY position DESC, row DESC LIMIT :before)
        UNION ALL SELECT row FROM (
            SELECT row FROM memories WHERE session = asked.session AND version_of IS NULL
            AND (position, row) > (asked.position, asked.row) ORDER BY position, row LIMIT :after)
    )
    WHERE asked.id IN (SELECT value FROM json_each(:ids)) ORDER BY near.position, near.row
"""


class Generation(NamedTuple):
    """The embedding generation whose vectors are searched."""

    id: int
    name: str
    dim: int


def counters(db: Database) -> Counters:
    """The space's counters."""
    row = db.first("SELECT epoch, seq FROM space")
    if row is None:
        raise apsw.CorruptError("the table `space` has no row")
    return Counters(*row)


def active_generation(db: Database) -> Generation | None:
    """The embedding generation in use, None before the first."""
    row = db.first("SELECT id, name, dim FROM generations WHERE active")
    return None if row is None else Generation(*row)


def fetch(db: Database, ids: Iterable[str]) -> dict[str, Stored]:
    """The memories with these ids, by id, in the order asked for."""
    asked = list(dict.fromkeys(ids))
    rows = db.execute(f"{SELECT} WHERE {AMONG}", (json.dumps(asked),))
    found = {stored.memory.id: stored for stored in map(read, rows)}
    return {id: found[id] for id in asked if id in found}


def embedded(db: Database, ids: Sequence[str]) -> set[str]:
    """Which of these memories have vectors of the active generation."""
    rows = db.execute(
        "SELECT DISTINCT m.id FROM memories AS m JOIN vectors AS v ON v.row = m.row "
        "JOIN generations AS g ON g.id = v.generation AND g.active "
        "WHERE m.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return {id for (id,) in rows}


def scan(db: Database, where: Filter, limit: int, cursor: str | None) -> Page:
    """A page of what a filter admits, in the order of writing."""
    after = position_of(cursor)
    if limit == 0:
        return Page((), cursor_after(after))
    condition = clause(where)
    rows = db.execute(
        f"{SELECT} WHERE row > :after AND {condition.sql} ORDER BY row LIMIT :limit",
        {**condition.values, "after": after, "limit": limit + 1},
    )
    found = [read(row) for row in rows]
    more = cursor_after(found[limit - 1].row) if len(found) > limit else None
    return Page(tuple(stored.memory for stored in found[:limit]), more)


def history(db: Database, id: str) -> list[Memory]:
    """All versions of a memory, newest first."""
    rows = db.execute(f"{SELECT} WHERE m.id = :id OR m.version_of = :id ORDER BY m.version DESC", {"id": id})
    return [read(row).memory for row in rows]


def keyed(db: Database, keys: Sequence[str]) -> list[Memory]:
    """Every memory with one of these keys, in the order written."""
    rows = db.execute(f"{SELECT} WHERE {KEYED} ORDER BY row", (json.dumps(list(keys)),))
    return [read(row).memory for row in rows]


def vectors(db: Database, ids: Sequence[str]) -> dict[str, Vectors]:
    """All views of memories in the active generation, by id."""
    found: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    generation = active_generation(db)
    for id, view, data in db.execute(VIEWS, (json.dumps(list(ids)),)):
        found[id][view] = np.frombuffer(data, "<f2").astype(np.float32)
    return {id: Embedded(generation.name, views) for id, views in found.items()} if generation else {}


def jobs(db: Database, task: str | None, limit: int) -> list[Job]:
    """What is left to do, the first due first."""
    rows = db.execute(
        "SELECT task, subject, due, attempts, error FROM jobs WHERE :task IS NULL OR task = :task "
        "ORDER BY due, task, subject LIMIT :limit",
        {"task": task, "limit": limit},
    )
    return [Job(name, subject, moment(due), attempts, error) for name, subject, due, attempts, error in rows]


def journal(db: Database, verb: str | None, subject: str | None, limit: int) -> list[Entry]:
    """Entries of the journal, newest first."""
    rows = db.execute(
        """
        SELECT id, at, verb, data,
            (SELECT json_group_array(subject) FROM
                (SELECT subject FROM journal_subjects WHERE entry = row ORDER BY place))
        FROM journal
        WHERE (:verb IS NULL OR verb = :verb)
            AND (:subject IS NULL OR row IN (SELECT entry FROM journal_subjects WHERE subject = :subject))
        ORDER BY row DESC LIMIT :limit
        """,
        {"verb": verb, "subject": subject, "limit": limit},
    )
    return [
        Entry(id, moment(at), of, tuple(json.loads(subjects)), json.loads(data)) for id, at, of, data, subjects in rows
    ]


def neighbours(db: Database, ids: Sequence[str], before: int, after: int) -> dict[str, list[Memory]]:
    """The memories around each of these in its session, by position and then by the order of writing."""
    around = {id: list[str]() for id in ids}
    asked = {"ids": json.dumps(list(around)), "before": max(0, before), "after": max(0, after)}
    for id, near in db.execute(AROUND, asked):
        around[id].append(near)
    found = fetch(db, [near for some in around.values() for near in some])
    return {id: [found[near].memory for near in some] for id, some in around.items() if some}


def turns(db: Database, session: str, first: int, last: int) -> list[Memory]:
    """The memories of a session from one position to another, by position and then by the order of writing."""
    rows = db.execute(
        f"{SELECT} WHERE session = ? AND position BETWEEN ? AND ? AND version_of IS NULL ORDER BY position, row",
        (session, first, last),
    )
    return [read(row).memory for row in rows]


def links(db: Database, ids: Sequence[str], *relations: str) -> list[Link]:
    """Links that start or end at any of these ids, of these relations or else of any, in a fixed order."""
    wanted = {"ids": json.dumps(list(ids)), "relations": json.dumps(relations) if relations else None}
    return [Link(*row) for row in db.execute(LINKS, wanted)]


def entities_named(db: Database, names: Iterable[str]) -> list[Entity]:
    """Entities whose name or alias is one of these, case and accents aside, by id."""
    folded = json.dumps([fold(name) for name in names])
    rows = db.execute("SELECT DISTINCT entity FROM aliases WHERE folded IN (SELECT value FROM json_each(?))", (folded,))
    return list(entities(db, [id for (id,) in rows]).values())


def entities_alike(db: Database, names: Iterable[str]) -> list[Entity]:
    """Entities of which a name begins as one of these does, by id."""
    beginnings = json.dumps(list(dict.fromkeys(map(beginning, names))))
    # CROSS keeps the order of the join: SQLite would rather read all aliases for each beginning.
    rows = db.execute(
        "SELECT DISTINCT entity FROM json_each(?) AS asked CROSS JOIN aliases "
        "ON folded >= asked.value AND folded < asked.value || char(0x10FFFF)",
        (beginnings,),
    )
    return list(entities(db, [id for (id,) in rows]).values())


def entities(db: Database, ids: Sequence[str]) -> dict[str, Entity]:
    """Entities with their aliases, by id."""
    asked = (json.dumps(list(ids)),)
    aliases: defaultdict[str, list[str]] = defaultdict(list)
    for id, alias in db.execute(
        "SELECT entity, alias FROM aliases WHERE place > 0 "
        "AND entity IN (SELECT value FROM json_each(?)) ORDER BY entity, place",
        asked,
    ):
        aliases[id].append(alias)
    rows = db.execute(
        "SELECT id, name, kind FROM entities WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id", asked
    )
    return {id: Entity(id, name, kind, tuple(aliases[id])) for id, name, kind in rows}


def stats(db: Database, path: Path) -> StoreStats:
    """How much the file holds; kinds and scopes count what is current."""
    generation = active_generation(db)
    return StoreStats(
        space=db.value("SELECT name FROM space"),
        memories=db.value("SELECT count(*) FROM memories WHERE version_of IS NULL"),
        versions=db.value("SELECT count(*) FROM memories WHERE version_of IS NOT NULL"),
        links=db.value("SELECT count(*) FROM links"),
        entities=db.value("SELECT count(*) FROM entities"),
        bytes=_size(path) + _size(path.with_name(path.name + "-wal")),
        generation=counters(db).seq,
        embedding=generation and generation.name,
        kinds=dict(db.execute("SELECT kind, count(*) FROM memories WHERE version_of IS NULL GROUP BY 1")),
        scopes=dict(db.execute("SELECT scope, count(*) FROM memories WHERE version_of IS NULL GROUP BY 1")),
        dimension=generation and generation.dim,
    )


class Inside:
    """The file from within a write."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories with these ids, with their usage; unknown ids are left out."""
        return {id: stored.memory for id, stored in fetch(self._db, ids).items()}

    def history(self, id: str) -> list[Memory]:
        """All versions of a memory, newest first."""
        return history(self._db, id)

    def links(self, ids: Sequence[str], *relations: str) -> list[Link]:
        """Links that start or end at any of these ids, of these relations or else of any."""
        return links(self._db, ids, *relations)

    def entities(self, names: Sequence[str]) -> list[Entity]:
        """Entities whose name or alias is one of these, case aside."""
        return entities_named(self._db, names)

    def alike(self, names: Sequence[str]) -> list[Entity]:
        """Entities of which a name begins as one of these does."""
        return entities_alike(self._db, names)

    def keyed(self, keys: Sequence[str]) -> list[Memory]:
        """Every memory with one of these keys, in the order written."""
        return keyed(self._db, keys)

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        """The memories of a session from one position to another."""
        return turns(self._db, session, first, last)

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """All views of each memory that has one."""
        return vectors(self._db, ids)

    def jobs(self, task: str | None = None, limit: int = 1000) -> list[Job]:
        """What is left to do, the first due first."""
        return jobs(self._db, task, limit)

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        """The journal, newest first: of a verb, or about a memory."""
        return journal(self._db, verb, subject, limit)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
