"""The search for better numbers, and the decision whether what it finds is more than chance.

Random search, then coordinate descent, both seeded. Cross-validation judges the search as a whole: every question is
judged with numbers that were fitted without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memorist.errors import InvalidInput, Remedy, VerbCall
from memorist_bench.statistics import Interval, compare
from memorist_bench.tune.numbers import MOST_STEPS, Steps

Floats = NDArray[Any]
SEED = 20_240_229
FOLDS = 5
LEAST = 30
"""Judged questions below which nothing is fitted: six per fold."""
TRIALS = 40
"""Random choices; each moves one to three numbers."""
MOST_MOVED = 3
SWEEPS = 3
"""The most passes of coordinate descent over all numbers."""
PRICE = 0.002
"""How much nDCG a step of a number must gain to be taken: a tie keeps the current value."""
CHANCE = 0.05
"""The largest p-value of a gain that counts."""


class Trials:
    """The figures of every question for each choice of numbers, computed once."""

    def __init__(self, run: Callable[[Steps], Floats], numbers: int) -> None:
        self._run = run
        self._known: dict[Steps, Floats] = {}
        self.current: Steps = (0,) * numbers

    def figures(self, steps: Steps) -> Floats:
        """The figure of every question."""
        if steps not in self._known:
            self._known[steps] = self._run(steps)
        return self._known[steps]

    def gain(self, steps: Steps, rows: Floats) -> float:
        """The mean gain over the current numbers on these questions, less the price of the steps."""
        gains = self.figures(steps)[rows] - self.figures(self.current)[rows]
        return float(gains.mean()) - PRICE * sum(map(abs, steps))

    def __len__(self) -> int:
        return len(self._known)


def fit(trials: Trials, rows: Floats, seed: int = SEED) -> Steps:
    """The best numbers found for these questions: the best of the random choices, improved one number at a time."""
    best = max([trials.current, *random_choices(len(trials.current), seed)], key=lambda one: trials.gain(one, rows))
    for _ in range(SWEEPS):
        before = best
        for place in range(len(best)):
            best = max([best, *_beside(best, place)], key=lambda one: trials.gain(one, rows))
        if best == before:
            break
    return best


def random_choices(numbers: int, seed: int = SEED) -> Iterator[Steps]:
    """Choices that move a few numbers each; the same for every fold, so that they are tried once."""
    random = np.random.default_rng(seed)
    sizes = [size for size in range(-MOST_STEPS, MOST_STEPS + 1) if size]
    for _ in range(TRIALS):
        steps = [0] * numbers
        count = min(numbers, int(random.integers(1, MOST_MOVED + 1)))
        for place in random.choice(numbers, size=count, replace=False):
            steps[int(place)] = sizes[int(random.integers(len(sizes)))]
        yield tuple(steps)


def _beside(steps: Steps, place: int) -> Iterator[Steps]:
    """The choices one step up and one step down in one number."""
    for size in (steps[place] - 1, steps[place] + 1):
        if abs(size) <= MOST_STEPS:
            yield (*steps[:place], size, *steps[place + 1 :])


def folds(questions: int, seed: int = SEED, count: int = FOLDS) -> list[Floats]:
    """The questions, shuffled and dealt into folds whose sizes differ by at most one."""
    order = np.random.default_rng(seed).permutation(questions)
    return [np.sort(order[start::count]) for start in range(count)]


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """What cross-validation says: the figure now, the gain on questions that the fit has not seen, and the choice.

    `fitted` is the gain of the chosen numbers on the questions they were fitted to; it is too high by nature. `steps`
    are all 0 if nothing changes.
    """

    questions: int
    now: float
    gain: Interval
    p: float
    better: int
    worse: int
    fitted: float
    steps: Steps
    trials: int

    @property
    def changes(self) -> bool:
        """Whether the gain is beyond chance."""
        return any(self.steps)


def decide(trials: Trials, questions: int, seed: int = SEED) -> CrossValidation:
    """Fit and cross-validate; numbers change only if the held-out gain and its interval lie above 0 beyond chance."""
    check_enough(questions)
    every = np.arange(questions)
    now = trials.figures(trials.current)
    held_out = now.copy()
    for rows in folds(questions, seed):
        chosen = fit(trials, np.setdiff1d(every, rows), seed)
        held_out[rows] = trials.figures(chosen)[rows]
    steps = fit(trials, every, seed)
    compared = compare(now.tolist(), held_out.tolist())
    beyond = compared.difference.low > 0 and compared.p <= CHANCE
    return CrossValidation(
        questions=questions,
        now=float(now.mean()),
        gain=compared.difference,
        p=compared.p,
        better=int((held_out > now).sum()),
        worse=int((held_out < now).sum()),
        fitted=float((trials.figures(steps) - now).mean()),
        steps=steps if beyond else trials.current,
        trials=len(trials),
    )


def check_enough(questions: int) -> None:
    """Refuse to fit to too little evidence."""
    if questions < LEAST:
        raise InvalidInput(
            f"There are {questions} judged questions, and tuning needs at least {LEAST}",
            remedy=Remedy("Give feedback on more recalls: ", VerbCall("feedback"), ", or pass judged questions."),
        )
