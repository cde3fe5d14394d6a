"""mnemosyne-graph's value function (seed 000), number by number."""

from __future__ import annotations

from math import exp

import pytest

from memorist.model import Usage
from memorist.recall.nodes import COMMON, PARAMS, default_value, frequency, recency, reward, value_function
from tests.recall.worlds import memory

ONE = memory("a")


@pytest.mark.parametrize(("hours", "factor"), [(0, 1.0), (24, 0.787), (168, 0.186)])
def test_recency_falls_with_the_hours_since_last_access(hours: float, factor: float) -> None:
    assert recency(hours, COMMON) == pytest.approx(factor, abs=5e-4)


@pytest.mark.parametrize(("recalls", "factor"), [(0, 0.3), (1, 0.3), (5, 0.5), (20, 0.8)])
def test_frequency_saturates_above_its_floor(recalls: int, factor: float) -> None:
    assert frequency(Usage(recalls=recalls), COMMON) == pytest.approx(factor)


def test_reward_is_neutral_without_history_and_a_sigmoid_with_it() -> None:
    assert reward(Usage(), COMMON) == 1.0
    assert reward(Usage(reward_count=2, reward_total=0.0), COMMON) == pytest.approx(0.5)
    assert reward(Usage(reward_count=1, reward_total=1.0), COMMON) == pytest.approx(1 / (1 + exp(-1)))


def test_the_score_is_the_product() -> None:
    usage = Usage(recalls=5, reward_count=1, reward_total=1.0)
    score = default_value(0.9, ONE, usage, {**COMMON, "hours": 24})
    assert score == pytest.approx(0.9 * exp(-0.24) * 0.5 * (1 / (1 + exp(-1))))


def test_a_node_without_usage_scores_its_relevance() -> None:
    assert default_value(0.42, ONE, None, {**COMMON, "hours": 1000}) == 0.42


def test_thresholds_and_top_k_are_those_of_the_page() -> None:
    assert {kind: (params["threshold"], params["top_k"]) for kind, params in PARAMS.items() if kind != "note"} == {
        "semantic": (0.0, 20),
        "procedural": (0.8, 10),
        "episodic": (0.0, 30),
        "subgoal": (0.75, 10),
        "tag": (0.9, 10),
        "source": (0.0, 50),
        "intent": (0.7, 10),
    }


def test_why_thresholds_test_relevance_and_not_the_score() -> None:
    """A perfect, fresh, much used procedure with reward 1 would fail a threshold of 0.8 on its score."""
    best = default_value(1.0, ONE, Usage(recalls=10**9, reward_count=1, reward_total=1.0), {**COMMON, "hours": 0})
    assert best == pytest.approx(0.731, abs=1e-3)
    assert best < PARAMS["procedural"]["threshold"]


def test_an_unknown_value_function_is_refused() -> None:
    with pytest.raises(ValueError, match="no value function 'magic'.*default"):
        value_function("magic")
