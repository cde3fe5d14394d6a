"""Writing: one write inside its transaction, alone in its space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pgvector import HalfVector

from memorist.model import Entity, Link, Memory, Usage
from memorist.stores.common import OF_THE_TEXT, Archived, New, Prepared, Ready, check_vectors, merged_entity, putting
from memorist.stores.index import micros
from memorist.stores.postgres import bookkeeping
from memorist.stores.postgres.database import Database, Value
from memorist.stores.postgres.reads import Generation, Reads, askable
from memorist.stores.postgres.rows import INSERT, UPDATE, named
from memorist.stores.rows import Row, Stored
from memorist.text.words import fold

LOCK = "SELECT seq, epoch, last FROM memorist.spaces WHERE space = %(space)s FOR UPDATE"
RAISE = "UPDATE memorist.spaces SET seq = %(seq)s, epoch = %(epoch)s, last = %(last)s WHERE space = %(space)s"
STAMP = "UPDATE memorist.memories SET seq = %(seq)s WHERE space = %(space)s AND id = ANY(%(ids)s)"
STAMP_ROWS = "UPDATE memorist.memories SET seq = %(seq)s WHERE space = %(space)s AND row = ANY(%(rows)s)"
ARCHIVE = (
    "UPDATE memorist.memories SET seq = %(seq)s, id = %(id)s, version_of = %(version_of)s, "
    "superseded_by = %(superseded_by)s, valid_to = %(valid_to)s, expired_at = %(expired_at)s "
    "WHERE space = %(space)s AND row = %(row)s"
)
FORGET = "DELETE FROM memorist.memories WHERE space = %(space)s AND row = ANY(%(rows)s)"
ERASED = (
    "shown WHERE space = %(space)s AND id",
    "usage WHERE space = %(space)s AND id",
    "links WHERE space = %(space)s AND source",
    "links WHERE space = %(space)s AND target",
    "memories WHERE space = %(space)s AND id",
    "deletions WHERE space = %(space)s AND id",
)
DELETIONS_KEPT = 10_000
"""Past this many the log of deletions is emptied, and every cache reads the space anew."""
Item = Prepared[HalfVector]


class Write:
    """One write inside its transaction: everything it changes is stamped with one number.

    It begins by locking the space's own row, so that writers of a space come one after the other; nothing below needs
    to expect another one. Numbers are drawn in memory and written back at the end.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        row = db.first(LOCK)
        assert row is not None, "a space has its row from the day it is opened"
        self._found: tuple[int, int, int] = (row[0], row[1], row[2])
        self._seq, self._epoch, self._last = self._found
        self.reads = Reads(db)

    def finish(self) -> None:
        """Write the numbers back."""
        if (self._seq, self._epoch, self._last) != self._found:
            self._db.execute(RAISE, seq=self._seq, epoch=self._epoch, last=self._last)

    @property
    def seq(self) -> int:
        """This write's number, drawn when the first change needs it."""
        self._seq = self._found[0] + 1
        return self._seq

    def draw(self) -> int:
        """The next number for a row."""
        self._last += 1
        return self._last

    def void(self) -> None:
        """Make every cache read the space anew."""
        self._seq, self._epoch = self.seq, self._found[1] + 1

    def everything(self, ready: Ready[HalfVector]) -> list[Memory]:
        """All of a batch; returns its put memories as they are now."""
        batch, generation = ready.batch, self.reads.generation()
        check_vectors(batch, generation and (generation.name, generation.dim))
        if batch.erased:
            self.erase(batch.erased)
            self.unname(batch.erased)
        if ready.revised:
            self.revise(ready.revised, generation)
        stored = self.memories(ready.put, generation) if ready.put else []
        self.unlink(batch.unlinked)
        self.links(batch.links)
        self.entities(batch.entities)
        bookkeeping.count(self._db, batch)
        bookkeeping.put_jobs(self._db, batch.jobs, batch.done)
        for entry in batch.journal:
            bookkeeping.note(self._db, entry, self.draw())
        return stored

    def revise(self, items: Sequence[Item], generation: Generation | None) -> None:
        """Keep memories as they are given, in place of those of the same ids; a changed text drops its vectors."""
        known = self.reads.fetch(item.memory.id for item in items)
        given = {item.memory.id: item for item in items}
        added = {id: self.draw() for id in given if id not in known}
        rows = {id: added[id] if id in added else known[id].row for id in given}
        for id, item in given.items():
            sql = INSERT if id in added else UPDATE
            self._db.execute(sql, **named(item.columns), row=rows[id], seq=self.seq)
        bookkeeping.put_usage(
            self._db, {id: given[id].memory.usage for id in added if given[id].memory.usage != Usage()}
        )
        self._drop_vectors([known[id].row for id, item in given.items() if id in known and _loses(known[id], item)])
        if generation is not None:
            self.add_vectors({rows[id]: item.vectors for id, item in given.items() if item.vectors}, generation)

    def memories(self, items: Sequence[Item], generation: Generation | None) -> list[Memory]:
        """Insert what is new, archive what has another text, keep what is the same."""
        put = putting(items, self.reads.fetch(item.memory.id for item in items), self._last)
        former = self._last
        self._last += len(put.new)
        archived = {one.row: one for one in put.archived}
        self._archive([one for one in put.archived if one.row <= former])
        self._insert(put.new, archived)
        usages = {one.past.id: one.past.usage for one in put.archived if one.past.usage != Usage()}
        usages |= {one.memory.id: one.memory.usage for one in put.new if one.first and one.memory.usage != Usage()}
        bookkeeping.put_usage(self._db, usages)
        if generation is not None:
            self._add_missing(
                {put.rows[one.memory.id]: one.vectors for one in items if one.vectors}, generation, former
            )
        return put.answers

    def _archive(self, archived: Sequence[Archived]) -> None:
        """Turn rows into history where they stand, so that they keep their vectors."""
        if not archived:
            return
        self._forget([one.past.id for one in archived])
        self._db.execute_many(ARCHIVE, [{"row": one.row, "seq": self.seq, **_ended(one.past)} for one in archived])
        self._db.execute_many(
            "UPDATE memorist.links SET source = %(past)s "
            "WHERE space = %(space)s AND source = %(id)s AND relation = ANY(%(relations)s)",
            [{"past": one.past.id, "id": one.id, "relations": list(OF_THE_TEXT)} for one in archived],
        )

    def _forget(self, ids: list[str]) -> None:
        """Make way for versions that get the ids of others, as when history was brought from elsewhere."""
        taken = self.reads.fetch(ids)
        if taken:
            rows = [stored.row for stored in taken.values()]
            self._drop_vectors(rows)
            self._db.execute(FORGET, rows=rows)

    def _insert(self, new: Sequence[New[HalfVector]], archived: Mapping[int, Archived]) -> None:
        def values(one: New[HalfVector]) -> dict[str, object]:
            late = _ended(archived[one.row].past) if one.row in archived else {}
            return {**named(one.item.columns), "version": one.memory.version, **late, "row": one.row, "seq": self.seq}

        self._db.execute_many(INSERT, map(values, new))

    def links(self, links: Sequence[Link]) -> None:
        """Add links; a known one takes the new weight. The memories they start from count as changed."""
        if not links:
            return
        given = {(link.source, link.relation, link.target): link.weight for link in links}
        known = {
            (source, relation, target): weight
            for source, relation, target, weight in self._db.execute(
                "SELECT source, relation, target, weight FROM memorist.links "
                "WHERE space = %(space)s AND source = ANY(%(sources)s)",
                sources=list({source for source, _, _ in given}),
            )
        }
        changed = {key: weight for key, weight in given.items() if known.get(key) != weight}
        rows = [_link_row(*key, weight) for key, weight in changed.items() if key in known]
        self._db.execute_many(
            "UPDATE memorist.links SET weight = %(weight)s WHERE space = %(space)s "
            "AND source = %(source)s AND relation = %(relation)s AND target = %(target)s",
            rows,
        )
        self._db.execute_many(
            "INSERT INTO memorist.links VALUES (%(space)s, %(source)s, %(relation)s, %(target)s, %(weight)s)",
            [_link_row(*key, weight) for key, weight in changed.items() if key not in known],
        )
        self._stamp({source for source, _, _ in changed})

    def unlink(self, links: Sequence[Link]) -> None:
        """Take links out; the memories they started from count as changed."""
        for link in links:
            gone = self._db.change(
                "DELETE FROM memorist.links WHERE space = %(space)s "
                "AND source = %(source)s AND relation = %(relation)s AND target = %(target)s",
                **_link_row(link.source, link.relation, link.target, link.weight),
            )
            if gone:
                self._stamp({link.source})

    def entities(self, given: Sequence[Entity]) -> None:
        """Add entities; a known one keeps its names and takes the new ones."""
        if not given:
            return
        known = self.reads.entities_of([entity.id for entity in given])
        merged = dict(known)
        for entity in given:
            old = merged.get(entity.id)
            merged[entity.id] = entity if old is None else merged_entity(old, entity)
        changed = [entity for id, entity in merged.items() if known.get(id) != entity]
        if changed:
            self._put_entities(changed)

    def unname(self, ids: Sequence[str]) -> None:
        """Take entities out with their names; links to them stay."""
        known = self.reads.entities_of(ids)
        if known:
            self._drop_entities(list(known))
            _ = self.seq  # names that went count as a change of content

    def erase(self, ids: Iterable[str]) -> list[str]:
        """Take memories out of every table, with their versions; entities stay."""
        found = self._db.execute(
            "SELECT row, id FROM memorist.memories WHERE space = %(space)s "
            "AND (id = ANY(%(ids)s) OR version_of = ANY(%(ids)s)) ORDER BY row",
            ids=askable(ids),
        )
        gone = [id for _, id in found]
        if gone:
            self._drop_vectors([row for row, _ in found])
            bookkeeping.forget_entries(self._db, gone)
            for condition in ERASED:
                self._db.execute(f"DELETE FROM memorist.{condition} = ANY(%(ids)s)", ids=gone)  # noqa: S608
            self._db.execute_many(
                "INSERT INTO memorist.deletions VALUES (%(space)s, %(id)s, %(seq)s)",
                [{"id": id, "seq": self.seq} for id in gone],
            )
            self._forget_old_deletions()
        return gone

    def stamp(self, rows: Iterable[int]) -> None:
        """Count rows as changed."""
        self._db.execute(STAMP_ROWS, seq=self.seq, rows=list(rows))

    def add_vectors(self, wanted: Mapping[int, Mapping[str, HalfVector]], generation: Generation) -> None:
        """Insert vectors by row and view; the caller knows that there are none."""
        self._db.execute_many(
            "INSERT INTO memorist.vectors VALUES (%(space)s, %(row)s, %(generation)s, %(view)s, %(data)s)",
            [
                {"row": row, "generation": generation.id, "view": view, "data": data}
                for row, views in wanted.items()
                for view, data in views.items()
            ],
        )

    def views(self, rows: Iterable[int], generation: Generation) -> set[Row]:
        """The rows and views of which there are vectors, among these rows."""
        found = self._db.execute(
            "SELECT row, view FROM memorist.vectors "
            "WHERE space = %(space)s AND row = ANY(%(rows)s) AND generation = %(generation)s",
            rows=list(rows), generation=generation.id,
        )  # fmt: skip
        return set(found)

    def _add_missing(self, wanted: Mapping[int, Mapping[str, HalfVector]], generation: Generation, former: int) -> None:
        """Add the views that memories lack; those that were there before now count as changed."""
        before = [row for row in wanted if row <= former]
        known = self.views(before, generation) if before else set[Row]()
        missing = {
            row: {view: data for view, data in views.items() if (row, view) not in known}
            for row, views in wanted.items()
        }
        self.add_vectors(missing, generation)
        late = [row for row in before if missing[row]]
        if late:
            self.stamp(late)

    def _drop_vectors(self, rows: list[int]) -> None:
        if rows:
            self._db.execute("DELETE FROM memorist.vectors WHERE space = %(space)s AND row = ANY(%(rows)s)", rows=rows)

    def _put_entities(self, entities: Sequence[Entity]) -> None:
        self._drop_entities([entity.id for entity in entities])
        self._db.execute_many(
            "INSERT INTO memorist.entities VALUES (%(space)s, %(id)s, %(name)s, %(kind)s)",
            [{"id": entity.id, "name": entity.name, "kind": entity.kind} for entity in entities],
        )
        self._db.execute_many(
            "INSERT INTO memorist.aliases VALUES (%(space)s, %(entity)s, %(place)s, %(alias)s, %(folded)s)",
            [
                {"entity": entity.id, "place": place, "alias": name, "folded": fold(name)}
                for entity in entities
                for place, name in enumerate((entity.name, *entity.aliases))
            ],
        )
        _ = self.seq  # new names count as a change of content

    def _drop_entities(self, ids: list[str]) -> None:
        self._db.execute("DELETE FROM memorist.aliases WHERE space = %(space)s AND entity = ANY(%(ids)s)", ids=ids)
        self._db.execute("DELETE FROM memorist.entities WHERE space = %(space)s AND id = ANY(%(ids)s)", ids=ids)

    def _stamp(self, ids: Iterable[str]) -> None:
        asked = list(ids)
        if asked:
            self._db.execute(STAMP, seq=self.seq, ids=asked)

    def _forget_old_deletions(self) -> None:
        if self._db.value("SELECT count(*) FROM memorist.deletions WHERE space = %(space)s") > DELETIONS_KEPT:
            self._db.execute("DELETE FROM memorist.deletions WHERE space = %(space)s")
            self.void()


def _loses(old: Stored, item: Item) -> bool:
    """Whether a revision leaves the old vectors behind."""
    return bool(item.vectors) or old.memory.text != item.memory.text


def _ended(past: Memory) -> dict[str, object]:
    """What tells a version that became history from the memory it was."""
    return {
        "id": past.id,
        "version_of": past.version_of,
        "superseded_by": past.superseded_by,
        "valid_to": _micros(past.times.valid_to),
        "expired_at": _micros(past.times.expired_at),
    }


def _link_row(source: str, relation: str, target: str, weight: float) -> dict[str, Value]:
    return {"source": source, "relation": relation, "target": target, "weight": weight}


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)
