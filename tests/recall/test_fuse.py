"""How hits of several signals become one ranking, with numbers worked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memorist.model import Candidate, Worth
from memorist.recall.fuse import Best, First, ReciprocalRank, WeightedSum
from memorist.recall.stage import Stage
from memorist.testing import FakeEmbedder
from tests.recall.worlds import draft, memory, world

Hits = dict[str, list[tuple[str, float]]]


def fused(stage: Stage, found: Hits, **fields: Any) -> tuple[Candidate, ...]:
    """The candidates over the memories that the hits name."""
    with world(*(memory(id) for id in sorted({id for hits in found.values() for id, _ in hits}))) as env:
        return stage(draft(found=found, **fields), env).candidates


def scores(candidates: tuple[Candidate, ...]) -> dict[str, float]:
    return {candidate.memory.id: candidate.score for candidate in candidates}


def evidence(candidates: tuple[Candidate, ...]) -> dict[str, dict[str, tuple[int | None, float, float]]]:
    return {
        candidate.memory.id: {name: (it.rank, it.score, it.norm) for name, it in candidate.evidence.items()}
        for candidate in candidates
    }


FOUND: Hits = {"words": [("a", 4.0), ("b", 2.0)], "meaning": [("b", 9.0), ("a", 1.0), ("c", 0.5)], "none": []}


def test_first_takes_the_score_of_the_first_signal_and_best_the_highest() -> None:
    assert scores(fused(First(), FOUND)) == {"a": 4.0, "b": 2.0, "c": 0.5}
    assert scores(fused(Best(), FOUND)) == {"b": 9.0, "a": 4.0, "c": 0.5}
    for stage in (First(), Best()):
        assert evidence(fused(stage, FOUND, limit=1)) == {
            "a": {"words": (1, 4.0, 4.0), "meaning": (2, 1.0, 1.0)},
            "b": {"words": (2, 2.0, 2.0), "meaning": (1, 9.0, 9.0)},
            "c": {"meaning": (3, 0.5, 0.5)},
        }


@pytest.mark.parametrize(("keep", "limit", "kept"), [(2, 1, 2), (1, 3, 3), (1, 1, 1), (9, 2, 3)])
def test_fusion_keeps_a_number_of_the_best_and_at_least_the_limit(keep: int, limit: int, kept: int) -> None:
    found: Hits = {"vector": [("a", 0.9), ("b", 0.6), ("c", 0.3)]}
    for stage in (ReciprocalRank(keep=keep), WeightedSum(weights={"vector": 1.0}, keep=keep)):
        assert list(scores(fused(stage, found, limit=limit))) == ["a", "b", "c"][:kept]


def test_a_signal_without_a_weight_keeps_nothing() -> None:
    found: Hits = {"vector": [("a", 0.9), ("b", 0.89)], "other": [("b", 9.0)]}
    assert list(scores(fused(WeightedSum(weights={"vector": 1.0}, keep=1), found, limit=1))) == ["a"]


def test_every_hit_is_kept_by_a_sum_without_a_number() -> None:
    many: Hits = {"vector": [(f"{place:03}", 1 - place / 100) for place in range(80)]}
    assert len(fused(WeightedSum(weights={"vector": 1.0}), many, limit=3)) == 80
    assert len(fused(ReciprocalRank(), many, limit=3)) == 60
    assert len(fused(ReciprocalRank(adaptive=True), many, limit=3)) == 48


def test_a_cosine_is_clamped_and_other_scores_are_shares_of_the_best() -> None:
    found: Hits = {
        "vector": [("a", 1.05), ("b", 0.25), ("e", 0.05), ("c", -0.5)],
        "temporal": [("a", 0.5)],
        "keyword": [("b", 8.0), ("c", 2.0), ("d", -8.0)],
        "below": [("a", -1.0), ("b", -2.0)],
        "zero": [("c", 0.0)],
        "small": [("d", 0.5)],
        "empty": [],
    }
    after = fused(WeightedSum(weights={"vector": 0.5, "temporal": 0.3, "keyword": 0.2}, importance=0.0), found)
    norms = {id: {name: norm for name, (_, _, norm) in one.items()} for id, one in evidence(after).items()}
    assert norms == {
        "a": {"vector": 1.0, "temporal": 0.5, "below": 0.0},
        "b": {"vector": 0.25, "keyword": 1.0, "below": 0.0},
        "c": {"vector": 0.0, "keyword": 0.25, "zero": 0.0},
        "d": {"keyword": 0.0, "small": 1.0},
        "e": {"vector": 0.05},
    }
    assert scores(after) == pytest.approx({"a": 0.65, "b": 0.325, "c": 0.05, "d": 0.0, "e": 0.025})
    assert evidence(after)["b"]["vector"] == (2, 0.25, 0.25)


def test_importance_is_added_and_may_change_the_order() -> None:
    rows = [memory("a"), memory("b", worth=Worth(importance=1.0)), memory("c", worth=Worth(importance=0.5))]
    found: Hits = {"vector": [("a", 0.6), ("b", 0.5), ("c", 0.5)], "extra": [("a", 3.0)]}
    with world(*rows) as env:
        after = WeightedSum(weights={"vector": 0.8}, importance=0.2)(draft(found=found), env).candidates
    a = 0.8 * 0.6 + 0.2 * rows[0].worth.importance
    assert scores(after) == pytest.approx({"b": 0.6, "c": 0.5, "a": a})
    assert [candidate.score for candidate in after] == sorted((candidate.score for candidate in after), reverse=True)
    assert after[0].memory.id == "b"
    parts = next(candidate.parts for candidate in after if candidate.memory.id == "a")
    assert parts == pytest.approx({"vector": 0.48, "extra": 0.0, "importance": a - 0.48})


def test_a_weight_that_moves_is_added_to_that_of_the_other_signal() -> None:
    found: Hits = {"keyword": [("a", 2.0)], "temporal": [("b", 1.0)]}
    stage = WeightedSum(
        weights={"vector": 0.5, "keyword": 0.3}, importance=0.0, fallback={"vector": "temporal", "graph": "keyword"}
    )
    assert scores(fused(stage, found)) == pytest.approx({"b": 0.5, "a": 0.3})
    both = WeightedSum(weights={"vector": 0.5, "keyword": 0.3}, importance=0.0, fallback={"vector": "keyword"})
    assert scores(fused(both, found)) == pytest.approx({"a": 0.8, "b": 0.0})
    assert scores(fused(both, {**found, "vector": [("b", 1.0)]})) == pytest.approx({"a": 0.3, "b": 0.5})


@pytest.mark.parametrize(("query", "weight"), [("Heron", 0.9), ("the blue heron", 0.3)])
def test_a_query_of_one_word_weighs_words_otherwise(query: str, weight: float) -> None:
    stage = WeightedSum(weights={"keyword": 0.3}, importance=0.0, one_word=0.9)
    assert scores(fused(stage, {"keyword": [("a", 2.0)]}, query=query)) == pytest.approx({"a": weight})
    plain = WeightedSum(weights={"keyword": 0.3}, importance=0.0)
    assert scores(fused(plain, {"keyword": [("a", 2.0)]}, query=query)) == pytest.approx({"a": 0.3})


def test_a_cosine_is_computed_for_candidates_of_other_signals() -> None:
    embedder = FakeEmbedder()
    rows = [memory("a", "a boat"), memory("b", "a harbour"), memory("c", "a lamp")]
    found: Hits = {"keyword": [("b", 2.0), ("a", 1.0)], "vector": [("a", 0.9)]}
    with world(*rows, embedder=embedder) as env:
        asked = draft(found=found)
        vector = embedder.embed(["a harbour"], purpose="memory")
        asked = replace(asked, query=replace(asked.query, vector=vector))
        after = WeightedSum(weights={"vector": 1.0}, importance=0.0)(asked, env).candidates
        unread = WeightedSum(weights={"vector": 1.0}, importance=0.0)(draft(found=found), env).candidates
        without = WeightedSum(weights={"keyword": 1.0}, importance=0.0)(asked, env).candidates
    assert evidence(after)["a"]["vector"] == (1, 0.9, 0.9)
    rank, score, norm = evidence(after)["b"]["vector"]
    assert rank is None and score == pytest.approx(1.0) and norm == pytest.approx(1.0)
    assert scores(after) == pytest.approx({"b": 1.0, "a": 0.9})
    assert "vector" not in evidence(without)["b"] and "vector" not in evidence(unread)["b"]
