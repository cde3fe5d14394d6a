"""Facts that rules read in texts: they end nothing by themselves, and are found through the texts that state them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import memorist
from memorist.engine.engine import Engine
from memorist.model import Memory
from memorist.ports import Store
from memorist.recall.recipes import RECIPES
from memorist.remember.timeline import Claim, forms, timeline
from memorist.testing.fakes import FakeEmbedder
from tests.asking.fakes import FakeLLM
from tests.recipes.worlds import opened

DAYS = [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in range(6)]
IDS = [f"{number:032x}" for number in range(3)]


@st.composite
def claims(draw: st.DrawFn, *, by: str = "rules", update: bool = False) -> Claim:
    value, source = draw(st.sampled_from(["Oslo", "Rome", "Lund"])), draw(st.sampled_from(IDS))
    until = draw(st.none() | st.sampled_from(DAYS)) if by == "rules" else None
    since, known = draw(st.sampled_from(DAYS)), draw(st.sampled_from(DAYS))
    negated = draw(st.booleans()) if by == "rules" else False
    return Claim(value, since, known, until, negated, update, source=source, by=by)  # pyright: ignore[reportArgumentType]


def spans(found: list[Claim]) -> dict[tuple[str, datetime], datetime | None]:
    return {fact.name: fact.end for fact in timeline(found) if fact.start != fact.end}


def read_by_rules(value: str, day: int, *, negated: bool = False) -> Claim:
    return Claim(value, DAYS[day], DAYS[0], negated=negated, source=IDS[0], by="rules")


@given(st.lists(claims(by="caller"), max_size=5), st.lists(claims(), max_size=5))
@example(
    [Claim("Rome", DAYS[1], DAYS[0], source=IDS[0], by="caller")],
    [read_by_rules("Oslo", 0), read_by_rules("Rome", 0), read_by_rules("Rome", 1, negated=True)],
)
def test_no_fact_that_rules_read_without_a_word_of_change_ends_another(told: list[Claim], read: list[Claim]) -> None:
    alone, beside = spans(told), spans([*told, *read])
    for (value, start), end in alone.items():
        covering = [(since, until) for (name, since), until in beside.items() if name == value and since <= start]
        assert any(until is None or (end is not None and until >= end) for _, until in covering)
    ended = [form.segment for form in forms([*told, *read]) if form.expired_at and not form.retracted_at]
    expired = {segment.name for segment in ended if segment.start != segment.end}
    ended_alone = {name for name, end in alone.items() if end is not None}
    assert not [name for name in expired if name in alone and name not in ended_alone]


def rows(engine: Engine) -> dict[str, Memory]:
    found = engine.list(limit=100, include_expired=True).items
    return {f"{memory.fact.relation} {memory.fact.object}": memory for memory in found if memory.fact is not None}


def test_two_values_without_a_word_of_change_are_both_current(store: Store) -> None:
    with opened(store=store) as engine:
        engine.remember("Alice lives in Oslo.", at="2024-01-01")
        engine.remember("Alice lives in Lund.", at="2024-02-01")
        found = rows(engine)
    assert {name: one.times.valid_to for name, one in found.items()} == {"lives_in Oslo": None, "lives_in Lund": None}


@pytest.mark.parametrize("said", ["Alice has moved to Lund.", "Alice now lives in Lund."])
def test_a_word_of_change_in_the_sentence_ends_the_value_before(store: Store, said: str) -> None:
    with opened(store=store) as engine:
        engine.remember("Alice lives in Oslo.", at="2024-01-01")
        engine.remember(said, at="2024-02-01")
        found = rows(engine)
    assert found["lives_in Oslo"].superseded_by == found["lives_in Lund"].id


def test_relate_ends_every_value_that_rules_read(store: Store) -> None:
    with opened(store=store) as engine:
        engine.remember("Alice lives in Oslo.", at="2024-01-01")
        engine.remember("Alice lives in Lund.", at="2024-02-01")
        engine.relate("Alice", "lives_in", "Rome", valid_from="2024-03-01")
        found = rows(engine)
        rome = found["lives_in Rome"].id
        then = {memory.fact.object for memory in engine.list(as_of="2024-02-15", limit=50).items if memory.fact}
    assert found["lives_in Oslo"].superseded_by == found["lives_in Lund"].superseded_by == rome
    assert then == {"Oslo", "Lund"}


def test_a_plain_denial_ends_nothing_and_is_no_fact(store: Store) -> None:
    with opened(store=store) as engine:
        engine.remember("Alice lives in Oslo.", at="2024-01-01")
        engine.remember("Alice does not live in Oslo.", at="2024-02-01")
        engine.remember("Bob does not live in Rome.", at="2024-02-01")
        found = rows(engine)
    assert set(found) == {"lives_in Oslo"} and found["lives_in Oslo"].times.valid_to is None


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_no_recipe_returns_a_fact_that_rules_read(recipe: str, store: Store) -> None:
    with opened(store=store, recipe=recipe, embedder=FakeEmbedder()) as engine:
        turn = engine.remember("Alice lives in Oslo.", at="2024-02-01")
        engine.remember("The harbour in Oslo freezes in winter.", at="2024-02-02")
        assert "lives_in Oslo" in rows(engine)
        for question in ("Where does Alice live?", "Alice lives in Oslo", "Alice Oslo February 2024"):
            found = engine.recall(question, track=False)
            assert all(item.memory.fact is None for item in found.items)
            assert found.context.count("Alice lives in Oslo.") <= 1
    assert turn.id


@pytest.mark.parametrize("recipe", ["memoria", "mnemo", "abmind"])
def test_the_graph_leads_to_the_text_that_states_a_fact(recipe: str, store: Store) -> None:
    with opened(store=store, recipe=recipe, embedder=FakeEmbedder()) as engine:
        turn = engine.remember("I live in Oslo.", speaker="Alice", at="2024-02-01")
        found = engine.recall("What about Alice?", track=False)
    walked = [
        hits
        for step in found.trace.steps
        for candidate in step.candidates
        if candidate.memory.id == turn.id
        for hits in candidate.evidence
    ]
    assert {"graph", "edges"} & set(walked)


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_a_fact_from_relate_remains_a_row(recipe: str) -> None:
    with opened(recipe=recipe, embedder=FakeEmbedder()) as engine:
        fact = engine.relate("Alice", "lives_in", "Oslo", source=engine.remember("The call of June.").id)
        kinds = "semantic"
        assert [item.memory.id for item in engine.recall("Alice lives in Oslo.", kinds=kinds, track=False).items] == [
            fact.id
        ]


READ = {
    "entities": [{"name": "Alice", "kind": "person", "aliases": []}],
    "statements": [
        {"number": 1, "subject": "Alice", "relation": "boss", "object": "Grace", "quote": "Grace leads Alice",
         "negated": False, "since": None, "until": None, "confidence": 1.0},
    ],
}  # fmt: skip


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_a_fact_from_a_language_model_remains_a_row_and_is_a_sentence(recipe: str, tmp_path: Path) -> None:
    path, embedder = tmp_path / "facts.db", FakeEmbedder()
    with memorist.open(path, llm=FakeLLM(facts=READ), embedder=embedder, background=False, config={}) as engine:
        turn = engine.remember("Grace leads Alice these days.", at="2024-06-01")
        engine.work()
    with memorist.open(path, recipe=recipe, embedder=embedder, reranker="none", config={}) as engine:
        found = engine.recall("Grace is Alice's boss", kinds="semantic", track=False)
    assert [(item.memory.text, item.memory.origin.source) for item in found.items] == [
        ("Grace is Alice's boss.", turn.id)
    ]
    assert "Grace is Alice's boss." in found.context


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_a_language_model_that_reads_what_rules_read_in_a_text_adds_no_row(recipe: str, tmp_path: Path) -> None:
    same = READ["statements"][0] | {"relation": "lives_in", "object": "Oslo", "quote": "Alice lives in Oslo"}
    path, embedder = tmp_path / "facts.db", FakeEmbedder()
    with memorist.open(
        path, llm=FakeLLM(facts={**READ, "statements": [same]}), embedder=embedder, background=False, config={}
    ) as engine:
        turn = engine.remember("Alice lives in Oslo.", at="2024-06-01")
        engine.work()
        claims = rows(engine)["lives_in Oslo"].metadata["claims"]
    assert [claim["by"] for claim in claims] == ["rules", "model"]
    with memorist.open(path, recipe=recipe, embedder=embedder, reranker="none", config={}) as engine:
        assert [item.memory.id for item in engine.recall("Where does Alice live?", track=False).items] == [turn.id]


def test_the_current_value_of_an_outdated_text_is_shown_by_its_text() -> None:
    with opened(embedder=FakeEmbedder()) as engine:
        engine.remember("Alice lives in Oslo.", at="2024-01-01")
        engine.remember("Alice has moved to Lund.", at="2024-02-01")
        found = engine.recall("Where does Alice live?", track=False)
    assert [item.memory.text for item in found.items] == ["Alice has moved to Lund.", "Alice lives in Oslo."]
    assert "(earlier; now Lund since 2024-02-01)" in found.context


def test_a_fact_is_forgotten_with_its_source(store: Store) -> None:
    with opened(store=store) as engine:
        turn = engine.remember("Alice lives in Oslo.", at="2024-01-01")
        engine.forget(turn.id)
        assert rows(engine) == {}
