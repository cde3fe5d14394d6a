"""The reference store: plain dictionaries and the index; every store behaves like it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memorist.model import Entity, Filter, Link, Memory, NoiseText, Usage, follows
from memorist.ports import Batch, Embedded, Entry, Held, Job, Page, Plan, Record, StoreStats, Vectors
from memorist.stores.index import Index, IndexView, entry_of, half_precision
from memorist.stores.memory_tables import (
    EntityTable,
    LinkTable,
    OpenLock,
    PreparedGenerations,
    Sayings,
    all_records,
    around,
    session_turns,
    statistics,
)
from memorist.stores.rules import (
    Adopted,
    changed_entities,
    check_adoption,
    check_limit,
    check_vectors,
    cursor_after,
    next_version,
    position_of,
)
from memorist.text.words import fold, name_prefix

Views = Mapping[str, NDArray[Any]]


class _Kept(NamedTuple):
    """A memory, its vectors, and its place in the order of writing."""

    place: int
    memory: Memory
    vectors: Views


class MemoryStore:
    """Memories in this process only, for tests, trials and short-lived agents. Thread-safe."""

    def __init__(self, space: str = "memory") -> None:
        self._space = space
        self._lock = OpenLock()
        self._kept: dict[str, _Kept] = {}
        self._sayings = Sayings()
        self._links = LinkTable()
        self._entities = EntityTable()
        self._shown: dict[str, dict[str, datetime]] = {}
        self._noise: list[str] = []
        self._jobs: dict[tuple[str, str], Job] = {}
        self._journal: dict[str, Entry] = {}
        self._adopted: Adopted | None = None
        self._prepared = PreparedGenerations()
        self._index = Index()
        self._places = self._generation = 0

    @property
    def space(self) -> str:
        return self._space

    @property
    def embedding(self) -> str | None:
        return self._adopted and self._adopted[0]

    def adopt(self, embedding: str, dim: int) -> None:
        with self._lock:
            check_adoption(self._adopted, embedding, dim)
            self._adopted = (embedding, dim)

    def prepare(self, embedding: str, dim: int) -> None:
        with self._lock:
            self._prepared.prepare(embedding, dim, self._adopted)

    def without_vectors(self, embedding: str, limit: int) -> list[Memory]:
        with self._lock:
            return list(islice(self._without(embedding), limit))

    def add_vectors(self, embedding: str, memories: Sequence[Memory], vectors: Mapping[str, Vectors]) -> None:
        with self._lock:
            same = [
                memory
                for memory in memories
                if memory.id in self._kept and self._kept[memory.id].memory.text == memory.text
            ]
            added = {
                memory.id: self._kept[memory.id]._replace(vectors=vectors[memory.id])
                for memory in same
                if memory.id in vectors
            }
            for kept in added.values():
                self._prepared.add(embedding, kept.place, kept.memory, kept.vectors)
            if embedding == self.embedding:
                self._keep(added)

    def switch(self, embedding: str) -> bool:
        """Search a prepared generation from now on and drop every other; False while any memory lacks it."""
        with self._lock:
            if next(self._without(embedding), None) is not None:
                return False
            if embedding != self.embedding:
                self._adopted, made = self._prepared.get(embedding)
                self._index = Index()
                self._keep({id: kept._replace(vectors=made[kept.place]) for id, kept in self._kept.items()})
            self._prepared = PreparedGenerations()
            return True

    def _without(self, embedding: str) -> Iterator[Memory]:
        kept = self._in_order()
        if embedding == self.embedding:
            return (row.memory for row in kept if not row.vectors)
        return (row.memory for row in kept if not self._prepared.covers(embedding, row.place, row.memory))

    def put(self, batch: Batch) -> list[Memory]:
        with self._lock:
            check_vectors(batch, self._adopted)
            if batch.erased and (gone := self._with_versions(batch.erased)):
                self._erase(gone)
            for id in batch.erased:
                self._entities.pop(id, None)
            changed = {memory.id: self._revised(memory, batch) for memory in batch.revised}
            answers = [self._written(memory, batch, changed).memory for memory in batch.memories]
            given = {memory.id for memory in batch.revised}  # kept exactly as given, also in their links
            new = (one.memory for id, one in changed.items() if id not in self._kept and id not in given)
            self._links.archive(memory for memory in new if memory.version_of)
            linked = self._relinked(batch)
            entities = changed_entities(self._entities, batch)
            if changed or linked or entities:
                self._entities.update(entities)
                self._keep({**{id: self._kept[id] for id in linked if id in self._kept}, **changed})
            self._count(batch)
            self._jobs.update({(job.task, job.subject): job for job in batch.jobs})
            for task, subject in batch.done:
                self._jobs.pop((task, subject), None)
            self._journal.update({entry.id: entry for entry in batch.journal})
            return answers

    def update(self, plan: Plan, draft: Batch | None = None) -> list[Memory]:
        """`put` the batch that a plan makes, with no other write in between."""
        with self._lock:
            return self.put(plan(self))

    def embedded(self, ids: Sequence[str]) -> set[str]:
        with self._lock:
            return {id for id in ids if id in self._kept and self._kept[id].vectors}

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        with self._lock:
            return {id: self._kept[id].memory for id in ids if id in self._kept}

    def scan(self, where: Filter, limit: int, cursor: str | None = None) -> Page:
        check_limit(limit)
        after = position_of(cursor)
        if limit == 0:
            return Page((), cursor_after(after))
        with self._lock:
            admitted = (kept for kept in self._in_order() if kept.place > after and where.admits(kept.memory))
            found = list(islice(admitted, limit + 1))
        more = cursor_after(found[limit - 1].place) if len(found) > limit else None
        return Page(tuple(kept.memory for kept in found[:limit]), more)

    def history(self, id: str) -> list[Memory]:
        with self._lock:
            versions = [self._kept[version].memory for version in self._with_versions([id])]
        return sorted(versions, key=lambda memory: memory.version, reverse=True)

    def by_key(self, keys: Sequence[str]) -> list[Memory]:
        asked = set(keys)
        with self._lock:
            return [kept.memory for kept in self._in_order() if kept.memory.origin.key in asked]

    def by_text(self, texts: Sequence[str]) -> list[Memory]:
        with self._lock:
            held = sorted([self._kept[id] for id in self._sayings.of(texts)], key=lambda kept: kept.place)
            return [kept.memory for kept in held]

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """All views of each memory that has vectors, rounded as in every store."""
        with self._lock:
            name = self.embedding or ""
            having = {id: self._kept[id].vectors for id in ids if id in self._kept and self._kept[id].vectors}
        return {
            id: Embedded(name, {view: half_precision(vector).astype(np.float32) for view, vector in views.items()})
            for id, views in having.items()
        }

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        with self._lock:
            return session_turns([kept.memory for kept in self._in_order()], session, first, last)

    def last_position(self, session: str) -> int | None:
        return max((turn.origin.position or 0 for turn in self.turns(session, 0, 2**63)), default=None)

    def jobs(self, task: str | None = None, limit: int = 1000, subject: str | None = None) -> list[Job]:
        with self._lock:
            wanted = [
                pending
                for pending in self._jobs.values()
                if task in (None, pending.task) and subject in (None, pending.subject)
            ]
        return sorted(wanted, key=lambda job: (job.due, job.task, job.subject))[:limit]

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        with self._lock:
            newest = reversed(self._journal.values())
            wanted = (entry for entry in newest if verb in (None, entry.verb) and subject in (None, *entry.subjects))
            return list(islice(wanted, limit))

    def neighbours(self, ids: Sequence[str], before: int, after: int) -> dict[str, list[Memory]]:
        """The memories around each of these in its session, by position and then by the order of writing."""
        with self._lock:
            centres, held = self.get(ids), [kept.memory for kept in self._in_order()]
        return {id: around(held, centre, before, after) for id, centre in centres.items()}

    def links(self, ids: Sequence[str], *relations: str) -> list[Link]:
        """Links that start or end at any of these ids, with one of these relations or any, in a fixed order."""
        with self._lock:
            return [self._links[key] for key in self._links.touching(ids) if not relations or key[1] in relations]

    def entities(self, names: Sequence[str]) -> list[Entity]:
        """Entities whose name or alias is one of these, ignoring case and accents, by id."""
        asked = {fold(name) for name in names}
        with self._lock:
            return self._entities.called(lambda name: fold(name) in asked)

    def entities_by_id(self, ids: Sequence[str]) -> list[Entity]:
        """The entities with these ids, by id."""
        with self._lock:
            return [self._entities[id] for id in sorted(set(ids)) if id in self._entities]

    def entities_by_prefix(self, names: Sequence[str]) -> list[Entity]:
        """Entities with a name or alias that shares a three-letter prefix with one of these, by id."""
        asked = tuple({name_prefix(name) for name in names})
        with self._lock:
            return self._entities.called(lambda name: name_prefix(name).startswith(asked))

    def touch(self, ids: Sequence[str], at: datetime) -> None:
        with self._lock:
            for id in set(ids) & self._kept.keys():
                kept = self._kept[id]
                usage = (kept.memory.usage or Usage()).recalled(at)
                self._kept[id] = kept._replace(memory=replace(kept.memory, usage=usage))

    def show(self, session: str, ids: Sequence[str], at: datetime) -> None:
        with self._lock:
            self._shown.setdefault(session, {}).update(dict.fromkeys(ids, at))

    def shown(self, session: str, since: datetime) -> set[str]:
        with self._lock:
            return {id for id, at in self._shown.get(session, {}).items() if at >= since}

    def learn_noise(self, texts: Sequence[str], *, keep: int) -> None:
        with self._lock:
            fresh = [text for text in dict.fromkeys(texts) if text not in self._noise]
            self._noise = [*self._noise, *fresh][-keep:] if keep else []

    def noise(self) -> list[str]:
        with self._lock:
            return list(self._noise)

    def delete(self, ids: Sequence[str]) -> list[str]:
        with self._lock:
            if gone := self._with_versions(ids):
                self._erase(gone)
            return gone

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Nothing to overwrite."""
        return True

    def view(self) -> IndexView:
        """The newest state."""
        with self._lock:
            return self._index.view()

    def stats(self) -> StoreStats:
        """The size of the store; bytes count texts and vectors."""
        with self._lock:
            held = [(kept.memory, kept.vectors) for kept in self._kept.values()]
            return statistics(self._space, held, len(self._links), len(self._entities), self._generation, self._adopted)

    def held(self, since: int = 0) -> Held:
        """How much there is, however much of it changed."""
        with self._lock:
            texts = [text for row in self._kept.values() for text in (row.memory.text, row.memory.original or "")]
            size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
            return Held(self._generation, len(self._kept), size)

    def records(self) -> Generator[StoreStats | Record]:
        with self._lock:
            kept = [row.memory for row in self._in_order()]
            vectors, journal = self.vectors([memory.id for memory in kept]), list(self._journal.values())
            whole = all_records(kept, vectors, self._entities, self._links, self.jobs(), journal, self._shown)
            everything = [self.stats(), *whole, *map(NoiseText, self._noise)]
        yield from everything

    def close(self) -> None:
        """Refuse everything from now on."""
        self._lock.close()

    def _in_order(self) -> list[_Kept]:
        return sorted(self._kept.values(), key=lambda kept: kept.place)

    def _with_versions(self, ids: Iterable[str]) -> list[str]:
        asked = set(ids)
        return [id for id, kept in self._kept.items() if id in asked or kept.memory.version_of in asked]

    def _written(self, memory: Memory, batch: Batch, changed: dict[str, _Kept]) -> _Kept:
        """The memory after this write; adds everything that has to be kept for it to `changed`."""
        known = changed.get(memory.id) or self._kept.get(memory.id)
        vectors = {view: np.array(vector) for view, vector in batch.vectors.get(memory.id, {}).items()}
        if known is not None and not follows(known.memory, memory):
            if vectors.keys() <= known.vectors.keys():
                return known
            written = known._replace(vectors={**vectors, **known.vectors})
        else:
            if known is not None:
                memory = next_version(known.memory, memory)
                past = known.memory.archived(memory)
                changed[past.id] = known._replace(memory=past)
            self._places += 1
            written = _Kept(self._places, memory, vectors)
        changed[memory.id] = written
        return written

    def _revised(self, memory: Memory, batch: Batch) -> _Kept:
        """A memory exactly as given; a known one keeps its place and usage, and the vectors of an unchanged text."""
        known = self._kept.get(memory.id)
        vectors: Views = {view: np.array(vector) for view, vector in batch.vectors.get(memory.id, {}).items()}
        if known is None:
            self._places += 1
            return _Kept(self._places, memory, vectors)
        if vectors:
            self._prepared.drop(known.place)
        elif known.memory.text == memory.text:
            vectors = known.vectors
        return _Kept(known.place, replace(memory, usage=known.memory.usage), vectors)

    def _relinked(self, batch: Batch) -> set[str]:
        """Apply a batch's links; returns the memories whose links changed."""
        gone = [(link.source, link.relation, link.target) for link in batch.unlinked]
        taken = [key for key in gone if self._links.pop(key, None) is not None]
        links = {(link.source, link.relation, link.target): link for link in batch.links}
        fresh = {key: link for key, link in links.items() if self._links.get(key) != link}
        self._links.update(fresh)
        return {source for source, _, _ in (*fresh, *taken)}

    def _count(self, batch: Batch) -> None:
        for id in (batch.usage.keys() | batch.rewards.keys()) & self._kept.keys():
            kept = self._kept[id]
            usage = (batch.usage.get(id) or kept.memory.usage or Usage()).rewarded(batch.rewards.get(id, ()))
            self._kept[id] = kept._replace(memory=replace(kept.memory, usage=usage))

    def _keep(self, changed: Mapping[str, _Kept]) -> None:
        self._kept.update(changed)
        self._sayings.update(row.memory for row in changed.values())
        self._generation += 1
        entries = [entry_of(one.memory, one.vectors, self.links([id])) for id, one in changed.items()]
        self._index.apply(entries, (), generation=self._generation, embedding=self.embedding)

    def _erase(self, gone: Sequence[str]) -> None:
        for id in gone:
            self._prepared.drop(self._kept.pop(id).place)
        self._sayings.drop(erased := set(gone))
        for key in self._links.touching(erased):
            del self._links[key]
        for seen in self._shown.values():
            for id in erased & seen.keys():
                del seen[id]
        self._journal = {id: one for id, one in self._journal.items() if not erased & {*one.subjects}}
        self._generation += 1
        self._index.apply((), gone, generation=self._generation, embedding=self.embedding)
