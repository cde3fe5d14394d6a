"""Writing: one content write inside its transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from memorist.model import Entity, Link, Memory, Usage
from memorist.ports import Batch, Entry, Job
from memorist.stores.common import OF_THE_TEXT, Archived, Prepared, Ready, merged_entity, putting
from memorist.stores.index import micros
from memorist.stores.rows import Row, Stored, read_usage, usage_row
from memorist.stores.sqlite import remnants
from memorist.stores.sqlite.connection import Database
from memorist.stores.sqlite.reads import Generation, entities, fetch
from memorist.stores.sqlite.rows import INSERT, UPDATE
from memorist.text.words import fold

PUT_USAGE = "INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?, ?)"
PUT_LINK = (
    "INSERT INTO links VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET weight = excluded.weight "
    "WHERE weight <> excluded.weight RETURNING source"
)
PUT_JOB = "INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?)"
MOVE_LINKS = "UPDATE OR REPLACE links SET source = ? WHERE source = ? AND relation IN (SELECT value FROM json_each(?))"
ERASE = (
    "DELETE FROM shown WHERE id = ?",
    "DELETE FROM usage WHERE id = ?",
    "DELETE FROM links WHERE source = ?",
    "DELETE FROM links WHERE target = ?",
    "DELETE FROM journal WHERE row IN (SELECT entry FROM journal_subjects WHERE subject = ?)",
    "DELETE FROM memories WHERE id = ?",  # its vectors go with it
)
SHOWN_KEPT = timedelta(days=30)
"""How long a session's showings are kept."""
DELETIONS_KEPT = 10_000
"""Past this many the log of deletions is emptied, and every cache reads the file anew."""


class Write:
    """One content write inside its transaction: everything it changes is stamped with one number."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._seq: int | None = None
        self._unwritten: list[Row] = []
        self.erased = set[bytes]()
        """Pieces by which what was erased would be known again."""

    @property
    def seq(self) -> int:
        """This write's number, drawn when the first change needs it."""
        if self._seq is None:
            self._seq = int(self._db.value("UPDATE space SET seq = seq + 1 RETURNING seq"))
        return self._seq

    def everything(self, ready: Ready[bytes], generation: Generation | None) -> list[Memory]:
        """All of a batch; returns its put memories as they are now."""
        batch = ready.batch
        if batch.erased:
            self.erase(batch.erased)
            self.unname(batch.erased)
        self.revise(ready.revised, generation)
        stored = self.memories(ready.put, generation)
        self.unlink(batch.unlinked)
        self.links(batch.links)
        self.entities(batch.entities)
        count(self._db, batch)
        self._db.execute_many(PUT_JOB, map(job_row, batch.jobs))
        self._db.execute_many("DELETE FROM jobs WHERE task = ? AND subject = ?", batch.done)
        for entry in batch.journal:
            note(self._db, entry)
        return stored

    def revise(self, items: Sequence[Prepared[bytes]], generation: Generation | None) -> None:
        """Keep memories as they are given, in place of those of the same ids; a changed text drops its vectors."""
        known = fetch(self._db, (item.memory.id for item in items))
        for item in items:
            old = known.get(item.memory.id)
            row = self._add(item) if old is None else self._replace(old, item)
            if generation is not None and item.vectors:
                self._vectors({row: item.vectors}, generation, new_after=row)

    def _add(self, item: Prepared[bytes]) -> int:
        row = self._last_row() + 1
        self._add_usage(item.memory)
        self._db.execute(INSERT, (row, self.seq, *item.columns))
        return row

    def _replace(self, old: Stored, item: Prepared[bytes]) -> int:
        self._db.execute(UPDATE, (self.seq, *item.columns, old.row))
        if item.vectors or old.memory.text != item.memory.text:
            self._db.execute("DELETE FROM vectors WHERE row = ?", (old.row,))
        return old.row

    def memories(self, items: Sequence[Prepared[bytes]], generation: Generation | None) -> list[Memory]:
        """Insert what is new, archive what has another text, keep what is the same."""
        last = self._last_row()
        put = putting(items, fetch(self._db, (item.memory.id for item in items)), last)
        archived = iter(put.archived)
        for one in put.new:
            if one.first:
                self._add_usage(one.memory)
            else:
                self._archive(next(archived))
            self._unwritten.append((one.row, self.seq, one.memory.version, *one.item.columns[1:]))
        self._flush()
        if generation is not None:
            views = {put.rows[item.memory.id]: item.vectors for item in items if item.vectors}
            self._vectors(views, generation, new_after=last)
        return put.answers

    def links(self, links: Sequence[Link]) -> None:
        """Add links; a known one takes the new weight. The memories they start from count as changed."""
        rows = [(link.source, link.relation, link.target, link.weight) for link in links]
        changed = dict.fromkeys(source for row in rows for (source,) in self._db.execute(PUT_LINK, row))
        if changed:
            self._db.execute_many("UPDATE memories SET seq = ? WHERE id = ?", [(self.seq, id) for id in changed])

    def unlink(self, links: Sequence[Link]) -> None:
        """Take links out; the memories they started from count as changed."""
        for link in links:
            self._db.execute(
                "DELETE FROM links WHERE source = ? AND relation = ? AND target = ?",
                (link.source, link.relation, link.target),
            )
            self._db.execute("UPDATE memories SET seq = ? WHERE id = ?", (self.seq, link.source))

    def entities(self, given: Sequence[Entity]) -> None:
        """Add entities; a known one keeps its names and takes the new ones."""
        known = entities(self._db, [entity.id for entity in given])
        for entity in given:
            old = known.get(entity.id)
            merged = entity if old is None else merged_entity(old, entity)
            if merged != old:
                self._entity(merged)
                known[entity.id] = merged

    def unname(self, ids: Iterable[str]) -> None:
        """Take out those of these entities that there are, with their names; links to them stay."""
        known = list(entities(self._db, list(ids)))
        self.erased |= remnants.told(self._db, known)
        self._db.execute_many("DELETE FROM entities WHERE id = ?", [(id,) for id in known])

    def erase(self, ids: Iterable[str]) -> list[str]:
        """Take memories out of every table, with their versions; entities stay."""
        gone = self._with_versions(ids)
        self.erased |= remnants.told(self._db, gone)
        for statement in ERASE:
            self._db.execute_many(statement, [(id,) for id in gone])
        noted = [(id, self.seq) for id in gone]
        self._db.execute_many("INSERT OR REPLACE INTO deletions VALUES (?, ?)", noted)
        self._forget_old_deletions()
        return gone

    def _with_versions(self, ids: Iterable[str]) -> list[str]:
        gone: dict[str, None] = {}
        for id in ids:
            rows = self._db.execute(
                "SELECT id FROM memories WHERE id = :id UNION ALL SELECT id FROM memories WHERE version_of = :id",
                {"id": id},
            )
            gone.update((found, None) for (found,) in rows)
        return list(gone)

    def _forget_old_deletions(self) -> None:
        if self._db.value("SELECT count(*) FROM deletions") > DELETIONS_KEPT:
            self._db.execute("DELETE FROM deletions")
            self._db.execute("UPDATE space SET epoch = epoch + 1")

    def _last_row(self) -> int:
        row = self._db.first("SELECT seq FROM sqlite_sequence WHERE name = 'memories'")
        return row[0] if row else 0

    def _add_usage(self, memory: Memory) -> None:
        if memory.usage != Usage():
            self._db.execute(PUT_USAGE, usage_row(memory.id, memory.usage))

    def _archive(self, archived: Archived) -> None:
        """Turn a row into history where it stands, so that it keeps its vectors."""
        self._flush()
        past = archived.past
        ended = (past.times.valid_to, past.times.expired_at)
        self._db.execute(
            "UPDATE OR REPLACE memories SET seq = ?, id = ?, version_of = ?, superseded_by = ?, "
            "valid_to = ?, expired_at = ? WHERE row = ?",
            (self.seq, past.id, past.version_of, past.superseded_by, *map(_micros, ended), archived.row),
        )
        self._add_usage(past)
        self._db.execute(MOVE_LINKS, (past.id, archived.id, json.dumps(OF_THE_TEXT)))

    def _flush(self) -> None:
        if self._unwritten:
            self._db.execute_many(INSERT, self._unwritten)
            self._unwritten.clear()

    def _vectors(self, wanted: Mapping[int, Mapping[str, bytes]], generation: Generation, *, new_after: int) -> None:
        known = self._views([row for row in wanted if row <= new_after], generation)
        new = [
            (row, generation.id, view, data)
            for row, views in wanted.items()
            for view, data in views.items()
            if (row, view) not in known
        ]
        self._db.execute_many("INSERT INTO vectors VALUES (?, ?, ?, ?)", new)
        late = {row for row, *_ in new if row <= new_after}
        self._db.execute_many("UPDATE memories SET seq = ? WHERE row = ?", [(self.seq, row) for row in late])

    def _views(self, rows: Sequence[int], generation: Generation) -> set[tuple[Any, ...]]:
        if not rows:
            return set()
        return set(
            self._db.execute(
                "SELECT row, view FROM vectors WHERE row IN (SELECT value FROM json_each(?)) AND generation = ?",
                (json.dumps(rows), generation.id),
            )
        )

    def _entity(self, entity: Entity) -> None:
        _ = self.seq
        self._db.execute(
            "INSERT INTO entities VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET name = excluded.name, kind = excluded.kind",
            (entity.id, entity.name, entity.kind),
        )
        self._db.execute("DELETE FROM aliases WHERE entity = ?", (entity.id,))
        self._db.execute_many(
            "INSERT INTO aliases (folded, entity, alias, place) VALUES (?, ?, ?, ?)",
            [(fold(name), entity.id, name, place) for place, name in enumerate((entity.name, *entity.aliases))],
        )


def count(db: Database, batch: Batch) -> None:
    """Give each memory there is the usage that a batch has for it, and add rewards to its history."""
    known = _usages(db, {**batch.usage, **batch.rewards})
    changed = [(id, batch.usage.get(id, usage).rewarded(batch.rewards.get(id, ()))) for id, usage in known]
    db.execute_many(PUT_USAGE, [usage_row(id, usage) for id, usage in changed])


def job_row(job: Job) -> Row:
    """A job as it is kept."""
    return job.task, job.subject, micros(job.due), job.attempts, job.error


def note(db: Database, entry: Entry) -> None:
    """Write a line of the journal, in place of one with its id."""
    data = json.dumps(dict(entry.data), ensure_ascii=False)
    row = db.value(
        "INSERT INTO journal (id, at, verb, data) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET at = excluded.at, verb = excluded.verb, data = excluded.data RETURNING row",
        (entry.id, micros(entry.at), entry.verb, data),
    )
    db.execute("DELETE FROM journal_subjects WHERE entry = ?", (row,))
    subjects = [(row, place, subject) for place, subject in enumerate(entry.subjects)]
    db.execute_many("INSERT INTO journal_subjects VALUES (?, ?, ?)", subjects)


def touch(db: Database, ids: Iterable[str], at: datetime) -> None:
    """Count a recall of each memory there is, in the usage table alone."""
    usages = _usages(db, ids)
    db.execute_many(PUT_USAGE, [usage_row(id, usage.recalled(at)) for id, usage in usages])


def _usages(db: Database, ids: Iterable[str]) -> list[tuple[str, Usage]]:
    rows = db.execute(
        "SELECT m.id, u.id, recalls, last_recall, recall_times, reward_count, reward_total "
        "FROM memories AS m LEFT JOIN usage AS u ON u.id = m.id "
        "WHERE m.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return [(id, read_usage(usage) or Usage()) for id, *usage in rows]


def show(db: Database, session: str, ids: Iterable[str], at: datetime) -> None:
    """Note that a session was shown memories; what it was shown long ago leaves."""
    db.execute_many("INSERT OR REPLACE INTO shown VALUES (?, ?, ?)", [(session, id, micros(at)) for id in ids])
    db.execute("DELETE FROM shown WHERE at < ?", (micros(at - SHOWN_KEPT),))


def learn_noise(db: Database, texts: Sequence[str], keep: int) -> None:
    """Add texts to the noise bank and let the oldest go."""
    db.execute_many("INSERT OR IGNORE INTO noise (text) VALUES (?)", [(text,) for text in texts])
    db.execute("DELETE FROM noise WHERE row NOT IN (SELECT row FROM noise ORDER BY row DESC LIMIT ?)", (keep,))


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)
