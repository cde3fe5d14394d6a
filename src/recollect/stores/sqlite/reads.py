"""Reading: each function is one question to the file, put to a connection."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw

from recollect.model import Entity, Filter, Link, Memory
from recollect.ports import Page, StoreStats
from recollect.stores.common import cursor_after, position_of
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.filters import clause
from recollect.stores.sqlite.rows import SELECT, Stored, read
from recollect.text.fold import fold

AMONG = "m.id IN (SELECT value FROM json_each(?))"


class Generation(NamedTuple):
    """The embedding generation whose vectors are searched."""

    id: int
    name: str
    dim: int


class Counters(NamedTuple):
    """Where the content stands: a new `seq` adds to a cache, a new `epoch` voids it."""

    epoch: int
    seq: int


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


def neighbours(db: Database, id: str, before: int, after: int) -> list[Memory]:
    """The memories around this one in its session, by position and then by the order of writing."""
    centre = fetch(db, [id]).get(id)
    if centre is None:
        return []
    origin = centre.memory.origin
    if origin.session is None or origin.position is None:
        return [centre.memory]
    place = {"session": origin.session, "position": origin.position, "row": centre.row}
    near = (
        f"{SELECT} WHERE session = :session AND position IS NOT NULL AND version_of IS NULL "
        "AND (position, row) {sign} (:position, :row) ORDER BY position {way}, row {way} LIMIT :limit"
    )
    earlier = db.execute(near.format(sign="<", way="DESC"), {**place, "limit": max(0, before)})
    ahead = [read(row).memory for row in earlier][::-1]
    later = db.execute(near.format(sign=">", way="ASC"), {**place, "limit": max(0, after)})
    return [*ahead, centre.memory, *(read(row).memory for row in later)]


def links(db: Database, ids: Sequence[str]) -> list[Link]:
    """Links that start or end at any of these ids, in a fixed order."""
    rows = db.execute(
        """
        WITH asked AS MATERIALIZED (SELECT value FROM json_each(?))
        SELECT source, relation, target, weight FROM links WHERE source IN asked
        UNION SELECT source, relation, target, weight FROM links WHERE target IN asked
        ORDER BY source, relation, target
        """,
        (json.dumps(list(ids)),),
    )
    return [Link(*row) for row in rows]


def entities_named(db: Database, names: Iterable[str]) -> list[Entity]:
    """Entities whose name or alias is one of these, case and accents aside, by id."""
    folded = json.dumps([fold(name) for name in names])
    rows = db.execute("SELECT DISTINCT entity FROM aliases WHERE folded IN (SELECT value FROM json_each(?))", (folded,))
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
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
