"""How probably a candidate answers, when a recall abstains, and what it returns; with numbers worked by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import memorist
from memorist.errors import InvalidInput
from memorist.model import Candidate, Evidence, instant
from memorist.recall.select import Judge, Relevant
from memorist.recall.stage import Env
from memorist.testing.fakes import FakeEmbedder
from tests.recall.worlds import draft, memory, world

JUDGE = Judge(bias=-3.0, weights={"answers": 0.5, "keyword": 0.5}, unread=-1.0, lift=3.0, least=0.2)


def candidate(id: str, **evidence: tuple[float, float]) -> Candidate:
    said = {name: Evidence(1, score, norm) for name, (score, norm) in evidence.items()}
    return Candidate(memory(id), 0.5, said)


@pytest.fixture
def env() -> Iterator[Env]:
    with world(memory("a"), memory("b"), embedder=FakeEmbedder()) as made:
        yield made


def test_a_probability_is_a_logistic_of_what_was_found(env: Env) -> None:
    """−3 + 0.5 · 8 + 0.5 · 0.8 = 1.4 → 0.8022; unread: −3 − 1 + 0.5 · 0.5 = −3.75 → 0.0230."""
    read = candidate("a", vector=(0.5, 0.5), answers=(8.0, 1.0), keyword=(7.0, 0.8))
    after = JUDGE(draft([read, candidate("b", vector=(0.25, 0.25), keyword=(3.0, 0.5))]), env)
    assert [one.probability for one in after.candidates] == [0.8022, 0.0230]
    assert not after.abstained


def test_the_confidence_is_that_of_the_three_best(env: Env) -> None:
    """Logits −1, −1.5, −2 and −4.5: 3 − 1.5 → σ = 0.8176; with −1 and −4.5, which counts as −3: 3 − 2 → 0.7311."""
    several = [
        candidate(name, vector=(0.1, 0.1), answers=(logit, 0.5))
        for name, logit in zip("abcd", (2.0, 3.0, 4.0, -3.0), strict=True)
    ]
    assert JUDGE(draft(several), env).confidence == 0.8176
    assert JUDGE(draft([several[2], several[3]]), env).confidence == 0.7311
    assert JUDGE(draft([several[2]]), env).confidence == 0.8808  # one alone: 3 − 1


def test_a_recall_abstains_if_nothing_probably_answers(env: Env) -> None:
    """−3 + 0.5 · −4 = −5 → 3 − 5 → 0.1192."""
    after = JUDGE(draft([candidate("a", vector=(0.49, 0.49), answers=(-4.0, 0.02))]), env)
    assert (after.confidence, after.abstained) == (0.1192, True)
    assert after.notes == ("nothing relevant: the candidates answer the question with a probability of 12%",)


def test_what_is_near_the_question_is_never_withheld(env: Env) -> None:
    after = JUDGE(draft([candidate("a", vector=(0.5, 0.5), answers=(-4.0, 0.02))]), env)
    assert (after.confidence, after.abstained) == (0.1192, False)


def test_what_happened_at_the_time_asked_for_is_never_withheld(env: Env) -> None:
    then = candidate("a", vector=(0.1, 0.1), answers=(-4.0, 0.02), temporal=(1.0, 1.0))
    dated = draft([then])
    day = (instant("2024-06-01"), instant("2024-06-02"))
    dated = replace(dated, query=replace(dated.query, windows=(day,)))
    assert not JUDGE(dated, env).abstained
    assert JUDGE(draft([then]), env).abstained


def test_there_is_no_probability_without_a_vector_and_a_reranker_that_judges(env: Env) -> None:
    for said in ({"vector": (0.1, 0.1), "reranker": (-4.0, 0.02)}, {"answers": (-4.0, 0.02), "keyword": (2.0, 0.4)}):
        after = JUDGE(draft([candidate("a", **said)]), env)
        assert (after.candidates[0].probability, after.confidence, after.abstained) == (None, None, False)


def chosen(env: Env, least: float | None) -> list[str]:
    judged = [replace(candidate(name), probability=sure) for name, sure in zip("abcdef", SURE, strict=True)]
    given = draft(judged)
    given = replace(given, request=replace(given.request, min_confidence=least))
    return [one.memory.id for one in Relevant(least=0.05, always=3)(given, env).candidates]


SURE = (0.9, 0.01, 0.3, 0.04, 0.06, None)


def test_the_limit_is_a_ceiling(env: Env) -> None:
    assert chosen(env, None) == ["a", "b", "c", "e", "f"]


def test_the_caller_may_choose_the_minimum(env: Env) -> None:
    assert chosen(env, 0.0) == [*"abcdef"]
    assert chosen(env, 0.3) == ["a", "c", "f"]
    assert chosen(env, 1.0) == ["f"]


def test_a_minimum_is_a_probability() -> None:
    with memorist.open(":memory:", embedder="none") as memory:
        for wrong in (1.5, -0.1, float("nan"), "high", True):
            with pytest.raises(InvalidInput, match="min_confidence"):
                memory.recall("Where?", min_confidence=wrong)  # pyright: ignore[reportArgumentType]
