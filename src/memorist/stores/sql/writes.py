"""Writing: one write inside its transaction, with no other writer in the space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from memorist.model import Entity, Link, Memory, Usage
from memorist.ports import Batch
from memorist.stores.encoding import Archived, EncodedBatch, EncodedMemory, Inserted, plan_put
from memorist.stores.index import micros
from memorist.stores.index_file import TOKENS_KEPT, Counters
from memorist.stores.rows import Row, Stored, encodable
from memorist.stores.rules import TEXT_RELATIONS, changed_entities, check_vectors
from memorist.stores.sql import bookkeeping
from memorist.stores.sql.database import Database, Dialect, own_row
from memorist.stores.sql.reads import Generation, Noted, Reads
from memorist.text.words import fold, name_prefix

P = TypeVar("P")
DELETIONS_KEPT = 10_000
"""With more deletions than this, the log of deletions is emptied and every cache is loaded again."""


class WriteReads(Reads):
    """Reading within a write: a memory is read once, until the write changes some."""

    def __init__(self, db: Database, dialect: Dialect, noted: Noted) -> None:
        super().__init__(db, dialect, noted=noted)
        self._known: dict[str, Stored | None] = dict.fromkeys(noted.absent)
        self._generation = noted.generation

    def fetch(self, ids: Iterable[str]) -> dict[str, Stored]:
        asked = list(dict.fromkeys(ids))
        if unknown := [id for id in asked if id not in self._known]:
            self._known |= {**dict.fromkeys(unknown), **super().fetch(unknown)}
        return {id: stored for id in asked if (stored := self._known[id]) is not None}

    def by_text(self, texts: Sequence[str]) -> list[Memory]:
        """The current memories whose text is the same as one of these, in every scope and in the order written."""
        return [] if self._noted.unsaid.issuperset(texts) else super().by_text(texts)

    def entities_by_prefix(self, names: Sequence[str]) -> list[Entity]:
        """Entities with a name or alias that shares a three-letter prefix with one of these, by id."""
        prefixes = tuple(map(name_prefix, names))
        known, found = self._noted.alike
        if not known.issuperset(prefixes):
            return super().entities_by_prefix(names)
        return [
            entity
            for entity in found
            if any(fold(name).startswith(prefixes) for name in (entity.name, *entity.aliases))
        ]

    def forget(self, ids: Iterable[str] | None = None) -> None:
        """Read these memories anew from now on, or everything, because it changes."""
        for id in list(self._known) if ids is None else ids:
            self._known.pop(id, None)
        self._noted = Noted()


class Write(Generic[P]):
    """One write inside its transaction; all its changes are stamped with one number.

    It starts by locking the space, so there is one writer per space at a time. Numbers are drawn in memory and
    written back at the end.
    """

    def __init__(self, db: Database, dialect: Dialect, noted: Noted) -> None:
        self.db = db
        self.sql = dialect.write
        row = own_row(db, self.sql.lock)
        self._found: tuple[int, int, int] = (row[0], row[1], row[2])
        self._seq, self._epoch, self._last = self._found
        self.reads = WriteReads(db, dialect, noted if noted.at == self.counters else Noted())
        self.has_erased = self.outdates_index_files = self.has_counted = False
        self._new_rows = list[dict[str, Any]]()
        self._new_vectors = list[dict[str, Any]]()
        self._stamped = set[str]()
        """Memories that have the number of this write already."""

    def finish(self) -> None:
        """Write the numbers back, and outdate every index file if one may hold what is erased."""
        if self.outdates_index_files:
            self.db.execute(self.sql.list_index_files, {"listed": str(self._seq)})
            for statement in self.sql.drop_published:
                self.db.execute(statement)
        if (self._seq, self._epoch, self._last) != self._found:
            self.db.execute(self.sql.raise_counters, {"seq": self._seq, "epoch": self._epoch, "last": self._last})

    @property
    def counters(self) -> Counters:
        """The content counters as this write leaves them."""
        return Counters(self._epoch, self._seq)

    @property
    def seq(self) -> int:
        """The number of this write, drawn when the first change needs it."""
        self._seq = self._found[0] + 1
        return self._seq

    def draw(self) -> int:
        """The next row number."""
        self._last += 1
        return self._last

    def invalidate_caches(self) -> None:
        """Make every cache load the space again."""
        self._seq, self._epoch = self.seq, self._found[1] + 1

    def list_index_file(self, token: str, seq: int) -> bool:
        """List an index file of the state at a `seq`; False if it may hold what was erased since."""
        since, tokens = self.reads.index_files()
        if seq < since or token in tokens:
            return seq >= since
        listed = [str(since), *[*tokens, token][-TOKENS_KEPT:]]
        self.db.execute(self.sql.list_index_files, {"listed": " ".join(listed)})
        return True

    def outdate_index_files(self) -> None:
        """Let no index file be used that was made before this write."""
        self.outdates_index_files = True

    def batch(self, encoded: EncodedBatch[P]) -> list[Memory]:
        """Write a batch; returns its put memories as they are now."""
        batch, generation = encoded.batch, self.reads.generation()
        check_vectors(batch, generation and generation.adopted)
        if batch.erased:
            self.erase(batch.erased)
            self.erase_entities(batch.erased)
        if encoded.revised:
            self.revise(encoded.revised, generation)
        answers = self.put(encoded.put, generation) if encoded.put else []
        self.insert_new()
        self.unlink(batch.unlinked)
        self.link(batch.links)
        if batch.entities:
            self.put_entities(batch)
        bookkeeping.count(self.db, self.sql, batch)
        bookkeeping.put_jobs(self.db, self.sql, batch)
        for entry in batch.journal:
            bookkeeping.note(self.db, self.sql, entry, self.draw)
        return answers

    def revise(self, items: Sequence[EncodedMemory[P]], generation: Generation | None) -> None:
        """Keep memories as given, replacing those of the same ids; a changed text drops the vectors."""
        given = {item.memory.id: item for item in items}
        known = self.reads.fetch(given)
        self.reads.forget(given)
        rows = {id: known[id].row if id in known else self.draw() for id in given}
        stamped = {id: {**item.columns, "row": rows[id], "seq": self.seq} for id, item in given.items()}
        self.db.execute_many(self.sql.update_memory, [row for id, row in stamped.items() if id in known])
        self._new_rows += [row for id, row in stamped.items() if id not in known]
        self._stamped.update(given)
        self._put_usages({id: item.memory for id, item in given.items() if id not in known})
        self._drop_vectors([old.row for id, old in known.items() if _loses_vectors(old, given[id])])
        if generation is not None:
            self.add_vectors({rows[id]: item.vectors for id, item in given.items() if item.vectors}, generation)

    def put(self, items: Sequence[EncodedMemory[P]], generation: Generation | None) -> list[Memory]:
        """Insert new memories, archive those with another text, and keep those with the same text."""
        if not self._stamped.isdisjoint(item.memory.id for item in items):
            self.insert_new()  # of the memories that were revised
        before = self._last
        plan = plan_put(items, self.reads.fetch(item.memory.id for item in items), before)
        self._last += len(plan.inserted)
        self._archive([version for version in plan.archived if version.row <= before])
        self.reads.forget()
        self._insert(plan.inserted, {version.row: version for version in plan.archived})
        self._stamped.update(inserted.memory.id for inserted in plan.inserted if inserted.first)
        first = {inserted.memory.id: inserted.memory for inserted in plan.inserted if inserted.first}
        self._put_usages({**{version.past.id: version.past for version in plan.archived}, **first})
        if generation is not None:
            vectors = {plan.rows[item.memory.id]: item.vectors for item in items if item.vectors}
            self._add_missing(vectors, generation, before)
        return plan.answers

    def learn_noise(self, texts: Sequence[str], keep: int) -> None:
        """Add texts to the noise bank and drop the oldest."""
        bookkeeping.learn_noise(self.db, self.sql, self.reads.noise_rows(), texts, keep, self.draw)

    def _put_usages(self, memories: Mapping[str, Memory]) -> None:
        usages = {id: memory.usage for id, memory in memories.items() if memory.usage != Usage()}
        bookkeeping.put_usages(self.db, self.sql, usages)

    def _archive(self, archived: Sequence[Archived]) -> None:
        """Turn rows into history in place, so that they keep their vectors."""
        if not archived:
            return
        self.insert_new()  # an id may be needed that a revised memory just took
        self._make_way([version.past.id for version in archived])
        rows = [{"row": version.row, "seq": self.seq, **_history_columns(version.past)} for version in archived]
        self.db.execute_many(self.sql.archive_memory, rows)
        moves = [{"past": version.past.id, "id": version.id, "relations": list(TEXT_RELATIONS)} for version in archived]
        self.db.execute_many(self.sql.move_links, moves)

    def _make_way(self, ids: list[str]) -> None:
        """Drop rows whose ids are needed for versions, as when history was imported."""
        rows = [stored.row for stored in self.reads.fetch(ids).values()]
        if rows:
            self._drop_vectors(rows)
            self.db.execute(self.sql.drop_rows, {"rows": rows})

    def _insert(self, inserted: Sequence[Inserted[P]], archived: Mapping[int, Archived]) -> None:
        def columns(one: Inserted[P]) -> dict[str, Any]:
            history = _history_columns(archived[one.row].past) if one.row in archived else {}
            return {**one.item.columns, "version": one.memory.version, **history, "row": one.row, "seq": self.seq}

        self._new_rows += map(columns, inserted)

    def insert_new(self) -> None:
        """Insert new memories, and then their vectors, in one statement each."""
        self.db.execute_many(self.sql.insert_memory, self._new_rows)
        self.db.execute_many(self.sql.insert_vector, self._new_vectors)
        self._new_rows, self._new_vectors = [], []

    def link(self, links: Sequence[Link]) -> None:
        """Add links; a known link gets the new weight. The memories they start from count as changed."""
        if not links:
            return
        given = {(link.source, link.relation, link.target): link.weight for link in links}
        sources = {source for source, _, _ in given} - self._stamped
        found = self.db.execute(self.sql.links_from, {"sources": list(sources)}) if sources else ()
        known = {(source, relation, target): weight for source, relation, target, weight in found}
        changed = {key: weight for key, weight in given.items() if known.get(key) != weight}
        self.db.execute_many(self.sql.put_link, [_link_row(*key, weight) for key, weight in changed.items()])
        self._stamp({source for source, _, _ in changed} & sources)

    def unlink(self, links: Sequence[Link]) -> None:
        """Remove links; the memories they started from count as changed."""
        for link in links:
            row = {"source": link.source, "relation": link.relation, "target": link.target}
            if self.db.change(self.sql.delete_link, row):
                self._stamp({link.source})

    def put_entities(self, batch: Batch) -> None:
        """Write new and changed entities with their names."""
        known = self.reads.entities_of([entity.id for entity in batch.entities])
        changed = changed_entities(known, batch)
        if not changed:
            return
        self._drop_entities([id for id in changed if id in known])
        rows = [{"id": entity.id, "name": entity.name, "kind": entity.kind} for entity in changed.values()]
        self.db.execute_many(self.sql.insert_entity, rows)
        aliases = [
            {"entity": entity.id, "place": place, "alias": name, "folded": fold(name)}
            for entity in changed.values()
            for place, name in enumerate((entity.name, *entity.aliases))
        ]
        self.db.execute_many(self.sql.insert_alias, aliases)
        _ = self.seq  # a new name counts as a change of content

    def erase_entities(self, ids: Sequence[str]) -> None:
        """Erase entities with their names; links to them stay."""
        known = list(self.reads.entities_of(ids))
        if known:
            self.before_erasing(known)
            self._drop_entities(known)
            _ = self.seq  # an erased name counts as a change of content

    def erase(self, ids: Iterable[str]) -> list[str]:
        """Erase memories with their versions from every table; entities stay."""
        found = list(self.db.execute(self.sql.with_versions, {"ids": encodable(ids)}))
        gone = [id for _, id in found]
        self.reads.forget()
        if gone:
            self.before_erasing(gone)
            self._drop_vectors([row for row, _ in found])
            bookkeeping.forget_entries(self.db, self.sql, gone)
            for statement in self.sql.erase:
                self.db.execute(statement, {"ids": gone})
            self.db.execute_many(self.sql.insert_deletion, [{"id": id, "seq": self.seq} for id in gone])
            self._forget_old_deletions()
        return gone

    def before_erasing(self, ids: Sequence[str]) -> None:
        """Called with the memories or entities that are about to be erased."""
        self.has_erased = self.outdates_index_files = True

    def stamp_rows(self, rows: Iterable[int]) -> None:
        """Count rows as changed."""
        self.db.execute(self.sql.stamp_rows, {"seq": self.seq, "rows": list(rows)})

    def add_vectors(self, wanted: Mapping[int, Mapping[str, P]], generation: Generation) -> None:
        """Have vectors inserted by row and view; there must be none yet."""
        self._new_vectors += [
            {"row": row, "generation": generation.id, "view": view, "data": data}
            for row, views in wanted.items()
            for view, data in views.items()
        ]

    def _add_missing(self, wanted: Mapping[int, Mapping[str, P]], generation: Generation, before: int) -> None:
        """Add the views that memories lack; rows that existed before then count as changed."""
        old = [row for row in wanted if row <= before]
        values = {"rows": old, "generation": generation.id}
        known: set[Row] = set(self.db.execute(self.sql.views, values)) if old else set()
        missing = {
            row: {view: data for view, data in views.items() if (row, view) not in known}
            for row, views in wanted.items()
        }
        self.add_vectors(missing, generation)
        changed = [row for row in old if missing[row]]
        if changed:
            self.stamp_rows(changed)

    def _drop_vectors(self, rows: list[int]) -> None:
        if rows:
            self.db.execute(self.sql.drop_vectors, {"rows": rows})

    def _drop_entities(self, ids: list[str]) -> None:
        for statement in self.sql.drop_entities if ids else ():
            self.db.execute(statement, {"ids": ids})

    def _stamp(self, ids: Iterable[str]) -> None:
        asked = list(ids)
        if asked:
            self.db.execute(self.sql.stamp_ids, {"seq": self.seq, "ids": asked})

    def _forget_old_deletions(self) -> None:
        if self.db.value(self.sql.count_deletions) > DELETIONS_KEPT:
            self.db.execute(self.sql.clear_deletions)
            self.invalidate_caches()


def _loses_vectors(old: Stored, item: EncodedMemory[Any]) -> bool:
    """Whether a revision replaces or outdates the old vectors."""
    return bool(item.vectors) or old.memory.text != item.memory.text


def _history_columns(past: Memory) -> dict[str, Any]:
    """The columns in which a version differs from the memory that it was."""
    return {
        "id": past.id,
        "version_of": past.version_of,
        "superseded_by": past.superseded_by,
        "valid_to": _micros_or_none(past.times.valid_to),
        "expired_at": _micros_or_none(past.times.expired_at),
    }


def _link_row(source: str, relation: str, target: str, weight: float) -> dict[str, Any]:
    return {"source": source, "relation": relation, "target": target, "weight": weight}


def _micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)
