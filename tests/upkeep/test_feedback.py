"""Feedback moves ranking within bounds, can be seen in explanations and can be undone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorist.engine.engine import Engine
from memorist.errors import InvalidInput, NotFound
from memorist.model import Candidate, to_data
from memorist.recall.data import from_data
from memorist.recall.data import to_data as recipe_to_data
from memorist.recall.factors import FeedbackFactor
from memorist.recall.recipes import RECIPES
from memorist.recall.score import Weigh
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore
from memorist.testing.fakes import FakeClock
from memorist.upkeep.feedback import DOUBT, MOST, judged_recalls
from tests.recall.worlds import draft, memory
from tests.upkeep.worlds import answers, fill, opened

QUESTION = "Where does Alice live?"


def told(*texts: str) -> Engine:
    engine = opened(MemoryStore())
    for text in texts:
        engine.remember(text, at="2024-06-01")
    return engine


@pytest.mark.parametrize(("relevance", "factor"), [(0, 1.0), (1, 1.02), (5, 1.1), (-5, 0.9), (40, 1.1)])
def test_the_factor_moves_a_score_by_at_most_its_share(relevance: float, factor: float) -> None:
    one = memory("a")
    candidate = Candidate(replace(one, worth=replace(one.worth, relevance=relevance)), 1.0)
    assert FeedbackFactor()(candidate, draft(), None) == pytest.approx(factor)  # pyright: ignore[reportArgumentType]


def test_useful_puts_an_equal_memory_first_and_explain_names_the_factor() -> None:
    pipeline = RECIPES["memorist"]
    stages = tuple(
        Weigh((*stage.factors, FeedbackFactor())) if isinstance(stage, Weigh) else stage for stage in pipeline.stages
    )
    moved = replace(pipeline, stages=stages)
    assert from_data(recipe_to_data(moved)) == moved
    store = MemoryStore()
    engine = Engine(store, recipes={"memorist": moved}, clock=FakeClock(), background=False)
    for session in ("one", "two"):
        engine.remember("The key lies under the blue pot.", at="2024-06-01", session=session)
    last = engine.recall("the blue pot", track=False).items[-1].memory.id
    for _ in range(3):
        engine.feedback(last, "useful")
    found = engine.recall("the blue pot", track=False)
    assert found.items[0].memory.id == last
    assert "1.06  feedback" in str(engine.explain(found, last))


def test_verdicts_move_relevance_and_confidence_no_further_than_their_bounds() -> None:
    engine = told("Alice lives at 5 Elm Street.")
    id = engine.recall(QUESTION).items[0].memory.id
    assert [engine.feedback(id, "useful").worth.relevance for _ in range(7)] == [1, 2, 3, 4, MOST, MOST, MOST]
    *_, doubted = [engine.feedback(id, "wrong") for _ in range(12)]
    assert (doubted.worth.relevance, doubted.worth.confidence) == (-MOST, 0.0)
    assert doubted.worth.flags == ("doubted",)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["useful", "wrong"]), max_size=14), st.randoms(use_true_random=False))
def test_undoing_every_verdict_in_any_order_gives_back_what_was(verdicts: list[str], random: object) -> None:
    engine = told("Alice lives at 5 Elm Street.")
    before = engine.list().items[0]
    for verdict in verdicts[:4]:  # within the bounds, where each moves as much as it says
        engine.feedback(before.id, verdict)
    entries = [entry.id for entry in engine.store.journal("feedback")]
    random.shuffle(entries)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    for entry in entries:
        engine.undo(entry)
    assert engine.get(before.id) == before


def test_hidden_is_found_by_no_recipe_until_it_is_undone() -> None:
    engine = opened(MemoryStore())
    fill(engine)
    before = answers(engine)
    id = engine.recall(QUESTION, track=False).items[0].memory.id
    hidden = engine.feedback(id, "hide")
    assert "hidden" in hidden.worth.flags
    for recipe in RECIPES:
        found = engine.recall(QUESTION, recipe=recipe, track=False, include_expired=True)
        assert id not in [item.memory.id for item in found.items]
    asked = engine.recall(QUESTION, track=False, known_at="2024-07-01T11:59:59Z")
    assert id in [item.memory.id for item in asked.items]
    with pytest.raises(InvalidInput, match="hidden already"):
        engine.feedback(id, "hide")
    engine.undo(engine.store.journal("feedback")[0].id)
    assert answers(engine) == before


def test_outdated_ends_a_memory_now_and_can_be_undone() -> None:
    engine = told("The office is on the third floor.")
    id = engine.list().items[0].id
    assert engine.feedback(id, "outdated").times.valid_to == engine.recall("office").now
    assert engine.recall("office floor").items == ()
    with pytest.raises(InvalidInput, match="cannot end again"):
        engine.feedback(id, "outdated")
    engine.undo(engine.store.journal("feedback")[0].id)
    assert [item.memory.id for item in engine.recall("office floor").items] == [id]


def test_feedback_on_a_fact_outlives_what_is_heard_of_it_later() -> None:
    engine = opened(MemoryStore())
    fact = engine.relate("Cleo", "lives_in", "Paris", valid_from="2024-01-01")
    engine.feedback(fact.id, "wrong")
    engine.feedback(fact.id, "hide")
    engine.relate("Cleo", "lives_in", "Lyon", valid_from="2024-06-01")
    after = engine.get(fact.id)
    assert after is not None and after.times.valid_to is not None
    assert (after.worth.relevance, after.worth.confidence) == (-1, 1 - DOUBT)
    assert after.worth.flags == ("doubted", "hidden") and after.times.retracted_at is not None


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_feedback_on_a_recall_keeps_its_question_for_the_bench_until_something_of_it_is_forgotten(
    kind: str, tmp_path: Path
) -> None:
    engine = opened(MemoryStore() if kind == "memory" else SqliteStore.open(tmp_path / "it.db"))
    for text in ("Alice lives in Oslo.", "Alice likes to live near water.", "Bo lives in Tokyo."):
        engine.remember(text)
    recall = engine.recall(QUESTION)
    ids = tuple(item.memory.id for item in recall.items)
    engine.feedback(ids[0], "useful", recall)
    engine.feedback(ids[1], "wrong", to_data(recall))
    (one,) = judged_recalls(engine.store)
    assert (one.query, one.at, one.shown) == (QUESTION, recall.now, ids)
    assert (one.useful, one.wrong) == ({ids[0]}, {ids[1]})
    engine.undo(engine.store.journal("feedback")[-1].id)
    (one,) = judged_recalls(engine.store)
    assert (one.useful, one.wrong) == (frozenset(), {ids[1]})
    engine.forget(ids[2])
    assert list(judged_recalls(engine.store)) == []
    assert QUESTION not in str(engine.store.journal(limit=1000))
    engine.close()


def test_what_cannot_be_is_refused_with_a_remedy() -> None:
    engine = told("Alice lives in Oslo.")
    recall = engine.recall(QUESTION)
    with pytest.raises(InvalidInput, match="useful, wrong, outdated, hide"):
        engine.feedback(recall.items[0].memory.id, "great")
    with pytest.raises(NotFound):
        engine.feedback("nobody", "useful")
    with pytest.raises(InvalidInput, match="did not return"):
        engine.feedback("nobody", "useful", recall)
    with pytest.raises(InvalidInput, match="or its JSON"):
        engine.feedback(recall.items[0].memory.id, "useful", {"query": "?"})
