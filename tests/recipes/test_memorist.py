"""Our own recipe: whatever its parameters are, its scores are what its parts say."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memorist.model import Origin
from memorist.ports import Store
from memorist.recall.recipes import RECIPES
from memorist.testing import FakeClock, FakeEmbedder, sample_world
from memorist.text.tokens import count_tokens
from tests.recall.worlds import NOW, memory
from tests.recipes.worlds import ids, near, opened, skipped

MEMORIST = RECIPES["memorist"]
WEIGHTS = {"vector": 0.9, "keyword": 0.1, "temporal": 0.1}


def test_it_finds_by_meaning_by_words_and_by_spelling() -> None:
    vectors = {"invoices": near(1.0), "Bills to be paid.": near(0.9)}
    texts = ("Bills to be paid.", "The invoices of May.", "Three invioces were late.")
    with opened(*(memory(text, text) for text in texts), vectors=vectors) as engine:
        assert set(ids(engine.recall("invoices"))) == set(texts)


@pytest.mark.parametrize("query", ["Where does Alice live?", "importer timeout", "Heron"])
def test_scores_follow_from_the_candidates_parts(query: str) -> None:
    """Each stage's own number times or from the one before: what `explain` shows adds up."""
    with opened(*sample_world(), embedder=FakeEmbedder()) as engine:
        found = engine.recall(query)
    steps = {
        step.stage: {candidate.memory.id: candidate for candidate in step.candidates}
        for step in reversed(found.trace.steps)
    }
    assert found.items
    weights = WEIGHTS | ({"keyword": 0.9} if query == "Heron" else {})  # one word
    for id, weighed in steps["weigh"].items():
        fused = sum(weights[name] * one.norm for name, one in weighed.evidence.items())
        told = steps["told"][id]
        assert told.parts.get("asked", told.score) == pytest.approx(fused)
        added = steps["add"][id].parts["written_words"]
        assert weighed.score == pytest.approx((told.score + added) * weighed.parts["bounded_recency"])
        in_company = steps["neighbour_boost"][id]
        assert in_company.score == pytest.approx(weighed.score + sum(in_company.parts.values()))


def test_age_alone_does_not_bury_the_better_answer() -> None:
    old = memory("old", "Alice is allergic to peanuts.", NOW - timedelta(days=3000))
    chatter = [memory(f"new{n}", f"Peanuts were sold at match {n}.") for n in range(20)]
    with opened(old, *chatter, embedder=FakeEmbedder()) as engine:
        assert ids(engine.recall("What is Alice allergic to?"))[0] == "old"


def test_what_is_no_longer_true_is_left_out_until_asked_for(store: Store) -> None:
    clock = FakeClock(NOW - timedelta(days=30))
    with opened(store=store, clock=clock, embedder=FakeEmbedder()) as engine:
        engine.relate("Alice", "lives_in", "Oslo", valid_from="2024-01-01")
        clock.set(NOW)
        engine.relate("Alice", "lives_in", "Stockholm", valid_from="2024-06-20")
        now = [item.memory.text for item in engine.recall("Where does Alice live?").items]
        then = [item.memory.text for item in engine.recall("Where does Alice live?", as_of="2024-06-01").items]
        both = engine.recall("Where does Alice live?", include_expired=True)
    assert (now, then) == (["Alice lives in Stockholm."], ["Alice lives in Oslo."])
    assert len(both.items) == 2


def test_the_context_keeps_within_two_thousand_tokens() -> None:
    origin = Origin(source="chat", speaker="Bo")
    many = [memory(f"{n:03}", f"ledger {n} " + "word " * 200, origin=origin) for n in range(40)]
    with opened(*many) as engine:
        found = engine.recall("ledger", limit=40)
    assert 1500 < count_tokens(found.context) == found.tokens <= 2000
    assert len(found.items) == 40


def test_it_answers_without_any_model() -> None:
    with opened(*sample_world()) as engine:
        found = engine.recall("Where is Alice now?")
    assert found.items and skipped(found, "embed") == "no embedder"


def test_ties_break_by_id() -> None:
    with opened(*(memory(id, "The ledger is blue.") for id in "cab"), embedder=FakeEmbedder()) as engine:
        assert ids(engine.recall("ledger")) == ["a", "b", "c"]


def test_it_needs_no_service() -> None:
    assert [part.kind for part in MEMORIST.parts() if part.needs] == []
