from __future__ import annotations

from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorist.errors import InvalidInput
from memorist_bench import statistics
from memorist_bench.results import Difference
from memorist_bench.statistics import compare, difference_interval, mean_interval, permutation_test

FIGURES = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), min_size=1, max_size=30)
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9)


def sample(size: int, seed: int, share: float) -> list[float]:
    return (np.random.default_rng(seed).random(size) < share).astype(float).tolist()


def test_an_interval_is_about_two_standard_errors_either_way() -> None:
    values = sample(1_000, seed=1, share=0.6)
    interval = mean_interval(values)
    error = 1.96 * sqrt(interval.mean * (1 - interval.mean) / len(values))
    assert interval.mean == pytest.approx(np.mean(values))
    assert interval.low == pytest.approx(interval.mean - error, abs=0.003)
    assert interval.high == pytest.approx(interval.mean + error, abs=0.003)


def test_all_different_values_are_drawn_one_by_one_to_the_same_end() -> None:
    values = np.random.default_rng(2).random(1_000).tolist()
    interval = mean_interval(values)
    error = 1.96 * float(np.std(values)) / sqrt(len(values))
    assert interval.low == pytest.approx(interval.mean - error, abs=0.003)
    assert interval.high == pytest.approx(interval.mean + error, abs=0.003)


def test_equal_values_leave_no_doubt() -> None:
    interval = mean_interval([0.5] * 40)
    assert (interval.low, interval.mean, interval.high) == (0.5, 0.5, 0.5)


def test_more_confidence_takes_a_wider_interval() -> None:
    values = sample(200, seed=3, share=0.5)
    narrow, wide = mean_interval(values, confidence=0.5), mean_interval(values, confidence=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_same_seed_gives_the_same_interval_and_another_a_close_one() -> None:
    values = sample(500, seed=4, share=0.3)
    assert mean_interval(values) == mean_interval(values)
    assert mean_interval(values, seed=1).low == pytest.approx(mean_interval(values).low, abs=0.005)


def test_pairing_makes_a_steady_small_gain_certain() -> None:
    first = np.random.default_rng(5).random(300)
    interval = difference_interval(first.tolist(), (first + 0.01).tolist())
    assert interval.low == pytest.approx(0.01) and interval.high == pytest.approx(0.01)


@given(FIGURES)
@settings(max_examples=50)
def test_an_interval_holds_its_mean_and_stays_within_the_values(values: list[float]) -> None:
    interval = mean_interval(values, resamples=2_000)
    assert min(values) - 1e-12 <= interval.low <= interval.high <= max(values) + 1e-12
    assert interval.low - 1e-12 <= interval.mean <= interval.high + 1e-12


def test_three_gains_of_three_worked_by_hand() -> None:
    assert permutation_test([0, 0, 0], [1, 1, 1]) == 2 / 8
    assert permutation_test([0, 0, 0, 5], [1, 1, 1, 5]) == 2 / 8


def test_a_gain_and_a_loss_of_one_size_are_no_difference() -> None:
    assert permutation_test([0, 1], [1, 0]) == 1
    assert permutation_test([1, 1], [1, 1]) == 1


@given(PAIRS)
@settings(max_examples=50)
def test_few_questions_are_tried_with_every_sign(pairs: list[tuple[int, int]]) -> None:
    differences = [second - first for first, second in pairs]
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in product((-1, 1), repeat=len(pairs))
    ]
    expected = sum(abs(part) >= abs(sum(differences)) for part in sums) / len(sums)
    assert permutation_test([a for a, _ in pairs], [b for _, b in pairs]) == pytest.approx(expected)


@pytest.mark.parametrize("shared_by", [0, 10**6], ids=["drawn together", "drawn one by one"])
def test_drawn_signs_agree_with_every_sign(monkeypatch: pytest.MonkeyPatch, shared_by: int) -> None:
    first, second = [0.0] * 12, [1, 1, 1, 1, 1, 1, 1, 0.5, 0.5, -0.5, -1, -1]
    exact = permutation_test(first, second)
    monkeypatch.setattr(statistics, "EXACT_UP_TO", 0)
    monkeypatch.setattr(statistics, "SHARED_BY", shared_by)
    assert permutation_test(first, second, permutations=50_000) == pytest.approx(exact, abs=0.01)


def test_the_test_has_two_sides() -> None:
    first, second = sample(400, seed=6, share=0.5), sample(400, seed=7, share=0.6)
    assert permutation_test(first, second) == permutation_test(second, first)


def test_a_clear_gain_is_significant_and_noise_is_not() -> None:
    first = sample(1_000, seed=8, share=0.5)
    better = [1.0 if number % 10 == 0 else value for number, value in enumerate(first)]
    assert permutation_test(first, better) < 0.001
    assert permutation_test(first, sample(1_000, seed=9, share=0.5)) > 0.05


def test_false_alarms_come_as_often_as_the_level_says() -> None:
    random = np.random.default_rng(10)
    trials = [
        permutation_test(random.integers(0, 2, 60).tolist(), random.integers(0, 2, 60).tolist(), permutations=500)
        for _ in range(400)
    ]
    assert 0.01 < np.mean([p <= 0.05 for p in trials]) < 0.09


def test_a_comparison_states_the_gain_of_the_second() -> None:
    first, second = sample(500, seed=11, share=0.4), sample(500, seed=12, share=0.6)
    comparison = compare(first, second)
    assert comparison.difference.mean == pytest.approx(np.mean(second) - np.mean(first))
    assert comparison.difference.low > 0
    assert comparison.p < 0.001


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not paired"):
        permutation_test([1, 2], [1])
    with pytest.raises(InvalidInput, match="nothing to average"):
        mean_interval([])
    with pytest.raises(InvalidInput, match="confidence"):
        mean_interval([1], confidence=1.5)


@pytest.mark.parametrize(
    ("low", "high", "p", "verdict"),
    [
        (0.01, 0.09, 0.003, "better"),
        (-0.09, -0.01, 0.003, "worse"),
        (-0.01, 0.09, 0.003, "even"),
        (0.01, 0.09, 0.072, "even"),
    ],
)
def test_a_verdict_needs_the_interval_and_the_test(low: float, high: float, p: float, verdict: str) -> None:
    assert Difference("ours", "bm25", "recall@10", 200, (low + high) / 2, low, high, p).verdict == verdict
