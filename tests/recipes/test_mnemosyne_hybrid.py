"""mnemosyne-hybrid (seed 004): 0.5 vector + 0.3 keyword + 0.2 importance, and a bounded recency."""

from __future__ import annotations

from datetime import timedelta
from math import exp

import numpy as np
import pytest

from memorist.errors import InvalidInput
from memorist.model import Item, Recall, Worth
from memorist.ports import Batch, Store
from memorist.testing import FakeEmbedder, sample_world
from tests.recall.worlds import NOW, memory
from tests.recipes.worlds import TOLERANCE, ids, near, opened, scores, skipped, tuned

QUERY = "Which ledger?"
AXIS = near(1.0)
RECIPE = "mnemosyne-hybrid"


def by_hand(found: Recall, item: Item) -> float:
    """The page's formula, from what the answer itself tells."""
    vector, keyword = (item.signals[name].norm if name in item.signals else 0.0 for name in ("vector", "keyword"))
    hours = (found.now - item.memory.times.ingested_at).total_seconds() / 3600
    base = 0.5 * vector + 0.3 * keyword + 0.2 * item.memory.worth.importance
    return base * (0.7 + 0.3 * exp(-hours / 168))


@pytest.mark.parametrize("query", ["Where does Alice live?", "importer timeout", "Heron", "东京"])
def test_the_score_can_be_recomputed_from_the_answer(store: Store, query: str) -> None:
    with opened(*sample_world(), recipe=RECIPE, embedder=FakeEmbedder(), store=store) as engine:
        found = engine.recall(query, limit=20)
    assert len(found.items) > 5
    for item in found.items:
        assert item.score == pytest.approx(by_hand(found, item))
    assert [item.score for item in found.items] == sorted((item.score for item in found.items), reverse=True)


def test_norms_are_clamped_cosines_and_shares_of_the_best_bm25() -> None:
    texts = {"The ledger.": 0.8, "A ledger, a very long one.": 0.4, "Receipts.": -0.5}
    vectors = {QUERY: AXIS, **{text: near(cosine) for text, cosine in texts.items()}}
    with opened(*(memory(text, text) for text in texts), recipe=RECIPE, vectors=vectors) as engine:
        found = engine.recall(QUERY)
    signals = {item.memory.id: item.signals for item in found.items}
    best, second = (signals[text]["keyword"].score for text in list(texts)[:2])
    assert signals["The ledger."]["keyword"].norm == 1.0
    assert signals["A ledger, a very long one."]["keyword"].norm == pytest.approx(second / best)
    assert (signals["Receipts."]["vector"].score, signals["Receipts."]["vector"].norm) == (
        pytest.approx(-0.5, abs=TOLERANCE),
        0.0,
    )
    assert "keyword" not in signals["Receipts."]
    expected = {
        "The ledger.": 0.5 * 0.8 + 0.3 + 0.1,
        "A ledger, a very long one.": 0.5 * 0.4 + 0.3 * second / best + 0.1,
        "Receipts.": 0.1,  # no word, no meaning: importance alone
    }
    assert scores(found) == pytest.approx(expected, abs=TOLERANCE)


def test_three_times_the_limit_of_each_signal_and_cosines_for_all_of_them() -> None:
    meant = {f"meant {n}": near(0.9 - 0.01 * n) for n in range(8)}
    named = {f"ledger {n}": near(0.3) for n in range(8)}
    many = [memory(text, text) for text in (*meant, *named)]
    with opened(*many, recipe=RECIPE, vectors={QUERY: AXIS, **meant, **named}) as engine:
        found = engine.recall(QUERY, limit=2)
        fused = next(step for step in found.trace.steps if step.stage == "weighted_sum").candidates
    assert {name: len(one.hits) for name, one in found.trace.found.items()} == {"vector": 6, "keyword": 6}
    assert len(fused) == 12
    assert len(found.items) == 2
    for candidate in fused:
        vector = candidate.evidence["vector"]
        only_words = candidate.memory.id.startswith("ledger")
        assert (vector.rank is None) is only_words
        assert vector.norm == pytest.approx(0.3 if only_words else vector.score, abs=TOLERANCE)


def test_a_turn_counts_with_its_best_vector_however_it_was_found() -> None:
    """A turn of talk has two vectors, alone and with the turn before it, and words alone find it if the limit is 1."""
    meant = {f"meant {n}": near(0.9) for n in range(3)}
    views = {"text": np.array(near(0.3), np.float32), "context": np.array(near(0.45), np.float32)}
    with opened(*(memory(name, name) for name in meant), recipe=RECIPE, vectors={QUERY: AXIS, **meant}) as engine:
        engine.store.put(Batch([memory("turn", "The ledger.")], {"turn": views}))
        few, many = engine.recall(QUERY, limit=1), engine.recall(QUERY, limit=4)
    fused = next(step for step in few.trace.steps if step.stage == "weighted_sum").candidates
    computed = next(candidate for candidate in fused if candidate.memory.id == "turn").evidence["vector"]
    searched = next(item for item in many.items if item.memory.id == "turn").signals["vector"]
    assert (computed.rank, searched.rank) == (None, 4)
    assert computed.norm == pytest.approx(0.45, abs=TOLERANCE) == searched.norm


@pytest.mark.parametrize(("hours", "factor"), [(0, 1.0), (24, 0.960), (168, 0.810), (10_000, 0.7)])
def test_recency_takes_at_most_three_tenths(hours: int, factor: float) -> None:
    one = memory("a", "The ledger.", NOW - timedelta(hours=hours), worth=Worth(importance=1.0))
    with opened(one, recipe=RECIPE, vectors={QUERY: AXIS, "The ledger.": AXIS}) as engine:
        assert engine.recall(QUERY).items[0].score == pytest.approx(factor, abs=1e-3)


def test_age_may_be_counted_from_when_it_was_true() -> None:
    with opened(recipe=tuned(RECIPE, recency_band__age_from="valid")) as engine:
        engine.remember("The ledger.", at="2010-01-01", importance=1.0)
        assert engine.recall(QUERY).items[0].score == pytest.approx((0.3 + 0.2) * 0.7)
        assert engine.recall(QUERY, recipe="memorist").items


def test_importance_breaks_what_meaning_and_words_leave_equal() -> None:
    ranks = {"c": 0.9, "a": 0.5, "b": 0.5, "d": 0.0}
    many = [memory(id, "The ledger.", worth=Worth(importance=value)) for id, value in ranks.items()]
    with opened(*many, recipe=RECIPE, vectors={QUERY: AXIS, "The ledger.": near(0.9)}) as engine:
        assert ids(engine.recall(QUERY)) == ["c", "a", "b", "d"]


def test_without_an_embedder_words_and_importance_remain() -> None:
    with opened(memory("a", "The ledger."), recipe=RECIPE) as engine:
        found = engine.recall(QUERY)
    assert scores(found) == pytest.approx({"a": 0.3 + 0.1})
    assert skipped(found, "search.vector") == "no embedder"


def test_weights_are_not_a_matter_of_the_query() -> None:
    with opened(recipe=RECIPE) as engine, pytest.raises(InvalidInput, match="no keyword 'weights'"):
        engine.recall(QUERY, weights={"vector": 1.0})  # pyright: ignore[reportCallIssue]
