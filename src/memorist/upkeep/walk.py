"""The names that memories mention: listed, and walked from one to the next along what relates them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from typing import Annotated

from memorist.errors import InvalidInput
from memorist.model import (
    MOST_CLASSIFIED,
    STATES,
    Doc,
    Entity,
    Filter,
    Kind,
    Memory,
    bare_name,
    marked,
    marked_classification,
)
from memorist.ports import Store
from memorist.remember.entities import MENTIONS, OBJECT, SUBJECT
from memorist.text.words import fold

COUNTED = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL, Kind.NOTE)
"""The kinds of memories that count as mentions; the others repeat or label what these say."""
TOGETHER = "mentioned_with"
"""The relation of two names that a memory mentions and no fact relates."""
MOST_HOPS = 3
MOST_READ = 2000
"""Memories read per hop; the newest ones of a name that more mention."""
MOST_SUPPORT = 5
MOST_NAMES = 20
"""Names taken from one memory; a long one may list hundreds."""
ROLES = (SUBJECT, OBJECT, MENTIONS)
PAGE = 1000


@dataclass(frozen=True, slots=True)
class EntitySummary:
    """A name that memories mention."""

    name: str
    kind: Annotated[str | None, Doc("What it is, such as person or place, if that is known.")]
    aliases: tuple[str, ...]
    memories: Annotated[int, Doc("How many memories mention it.")]
    facts: Annotated[int, Doc("How many facts are about it.")]
    last: Annotated[datetime, Doc("When it was last mentioned.")]


@dataclass(frozen=True, slots=True)
class Support:
    """A memory or fact that an edge rests on."""

    id: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Edge:
    """How two names are related."""

    source: str
    relation: Annotated[str, Doc("The relation of a fact, or mentioned_with.")]
    target: str
    hops: Annotated[int, Doc("How far from the entity it was reached.")]
    count: Annotated[int, Doc("How many facts and memories it rests on.")]
    support: Annotated[tuple[Support, ...], Doc("The newest of them.")]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A name that was reached."""

    name: str
    kind: str | None
    hops: int


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What is related to an entity, nearest first; `known` is False if no memory mentions it."""

    entity: str
    known: bool
    entities: tuple[Neighbour, ...] = ()
    edges: tuple[Edge, ...] = ()
    more: Annotated[bool, Doc("Whether there are more edges than the limit.")] = False


# Listing


def list_entities(
    store: Store, where: Filter, prefix: str | None = None, kind: str | None = None, limit: int = 100
) -> list[EntitySummary]:
    """The names whose mentions a filter admits, most mentioned first."""
    start = fold(prefix or "")
    known = [one for one in store.alike([start]) if _may_be_seen(one, where) and _begins(one, start)]
    counts: defaultdict[str, _Mentions] = defaultdict(_Mentions)
    for entity, memory in _mentions(store, where, [one.id for one in known]):
        counts[bare_name(entity)].add(memory)
    by_name = _by_name(known)
    found = [counts[id].summary(by_name[id]) for id in counts]
    wanted = [one for one in found if kind is None or one.kind == kind]
    return sorted(wanted, key=lambda one: (-one.memories - one.facts, one.name))[:limit]


def _mentions(store: Store, where: Filter, entities: Sequence[str]) -> Iterator[tuple[str, Memory]]:
    """Every entity with each memory that mentions it and that the filter admits."""
    asked = set(entities)
    links = [one for one in store.links(entities, *ROLES) if one.target in asked]
    for start in range(0, len(links), PAGE):
        some = links[start : start + PAGE]
        memories = store.get(list({link.source for link in some}))
        for link in some:
            memory = memories.get(link.source)
            if memory is not None and memory.kind in COUNTED and where.admits(memory):
                yield link.target, memory


@dataclass(slots=True)
class _Mentions:
    """The memories that mention one name."""

    ids: dict[bool, set[str]] = field(default_factory=lambda: {True: set(), False: set()})
    """By whether they are facts."""
    last: datetime | None = None

    def add(self, memory: Memory) -> None:
        self.ids[memory.fact is not None].add(memory.id)
        at = memory.times.valid_from
        self.last = at if self.last is None else max(self.last, at)

    def summary(self, entity: Entity) -> EntitySummary:
        assert self.last is not None
        return EntitySummary(
            entity.name, entity.kind, entity.aliases, len(self.ids[False]), len(self.ids[True]), self.last
        )


def _may_be_seen(entity: Entity, where: Filter) -> bool:
    return marked_classification(entity.id) <= where.max_classification


def _begins(entity: Entity, start: str) -> bool:
    return any(fold(name).startswith(start) for name in (entity.name, *entity.aliases))


def _by_name(entities: Iterable[Entity]) -> dict[str, Entity]:
    """One entity for each name, without its classification: the least secret one that may be seen."""
    return {
        bare_name(one.id): one for one in sorted(entities, key=lambda one: marked_classification(one.id), reverse=True)
    }


# Walking


def walk(store: Store, where: Filter, entity: str, hops: int = 1, limit: int = 50) -> Neighbourhood:
    """The names and relations reached within some hops; of each hop, only the best `limit` relations are followed."""
    if hops > MOST_HOPS:
        raise InvalidInput(f"hops is {hops}", remedy=f"Give hops a whole number from 1 to {MOST_HOPS}.")
    starts = [one for one in store.entities([entity]) if _may_be_seen(one, where)]
    reached = {bare_name(one.id): 0 for one in starts}
    edges: dict[Pair, _Edge] = {}
    for hop in range(1, hops + 1):
        front = [id for id, at in reached.items() if at == hop - 1]
        memories = _mentioning(store, where, front)
        if hop == 1 and not memories:
            return Neighbourhood(entity, known=False)
        for pair, memory in _related(store, where, memories, set(front)):
            edges.setdefault(pair, _Edge(hop)).add(memory)
        for source, _, target in _best(edges)[:limit]:
            reached.setdefault(source, hop)
            reached.setdefault(target, hop)
    name = min(starts, key=lambda one: marked_classification(one.id)).name
    return _told(name, reached, edges, named(store, where, reached), limit)


Pair = tuple[str, str, str]
"""Two entities without their classification, and their relation."""


@dataclass(slots=True)
class _Edge:
    hop: int
    support: dict[str, Memory] = field(default_factory=dict[str, Memory])

    def add(self, memory: Memory) -> None:
        self.support[memory.id] = memory

    def told(self, source: str, relation: str, target: str) -> Edge:
        newest = sorted(self.support.values(), key=lambda one: (one.fact is None, -one.times.valid_from.timestamp()))
        support = tuple(Support(one.id, one.text, one.times.valid_from) for one in newest[:MOST_SUPPORT])
        return Edge(source, relation, target, self.hop, len(newest), support)


def _mentioning(store: Store, where: Filter, front: Sequence[str]) -> dict[str, Memory]:
    """Memories and facts that mention any of these entities and that the filter admits."""
    entities = [id for id in _every_form(front) if marked_classification(id) <= where.max_classification]
    links = store.links(entities, *ROLES) if entities else []
    found = store.get([*{link.source: None for link in links}][-MOST_READ:])
    return {id: one for id, one in found.items() if one.kind in COUNTED and where.admits(one)}


def _related(
    store: Store, where: Filter, memories: Mapping[str, Memory], front: Collection[str]
) -> Iterator[tuple[Pair, Memory]]:
    """Each pair of entities of which one is in front, with what supports its relation."""
    ends: defaultdict[str, dict[str, list[str]]] = defaultdict(lambda: {role: [] for role in ROLES})
    for link in store.links(list(memories), *ROLES):
        if link.source in memories:
            ends[link.source][link.relation].append(bare_name(link.target))
    sources = _sources(store, where, [id for id, one in memories.items() if one.fact is not None])
    for id, roles in ends.items():
        memory = memories[id]
        if memory.fact is not None:
            pairs = [(subject, object) for subject in roles[SUBJECT] for object in roles[OBJECT]]
        else:
            everybody = list(dict.fromkeys(name for names in roles.values() for name in names))[:MOST_NAMES]
            pairs = [(one, other) for one, other in combinations(sorted(everybody), 2) if {one, other} & {*front}]
        relation = TOGETHER if memory.fact is None else memory.fact.relation
        for one, other in pairs:
            for supporting in (memory, *sources.get(id, ())):
                yield (one, relation, other), supporting


def _sources(store: Store, where: Filter, facts: Sequence[str]) -> Mapping[str, Sequence[Memory]]:
    """The memories that state each fact."""
    links = store.links(facts, STATES) if facts else []
    there = store.get(list({link.source for link in links}))
    found: defaultdict[str, list[Memory]] = defaultdict(list)
    for link in links:
        if link.source in there and where.admits(there[link.source]):
            found[link.target].append(there[link.source])
    return found


def _best(edges: Mapping[Pair, _Edge]) -> list[Pair]:
    """Edges, nearest and best supported first; pairs that a fact relates are not also told as mentioned together."""
    related = {frozenset((source, target)) for source, relation, target in edges if relation != TOGETHER}
    kept = [pair for pair in edges if pair[1] != TOGETHER or frozenset((pair[0], pair[2])) not in related]
    return sorted(kept, key=lambda pair: (edges[pair].hop, pair[1] == TOGETHER, -len(edges[pair].support), pair))


def _every_form(ids: Iterable[str]) -> list[str]:
    """Entities in each classification."""
    return [marked(id, each) for id in ids for each in range(MOST_CLASSIFIED + 1)]


def named(store: Store, where: Filter, ids: Iterable[str]) -> dict[str, Entity]:
    """The entities with these ids, given without their classification, that a filter lets be seen."""
    return _by_name(one for one in store.named(_every_form(ids)) if _may_be_seen(one, where))


def _told(
    entity: str, reached: Mapping[str, int], edges: Mapping[Pair, _Edge], named: Mapping[str, Entity], limit: int
) -> Neighbourhood:
    ranked = _best(edges)
    best = [pair for pair in ranked if pair[0] in named and pair[2] in named]
    told = [edges[pair].told(named[pair[0]].name, pair[1], named[pair[2]].name) for pair in best[:limit]]
    shown = {id for source, _, target in best[:limit] for id in (source, target) if reached[id]}
    names = sorted(shown, key=lambda id: (reached[id], named[id].name))
    neighbours = tuple(Neighbour(named[id].name, named[id].kind, reached[id]) for id in names)
    return Neighbourhood(entity, True, neighbours, tuple(told), more=len(ranked) > limit)
