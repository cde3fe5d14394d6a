"""Walking from name to name: the index gives what reading every memory gives."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest

from memorist.engine.engine import Engine
from memorist.model import Filter, Memory, bare_name, instant
from memorist.stores.memory import MemoryStore
from memorist.testing import FakeClock
from memorist.upkeep.walk import COUNTED, TOGETHER, walk

NAMES = ["Ann", "Ben", "Cora", "Dan", "Eve", "Finn", "Gia", "Hugo"]
CITIES = ("Oslo", "Rome", "Lima")
START = instant("2024-01-01")
NOW = instant("2024-12-01")
EVER = Filter()
CURRENT = Filter(as_of=NOW, known_at=NOW, max_classification=3)


@pytest.fixture(scope="module", params=[1, 2])
def told(request: pytest.FixtureRequest) -> Iterator[Engine]:
    dice = random.Random(request.param)
    with Engine(MemoryStore(), clock=FakeClock(NOW), background=False) as engine:
        for number in range(60):
            some = dice.sample(NAMES, dice.randint(1, 4))
            texts = (
                f"{some[0]} lives in {dice.choice(CITIES)}.",
                f"Number {number} was seen by {' and '.join(some)} in {dice.choice(CITIES)}.",
                f"It rained on day {number}, said {some[0]}.",
            )
            engine.remember(
                dice.choice(texts),
                at=START + timedelta(days=number),
                speaker=dice.choice((None, "Ben", "Walter")),
                classification=dice.choice((1, 1, 2)),
            )
        engine.relate("Ann", "knows", "Ann", "Ann knows herself, as Finn says.")
        engine.relate("Dan", "knows", "Eve", "Dan knows Eve through Hugo.", valid_from=START)
        yield engine


def naive(engine: Engine, where: Filter, start: str, hops: int, limit: int) -> tuple[Any, ...]:
    """The definition: every memory is read for each hop."""
    memories = {memory.id: memory for memory in engine.store.scan(EVER, 10_000).items}
    seen = {id: one for id, one in memories.items() if one.kind in COUNTED and where.admits(one)}
    names, stating = defaultdict[str, dict[str, list[str]]](lambda: defaultdict(list)), defaultdict[str, set[str]](set)
    for link in engine.store.links(list(memories)):
        if link.relation in ("subject", "object", "mentions") and link.source in seen:
            names[link.source][link.relation].append(bare_name(link.target))
        if link.relation == "states" and where.admits(memories[link.source]):
            stating[link.target].add(link.source)
    reached, edges = {bare_name(entity.id): 0 for entity in engine.store.entities([start])}, dict[Any, Any]()
    for hop in range(1, hops + 1):
        front = {id for id, at in reached.items() if at == hop - 1}
        for id, roles in names.items():
            everybody = {name for some in roles.values() for name in some}
            if everybody & front:
                for pair in pairs(seen[id], roles, everybody, front):
                    edges.setdefault(pair, (hop, set()))[1].update({id, *stating[id]} if seen[id].fact else {id})
        for pair in best(edges)[:limit]:
            reached.setdefault(pair[0], hop)
            reached.setdefault(pair[2], hop)
    ranked = best(edges)
    return [(*pair, edges[pair][0], len(edges[pair][1])) for pair in ranked[:limit]], len(ranked) > limit, edges


def pairs(memory: Memory, roles: dict[str, list[str]], everybody: set[str], front: set[str]) -> list[Any]:
    if memory.fact is not None and roles["subject"] != roles["object"]:
        return [(name, memory.fact.relation, two) for name in roles["subject"] for two in roles["object"]]
    return [(one, TOGETHER, two) for one, two in combinations(sorted(everybody), 2) if {one, two} & front]


def best(edges: dict[Any, Any]) -> list[Any]:
    related = {frozenset((one, two)) for one, relation, two in edges if relation != TOGETHER}
    kept = [edge for edge in edges if edge[1] != TOGETHER or frozenset((edge[0], edge[2])) not in related]
    return sorted(kept, key=lambda one: (edges[one][0], one[1] == TOGETHER, -len(edges[one][1]), one))


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("limit", [1, 4, 11, 500])
@pytest.mark.parametrize("where", [EVER, CURRENT, Filter(max_classification=1), Filter(as_of=START, known_at=NOW)])
def test_a_walk_is_what_reading_every_memory_gives(told: Engine, where: Filter, hops: int, limit: int) -> None:
    for start in (*NAMES, *CITIES, "Walter"):
        found = walk(told.store, where, start, hops, limit)
        edges, more, every = naive(told, where, start, hops, limit)
        names = {bare_name(entity.id): entity.name for entity in told.store.entities_by_prefix([""])}
        theirs = [(names[one], relation, names[two], *rest) for one, relation, two, *rest in edges]
        ours = [(edge.source, edge.relation, edge.target, edge.hops, edge.count) for edge in found.edges]
        assert (ours, found.more) == (theirs, more), start
        for edge, pair in zip(found.edges, best(every), strict=False):
            assert {support.id for support in edge.support} <= every[pair][1]
            assert len(edge.support) == min(5, edge.count)
            said = [support.at for support in edge.support if edge.relation == TOGETHER]
            assert said == sorted(said, reverse=True)


def test_a_name_that_is_only_mentioned_alone_is_known(told: Engine) -> None:
    told.remember("It was Zacharias.", at=START)
    found = walk(told.store, CURRENT, "Zacharias")
    assert found.known and not found.edges
    assert not walk(told.store, CURRENT, "Nobody").known
