"""How people look at the graph: names to begin with, names as they type, and where a recall's PageRank went.

Like `browse`, these take an engine, so that its cap holds, and read a bounded number of memories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memorist.engine.engine import Engine
from memorist.model import MOST_CLASSIFIED, STATES, Entity, Filter, Memory, bare_name
from memorist.model.request import listing_filter
from memorist.remember.entities import SUBJECT
from memorist.text.words import fold
from memorist.upkeep.walk import COUNTED, ROLES, TOGETHER, visible_entities
from memorist_server.inspector.browse import newest, now_of

RECENT = 200
"""The newest memories, whose names are suggested."""
PAGERANK = "graph"
"""The signal that spreads PageRank from the names of a question."""


@dataclass(frozen=True, slots=True)
class Lit:
    """A memory that PageRank reached from the names of a question, and the two names that it relates."""

    memory: Memory
    source: str
    relation: str
    target: str
    score: float


def names_lately(engine: Engine, limit: int) -> list[Entity]:
    """The names in the newest memories, most mentioned first."""
    ids = {memory.id for memory in newest(engine, RECENT, max_classification=MOST_CLASSIFIED).items}
    links = engine.store.links(list(ids), *ROLES) if ids else []
    counts = Counter(bare_name(link.target) for link in links if link.source in ids)
    best = [id for id, _ in counts.most_common(limit)]
    known = visible_entities(engine.store, _everything(engine), best)
    return [known[id] for id in best if id in known]


def names_like(engine: Engine, start: str, limit: int) -> list[Entity]:
    """The names that begin as given, shortest first, if a memory that may be seen mentions them."""
    begun, store = fold(start), engine.store
    alike = [
        entity
        for entity in store.entities_by_prefix([begun])
        if any(fold(name).startswith(begun) for name in (entity.name, *entity.aliases))
    ]
    found = sorted(alike, key=lambda one: (len(one.name), one.name, one.id))[: 2 * limit]
    seen = _mentioned(engine, [entity.id for entity in found])
    there = {bare_name(entity.id): entity for entity in reversed(found) if entity.id in seen}
    return list(there.values())[::-1][:limit]


def _mentioned(engine: Engine, ids: Sequence[str]) -> set[str]:
    """Those of these entities that a memory that may be seen mentions; only those that none relates are looked up."""
    where = replace(_everything(engine), kinds=COUNTED)
    graph, admitted = engine.store.view().graph(where)
    related = {*graph.source[admitted].tolist(), *graph.target[admitted].tolist()}
    seen = {id for id in ids if graph.nodes.get(bare_name(id)) in related}
    links = engine.store.links([id for id in ids if id not in seen], *ROLES)
    memories = engine.store.get(list({link.source for link in links}))
    return seen | {link.target for link in links if link.source in memories and where.admits(memories[link.source])}


def kinds_of(engine: Engine, names: Sequence[str]) -> dict[str, str | None]:
    """What the entities with these names are, such as person or place."""
    return {entity.name: entity.kind for entity in engine.store.entities(names)} if names else {}


def lighting_recipes(engine: Engine) -> list[str]:
    """The recipes whose recall walks the graph, by name."""
    return sorted(name for name, one in engine.recipes.items() if any(part.kind == PAGERANK for part in one.parts()))


def lit(engine: Engine, question: str, recipe: str, limit: int) -> list[Lit]:
    """What the PageRank of a recall reached, best first, whether or not the recall returned it.

    The signal scores a memory by its best pair of names, so a memory that mentions more than two is left out: the
    trace does not say which pair it was. A text lights up the facts that it states.
    """
    recall = engine.recall(question, recipe=recipe, track=False, max_classification=MOST_CLASSIFIED)
    found = recall.trace.found.get(PAGERANK)
    scores = {hit.id: hit.score for hit in found.hits[:limit]} if found is not None else {}
    stated = {link.target: link.source for link in engine.store.links(list(scores), STATES) if link.source in scores}
    where = _everything(engine)
    facts = {id for id, one in engine.store.get(list(stated)).items() if id not in scores and where.admits(one)}
    scores |= {id: scores[stated[id]] for id in sorted(facts)}
    memories = engine.store.get(list(scores))
    pairs = _pairs(engine, memories)
    known = visible_entities(engine.store, where, {id for pair in pairs.values() for id in pair})
    return [
        Lit(memories[id], known[pairs[id][0]].name, _relation(memories[id]), known[pairs[id][1]].name, score)
        for id, score in scores.items()
        if id in pairs and known.keys() >= {*pairs[id]}
    ]


def _pairs(engine: Engine, memories: Mapping[str, Memory]) -> dict[str, tuple[str, str]]:
    """The two entities that each memory relates, of those that relate exactly two."""
    roles: dict[str, dict[str, str]] = {id: {} for id in memories}
    for link in engine.store.links(list(memories), *ROLES) if memories else ():
        if link.source in roles:
            roles[link.source][bare_name(link.target)] = link.relation
    found: dict[str, tuple[str, str]] = {}
    for id, ends in roles.items():
        ordered = sorted(ends, key=lambda end: (ends[end] != SUBJECT, end)) if memories[id].fact else sorted(ends)
        if len(ordered) == 2:
            found[id] = ordered[0], ordered[1]
    return found


def _relation(memory: Memory) -> str:
    return TOGETHER if memory.fact is None else memory.fact.relation


def _everything(engine: Engine) -> Filter:
    """What is valid and known now, up to the engine's cap."""
    return listing_filter({"max_classification": MOST_CLASSIFIED}, now_of(engine))
