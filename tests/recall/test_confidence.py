"""The confidence of a recall: the probability that its first five items contain an answer, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorist
from memorist.model import Candidate, Evidence
from memorist.ports import Reading
from memorist.recall.assemble import Assemble
from memorist.recall.select import FIRST, Confidence, confidence_of
from memorist.recall.stage import Draft, Env
from memorist.testing.fakes import FakeEmbedder
from memorist.text.labels import DOUBTFUL_HEADER, HEADER, NOTHING
from tests.recall.worlds import draft, memory, world

CONFIDENCE = Confidence(apart=2.0, least=0.35)
PROBABILITIES = st.lists(st.floats(0, 1).map(lambda one: round(one, 4)), min_size=1, max_size=8)


class Reader:
    """A reranker that judges answers: certain of texts with the word "answer", and sure that others are none."""

    generation = "reader:1"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [reading.score for reading in self.read(query, texts)]

    def read(self, query: str, texts: Sequence[str]) -> list[Reading]:
        return [Reading(logit, logit) for logit in (8.0 if "answer" in text else -8.0 for text in texts)]


@pytest.fixture
def env() -> Iterator[Env]:
    with world(embedder=FakeEmbedder()) as made:
        yield replace(made, reranker=Reader())


def judged(*probabilities: float | None) -> Draft:
    far = {"vector": Evidence(1, 0.1, 0.1)}
    return draft([Candidate(memory(f"m{n}"), 0.5, far, probability=one) for n, one in enumerate(probabilities)])


def test_the_best_counts_once_and_the_others_twice(env: Env) -> None:
    """1 − 0.2 · 0.5² · 0.9² = 0.9595, in any order; 1 − 0.7 · 0.8² = 0.552; one alone is as sure as its item."""
    assert CONFIDENCE(judged(0.8, 0.5, 0.1), env).confidence == 0.9595
    assert CONFIDENCE(judged(0.1, 0.8, 0.5), env).confidence == 0.9595
    assert CONFIDENCE(judged(0.3, 0.2), env).confidence == 0.552
    assert CONFIDENCE(judged(0.4), env).confidence == 0.4


def test_only_the_first_five_count(env: Env) -> None:
    """1 − 0.9 · 0.9⁸ = 0.6126."""
    assert CONFIDENCE(judged(*[0.1] * FIRST, 1.0), env).confidence == 0.6126


@given(PROBABILITIES, st.floats(1, 3))
def test_it_is_at_least_the_best_probability(given: list[float], apart: float) -> None:
    assert max(given) - 1e-9 <= confidence_of(given, apart) <= 1


@given(PROBABILITIES, st.data())
def test_it_never_falls_where_a_probability_rises(given: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(given) - 1))
    higher = [*given[:place], data.draw(st.floats(given[place], 1)), *given[place + 1 :]]
    assert confidence_of(higher, 2.0) >= confidence_of(given, 2.0)


@given(st.lists(st.none() | st.floats(0, 1), max_size=8))
def test_it_is_unknown_exactly_if_a_probability_of_the_first_is(given: list[float | None]) -> None:
    with world(embedder=FakeEmbedder()) as made:
        after = CONFIDENCE(judged(*given), replace(made, reranker=Reader()))
    assert (after.confidence is None) == (None in given[:FIRST])
    assert after.abstained == (after.confidence is not None and after.confidence < 0.35)


def test_abstaining_is_one_threshold(env: Env) -> None:
    assert CONFIDENCE(judged(0.3499), env).abstained
    assert CONFIDENCE(judged(0.3499), env).notes == ("35% for an answer, below 35%",)
    assert not CONFIDENCE(judged(0.35), env).abstained
    assert not CONFIDENCE(judged(None, None), env).abstained


@pytest.mark.parametrize("query", ["What is it?", "Draft a reply to Tom.", "Who was here on 3 June?", "something m0"])
@pytest.mark.parametrize("evidence", [{}, {"vector": Evidence(1, 0.9, 0.9)}, {"temporal": Evidence(1, 1.0, 1.0)}])
def test_nothing_but_the_confidence_decides(query: str, evidence: Mapping[str, Evidence], env: Env) -> None:
    """Not a cosine, a time, the words of the question or what it asks for: these speak in the probability."""
    for probability, abstains in ((0.2, True), (0.4, False)):
        found = replace(judged(probability).candidates[0], evidence=evidence)
        after = CONFIDENCE(draft([found], query=query), env)
        assert (after.confidence, after.abstained) == (probability, abstains)


def test_nothing_found_is_no_answer_if_a_reader_would_have_judged_it(env: Env) -> None:
    assert (CONFIDENCE(judged(), env).confidence, CONFIDENCE(judged(), env).abstained) == (0.0, True)
    assert CONFIDENCE(judged(), replace(env, reranker=None)).confidence is None


def test_what_was_held_back_counts_no_further_and_is_no_abstention(env: Env) -> None:
    for left, confidence in (((), 0.0), ((0.1,), 0.1)):
        after = CONFIDENCE(replace(judged(*left), held_back=judged(0.9).candidates), env)
        assert (after.confidence, after.abstained) == (confidence, False)


@pytest.mark.parametrize(
    ("probabilities", "header"),
    [((0.2, 0.2, 0.2), HEADER), ((0.41, 0.0), DOUBTFUL_HEADER), ((0.1, 0.95), HEADER), ((0.36, None), HEADER)],
)
def test_the_header_follows_from_the_confidence(env: Env, probabilities: Sequence[float | None], header: str) -> None:
    """Three items of 0.2 are 1 − 0.8⁵ = 0.67; an item without a probability makes the confidence unknown."""
    after = Assemble()(CONFIDENCE(judged(*probabilities), env), env)
    assert after.context.startswith(header)


def test_a_recall_says_the_same_in_every_number() -> None:
    with memorist.open(":memory:", embedder=FakeEmbedder(), reranker=Reader()) as engine:
        engine.remember_many([{"text": text} for text in ("The answer is 42.", "Ants eat aphids.", "It rained.")])
        sure = engine.recall("What is the answer?", track=False)
        assert all(item.probability is not None for item in sure.items)
        assert sure.confidence is not None and not sure.abstained and sure.context.startswith(HEADER)
        assert sure.confidence >= max(item.probability or 0 for item in sure.items[:FIRST]) > 0.5
    with memorist.open(":memory:", embedder=FakeEmbedder(), reranker=Reader()) as engine:
        engine.remember_many([{"text": text} for text in ("Ants eat aphids.", "It rained.", "Mara sings.")])
        unsure = engine.recall("What is the boiling point of tungsten?", track=False)
        assert unsure.confidence is not None and unsure.confidence < 0.2 and unsure.abstained
        assert unsure.context == NOTHING
        assert unsure.why_abstained == f"{unsure.confidence:.0%} for an answer, below 20%"


def test_what_was_shown_before_does_not_count() -> None:
    with memorist.open(":memory:", embedder=FakeEmbedder(), reranker=Reader()) as engine:
        engine.remember_many([{"text": text} for text in ("The answer is 42.", "Ants eat aphids.", "It rained.")])
        first = engine.recall("What is the answer?", session="s", fresh=True)
        again = engine.recall("What is the answer?", session="s", fresh=True)
    assert again.shown_before and again.confidence is not None and first.confidence is not None
    assert again.confidence < 0.35 < first.confidence
    told = {item.memory.id: item.probability for item in first.items}
    assert [item.probability for item in again.items] == [told[item.memory.id] for item in again.items]


def test_a_recall_without_a_reader_is_of_unknown_confidence() -> None:
    with memorist.open(":memory:", embedder=FakeEmbedder(), reranker="none") as engine:
        engine.remember("The answer is 42.")
        found = engine.recall("What is the answer?")
        assert (found.confidence, found.items[0].probability, found.abstained) == (None, None, False)
        assert found.context.startswith(HEADER)
        other = engine.recall("What is the answer?", recipe="mnemo")
        assert (other.confidence, other.items[0].probability) == (None, None)
