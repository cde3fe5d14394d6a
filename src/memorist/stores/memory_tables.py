"""The parts of the in-memory store: its lock, links by their ends, generations in preparation, sessions, statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memorist.errors import Closed
from memorist.model import Entity, Link, Memory, Showing
from memorist.ports import Entry, Job, Kept, Record, StoreStats, Vectors
from memorist.stores.rules import TEXT_RELATIONS, Adopted, check_adoption, check_views, require_prepared
from memorist.text.sameness import canonical

LinkKey = tuple[str, str, str]
"""Source, relation and target, which identify a link."""


class OpenLock:
    """A lock that one thread may hold several times; once it is closed, whoever wants it is told so."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._closed = False

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._closed:
            self._lock.release()
            raise Closed("This store is closed", remedy="Open it again.")

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def close(self) -> None:
        """Wait for the thread that holds it, and let nobody have it again."""
        with self._lock:
            self._closed = True


class LinkTable(MutableMapping[LinkKey, Link]):
    """Links by key, which also finds the links that start or end at an id."""

    def __init__(self) -> None:
        self._links: dict[LinkKey, Link] = {}
        self._ends: dict[str, set[LinkKey]] = {}

    def touching(self, ids: Iterable[str]) -> list[LinkKey]:
        """Keys of the links that start or end at any of these ids, in a fixed order."""
        return sorted({key for id in ids for key in self._ends.get(id, ())})

    def archive(self, versions: Iterable[Memory]) -> None:
        """Move the links that follow from a text to the past version with that text."""
        for past in versions:
            for key in self.touching([current := past.version_of or past.id]):
                if key[0] == current and key[1] in TEXT_RELATIONS:
                    link = replace(self.pop(key), source=past.id)
                    self[link.source, link.relation, link.target] = link

    def __getitem__(self, key: LinkKey) -> Link:
        return self._links[key]

    def __setitem__(self, key: LinkKey, link: Link) -> None:
        self._links[key] = link
        for end in (key[0], key[2]):
            self._ends.setdefault(end, set()).add(key)

    def __delitem__(self, key: LinkKey) -> None:
        del self._links[key]
        for end in {key[0], key[2]}:
            self._ends[end].discard(key)
            if not self._ends[end]:
                del self._ends[end]

    def __iter__(self) -> Iterator[LinkKey]:
        return iter(self._links)

    def __len__(self) -> int:
        return len(self._links)


class EntityTable(dict[str, Entity]):
    """Entities by id, which also finds them by their names."""

    def called(self, holds: Callable[[str], bool]) -> list[Entity]:
        """Entities with a name or alias for which a test holds, by id."""
        found = [other for other in self.values() if any(holds(name) for name in (other.name, *other.aliases))]
        return sorted(found, key=lambda entity: entity.id)


class Sayings:
    """The current memories by what they say."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}
        self._ids: dict[str, set[str]] = {}

    def of(self, texts: Iterable[str]) -> set[str]:
        """The ids of the memories whose text is the same as one of these."""
        return {id for text in texts for id in self._ids.get(canonical(text), ())}

    def update(self, memories: Iterable[Memory]) -> None:
        """Note memories, or what they say now."""
        for memory in memories:
            self.drop([memory.id])
            if memory.version_of is None:
                said = self._said[memory.id] = canonical(memory.text)
                self._ids.setdefault(said, set()).add(memory.id)

    def drop(self, ids: Iterable[str]) -> None:
        """Leave out memories."""
        for id in ids:
            if (said := self._said.pop(id, None)) is not None:
                self._ids[said].discard(id)
                if not self._ids[said]:
                    del self._ids[said]


Made = dict[int, tuple[str, Vectors]]
"""Vectors by a memory's place in the order of writing, with the text that they were made from."""


@dataclass(slots=True)
class _Generation:
    adopted: Adopted
    made: Made = field(default_factory=Made)


class PreparedGenerations:
    """Embedding generations that are prepared but not searched yet, by name."""

    def __init__(self) -> None:
        self._prepared: dict[str, _Generation] = {}

    def prepare(self, name: str, dim: int, searched: Adopted | None) -> None:
        """Add a generation; an existing one keeps its vectors."""
        other = self._prepared.get(name)
        known = other.adopted if other else searched if searched and searched[0] == name else None
        check_adoption(known, name, dim)
        self._prepared.setdefault(name, _Generation((name, dim)))

    def covers(self, name: str, place: int, memory: Memory) -> bool:
        """Whether there are vectors of a memory's current text."""
        made = self._named(name).made
        return place in made and made[place][0] == memory.text

    def add(self, name: str, place: int, memory: Memory, views: Vectors) -> None:
        """Keep a memory's vectors."""
        prepared = self._named(name)
        check_views(memory.id, views, prepared.adopted)
        prepared.made[place] = memory.text, {view: np.array(vector) for view, vector in views.items()}

    def drop(self, place: int) -> None:
        """Drop the vectors of an erased memory."""
        for prepared in self._prepared.values():
            prepared.made.pop(place, None)

    def get(self, name: str) -> tuple[Adopted, dict[int, Vectors]]:
        """A generation and its vectors by place."""
        prepared = self._named(name)
        return prepared.adopted, {place: views for place, (_, views) in prepared.made.items()}

    def _named(self, name: str) -> _Generation:
        return require_prepared(self._prepared.get(name), name)


HeldMemory = tuple[Memory, Mapping[str, NDArray[Any]]]
"""A memory and its vectors by view."""


def around(held: Sequence[Memory], centre: Memory, before: int, after: int) -> list[Memory]:
    """The memories around one in its session, by position; ties keep their order."""
    session = [memory for memory in held if memory is centre or _same_session(memory, centre)]
    session.sort(key=lambda memory: memory.origin.position or 0)
    at = session.index(centre)
    return session[max(0, at - max(0, before)) : at + max(0, after) + 1]


def _same_session(memory: Memory, other: Memory) -> bool:
    """Whether a memory is current and has a position in the other's session."""
    mine, theirs = memory.origin, other.origin
    placed = mine.position is not None and theirs.position is not None and mine.session is not None
    return placed and mine.session == theirs.session and memory.version_of is None


def session_turns(held: Sequence[Memory], session: str, first: int, last: int) -> list[Memory]:
    """The current memories of a session between two positions, by position; ties keep their order."""
    placed = [
        (memory.origin.position, memory)
        for memory in held
        if memory.origin.session == session and memory.origin.position is not None and memory.version_of is None
    ]
    return [memory for at, memory in sorted(placed, key=lambda one: one[0]) if first <= at <= last]


def statistics(
    space: str, held: Sequence[HeldMemory], links: int, entities: int, generation: int, adopted: Adopted | None
) -> StoreStats:
    """The size of the store; bytes count texts and vectors."""
    current = [memory for memory, _ in held if memory.version_of is None]
    return StoreStats(
        space=space,
        memories=len(current),
        versions=len(held) - len(current),
        links=links,
        entities=entities,
        bytes=sum(_size(*row) for row in held),
        generation=generation,
        embedding=adopted and adopted[0],
        kinds=Counter(str(memory.kind) for memory in current),
        scopes=Counter(memory.scope for memory in current),
        dimension=adopted and adopted[1],
    )


def _size(memory: Memory, vectors: Mapping[str, NDArray[Any]]) -> int:
    return len(memory.text.encode("utf-8", "surrogatepass")) + sum(view.nbytes for view in vectors.values())


def all_records(
    held: Sequence[Memory],
    vectors: Mapping[str, Vectors],
    entities: Mapping[str, Entity],
    links: Mapping[tuple[str, str, str], Link],
    jobs: Sequence[Job],
    journal: Sequence[Entry],
    shown: Mapping[str, Mapping[str, datetime]],
) -> Iterator[Record]:
    """Memories in the given order with their vectors and jobs, then everything else by name or time."""
    by_subject = _grouped(jobs)
    for memory in held:
        yield Kept(memory, vectors.get(memory.id, {}), tuple(by_subject.pop(memory.id, ())))
    yield from (entities[id] for id in sorted(entities))
    yield from (links[key] for key in sorted(links))
    yield from sorted((job for jobs in by_subject.values() for job in jobs), key=lambda job: (job.task, job.subject))
    yield from journal
    showings = [Showing(session, id, at) for session, seen in shown.items() for id, at in seen.items()]
    yield from sorted(showings, key=lambda one: (one.at, one.session, one.id))


def _grouped(jobs: Sequence[Job]) -> dict[str, list[Job]]:
    found: dict[str, list[Job]] = {}
    for job in sorted(jobs, key=lambda job: job.task):
        found.setdefault(job.subject, []).append(job)
    return found
