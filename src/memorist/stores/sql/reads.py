"""Reading: a space through one connection, from outside or within a write."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memorist.errors import UnreadableMemory
from memorist.model import Condition, Entity, Filter, Link, Memory, NoiseText, Showing, Usage, holds
from memorist.ports import Embedded, Entry, Held, Job, Kept, Page, Record, StoreStats, Vectors
from memorist.stores.index.entries import IndexEntry, micros, moment
from memorist.stores.index_file import Counters
from memorist.stores.index_sync import entries_of
from memorist.stores.rows import (
    Row,
    Stored,
    checked_fields,
    encodable,
    encodes,
    entry_data,
    job_of,
    read_memory,
    readable,
    readable_memories,
    text_fingerprint,
)
from memorist.stores.rules import ENTITY_RELATIONS, Adopted, cursor_after, position_of, require_prepared
from memorist.stores.sql.database import Database, Dialect, Values, own_row
from memorist.text.words import fold, name_prefix

if TYPE_CHECKING:
    from memorist.stores.sql.usage_queue import Waiting

PAGE = 500
CHECKED_TOGETHER = 2000
"""How many memories are asked for at once, to see whether a condition holds for them."""
ALL = 2**63 - 1
"""A limit that admits every row."""
MOST_NOTED = 1000
"""The largest number of ids and of texts that are noted between two changes."""
NO_GENERATION = -1
"""Stands for a generation that has no vectors; not NULL, because a cluster does not route a join on it to one node."""


class Generation(NamedTuple):
    """An embedding generation."""

    id: int
    name: str
    dim: int

    @property
    def adopted(self) -> Adopted:
        """Its name and dimension."""
        return self.name, self.dim


_ENTITY = itemgetter(0, 1, 2)


class Noted:
    """Answers that were read when the space had these counters, or later.

    They are true in a write that finds the same counters. What is not there has no usage, which changes without them.
    """

    def __init__(self, at: Counters | None = None) -> None:
        self.at = at
        self.absent = set[str]()
        """Ids that no memory has."""
        self.unsaid = set[str]()
        """Texts that no memory says."""
        self.alike: tuple[frozenset[str], list[Entity]] = frozenset(), []
        """Prefixes, and the entities that share one."""
        self.generation: Generation | None = None

    def note_missing(self, known: set[str], missing: Iterable[str]) -> None:
        """Add to a set of absent values, up to a size."""
        if len(known) < MOST_NOTED:
            known.update(missing)


class Reads:
    """Answers the questions of the port `Reader`, and those of the index and the export."""

    def __init__(
        self,
        db: Database,
        dialect: Dialect,
        *,
        lenient: bool = False,
        waiting: Callable[[], Waiting | None] = lambda: None,
        noted: Noted | None = None,
    ) -> None:
        self._db = db
        self._waiting = waiting
        """The uses that wait to be counted, which count here."""
        self._noted = noted or Noted()
        self._generation: Generation | None = None
        self._dialect = dialect
        self._sql = dialect.read
        self._skipped: list[Exception] | None = [] if lenient else None
        """Damaged rows that were left out, so that the others can be read; a write leaves none out."""

    def counters(self) -> Counters:
        """The content counters of the space."""
        epoch, seq, *generation = own_row(self._db, self._sql.counters)
        self._generation = None if generation[0] is None else Generation(*generation)
        return Counters(epoch, seq)

    def index_files(self) -> tuple[int, list[str]]:
        """The `seq` before which no index file may be made, and the tokens of those that were made, oldest first."""
        since, *tokens = str(own_row(self._db, self._sql.index_files)[0]).split() or ["0"]
        return int(since), tokens

    def generation(self) -> Generation | None:
        """The searched embedding generation, None before the first; read once."""
        if self._generation is None and (row := self._db.first(self._sql.active_generation)) is not None:
            self._generation = self._noted.generation = Generation(*row)
        return self._generation

    def generation_named(self, name: str) -> Generation | None:
        """A searched or prepared generation."""
        row = self._db.first(self._sql.named_generation, {"name": name})
        return None if row is None else Generation(*row)

    def embedding(self) -> str | None:
        """The name of the searched embedding generation."""
        generation = self.generation()
        return generation and generation.name

    def fetch(self, ids: Iterable[str]) -> dict[str, Stored]:
        """The memories with these ids and their rows, in the order of the ids."""
        asked = encodable(ids)
        found = {stored.memory.id: stored for stored in self._stored(self._sql.by_ids, {"ids": asked})} if asked else {}
        return {id: found[id] for id in asked if id in found}

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        found = self.fetch(ids)
        if len(ids) == 1:
            self._refuse_skipped()
        if not self._skipped:
            self._noted.note_missing(self._noted.absent, (id for id in ids if id not in found))
        return {id: stored.memory for id, stored in found.items()}

    def history(self, id: str) -> list[Memory]:
        return self._memories(self._sql.history, {"id": id})

    def by_key(self, keys: Sequence[str]) -> list[Memory]:
        return self._memories(self._sql.by_keys, {"keys": encodable(keys)})

    def by_text(self, texts: Sequence[str]) -> list[Memory]:
        found = self._memories(self._sql.by_text, {"said": list(map(text_fingerprint, texts))}) if texts else []
        if not found and not self._skipped:
            self._noted.note_missing(self._noted.unsaid, texts)
        return found

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        return self._memories(self._sql.by_position, {"session": session, "first": first, "last": last})

    def last_position(self, session: str) -> int | None:
        return self._db.value(self._sql.last_position, {"session": session})

    def scan(self, where: Filter, limit: int, cursor: str | None) -> Page:
        """A page of the memories that a filter admits, in the order written."""
        after = position_of(cursor)
        if limit == 0:
            return Page((), cursor_after(after))
        condition, values = self._dialect.condition(where)
        values = {**values, "after": after}
        if where.conditions is None:
            found = self._scan(condition, values, limit + 1)
        else:
            found = self._checked(where.conditions, condition, values, limit + 1)
        more = cursor_after(found[limit - 1].row) if len(found) > limit else None
        return Page(tuple(stored.memory for stored in found[:limit]), more)

    def neighbours(self, ids: Sequence[str], before: int, after: int) -> dict[str, list[Memory]]:
        """The memories around each of these in its session, by position and then by the order of writing."""
        around = {id: list[str]() for id in encodable(ids)}
        values = {"ids": list(around), "before": max(0, before), "after": max(0, after)}
        for id, near in self._db.execute(self._sql.around, values):
            around[id].append(near)
        found = self.fetch(near for some in around.values() for near in some)
        lines = {id: [found[near].memory for near in some if near in found] for id, some in around.items()}
        return {id: line for id, line in lines.items() if line}

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """All views of each memory that has vectors of the searched generation."""
        generation, asked = self.generation(), encodable(ids)
        if generation is None or not asked:
            return {}
        found: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for id, view, data in self._db.execute(self._sql.vectors, {"ids": asked, "generation": generation.id}):
            vector = self._vector(data, generation)
            if vector is not None:
                found[id][view] = vector.astype(np.float32)
        return {id: Embedded(generation.name, views) for id, views in found.items()}

    def embedded(self, ids: Sequence[str]) -> set[str]:
        """Which of these memories have vectors of the searched generation."""
        generation, asked = self.generation(), encodable(ids)
        if generation is None:
            return set()
        rows = self._db.execute(self._sql.embedded, {"ids": asked, "generation": generation.id})
        return {id for (id,) in rows}

    def without_vectors(self, embedding: str, limit: int) -> list[Memory]:
        """Memories in every form without vectors of a prepared generation, in the order written."""
        generation = require_prepared(self.generation_named(embedding), embedding)
        return self._memories(self._sql.without_vectors, {"generation": generation.id, "limit": limit})

    def any_without_vectors(self, generation: Generation) -> bool:
        """Whether any memory has no vectors of a generation."""
        return self._db.first(self._sql.any_without_vectors, {"generation": generation.id}) is not None

    def jobs(self, task: str | None = None, limit: int = 1000, subject: str | None = None) -> list[Job]:
        if not all(name is None or encodes(name) for name in (task, subject)):
            return []
        return list(map(job_of, self._db.execute(self._sql.jobs, {"task": task, "subject": subject, "limit": limit})))

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        if not all(name is None or encodes(name) for name in (verb, subject)):
            return []
        rows = list(self._db.execute(self._sql.journal, {"verb": verb, "subject": subject, "limit": limit}))
        subjects: defaultdict[int, list[str]] = defaultdict(list)
        for entry, about in self._db.execute(self._sql.journal_subjects, {"entries": [row[0] for row in rows]}):
            subjects[entry].append(about)
        return [
            Entry(id, moment(at), of, tuple(subjects[number]), entry_data(id, data))
            for number, id, at, of, data in rows
        ]

    def links(self, ids: Sequence[str], *relations: str) -> list[Link]:
        """Links that start or end at any of these ids, with one of these relations or any, in a fixed order."""
        values = {"ids": encodable(ids), "relations": list(relations) or None}
        return [Link(*row) for row in self._db.execute(self._sql.links, values)]

    def entities(self, names: Sequence[str]) -> list[Entity]:
        """Entities whose name or alias is one of these, ignoring case and accents, by id."""
        asked = encodable(map(fold, names))
        return self._entities(self._sql.entities_named, {"names": asked}) if asked else []

    def entities_by_prefix(self, names: Sequence[str]) -> list[Entity]:
        """Entities with a name or alias that shares a three-letter prefix with one of these, by id."""
        prefixes = encodable(map(name_prefix, names))
        found = self._entities(self._sql.entities_prefixed, {"names": prefixes}) if prefixes else []
        self._noted.alike = frozenset(prefixes), found
        return found

    def entities_by_id(self, ids: Sequence[str]) -> list[Entity]:
        return list(self.entities_of(ids).values())

    def entities_of(self, ids: Sequence[str]) -> dict[str, Entity]:
        """Entities with their aliases, by id."""
        asked = encodable(ids)
        return {entity.id: entity for entity in self._entities(self._sql.entities, {"ids": asked})} if asked else {}

    def shown(self, session: str, since: datetime) -> set[str]:
        """The memories that a session was shown since a moment."""
        rows = self._db.execute(self._sql.shown, {"session": session, "since": micros(since)})
        counted = {id for (id,) in rows}
        waiting = self._waiting()
        uses = [use for use in waiting.uses if use.session == session and use.at >= since] if waiting else ()
        return counted.union(*(use.ids for use in uses))

    def noise(self) -> list[str]:
        """The texts of the noise bank, oldest first."""
        return list(self.noise_rows())

    def noise_rows(self) -> dict[str, int]:
        """The texts of the noise bank with their rows, oldest first."""
        return {text: row for row, text in self._db.execute(self._sql.noise)}

    def stats(self, space: str, size: int) -> StoreStats:
        """The size of the space; kinds and scopes count current memories."""
        at, generation = self.counters(), self.generation()
        ((rows, versions, links, entities),) = self._db.execute(self._sql.counts)
        kinds, scopes = Counter[str](), Counter[str]()
        for kind, scope, count in self._db.execute(self._sql.labels):
            kinds[kind] += count
            scopes[scope] += count
        return StoreStats(
            space,
            rows - versions,
            versions,
            links,
            entities,
            bytes=size,
            generation=at.seq,
            embedding=generation and generation.name,
            kinds=dict(kinds),
            scopes=dict(scopes),
            dimension=generation and generation.dim,
        )

    def held(self, since: int = 0) -> Held:
        """How much was written after a `seq`."""
        return Held(self.counters().seq, *(self._db.first(self._sql.held, {"seen": since}) or (0, 0)))

    def value(self, sql: str) -> Any:
        """The answer to a question that only one database has."""
        return self._db.value(sql)

    def count(self) -> int:
        return self._db.value(self._sql.count)

    def changed(self, seen: int) -> Iterator[IndexEntry]:
        generation = self.generation()
        sql = self._sql.changed_links if seen else self._sql.entity_links
        links = self._db.execute(sql, {"seen": seen, "relations": list(ENTITY_RELATIONS)})
        searched = generation.id if generation else NO_GENERATION
        rows = self._db.each(self._sql.changed, {"seen": seen, "generation": searched})
        return entries_of(self._with_vectors(readable(rows), generation), links)

    def _with_vectors(self, rows: Iterable[Row], generation: Generation | None) -> Iterator[Row]:
        """Rows of the index with their vectors; a damaged vector counts as none."""
        for *row, view, data in rows:
            vector = None if data is None or generation is None else self._vector(data, generation)
            yield *row, None if vector is None else view, vector

    def _vector(self, data: Any, generation: Generation) -> Any:
        try:
            vector = self._dialect.unpack(data)
        except ValueError:
            return None
        return vector if len(vector) == generation.dim else None

    def deleted(self, seen: int) -> Iterator[str]:
        return (id for (id,) in self._db.execute(self._sql.deleted, {"seen": seen}))

    def records(self) -> Iterator[Record]:
        """Every record; the caller holds a snapshot."""
        last = 0
        while page := self._scan("TRUE", {"after": last}, PAGE):
            self._refuse_skipped()
            yield from self._kept([stored.memory for stored in page])
            last = page[-1].row
        self._refuse_skipped()
        yield from self.entities_of([id for (id,) in self._db.execute(self._sql.entity_ids)]).values()
        yield from (Link(*row) for row in self._db.execute(self._sql.all_links))
        yield from map(job_of, self._db.execute(self._sql.jobs_about_no_memory))
        yield from reversed(self.journal(limit=ALL))
        for session, id, at in self._db.execute(self._sql.all_shown):
            yield Showing(session, id, moment(at))
        yield from map(NoiseText, self.noise())

    def _kept(self, memories: list[Memory]) -> Iterator[Kept]:
        ids = [memory.id for memory in memories]
        vectors = self.vectors(ids)
        jobs: defaultdict[str, list[Job]] = defaultdict(list)
        for job in map(job_of, self._db.execute(self._sql.jobs_about, {"ids": ids})):
            jobs[job.subject].append(job)
        for memory in memories:
            yield Kept(memory, vectors.get(memory.id, {}), tuple(jobs[memory.id]))

    def _entities(self, sql: str, values: Values) -> list[Entity]:
        return [
            Entity(id, name, kind, tuple(alias for *_, alias in rows if alias is not None))
            for (id, name, kind), rows in groupby(self._db.execute(sql, values), _ENTITY)
        ]

    def _scan(self, condition: str, values: Values, limit: int) -> list[Stored]:
        """Up to `limit` readable memories; asks for more rows as long as damaged ones are in the way."""
        sql, asked = self._sql.scan.format(condition=condition), limit
        while True:
            skipped = len(self._skipped or ())
            found = self._stored(sql, {**values, "limit": asked})
            if len(found) >= limit or len(found) + len(self._skipped or ()) - skipped < asked:
                return found[:limit]
            asked *= 2

    def _checked(self, asked: Condition, condition: str, values: Values, limit: int) -> list[Stored]:
        """Up to `limit` readable memories for which a condition holds; only those are read as a whole."""
        found, sql = list[Stored](), self._sql.checked.format(condition=condition)
        ids = self._meeting(asked, sql, values)
        while len(found) < limit and (some := list(islice(ids, limit - len(found)))):
            found += self.fetch(some).values()
        return found

    def _meeting(self, asked: Condition, sql: str, values: Values) -> Iterator[str]:
        after, damaged = values["after"], list[Exception]()
        while True:
            rows = list(readable(self._db.execute(sql, {**values, "after": after, "limit": CHECKED_TOGETHER}), damaged))
            yield from (id for _, id, *cells in rows if holds(asked, checked_fields(id, cells)))
            if not rows or len(rows) + len(damaged) < CHECKED_TOGETHER:
                return
            after = rows[-1][0]
            damaged.clear()

    def _stored(self, sql: str, values: Values) -> list[Stored]:
        found = self._rows_of(sql, values)
        waiting = self._waiting() if found else None  # read last: a use may be missed here, but never counts twice
        return [_used(stored, waiting.recalls.get(stored.memory.id)) for stored in found] if waiting else found

    def _rows_of(self, sql: str, values: Values) -> list[Stored]:
        try:
            return [read_memory(row) for row in self._db.execute(sql, values)]
        except (UnicodeDecodeError, UnreadableMemory):
            if self._skipped is None:
                raise
        return list(readable_memories(self._db.execute(sql, values), self._skipped))  # slower, one by one

    def _refuse_skipped(self) -> None:
        for error in self._skipped or ():
            raise error

    def _memories(self, sql: str, values: Values) -> list[Memory]:
        return [stored.memory for stored in self._stored(sql, values)]


def _used(stored: Stored, recalls: list[datetime] | None) -> Stored:
    """A memory with more recalls."""
    memory = stored.memory
    if recalls is None:
        return stored
    return stored._replace(memory=replace(memory, usage=(memory.usage or Usage()).recalled(*recalls)))
