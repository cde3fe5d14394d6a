"""The names that memories mention: listed, and walked from one to the next along what relates them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memorist.errors import InvalidInput
from memorist.model import (
    MOST_CLASSIFIED,
    STATES,
    Entity,
    Filter,
    Kind,
    Memory,
    Related,
    bare_name,
    classification_of_name,
    mark_name,
)
from memorist.ports import Store
from memorist.remember.entities import MENTIONS, OBJECT, SUBJECT
from memorist.results.finding import Edge, EntitySummary, Neighbour, Neighbourhood, Support
from memorist.text.words import fold

COUNTED = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL, Kind.NOTE)
"""The kinds of memories that count as mentions; the others repeat or label what these say."""
TOGETHER = "mentioned_with"
"""The relation of two names that a memory mentions and no fact relates."""
MOST_HOPS = 3
MOST_SUPPORT = 5
ROLES = (SUBJECT, OBJECT, MENTIONS)
PAGE = 1000


# Listing


def list_entities(
    store: Store, where: Filter, prefix: str | None = None, kind: str | None = None, limit: int = 100
) -> list[EntitySummary]:
    """The names whose mentions a filter admits, most mentioned first."""
    start = fold(prefix or "")
    known = [
        entity for entity in store.entities_by_prefix([start]) if _may_be_seen(entity, where) and _begins(entity, start)
    ]
    counts: defaultdict[str, _Mentions] = defaultdict(_Mentions)
    for entity, memory in _mentions(store, where, [name.id for name in known]):
        counts[bare_name(entity)].add(memory)
    by_name = _by_name(known)
    found = [counts[id].summary(by_name[id]) for id in counts]
    wanted = [entity for entity in found if kind is None or entity.kind == kind]
    return sorted(wanted, key=lambda one: (-one.memories - one.facts, one.name))[:limit]


def _mentions(store: Store, where: Filter, entities: Sequence[str]) -> Iterator[tuple[str, Memory]]:
    """Every entity with each memory that mentions it and that the filter admits."""
    asked = set(entities)
    links = [link for link in store.links(entities, *ROLES) if link.target in asked]
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
    return classification_of_name(entity.id) <= where.max_classification


def _begins(entity: Entity, start: str) -> bool:
    return any(fold(name).startswith(start) for name in (entity.name, *entity.aliases))


def _by_name(entities: Iterable[Entity]) -> dict[str, Entity]:
    """One entity for each name, without its classification: the least secret one that may be seen."""
    return {
        bare_name(entity.id): entity
        for entity in sorted(entities, key=lambda one: classification_of_name(one.id), reverse=True)
    }


# Walking


def walk(store: Store, where: Filter, entity: str, hops: int = 1, limit: int = 50) -> Neighbourhood:
    """The names and relations reached within some hops, the nearest and then the best `limit` of them."""
    if hops > MOST_HOPS:
        raise InvalidInput(f"hops is {hops}", remedy=f"Give hops a whole number from 1 to {MOST_HOPS}.")
    starts = [known for known in store.entities([entity]) if _may_be_seen(known, where)]
    reached = {bare_name(start.id): 0 for start in starts}
    edges: dict[Pair, _Edge] = {}
    view, counted = store.view(), _counted(where)
    for hop in range(1, hops + 1):
        front = [id for id, at in reached.items() if at == hop - 1]
        found = view.related(front, counted, limit + 1 + len(edges)) if front else []
        edges |= {pair: edge for pair, edge in _edges(store, where, found, hop).items() if pair not in edges}
        best = _best(edges)
        for source, _, target in best[:limit]:
            reached.setdefault(source, hop)
            reached.setdefault(target, hop)
        if len(best) > limit:
            break  # what is farther comes after these
    if not edges and not _is_mentioned(store, counted, list(reached)):
        return Neighbourhood(entity, known=False)
    name = min(starts, key=lambda one: classification_of_name(one.id)).name
    return _told(store, where, name, reached, edges, limit)


Pair = tuple[str, str, str]
"""Two entities without their classification, and their relation."""


@dataclass(frozen=True, slots=True)
class _Edge:
    hop: int
    facts: Sequence[str]
    memories: Sequence[str]
    """The memories that state the facts, or that mention both names; each group with the latest said first."""

    @property
    def count(self) -> int:
        return len(self.facts) + len(self.memories)

    @property
    def newest(self) -> list[str]:
        return [*self.facts[:MOST_SUPPORT], *self.memories[:MOST_SUPPORT]][:MOST_SUPPORT]


def _counted(where: Filter) -> Filter:
    kinds = COUNTED if where.kinds is None else tuple(kind for kind in COUNTED if kind in where.kinds)
    return replace(where, kinds=kinds)


def _edges(store: Store, where: Filter, found: Sequence[Related], hop: int) -> dict[Pair, _Edge]:
    """What was found as edges; facts with the memories that state them."""
    facts = [pair for pair in found if pair.relation is not None]
    stating = _sources(store, where, [id for fact in facts for id in fact.memories])
    edges: dict[Pair, _Edge] = {
        (pair.source, TOGETHER, pair.target): _Edge(hop, (), pair.memories) for pair in found if pair.relation is None
    }
    for fact in facts:
        own = list(fact.memories)
        stated = {memory.id: memory for id in own for memory in stating.get(id, ()) if memory.id not in own}
        latest = sorted(stated.values(), key=lambda memory: -memory.times.valid_from.timestamp())
        edges[fact.source, fact.relation or TOGETHER, fact.target] = _Edge(hop, own, [memory.id for memory in latest])
    return edges


def _is_mentioned(store: Store, where: Filter, names: Sequence[str]) -> bool:
    """Whether a memory that the filter admits mentions one of these entities, if only by itself."""
    entities = [id for id in _every_form(names) if classification_of_name(id) <= where.max_classification]
    links = store.links(entities, *ROLES) if entities else []
    sources = list({link.source: None for link in links})
    pages = (store.get(sources[start : start + PAGE]) for start in range(0, len(sources), PAGE))
    return any(where.admits(memory) for page in pages for memory in page.values())


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
    return sorted(kept, key=lambda pair: (edges[pair].hop, pair[1] == TOGETHER, -edges[pair].count, pair))


def _every_form(ids: Iterable[str]) -> list[str]:
    """Entities in each classification."""
    return [mark_name(id, each) for id in ids for each in range(MOST_CLASSIFIED + 1)]


def visible_entities(store: Store, where: Filter, ids: Iterable[str]) -> dict[str, Entity]:
    """The entities with these ids, given without their classification, that a filter lets be seen."""
    return _by_name(entity for entity in store.entities_by_id(_every_form(ids)) if _may_be_seen(entity, where))


def _told(
    store: Store, where: Filter, entity: str, reached: Mapping[str, int], edges: Mapping[Pair, _Edge], limit: int
) -> Neighbourhood:
    ranked, known = _best(edges), visible_entities(store, where, reached)
    best = [pair for pair in ranked if pair[0] in known and pair[2] in known][:limit]
    there = store.get([id for pair in best for id in edges[pair].newest])
    told = tuple(_edge(pair, edges[pair], known, there) for pair in best)
    shown = {id for source, _, target in best for id in (source, target) if reached[id]}
    names = sorted(shown, key=lambda id: (reached[id], known[id].name))
    neighbours = tuple(Neighbour(known[id].name, known[id].kind, reached[id]) for id in names)
    return Neighbourhood(entity, True, neighbours, told, more=len(ranked) > limit)


def _edge(pair: Pair, edge: _Edge, known: Mapping[str, Entity], there: Mapping[str, Memory]) -> Edge:
    source, relation, target = pair
    support = tuple(Support(id, there[id].text, there[id].times.valid_from) for id in edge.newest if id in there)
    return Edge(known[source].name, relation, known[target].name, edge.hop, edge.count, support)
