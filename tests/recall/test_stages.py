"""Each stage of the foundation, with numbers worked by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memorist.errors import StoreBusy
from memorist.model import Candidate, Filter, Kind, Origin
from memorist.recall.assemble import Assemble, shortened
from memorist.recall.factors import BoundedRecency
from memorist.recall.fuse import ReciprocalRank, WeightedSum
from memorist.recall.score import Weigh
from memorist.recall.select import Limit, Track
from memorist.text.labels import HEADER
from memorist.text.tokens import count_tokens
from tests.recall.worlds import NOW, draft, memory, world


def test_rrf_sums_reciprocal_ranks() -> None:
    with world(memory("a"), memory("b"), memory("c")) as env:
        found = {"vector": [("a", 0.9), ("b", 0.8)], "keyword": [("b", 7.0), ("c", 2.0)]}
        after = ReciprocalRank(k=60)(draft(found=found), env)
    scores = {candidate.memory.id: candidate.score for candidate in after.candidates}
    assert scores == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62})
    assert [candidate.memory.id for candidate in after.candidates] == ["b", "a", "c"]
    assert after.candidates[0].evidence["keyword"].rank == 1
    assert after.candidates[0].evidence["vector"].norm == pytest.approx(1 / 62)


def test_rrf_breaks_ties_by_id_and_weighs_signals() -> None:
    with world(memory("a"), memory("b")) as env:
        tied = ReciprocalRank()(draft(found={"vector": [("b", 1.0)], "keyword": [("a", 1.0)]}), env)
        weighed = ReciprocalRank(weights={"vector": 2.0})(
            draft(found={"vector": [("b", 1.0)], "keyword": [("a", 1.0)]}), env
        )
    assert [candidate.memory.id for candidate in tied.candidates] == ["a", "b"]
    assert [candidate.memory.id for candidate in weighed.candidates] == ["b", "a"]


def test_fusion_leaves_out_what_was_forgotten_or_is_not_admitted() -> None:
    with world(memory("a"), memory("note", kind=Kind.NOTE)) as env:
        found = {"keyword": [("gone", 9.0), ("a", 3.0), ("note", 1.0)]}
        after = ReciprocalRank()(draft(found=found, where=Filter(kinds=(Kind.EPISODIC,))), env)
    assert [candidate.memory.id for candidate in after.candidates] == ["a"]


@pytest.mark.parametrize("nothing", [{}, {"vector": []}])
def test_a_signal_that_found_nothing_leaves_its_weight_to_another(nothing: dict[str, list[tuple[str, float]]]) -> None:
    """Words of 6 and 3 out of 6 with 0.1 + 0.9, times of 1 with 0.1: 1.0 against 0.5 + 0.1, not 0.1 against 0.15."""
    found = {"keyword": [("a", 6.0), ("b", 3.0)], "temporal": [("b", 1.0)], **nothing}
    stage = WeightedSum(
        weights={"vector": 0.9, "keyword": 0.1, "temporal": 0.1}, importance=0.0, fallback={"vector": "keyword"}
    )
    with world(memory("a"), memory("b")) as env:
        fused = stage(draft(found=found), env)
    assert {candidate.memory.id: candidate.score for candidate in fused.candidates} == pytest.approx(
        {"a": 1.0, "b": 0.6}
    )
    with world(memory("a"), memory("b")) as env:
        plain = replace(stage, fallback={})(draft(found=found), env)
    assert [candidate.memory.id for candidate in plain.candidates] == ["b", "a"]


@pytest.mark.parametrize(("days", "factor"), [(0, 1.0), (30, 0.95), (60, 0.925), (36500, 0.9), (-5, 1.0)])
def test_bounded_recency_halves_its_share_every_half_life(days: int, factor: float) -> None:
    old = Candidate(memory("a", at=NOW - timedelta(days=days)), 1.0)
    with world() as env:
        assert BoundedRecency(share=0.1, half_life_days=30)(old, draft(), env) == pytest.approx(factor, abs=1e-9)


def test_weigh_multiplies_and_tells_its_parts() -> None:
    old = Candidate(memory("a", at=NOW - timedelta(days=30)), 2.0)
    new = Candidate(memory("b"), 1.95)
    with world() as env:
        after = Weigh((BoundedRecency(share=0.1, half_life_days=30),))(draft([old, new]), env)
    assert [(candidate.memory.id, candidate.score) for candidate in after.candidates] == [
        ("b", 1.95),
        ("a", pytest.approx(1.9)),
    ]
    assert after.candidates[1].parts == {"bounded_recency": pytest.approx(0.95)}


def test_limit_keeps_the_first() -> None:
    many = [Candidate(memory(id), 1.0) for id in "abc"]
    with world() as env:
        assert len(Limit()(draft(many, limit=2), env).candidates) == 2


def test_context_is_numbered_dated_and_cited() -> None:
    said = memory("a", "I moved\nto Stockholm.", origin=Origin(source="chat.md", session="s1", speaker="Alice"))
    with world() as env:
        after = Assemble()(draft([Candidate(said, 1.0)]), env)
    assert after.context == f"{HEADER}\n[1] 2024-07-01 Alice: I moved to Stockholm. (chat.md, s1)"
    assert after.tokens == count_tokens(after.context)


def test_context_fits_its_budget_and_says_what_was_left_out() -> None:
    many = [Candidate(memory("a", "word " * 200), 2.0), Candidate(memory("b", "short"), 1.0)]
    with world() as env:
        after = Assemble()(draft(many, max_tokens=40), env)
        nothing = Assemble()(draft(many, max_tokens=3), env)
    assert "short" in after.context and "word" not in after.context
    assert after.tokens <= 40
    assert after.notes == ("1 left out of a context of 40 tokens",)
    assert (nothing.context, nothing.tokens) == ("", 0)


def test_a_long_text_is_cut_at_a_word_and_marked() -> None:
    assert shortened("one two three", 100) == "one two three"
    assert shortened("one two three four", 13) == "one two …"
    assert shortened("x" * 10_000, 50) == "x" * 50 + " …"


def test_tracking_counts_recalls_and_never_fails_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    one = memory("a")
    with world(one) as env:
        Track()(draft([Candidate(one, 1.0)]), env)
        Track()(draft([Candidate(one, 1.0)], track=False), env)
        usage = env.store.get(["a"])["a"].usage
        assert usage is not None and (usage.recalls, usage.last_recall) == (1, NOW)

        def busy(*_: object) -> None:
            raise StoreBusy("locked", remedy="Wait.")

        monkeypatch.setattr(env.store, "touch", busy)
        assert Track()(draft([Candidate(one, 1.0)]), env).notes == ("usage not counted: locked",)
