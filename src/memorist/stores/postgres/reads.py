"""Reading: a space as one connection sees it, each method one question to the server."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from memorist.model import Entity, Filter, Link, Memory
from memorist.ports import Embedded, Entry, Job, Page, StoreStats, Vectors
from memorist.stores.common import cursor_after, position_of
from memorist.stores.index import micros, moment
from memorist.stores.index_sync import Counters
from memorist.stores.postgres.database import Database
from memorist.stores.postgres.rows import POSTGRES, SELECT
from memorist.stores.rows import Row, Stored, read
from memorist.text.words import beginning, fold

VIEWS = """
    SELECT m.id, v.view, v.data FROM memorist.memories AS m
    JOIN memorist.vectors AS v ON v.space = m.space AND v.row = m.row
    WHERE m.space = %(space)s AND m.id = ANY(%(ids)s) AND v.generation = %(generation)s
    ORDER BY m.row, v.view
"""
JOURNAL = """
    SELECT j.row, j.id, j.at, j.verb, j.data FROM memorist.journal AS j
    WHERE j.space = %(space)s AND (%(verb)s::text IS NULL OR j.verb = %(verb)s)
        AND (%(subject)s::text IS NULL OR EXISTS (SELECT 1 FROM memorist.journal_subjects AS s
            WHERE s.space = %(space)s AND s.entry = j.row AND s.subject = %(subject)s))
    ORDER BY j.row DESC LIMIT %(limit)s
"""
SIZE = """
    SELECT (coalesce((SELECT sum(pg_column_size(text) + coalesce(pg_column_size(original), 0))
            FROM memorist.memories WHERE space = %(space)s), 0)
        + coalesce((SELECT sum(pg_column_size(data)) FROM memorist.vectors WHERE space = %(space)s), 0))::bigint
"""
ALIKE = """
    SELECT DISTINCT a.entity FROM unnest(%(names)s::text[]) AS asked (beginning) JOIN memorist.aliases AS a
    ON a.folded >= asked.beginning AND a.folded < asked.beginning || chr(1114111)
    WHERE a.space = %(space)s
"""
NAMED = "SELECT DISTINCT entity FROM memorist.aliases WHERE space = %(space)s AND folded = ANY(%(names)s)"
AROUND = """
    SELECT asked.id, near.id FROM memorist.memories AS asked CROSS JOIN LATERAL (
        SELECT asked.id, asked.position, asked.row
        UNION ALL (
            SELECT m.id, m.position, m.row FROM memorist.memories AS m
            WHERE m.space = %(space)s AND m.session = asked.session AND m.version_of IS NULL
            AND (m.position, m.row) < (asked.position, asked.row)
            ORDER BY m.position DESC, m.row DESC LIMIT %(before)s)
        UNION ALL (
            SELECT m.id, m.position, m.row FROM memorist.memories AS m
            WHERE m.space = %(space)s AND m.session = asked.session AND m.version_of IS NULL
            AND (m.position, m.row) > (asked.position, asked.row)
            ORDER BY m.position, m.row LIMIT %(after)s)
    ) AS near
    WHERE asked.space = %(space)s AND asked.id = ANY(%(ids)s) ORDER BY near.position, near.row
"""


class Generation(NamedTuple):
    """An embedding generation."""

    id: int
    name: str
    dim: int


class Reads:
    """A space to be asked, by anyone or from within a write."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def counters(self) -> Counters:
        """Where the content stands."""
        row = self._db.first("SELECT epoch, seq FROM memorist.spaces WHERE space = %(space)s")
        return Counters(0, 0) if row is None else Counters(*row)

    def generation(self) -> Generation | None:
        """The embedding generation in use, None before the first."""
        row = self._db.first(
            "SELECT id, name, dim FROM memorist.generations WHERE space = %(space)s AND active",
        )
        return None if row is None else Generation(*row)

    def fetch(self, ids: Iterable[str]) -> dict[str, Stored]:
        """The memories with these ids, by id, in the order asked for."""
        asked = askable(ids)
        rows = self._db.execute(f"{SELECT} AND m.id = ANY(%(ids)s)", ids=asked) if asked else []
        found = {stored.memory.id: stored for stored in map(read, rows)}
        return {id: found[id] for id in asked if id in found}

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories with these ids, with their usage; unknown ids are left out."""
        return {id: stored.memory for id, stored in self.fetch(ids).items()}

    def embedded(self, ids: Sequence[str]) -> set[str]:
        """Which of these memories have vectors of the active generation."""
        return set(self.vectors(ids))

    def scan(self, where: Filter, limit: int, cursor: str | None) -> Page:
        """A page of what a filter admits, in the order of writing."""
        after = position_of(cursor)
        if limit == 0:
            return Page((), cursor_after(after))
        condition = POSTGRES.clause(where)
        found = self._read(
            f"m.row > %(after)s AND {condition.sql} ORDER BY m.row LIMIT %(limit)s",
            **{**condition.values, "after": after, "limit": limit + 1},
        )
        more = cursor_after(found[limit - 1].row) if len(found) > limit else None
        return Page(tuple(stored.memory for stored in found[:limit]), more)

    def history(self, id: str) -> list[Memory]:
        """All versions of a memory, newest first."""
        return self._memories("(m.id = %(id)s OR m.version_of = %(id)s) ORDER BY m.version DESC", id=id)

    def keyed(self, keys: Sequence[str]) -> list[Memory]:
        """Every memory with one of these keys, in every scope and form, in the order written."""
        return self._memories("m.key = ANY(%(keys)s) ORDER BY m.row", keys=askable(keys))

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        """The memories of a session from one position to another, by position and then by the order of writing."""
        return self._memories(
            "m.session = %(session)s AND m.position BETWEEN %(first)s AND %(last)s AND m.version_of IS NULL "
            "ORDER BY m.position, m.row",
            session=session, first=first, last=last,
        )  # fmt: skip

    def neighbours(self, ids: Sequence[str], before: int, after: int) -> dict[str, list[Memory]]:
        """The memories around each of these in its session, by position and then by the order of writing."""
        around = {id: list[str]() for id in askable(ids)}
        places = {"ids": list(around), "before": max(0, before), "after": max(0, after)}
        for id, near in self._db.execute(AROUND, **places):
            around[id].append(near)
        found = self.fetch([near for some in around.values() for near in some])
        return {id: [found[near].memory for near in some] for id, some in around.items() if some}

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """All views of each memory that has one, in the active generation."""
        generation, asked = self.generation(), askable(ids)
        if generation is None or not asked:
            return {}
        found: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for id, view, data in self._db.execute(VIEWS, ids=asked, generation=generation.id):
            found[id][view] = data.astype(np.float32)
        return {id: Embedded(generation.name, views) for id, views in found.items()}

    def jobs(self, task: str | None = None, limit: int = 1000) -> list[Job]:
        """What is left to do, the first due first."""
        rows = self._db.execute(
            "SELECT task, subject, due, attempts, error FROM memorist.jobs WHERE space = %(space)s "
            "AND (%(task)s::text IS NULL OR task = %(task)s) ORDER BY due, task, subject LIMIT %(limit)s",
            task=task, limit=limit,
        )  # fmt: skip
        return [job(row) for row in rows]

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int | None = 100) -> list[Entry]:
        """The journal, newest first: of a verb, or about a memory; all of it without a limit."""
        rows = self._db.execute(JOURNAL, verb=verb, subject=subject, limit=limit)
        subjects: defaultdict[int, list[str]] = defaultdict(list)
        for entry, about in self._db.execute(
            "SELECT entry, subject FROM memorist.journal_subjects "
            "WHERE space = %(space)s AND entry = ANY(%(entries)s) ORDER BY entry, place",
            entries=[row[0] for row in rows],
        ):
            subjects[entry].append(about)
        return [
            Entry(id, moment(at), of, tuple(subjects[number]), json.loads(data)) for number, id, at, of, data in rows
        ]

    def links(self, ids: Sequence[str], *relations: str) -> list[Link]:
        """Links that start or end at any of these ids, of these relations or else of any, in a fixed order."""
        rows = self._db.execute(
            "SELECT source, relation, target, weight FROM memorist.links WHERE space = %(space)s "
            "AND (source = ANY(%(ids)s) OR target = ANY(%(ids)s)) "
            "AND (%(relations)s::text[] IS NULL OR relation = ANY(%(relations)s)) ORDER BY source, relation, target",
            ids=askable(ids), relations=list(relations) or None,
        )  # fmt: skip
        return [Link(*row) for row in rows]

    def entities(self, names: Sequence[str]) -> list[Entity]:
        """Entities whose name or alias is one of these, case and accents aside, by id."""
        return self._aliased(NAMED, [fold(name) for name in names])

    def alike(self, names: Sequence[str]) -> list[Entity]:
        """Entities of which a name or alias begins as one of these does, for three letters, by id."""
        return self._aliased(ALIKE, [beginning(name) for name in names])

    def entities_of(self, ids: Sequence[str] | None) -> dict[str, Entity]:
        """Entities with their aliases, by id; all of them for None."""
        asked = None if ids is None else askable(ids)
        aliases: defaultdict[str, list[str]] = defaultdict(list)
        for id, alias in self._db.execute(
            "SELECT entity, alias FROM memorist.aliases WHERE space = %(space)s AND place > 0 "
            "AND (%(ids)s::text[] IS NULL OR entity = ANY(%(ids)s)) ORDER BY entity, place",
            ids=asked,
        ):
            aliases[id].append(alias)
        rows = self._db.execute(
            "SELECT id, name, kind FROM memorist.entities WHERE space = %(space)s "
            "AND (%(ids)s::text[] IS NULL OR id = ANY(%(ids)s)) ORDER BY id",
            ids=asked,
        )
        return {id: Entity(id, name, kind, tuple(aliases[id])) for id, name, kind in rows}

    def shown(self, session: str, since: datetime) -> set[str]:
        """What a session was shown since a moment."""
        rows = self._db.execute(
            "SELECT id FROM memorist.shown WHERE space = %(space)s AND session = %(session)s AND at >= %(since)s",
            session=session, since=micros(since),
        )  # fmt: skip
        return {id for (id,) in rows}

    def noise(self) -> list[str]:
        """The texts of the noise bank, oldest first."""
        rows = self._db.execute("SELECT text FROM memorist.noise WHERE space = %(space)s ORDER BY row")
        return [text for (text,) in rows]

    def stats(self) -> StoreStats:
        """How much the space holds; kinds and scopes count what is current."""
        generation = self.generation()
        versions = "FROM memorist.memories WHERE space = %(space)s AND version_of IS NOT NULL"
        current = "FROM memorist.memories WHERE space = %(space)s AND version_of IS NULL"
        return StoreStats(
            space=self._db.space,
            memories=self._db.value(f"SELECT count(*) {current}"),
            versions=self._db.value(f"SELECT count(*) {versions}"),
            links=self._db.value("SELECT count(*) FROM memorist.links WHERE space = %(space)s"),
            entities=self._db.value("SELECT count(*) FROM memorist.entities WHERE space = %(space)s"),
            bytes=self._db.value(SIZE),
            generation=self.counters().seq,
            embedding=generation and generation.name,
            kinds=dict(self._db.execute(f"SELECT kind, count(*) {current} GROUP BY 1")),
            scopes=dict(self._db.execute(f"SELECT scope, count(*) {current} GROUP BY 1")),
            dimension=generation and generation.dim,
        )

    def pages(self, size: int) -> Iterator[list[Memory]]:
        """Every memory in the order of writing, a page at a time."""
        last = 0
        while page := self._read("m.row > %(last)s ORDER BY m.row LIMIT %(size)s", last=last, size=size):
            yield [stored.memory for stored in page]
            last = page[-1].row

    def _aliased(self, sql: str, names: Iterable[str]) -> list[Entity]:
        rows = self._db.execute(sql, names=askable(names))
        return list(self.entities_of([id for (id,) in rows]).values())

    def _read(self, condition: str, **values: Any) -> list[Stored]:
        return [read(row) for row in self._db.execute(f"{SELECT} AND {condition}", **values)]

    def _memories(self, condition: str, **values: Any) -> list[Memory]:
        return [stored.memory for stored in self._read(condition, **values)]


def askable(texts: Iterable[str]) -> list[str]:
    """Those texts, each once, that a server can have: one with lone surrogates is nowhere."""
    return [text for text in dict.fromkeys(texts) if text.isascii() or _encodes(text)]


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def job(row: Row) -> Job:
    """A job from its row."""
    task, subject, due, attempts, error = row
    return Job(task, subject, moment(due), attempts, error)
