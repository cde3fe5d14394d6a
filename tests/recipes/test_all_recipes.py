"""What holds for every recipe: one result type, filters, determinism, explanations, absences, missing services."""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memorist
from memorist.engine.engine import Engine
from memorist.errors import MissingService, NotFound
from memorist.model import STATES, Kind, Link, Memory, Recall, Tier, instant, to_data
from memorist.model.request import recall_request
from memorist.ports import Purpose, Store
from memorist.recall.recipes import RECIPES, TAGGED
from memorist.stores.memory import MemoryStore
from memorist.testing import FakeClock, FakeEmbedder, sample_world
from tests.recall.worlds import NOW, memory
from tests.recipes.worlds import CountingStore, ids, near, opened, tuned

QUERIES = (
    "Where does Alice live?",
    "How do I roll back a release of Heron?",
    "What happened to the importer?",
    "Heron",
)
WORLD = sample_world()


def links() -> list[Link]:
    """Tags, sources and citations over the sample world."""
    by_kind = {kind: [memory.id for memory in WORLD if memory.kind is kind] for kind in Kind}
    tag, source = by_kind[Kind.TAG][0], by_kind[Kind.SOURCE][0]
    told = [Link(id, "provenance", source) for id in by_kind[Kind.EPISODIC]]
    cited = [Link(by_kind[Kind.EPISODIC][0], STATES, id) for id in by_kind[Kind.SEMANTIC]]
    return [*told, *cited, *(Link(tag, "membership", id) for id in by_kind[Kind.SEMANTIC])]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with opened(*WORLD, embedder=FakeEmbedder(), links=links()) as engine:
        yield engine


every_recipe = pytest.mark.parametrize("recipe", RECIPES)


@every_recipe
def test_the_answer_has_one_type_and_is_json(recipe: str, store: Store) -> None:
    with opened(*WORLD, embedder=FakeEmbedder(), links=links(), store=store) as engine:
        for query in QUERIES:
            found = engine.recall(query, recipe=recipe, verbosity="detailed", session="s")
            data = json.loads(json.dumps(to_data(found)))
            assert isinstance(found, Recall)
            assert (data["recipe"], data["query"], data["now"]) == (recipe, query, "2024-07-01T00:00:00Z")
            assert [item["rank"] for item in data["items"]] == list(range(1, len(found.items) + 1))
            assert [item["id"] for item in data["items"]] == list(dict.fromkeys(ids(found)))
            assert len(data["trace"]["stages"]) >= len(RECIPES[recipe].stages)
            assert data["abstained"] is (not found.items and not found.shown_before)


@every_recipe
@pytest.mark.parametrize("query", ["", "   ", "?!", "\0", "zzz qqq", "x " * 3000, "谁住在东京？", "😂"])
def test_odd_questions_are_answered_or_abstained_from(recipe: str, query: str, engine: Engine) -> None:
    found = engine.recall(query, recipe=recipe, track=False)
    assert found.abstained is (not found.items)


@every_recipe
def test_the_same_question_twice_has_the_same_answer(recipe: str, engine: Engine) -> None:
    def told(query: str) -> list[Any]:
        data = to_data(engine.recall(query, recipe=recipe, track=False))
        return [data[name] for name in ("id", "items", "context", "tokens", "reasoned", "touched", "abstained")]

    for query in QUERIES:
        assert told(query) == told(query)


@every_recipe
def test_both_stores_give_the_same_answer(recipe: str, tmp_path: Path) -> None:
    answers = []
    for url in (":memory:", tmp_path / "agent.db"):
        with memorist.open(url, embedder=FakeEmbedder(), space="same", clock=FakeClock(NOW)) as engine:
            engine.relate("Alice", "lives_in", "Oslo", valid_from="2024-01-01", ingested_at="2024-01-02")
            for number, one in enumerate(WORLD):
                engine.remember(one.text, kind=one.kind, at="2024-05-01", ingested_at="2024-05-02", position=number)
            items = [engine.recall(query, as_of="2024-06-01", recipe=recipe).items for query in QUERIES]
            answers.append([(item.memory.id, item.score) for found in items for item in found])
    assert answers[0] == answers[1] != []


# Services


BY_MEANING = ("mnemosyne-graph", "nearest")
"""Recipes that search by meaning alone."""


@every_recipe
def test_a_recipe_works_without_an_embedder_or_says_what_to_do_before_any_search(recipe: str) -> None:
    store = CountingStore(MemoryStore("test"))
    with opened(*WORLD, store=store) as engine:
        if recipe not in BY_MEANING:
            assert engine.recall("Where does Alice live?", recipe=recipe).items
            return
        with pytest.raises(MissingService, match=f"'{recipe}' needs.*embedder.*embedder='local'"):
            engine.recall("Where does Alice live?", recipe=recipe)
        assert not store.searches


# Filters

moments = st.sampled_from(
    ["2024-01-11", "2024-02-12", "2024-05-05", "2024-06-03T09:30:00Z", "2024-06-12", "2025-01-01"]
)
filters = st.fixed_dictionaries(
    {},
    optional={
        "scope": st.lists(st.sampled_from(["user:alice", "user:bo", "project:heron", "nobody"]), max_size=3),
        "kinds": st.lists(st.sampled_from(list(Kind)), max_size=4),
        "topic": st.sampled_from(["home", "work", "health", "nothing"]),
        "tier": st.sampled_from(list(Tier)),
        "since": moments,
        "until": moments,
        "max_classification": st.integers(0, 3),
        "as_of": moments,
        "known_at": moments,
        "include_expired": st.booleans(),
    },
)


@every_recipe
@settings(max_examples=40)
@given(options=filters, query=st.sampled_from(QUERIES))
def test_nothing_outside_the_filter_is_ever_returned(
    recipe: str, engine: Engine, options: dict[str, Any], query: str
) -> None:
    found = engine.recall(query, recipe=recipe, track=False, verbosity="detailed", limit=30, **options)
    where = recall_request(query, options, NOW).where  # pyright: ignore[reportArgumentType]
    if recipe == "memoria" and "known_at" not in options and "as_of" in options:
        where = found.request.where
        assert where.known_at == instant(options["as_of"])
    assert all(where.admits(item.memory) for item in found.items)
    assert all(where.admits(touch.memory) for touch in found.touched if touch.memory)
    hits = {hit.id for signal in found.trace.found.values() for hit in signal.hits}
    assert all(where.admits(memory) for memory in WORLD if memory.id in hits)


@every_recipe
@settings(max_examples=20)
@given(options=filters)
def test_a_context_never_tells_what_may_not_be_seen(recipe: str, engine: Engine, options: dict[str, Any]) -> None:
    found = engine.recall("Alice Heron importer", recipe=recipe, track=False, limit=30, **options)
    where = found.request.where
    for row in WORLD:
        if where.scopes is not None and row.scope not in where.scopes:
            assert row.text not in found.context
        if row.worth.classification > where.max_classification:
            assert row.text not in found.context


# Explanations

SCORING = {
    "memorist": ("weighted_sum", "weigh", "rerank_blend"),
    "mnemosyne-graph": ("nodes",),
    "mnemo": ("rrf", "weigh", "normalise", "rerank"),
    "memoria": ("rrf", "rerank"),
    "abmind": ("first", "add", "weigh"),
    "mnemosyne-hybrid": ("weighted_sum", "weigh"),
    "nearest": ("first",),
}


class LengthReranker:
    def score(self, query: str, texts: list[str]) -> list[float]:
        return [1 / len(text) for text in texts]


@every_recipe
def test_an_explanation_tells_every_stage_that_made_the_score(recipe: str) -> None:
    with opened(*WORLD, embedder=FakeEmbedder(), links=links(), reranker=LengthReranker()) as engine:
        found = engine.recall("Where does Alice live?", recipe=recipe)
        assert found.items
        for item in found.items:
            told = engine.explain(found, item.memory.id)
            assert told.value == item.score
            lines = str(told).splitlines()
            places = [next(n for n, line in enumerate(lines) if f" {stage}: " in line) for stage in SCORING[recipe]]
            assert places == sorted(places)
            assert all(any(f"from {name}: " in line for line in lines) for name in item.signals)
        with pytest.raises(NotFound, match="why_not"):
            engine.explain(found, "nobody")


# Notes


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Three days of talk, and the daily, weekly and quarterly notes that repeat it."""
    said = ("I moved to Oslo in spring.", "The importer in Oslo failed again.", "Bob of Oslo bought a red bicycle.")
    place = tmp_path_factory.mktemp("diary") / "agent.db"
    with memorist.open(place, config={}, embedder=FakeEmbedder(), reranker="none", clock=FakeClock(NOW)) as engine:
        engine.remember_many(
            {"text": text, "at": NOW - timedelta(days=50 - day), "speaker": "Alice", "position": day}
            for day, text in enumerate(said)
        )
        engine.consolidate()
        yield engine


@every_recipe
def test_no_sentence_comes_twice_after_consolidation(recipe: str, diary: Engine) -> None:
    found = diary.recall("What happened in Oslo?", recipe=recipe, limit=10, track=False)
    said = Counter(item.memory.text.removeprefix("Alice: ") for item in found.items if item.memory.kind != Kind.NOTE)
    noted = Counter(item.memory.text for item in found.items if item.memory.kind is Kind.NOTE)
    assert len(said) >= 3 and set(said.values()) == {1}
    assert set(noted.values()) <= {1}
    assert bool(noted) is (recipe == "abmind")  # its page asks for notes beside the memories


@pytest.mark.parametrize("recipe", [name for name in RECIPES if name != "mnemosyne-graph"])  # its mode chooses kinds
def test_who_asks_for_notes_gets_them(recipe: str, diary: Engine) -> None:
    found = diary.recall("What happened in Oslo?", recipe=recipe, kinds="note", limit=10, track=False)
    assert {item.memory.kind for item in found.items} == {Kind.NOTE}


# Models that fail


class BrokenReranker:
    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        raise RuntimeError(f"cannot read {texts[0]}")


class SilentReranker:
    def score(self, query: str, texts: Sequence[str]) -> Any:
        return None


class BrokenEmbedder(FakeEmbedder):
    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Any = None) -> Any:
        if purpose == "query":
            raise RuntimeError(f"cannot read {texts[0]}")
        return super().embed(texts, purpose=purpose, progress=progress)


@every_recipe
@pytest.mark.parametrize("reranker", [BrokenReranker(), SilentReranker()])
def test_whatever_a_reranker_raises_the_order_stands_and_the_trace_names_the_type(
    recipe: str, reranker: BrokenReranker | SilentReranker, engine: Engine
) -> None:
    with opened(*WORLD, embedder=FakeEmbedder(), links=links(), reranker=reranker) as failing:
        found = failing.recall(QUERIES[0], recipe=recipe)
    assert ids(found) == ids(engine.recall(QUERIES[0], recipe=recipe, track=False)) != []
    skipped = [step.skipped for step in found.trace.steps if step.stage in ("rerank", "rerank_blend")]
    error = "RuntimeError" if isinstance(reranker, BrokenReranker) else "TypeError"
    assert skipped in ([], [f"The reranker failed with {error}"])  # what was being read is not repeated


@every_recipe
def test_whatever_an_embedder_raises_words_still_answer(recipe: str) -> None:
    with opened(*WORLD, embedder=BrokenEmbedder(), links=links()) as failing:
        found = failing.recall(QUERIES[0], recipe=recipe)
    assert found.items or recipe in BY_MEANING
    assert "The embedder failed with RuntimeError" in [step.skipped for step in found.trace.steps]


# Absences


def test_why_not_names_the_filter() -> None:
    with opened(*WORLD, embedder=FakeEmbedder()) as engine:
        code = next(memory for memory in WORLD if memory.worth.classification == 3)
        for recipe in RECIPES:
            why = engine.why_not("What is Alice's door code?", code.id, recipe=recipe, scope="user:bo")
            assert why.stage == "filter"
            assert "another scope" in why.reason and "classified too high" in why.reason
        with pytest.raises(NotFound):
            engine.why_not("What is Alice's door code?", "nobody")


@every_recipe
def test_why_not_of_what_is_there_tells_its_rank(recipe: str, engine: Engine) -> None:
    first = engine.recall("Where does Alice live?", recipe=recipe, track=False).items[0]
    why = engine.why_not("Where does Alice live?", first.memory.id, recipe=recipe)
    assert (why.stage, why.reason, why.score) == (None, "it is in the answer, at rank 1", first.score)


def many() -> list[Memory]:
    return [memory(f"m{n:03}", f"Ledger entry {n}.") for n in range(150)]


RANKED = {"ledger?": near(1.0), **{f"Ledger entry {n}.": near(0.9 - 0.004 * n) for n in range(150)}}


def test_why_not_names_the_signal_that_came_nearest() -> None:
    with opened(*many(), vectors=RANKED, recipe=tuned("memorist", search__limit=20)) as engine:
        why = engine.why_not("ledger?", "m030")
        nothing = engine.why_not("unknown words", "m030", recipe="abmind")
    assert why.stage == "search.vector"
    assert why.reason.startswith("vector ranks it 31 with 0.7")
    assert (why.score, why.enough) == (pytest.approx(0.78, abs=2e-3), pytest.approx(0.9 - 0.076, abs=2e-3))
    assert (nothing.stage, nothing.score) == ("search", None)
    assert nothing.reason.startswith("no signal matches it with the query")


def test_why_not_names_fusion_with_the_score_and_what_was_enough() -> None:
    """By vector 40th and by words, of equal texts, 40th too: 2 / (60 + 40) is not among the best 30."""
    with opened(*many(), vectors=RANKED, recipe="memoria") as engine:
        why = engine.why_not("ledger?", "m039")
    assert why.stage == "rrf"
    assert (why.score, why.enough) == (pytest.approx(2 / 100), pytest.approx(2 / 90))
    assert "the last one kept has 0.02222" in why.reason


def test_why_not_names_the_limit() -> None:
    with opened(*many(), vectors=RANKED, recipe="memoria") as engine:
        why = engine.why_not("ledger?", "m010")
    assert (why.stage, why.score, why.enough) == ("limit", pytest.approx(2 / 71), pytest.approx(2 / 70))


def test_why_not_counts_no_recall(engine: Engine) -> None:
    target = WORLD[1].id
    before = engine.get(target)
    engine.why_not("Where does Alice live?", target, session="s")
    assert engine.get(target) == before
    assert engine.store.shown("s", NOW - timedelta(days=1)) == set()


# Real conversations


@pytest.mark.slow
def test_all_recipes_answer_every_question_of_a_real_conversation_offline(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a recall reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    turns = [turn for turn in read(data / "eval/locomo/corpus.jsonl") if turn["metadata"]["group"] == "conv-26"]
    questions = [
        record["text"]
        for record in read(data / "eval/locomo/queries.jsonl")
        if record["metadata"]["group"] == "conv-26"
    ]
    assert (len(turns), len(questions)) == (419, 197)
    with memorist.open(tmp_path / "agent.db", reranker="none") as engine:
        engine.remember_many(
            {"text": turn["text"], "at": turn["metadata"]["at"], "speaker": turn["metadata"]["speaker"], "position": n}
            for n, turn in enumerate(turns)
        )
        for recipe in RECIPES:
            answers = [engine.recall(question, recipe=recipe) for question in questions]
            assert all(0 < len(found.items) <= 10 and found.context for found in answers), recipe
            assert json.dumps([to_data(found) for found in answers])


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_recipes_that_need_tags_are_known_without_building_them() -> None:
    assert {name for name, recipe in RECIPES.items() if recipe.follows_tags} == set(TAGGED)
    assert all(RECIPES.follows_tags(name) is (name in TAGGED) for name in RECIPES)
