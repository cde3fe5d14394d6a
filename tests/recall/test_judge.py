"""How probably a candidate answers, and which are returned; with numbers worked by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorist
from memorist.errors import InvalidInput
from memorist.model import Candidate, Evidence
from memorist.recall.select import FIRST, Judge, Relevant, confidence_of
from memorist.recall.stage import Env
from memorist.testing.fakes import FakeEmbedder
from tests.recall.worlds import draft, memory, world

JUDGE = Judge(bias=-1.0, weights={"answers": 0.5, "keyword": 0.5}, unread=-4.0, fall=1.0, far=10.0, near=0.2)


def candidate(id: str, **evidence: tuple[float, float]) -> Candidate:
    said = {name: Evidence(1, score, norm) for name, (score, norm) in evidence.items()}
    return Candidate(memory(id), 0.5, said)


@pytest.fixture
def env() -> Iterator[Env]:
    with world(memory("a"), memory("b"), embedder=FakeEmbedder()) as made:
        yield made


def test_a_probability_is_a_logistic_of_what_was_found(env: Env) -> None:
    """−1 + 0.5 · 4 + 0.5 · 0.8 = 1.4 → 0.8022; unread and second: −1 − 0.5 · 4 + 0.5 · 0.5 − ln 2 → 0.0310."""
    read = candidate("a", vector=(0.5, 0.5), answers=(4.0, 1.0), keyword=(7.0, 0.8))
    after = JUDGE(draft([read, candidate("b", vector=(0.25, 0.25), keyword=(3.0, 0.5))]), env)
    assert [rival.probability for rival in after.candidates] == [0.8022, 0.0310]
    assert (after.confidence, after.abstained) == (None, False)


def test_the_same_reading_is_worth_less_further_down(env: Env) -> None:
    """−1 + 0.5 · 2 − ln rank: 0 → 0.5, −0.6931 → 0.3333, −1.0986 → 0.25."""
    alike = [candidate(name, answers=(2.0, 0.9)) for name in "abc"]
    assert [rival.probability for rival in JUDGE(draft(alike), env).candidates] == [0.5, 0.3333, 0.25]


def test_every_candidate_has_a_probability_if_the_reader_read_one(env: Env) -> None:
    """Also where no vector was searched, and for the fact that a later stage added."""
    added = Candidate(memory("b"), 0.5, {"supersedes": Evidence(None, 0.5, 0.5)}, "current")
    after = JUDGE(draft([added, candidate("a", answers=(2.0, 0.9), keyword=(2.0, 0.4))]), env)
    assert [rival.probability for rival in after.candidates] == [
        0.0474,
        0.3792,
    ]  # −1 − 2; −1 + 1 + 0.2 − ln 2 = −0.4931


def test_all_lose_if_nothing_stored_is_about_the_subject(env: Env) -> None:
    """−1 + 0.5 · 2 − 10 · (0.2 − 0.15) = −0.5 → 0.3775, then − ln 2; the closest text counts, not each."""
    near, far = (
        candidate("a", vector=(0.15, 0.15), answers=(2.0, 0.9)),
        candidate("b", vector=(-0.3, 0), answers=(2, 1)),
    )
    after = JUDGE(draft([near, far]), env)
    assert [candidate.probability for candidate in after.candidates] == [0.3775, 0.2327]
    assert after.notes == ("nothing stored is about the subject: -0.5",)
    known = replace(near, evidence={**near.evidence, "vector": Evidence(1, 0.2, 0.2)})
    assert [candidate.probability for candidate in JUDGE(draft([known, far]), env).candidates] == [0.5, 0.3333]
    assert JUDGE(draft([far]), env).candidates[0].probability == 0.1192  # a cosine below 0 counts as 0


READ = st.floats(-12, 12)
CLOSE = st.floats(-1, 1)


@given(st.lists(st.tuples(READ, CLOSE), min_size=1, max_size=8), st.data())
def test_no_probability_falls_where_the_reader_is_surer(found: list[tuple[float, float]], data: st.DataObject) -> None:
    """Nor does the confidence."""
    place = data.draw(st.integers(0, len(found) - 1))
    surer = [
        (data.draw(st.floats(read, 13)), close) if n == place else (read, close)
        for n, (read, close) in enumerate(found)
    ]
    before, after = (
        Judge().probabilities(
            [{"answers": Evidence(1, read, 0.5), "vector": Evidence(1, close, close)} for read, close in each],
            [False] * len(each),
        )
        for each in (found, surer)
    )
    assert all(new >= old for old, new in zip(before, after, strict=True))
    assert confidence_of(after[:FIRST], 2.0) >= confidence_of(before[:FIRST], 2.0) >= max(before[:FIRST])


def test_there_is_no_probability_without_a_reranker_that_judges(env: Env) -> None:
    after = JUDGE(draft([candidate("a", vector=(0.1, 0.1), reranker=(-4.0, 0.02))]), env)
    assert (after.candidates[0].probability, after.confidence, after.abstained) == (None, None, False)


def chosen(env: Env, least: float | None, limit: int = 10) -> list[str]:
    judged = [replace(candidate(name), probability=sure) for name, sure in zip("abcdef", SURE, strict=True)]
    asked = draft(judged)
    asked = replace(asked, request=replace(asked.request, min_confidence=least, limit=limit))
    return [candidate.memory.id for candidate in Relevant(least=0.05, always=3)(asked, env).candidates]


SURE = (0.9, 0.01, 0.3, 0.04, 0.06, None)


def test_the_limit_is_a_ceiling(env: Env) -> None:
    assert chosen(env, None) == ["a", "b", "c", "e", "f"]


def test_who_asks_for_many_gets_many(env: Env) -> None:
    assert chosen(env, None, limit=11) == [*"abcdef"]
    assert chosen(env, 0.3, limit=11) == ["a", "c", "f"]


def test_the_caller_may_choose_the_minimum(env: Env) -> None:
    assert chosen(env, 0.0) == [*"abcdef"]
    assert chosen(env, 0.3) == ["a", "c", "f"]
    assert chosen(env, 1.0) == ["f"]


def test_a_minimum_is_a_probability() -> None:
    with memorist.open(":memory:", embedder="none") as memory:
        for wrong in (1.5, -0.1, float("nan"), "high", True):
            with pytest.raises(InvalidInput, match="min_confidence"):
                memory.recall("Where?", min_confidence=wrong)  # pyright: ignore[reportArgumentType]
