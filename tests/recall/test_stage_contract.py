"""The contract of stages, over every stage that a recipe may name: the set, the filter, the order, the same again."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorist.model import (
    Candidate,
    Evidence,
    Filter,
    Found,
    Hit,
    Kind,
    Link,
    Query,
    RecallRequest,
    Situation,
    Tier,
    instant,
)
from memorist.ports import Batch
from memorist.recall.catalogue import BUILT_IN, part_named
from memorist.recall.stage import Draft, Env, Stage, ranked
from memorist.remember.entities import about
from memorist.stores.memory import MemoryStore
from memorist.testing import FakeEmbedder, sample_world
from memorist.testing.fakes import assert_stage_contract

NOW = instant("2024-07-01")
WORLD = sample_world()
IDS = sorted(memory.id for memory in WORLD)
EMBEDDER = FakeEmbedder()
TEXTS = (
    *(memory.text for memory in WORLD[:6]),
    "Where does Alice live?",
    "Heron",
    "what happened yesterday?",
    "",
    "?!",
    "博",
)
STAGES, SIGNALS, FACTORS = ([part_named(role, kind) for kind in BUILT_IN[role]] for role in BUILT_IN)
SIGNAL_NAMES = [signal.kind for signal in SIGNALS]
REQUIRED = {
    "search": {"signals": tuple(signal() for signal in SIGNALS)},
    "cascade": {"until_enough": tuple(signal() for signal in SIGNALS)},
    "add": {"factors": tuple(factor() for factor in FACTORS)},
    "weigh": {"factors": tuple(factor() for factor in FACTORS)},
}


class LengthReranker:
    def score(self, query: str, texts: list[str]) -> list[float]:
        return [len(text) % 7 - 3.0 for text in texts]


@pytest.fixture(scope="module")
def env() -> Iterator[Env]:
    """The sample world with everything a stage may use: vectors, links, entities, noise, something shown."""
    store = MemoryStore("test")
    store.adopt(EMBEDDER.generation, EMBEDDER.dim)
    rows = EMBEDDER.embed([memory.text for memory in WORLD], purpose="memory")
    vectors = {one.id: {"text": row} for one, row in zip(WORLD, rows, strict=True)}
    entities, mentions = about(WORLD, store.entities)
    store.put(Batch(WORLD, vectors, [*mentions, *woven()], entities))
    store.learn_noise(["Friday works, at ten."], keep=200)
    store.show("s", IDS[:5], NOW)
    with ThreadPoolExecutor() as pool:
        yield Env(store, store.view(), pool, EMBEDDER, LengthReranker())


def woven() -> list[Link]:
    """Every tag, intent and source linked with every third memory."""
    hubs = [memory.id for memory in WORLD if memory.kind in (Kind.TAG, Kind.INTENT, Kind.SOURCE)]
    return [Link(hub, "source", id) for hub in hubs for id in IDS[::3] if id != hub]


moments = st.sampled_from(
    [instant(day) for day in ("2024-01-11", "2024-05-05", "2024-06-03", "2024-06-12", "2024-07-01")]
)
maybe_moment = st.none() | moments
wheres = st.builds(
    Filter,
    scopes=st.none() | st.lists(st.sampled_from(["user:alice", "user:bo", "project:heron"]), max_size=2).map(tuple),
    kinds=st.none() | st.lists(st.sampled_from(Kind), max_size=5, unique=True).map(tuple),
    topic=st.none() | st.sampled_from(["home", "work"]),
    tier=st.none() | st.sampled_from(Tier),
    since=maybe_moment,
    until=maybe_moment,
    max_classification=st.integers(0, 3),
    as_of=maybe_moment,
    known_at=maybe_moment,
    include_expired=st.booleans(),
) | st.just(Filter())
requests = st.builds(
    RecallRequest,
    query=st.sampled_from(TEXTS),
    now=st.just(NOW),
    limit=st.integers(1, 12),
    where=wheres,
    entity_hints=st.sampled_from([(), ("Alice",), ("nobody",)]),
    session=st.sampled_from([None, "s", "new"]),
    fresh=st.none() | st.booleans(),
    situation=st.none() | st.builds(Situation, st.integers(0, 23), st.integers(0, 6), st.sampled_from([None, "work"])),
    translated=st.booleans(),
    max_tokens=st.none() | st.integers(0, 400),
    track=st.booleans(),
)
score = st.floats(0, 1, allow_subnormal=False)
evidence = st.dictionaries(
    st.sampled_from(SIGNAL_NAMES), st.builds(Evidence, st.none() | st.integers(1, 99), score, score), max_size=3
)
candidates = st.lists(st.sampled_from(WORLD), unique_by=lambda one: one.id, max_size=10).flatmap(
    lambda chosen: st.tuples(*(st.builds(Candidate, st.just(memory), score, evidence) for memory in chosen))
)
found = st.builds(
    lambda hits: Found(tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id)))),
    st.lists(st.builds(Hit, st.sampled_from([*IDS, "gone"]), score), unique_by=lambda hit: hit.id, max_size=12),
) | st.just(Found(skipped="no embedder"))


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    request = draw(requests)
    tags = draw(st.sampled_from([(), ("alice",), ("heron", "billing")]))
    embedded = bool(request.query) and draw(st.booleans())
    vectors = EMBEDDER.embed([request.query or "nothing", *tags], purpose="query")
    query = Query(
        request.query,
        vector=vectors[0] if embedded else None,
        mode=draw(st.sampled_from([None, "semantic", "procedural", "episodic", "mixed"])),
        tags=tags,
        tag_vectors=vectors[1:] if tags else None,
        windows=draw(st.sampled_from([(), ((instant("2024-06-01"), datetime(2024, 6, 10, tzinfo=NOW.tzinfo)),)])),
    )
    hits = draw(st.dictionaries(st.sampled_from(SIGNAL_NAMES), found, max_size=4))
    return Draft(request, query, hits, ranked(list(draw(candidates))))


def name(stage: Stage) -> str:
    return stage.kind


@pytest.mark.parametrize("stage", [stage(**REQUIRED.get(stage.kind, {})) for stage in STAGES], ids=name)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(draft=drafts())
def test_every_stage_keeps_the_contract(stage: Stage, env: Env, draft: Draft) -> None:
    assert_stage_contract(stage, draft, env)
