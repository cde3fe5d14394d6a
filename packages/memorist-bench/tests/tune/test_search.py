"""The search and the decision, on tables of figures that are worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memorist.errors import InvalidInput
from memorist_bench.tune.numbers import Steps
from memorist_bench.tune.search import LEAST, TRIALS, Trials, decide, fit, folds, random_choices


def trials(run: Any, numbers: int = 4) -> Trials:
    return Trials(run, numbers)


def test_the_gain_is_the_mean_over_the_questions_less_the_price_of_each_step() -> None:
    def run(steps: Steps) -> NDArray[Any]:
        return np.array([0.5, 0.25, 1.0]) if any(steps) else np.array([0.0, 0.25, 1.0])

    tried = trials(run, 2)
    every = np.arange(3)
    assert tried.gain((0, 0), every) == 0
    assert tried.gain((2, -1), every) == pytest.approx(0.5 / 3 - 3 * 0.002)
    assert tried.gain((2, -1), np.array([1, 2])) == pytest.approx(-0.006), "a tie keeps the current value"


def test_folds_hold_every_question_once_and_are_of_one_size() -> None:
    dealt = folds(32)
    assert [len(rows) for rows in dealt] == [7, 7, 6, 6, 6]
    assert sorted(np.concatenate(dealt).tolist()) == list(range(32))
    assert [rows.tolist() for rows in folds(32)] == [rows.tolist() for rows in dealt]
    assert [rows.tolist() for rows in folds(32, seed=1)] != [rows.tolist() for rows in dealt]


def test_random_choices_are_seeded_bounded_and_move_few_numbers() -> None:
    chosen = list(random_choices(6))
    assert chosen == list(random_choices(6)) != list(random_choices(6, seed=1))
    assert len(chosen) == TRIALS
    assert all(1 <= sum(map(bool, steps)) <= 3 and max(map(abs, steps)) <= 2 for steps in chosen)


def planted(steps: Steps) -> NDArray[Any]:
    """40 questions, all better by 0.2 for each step down of number 2, and by nothing else."""
    return np.full(40, 0.5 - 0.1 * steps[2])


def test_a_number_that_is_plainly_wrong_is_found_and_nothing_else_moves() -> None:
    assert fit(trials(planted), np.arange(40)) == (0, 0, -2, 0)
    verdict = decide(trials(planted), 40)
    assert verdict.steps == (0, 0, -2, 0) and verdict.changes
    assert (verdict.now, verdict.better, verdict.worse) == (pytest.approx(0.5), 40, 0)
    assert verdict.gain.mean == pytest.approx(0.2) == pytest.approx(verdict.fitted)
    assert verdict.p < 0.001


def noise(steps: Steps) -> NDArray[Any]:
    """Every choice changes each question's figure at random: the best of many looks good, and means nothing."""
    if not any(steps):
        return np.full(60, 0.5)
    random = np.random.default_rng([size + 2 for size in steps])
    return np.clip(0.5 + random.normal(0, 0.2, 60), 0, 1)


def test_noise_changes_nothing_although_the_fit_looks_good() -> None:
    verdict = decide(trials(noise), 60)
    assert verdict.fitted > 0.04
    assert verdict.gain.low < 0 < verdict.gain.high
    assert verdict.steps == (0, 0, 0, 0) and not verdict.changes


def test_three_questions_are_no_proof_however_clear_they_are() -> None:
    def run(steps: Steps) -> NDArray[Any]:
        figures = np.full(40, 0.5)
        figures[:3] += 0.5 * (steps[0] > 0)
        return figures

    verdict = decide(trials(run), 40)
    assert (verdict.better, verdict.worse) == (3, 0)
    assert verdict.p == 0.25, "of eight patterns of signs, two are as far from 0"
    assert not verdict.changes


def test_every_choice_is_tried_once() -> None:
    seen: list[Steps] = []

    def run(steps: Steps) -> NDArray[Any]:
        seen.append(steps)
        return planted(steps)

    verdict = decide(trials(run), 40)
    assert len(seen) == len(set(seen)) == verdict.trials


def test_too_little_evidence_is_refused_with_a_remedy() -> None:
    with pytest.raises(InvalidInput, match=f"29 judged questions.*at least {LEAST}.*feedback"):
        decide(trials(planted), 29)
