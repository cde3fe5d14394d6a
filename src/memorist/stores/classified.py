"""The part of a store between two classifications, as a store of its own.

In a classified store nothing else exists: no row, name, link, job, entry, count or statistic of
another classification. A caller with a cap gets the part from 0 to the cap. A write gets the part of its own
classification only, so that it neither changes nor meets what is more or less secret.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path

from memorist.errors import TooClassified
from memorist.model import (
    MOST_CLASSIFIED,
    USUAL_CLASSIFICATION,
    Entity,
    Filter,
    Link,
    Memory,
    bare_name,
    classification_of_name,
    mark_name,
)
from memorist.ports import Batch, Entry, Held, Job, Page, Plan, Reader, Record, Store, StoreStats, Vectors, View
from memorist.stores.id_collisions import move_collisions
from memorist.stores.rules import ENTITY_RELATIONS, cursor_after, position_of

ALL = 2**62
PAGE = 1000
FEW = 16


class ClassifiedReader:
    """Reads the rows of a store between two classifications, from outside or within a write."""

    def __init__(self, reader: Reader, lowest: int, highest: int, *, alone: bool = False) -> None:
        self._reader = reader
        self.lowest = lowest
        self.highest = highest
        self._own = lowest if alone else None
        """The classification that everything written here has; then tasks go by their plain names."""

    def holds(self, classification: int) -> bool:
        """Whether a classification lies in the part."""
        return self.lowest <= classification <= self.highest

    def _seen(self, memories: Iterable[Memory]) -> list[Memory]:
        return [memory for memory in memories if self.holds(memory.worth.classification)]

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        return {memory.id: memory for memory in self._seen(self._reader.get(ids).values())}

    def history(self, id: str) -> list[Memory]:
        return self._seen(self._reader.history(id))

    def by_key(self, keys: Sequence[str]) -> list[Memory]:
        return self._seen(self._reader.by_key(keys))

    def by_text(self, texts: Sequence[str]) -> list[Memory]:
        return self._seen(self._reader.by_text(texts))

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        return self._seen(self._reader.turns(session, first, last))

    def last_position(self, session: str) -> int | None:
        last = self._reader.last_position(session)
        while last is not None and last >= 0:
            seen = self.turns(session, last - FEW, last)
            if seen:
                return seen[-1].origin.position
            last -= FEW + 1
        return None

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        return self._reader.vectors(list(self.get(ids)))

    def links(self, ids: Sequence[str], *relations: str) -> list[Link]:
        """Links that start or end at any of these ids; both ends are in the part."""
        found = self._reader.links(ids, *relations)
        hidden = self._hidden(chain.from_iterable((link.source, link.target) for link in found))
        return [link for link in found if not hidden.intersection((link.source, link.target))]

    def _hidden(self, ids: Iterable[str]) -> set[str]:
        """The memories and entities among these ids that are not in the part."""
        asked = set(ids)
        known = self._reader.get(sorted(asked))
        names = (id for id in asked - known.keys() if not self.holds(classification_of_name(id)))
        return {*names, *self._foreign(known)}

    def _foreign(self, memories: Mapping[str, Memory]) -> set[str]:
        return {id for id, memory in memories.items() if not self.holds(memory.worth.classification)}

    def entities(self, names: Sequence[str]) -> list[Entity]:
        return self._known(self._reader.entities(names))

    def entities_by_id(self, ids: Sequence[str]) -> list[Entity]:
        return self._known(self._reader.entities_by_id(ids))

    def entities_by_prefix(self, names: Sequence[str]) -> list[Entity]:
        return self._known(self._reader.entities_by_prefix(names))

    def _known(self, entities: Iterable[Entity]) -> list[Entity]:
        return [entity for entity in entities if self.holds(classification_of_name(entity.id))]

    def jobs(self, task: str | None = None, limit: int = 1000, subject: str | None = None) -> list[Job]:
        found = self._reader.jobs(None if task is None else self._marked(task), ALL, subject)
        jobs = [job for job in found if self.holds(classification_of_name(job.task))][:limit]
        return jobs if self._own is None else [replace(job, task=bare_name(job.task)) for job in jobs]

    def _marked(self, task: str) -> str:
        return task if self._own is None else mark_name(task, self._own)

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        asked = limit
        while True:
            read = self._reader.journal(verb, subject, asked)
            seen = self._entries(read)
            if len(seen) >= limit or len(read) < asked:
                return seen[:limit]
            asked = min(ALL, asked * 4 + PAGE)

    def _entries(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries of the part; one without a mark has the classification of the memories it is about."""
        plain = [entry for entry in entries if bare_name(entry.id) == entry.id]
        about = self._reader.get(list({id for entry in plain for id in entry.subjects})) if plain else {}
        return [entry for entry in entries if self.holds(_classification(entry, about))]

    def marked_batch(self, batch: Batch) -> Batch:
        """A batch as the whole store takes it; refused if it reaches beyond the part."""
        given = {memory.id: memory for memory in (*batch.memories, *batch.revised)}
        for memory in given.values():
            if not self.holds(memory.worth.classification):
                raise too_classified(memory.worth.classification, self.highest)
        hidden = self._hidden(batch.erased) if batch.erased else set[str]()
        batch = replace(batch, erased=[id for id in batch.erased if id not in hidden])
        there = self._reader.get(list(given))
        if foreign := self._foreign(there):
            batch = move_collisions(batch, [there[id] for id in sorted(foreign)], self._reader)
        return replace(
            batch,
            jobs=[replace(job, task=self._marked(job.task)) for job in batch.jobs],
            done=[(self._marked(task), subject) for task, subject in batch.done],
            journal=self._marked_entries(batch.journal, given),
        )

    def _marked_entries(self, entries: Sequence[Entry], given: Mapping[str, Memory]) -> list[Entry]:
        """Entries that say in their ids how secret they are: as secret as the most secret memory they are about."""
        if not entries:
            return []
        known = {**self._reader.get([id for entry in entries for id in entry.subjects]), **given}
        return [replace(entry, id=mark_name(entry.id, _classification(entry, known, self._own))) for entry in entries]


def _classification(entry: Entry, known: Mapping[str, Memory], own: int | None = None) -> int:
    """How secret an entry is: as it is marked, or else as secret as the most secret memory it is about."""
    if bare_name(entry.id) != entry.id:
        return classification_of_name(entry.id)
    about = [known[id].worth.classification for id in entry.subjects if id in known]
    return max((*about, *(() if own is None else (own,))), default=USUAL_CLASSIFICATION)


def too_classified(classification: int, highest: int) -> TooClassified:
    """The refusal of a write above a cap: the same whatever is stored."""
    return TooClassified(
        f"This caller may not see or keep memories of classification {classification}",
        remedy=f"Classify it as {highest} or lower, or use a key with a higher limit.",
    )


class ClassifiedStore(ClassifiedReader):
    """A store that has only the rows between two classifications."""

    def __init__(self, store: Store, lowest: int, highest: int, *, alone: bool = False) -> None:
        super().__init__(store, lowest, highest, alone=alone)
        self._store = store

    @property
    def space(self) -> str:
        return self._store.space

    @property
    def path(self) -> Path | None:
        """The file of the store, if it has one."""
        return getattr(self._store, "path", None)

    # Listing and searching

    def view(self) -> View:
        """The newest state of the part."""
        return self._store.view().part(self.lowest, self.highest)

    def scan(self, where: Filter, limit: int, cursor: str | None = None) -> Page:
        within = replace(where, max_classification=min(where.max_classification, self.highest))
        found: list[Memory] = []
        while True:
            page = self._store.scan(within, limit - len(found), cursor)
            found += self._seen(page.items)
            cursor = page.cursor
            if cursor is None or len(found) >= limit:
                return Page(tuple(found), cursor)

    def neighbours(self, ids: Sequence[str], before: int, after: int) -> dict[str, list[Memory]]:
        around = {id: list[Memory]() for id in self.get(ids)}
        wanted, reach = list(around), 1
        while wanted:
            near = self._store.neighbours(wanted, before * reach, after * reach)
            waiting: list[str] = []
            for id, line in near.items():
                around[id], complete = _cut(self._seen(line), line, id, (before, after), reach)
                if not complete:
                    waiting.append(id)
            wanted, reach = waiting, reach * 8
        return {id: line for id, line in around.items() if line}

    # Writing

    def put(self, batch: Batch) -> list[Memory]:
        return self.update(lambda reader: batch, batch)

    def update(self, plan: Plan, draft: Batch | None = None) -> list[Memory]:
        """`put` the batch that a plan makes from the part, with no other write in between."""

        def planned(reader: Reader) -> Batch:
            part = ClassifiedReader(reader, self.lowest, self.highest, alone=self._own is not None)
            return part.marked_batch(plan(part))

        return self._store.update(planned, draft)

    def delete(self, ids: Sequence[str]) -> list[str]:
        return self._store.delete(list(self.get(ids)))

    # Bookkeeping

    def touch(self, ids: Sequence[str], at: datetime) -> None:
        self._store.touch(ids, at)

    def show(self, session: str, ids: Sequence[str], at: datetime) -> None:
        self._store.show(session, ids, at)

    def shown(self, session: str, since: datetime) -> set[str]:
        return set(self.get(sorted(self._store.shown(session, since))))

    def learn_noise(self, texts: Sequence[str], *, keep: int) -> None:
        """Add meaningless texts to the noise bank, which has the usual classification and learns of no other."""
        if self.holds(USUAL_CLASSIFICATION):
            self._store.learn_noise(texts, keep=keep)

    def noise(self) -> list[str]:
        """The texts of the noise bank, oldest first; none below its classification."""
        return self._store.noise() if self.highest >= USUAL_CLASSIFICATION else []

    # Embeddings: one generation for the whole store

    @property
    def embedding(self) -> str | None:
        return self._store.embedding

    def adopt(self, embedding: str, dim: int) -> None:
        self._store.adopt(embedding, dim)

    def embedded(self, ids: Sequence[str]) -> set[str]:
        return self._store.embedded(list(self.get(ids)))

    def prepare(self, embedding: str, dim: int) -> None:
        """Refused: all memories change their generation together."""
        raise partial_work()

    def without_vectors(self, embedding: str, limit: int) -> list[Memory]:
        """Refused, as `prepare` is."""
        raise partial_work()

    def add_vectors(self, embedding: str, memories: Sequence[Memory], vectors: Mapping[str, Vectors]) -> None:
        """Refused, as `prepare` is."""
        raise partial_work()

    def switch(self, embedding: str) -> bool:
        """Refused, as `prepare` is."""
        raise partial_work()

    # Maintenance

    def scrub(self, *, rewrite: bool = False) -> bool:
        return self._store.scrub(rewrite=rewrite)

    def stats(self) -> StoreStats:
        """The size of the part: bytes are those of its texts, and the generation counts its rows."""
        rows: list[Memory] = []
        links = set[Link]()
        cursor = None
        while True:
            page = self.scan(Filter(), PAGE, cursor)
            rows += page.items
            links.update(self.links([memory.id for memory in page.items]))
            if (cursor := page.cursor) is None:
                break
        current = [memory for memory in rows if memory.version_of is None]
        return StoreStats(
            space=self.space,
            memories=len(current),
            versions=len(rows) - len(current),
            links=len(links),
            entities=len({link.target for link in links if link.relation in ENTITY_RELATIONS}),
            bytes=sum(len(memory.text.encode("utf-8", "surrogatepass")) for memory in rows),
            generation=len(rows) + len(links),
            embedding=self.embedding if self.embedded([memory.id for memory in rows]) else None,
            kinds=Counter(str(memory.kind) for memory in current),
            scopes=Counter(memory.scope for memory in current),
        )

    def held(self, since: int = 0) -> Held:
        """Refused: a quota is of everything."""
        raise partial_work()

    def records(self) -> Generator[StoreStats | Record]:
        """Refused: an export is of everything."""
        raise partial_work()

    def close(self) -> None:
        """Nothing to release: the store stays open."""


def counted_page(store: Store, where: Filter, limit: int, cursor: str | None) -> Page:
    """A page whose cursor counts the memories before it: the place of a row would tell how many are hidden."""
    passed, found = position_of(cursor), list[Memory]()
    skipped, after = 0, None
    while True:
        page = store.scan(where, PAGE, after)
        found += page.items[max(0, passed - skipped) :]
        skipped += len(page.items)
        after = page.cursor
        if after is None or len(found) > limit:
            more = cursor_after(passed + limit) if len(found) > limit else None
            return Page(tuple(found[:limit]), more)


def partial_work() -> TooClassified:
    """The refusal of what concerns every memory."""
    return TooClassified(
        "This concerns every memory, and this caller may not see the most secret ones",
        remedy=f"Use a key that may see classification {MOST_CLASSIFIED}.",
    )


def _cut(
    seen: Sequence[Memory], line: Sequence[Memory], id: str, wanted: tuple[int, int], reach: int
) -> tuple[list[Memory], bool]:
    """What is wanted of a line that was read around a memory, and whether the line was long enough to tell."""
    at, whole = _place(seen, id), _place(line, id)
    before, after = wanted
    enough_before = at >= before or whole < before * reach
    enough_after = len(seen) - at - 1 >= after or len(line) - whole - 1 < after * reach
    return list(seen[max(0, at - before) : at + after + 1]), enough_before and enough_after


def _place(line: Sequence[Memory], id: str) -> int:
    return next(place for place, memory in enumerate(line) if memory.id == id)
