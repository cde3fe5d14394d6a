"""Confidence in a figure: paired bootstrap intervals, and a paired test between two recipes.

Both treat the questions as a sample, and both are seeded: the same rows give the same result on every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memorist.errors import InvalidInput

Floats = NDArray[np.floating[Any]]

SEED = 20_240_229
RESAMPLES = 10_000
CONFIDENCE = 0.95
EXACT_UP_TO = 13  # 2 ** 13 sign patterns are fewer than the random ones we would draw
CELLS_AT_ONCE = 1 << 21  # bounds the memory of a block of resamples
SHARED_BY = 8  # with this many equal values on average, drawing their count is cheaper than drawing each
ROUNDING = 1e-9  # sums in a different order may differ by this much and still count as equal


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference between two paired samples, second minus first, and its p-value."""

    difference: Interval
    p: float


def mean_interval(
    values: Sequence[float], *, resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = SEED
) -> Interval:
    """The mean with its percentile bootstrap interval (Efron 1979)."""
    if not 0 < confidence < 1 or resamples < 1:
        raise InvalidInput("confidence must be between 0 and 1, resamples at least 1", remedy="Try 0.95 and 10,000.")
    sample = _sample(values)
    means = np.concatenate(list(_resampled_means(sample, resamples, seed)))
    low, high = np.quantile(means, ((1 - confidence) / 2, (1 + confidence) / 2))
    return Interval(float(sample.mean()), float(low), float(high))


def difference_interval(first: Sequence[float], second: Sequence[float]) -> Interval:
    """The mean of second − first with its interval; questions are resampled as pairs."""
    return mean_interval(_differences(first, second).tolist())


def permutation_test(
    first: Sequence[float], second: Sequence[float], *, permutations: int = RESAMPLES, seed: int = SEED
) -> float:
    """The two-sided p-value of Fisher's paired randomisation test on the difference of means.

    If two recipes were equally good, the difference of each question could as well have the other sign: p is the
    share of sign patterns whose sum is at least as far from 0 as the observed one. For few differences all patterns
    are tried; otherwise patterns are drawn, and p = (as far + 1) / (drawn + 1) (Smucker et al. 2007; Phipson and
    Smyth 2010).
    """
    differences = _differences(first, second)
    differences = differences[differences != 0]  # the sign of 0 does not matter
    if not len(differences):
        return 1.0
    seen = abs(float(differences.sum())) - ROUNDING
    if len(differences) <= EXACT_UP_TO:
        return float((np.abs(_every_sum(differences)) >= seen).mean())
    far = sum(int((np.abs(sums) >= seen).sum()) for sums in _random_sums(differences, permutations, seed))
    return (far + 1) / (permutations + 1)


def compare(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """The interval and the test of second − first, paired by question."""
    return Comparison(difference_interval(first, second), permutation_test(first, second))


def _sample(values: Sequence[float]) -> Floats:
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        raise InvalidInput("There is nothing to average", remedy="Pass the figures of at least one question.")
    return sample


def _differences(first: Sequence[float], second: Sequence[float]) -> Floats:
    if len(first) != len(second):
        raise InvalidInput(
            f"{len(first)} and {len(second)} figures are not paired",
            remedy="Compare two recipes on the same questions in the same order.",
        )
    return _sample(second) - _sample(first)


def _resampled_means(sample: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    """Means of samples drawn with replacement; for values that many questions share, counts are drawn."""
    random = np.random.default_rng(seed)
    values, counts = np.unique(sample, return_counts=True)
    shared = len(values) * SHARED_BY <= len(sample)
    for size in _blocks(resamples, len(sample)):
        if shared:
            yield random.multinomial(len(sample), counts / len(sample), size=size) @ values / len(sample)
        else:
            yield sample[random.integers(0, len(sample), size=(size, len(sample)), dtype=np.int32)].mean(axis=1)


def _random_sums(differences: Floats, permutations: int, seed: int) -> Iterator[Floats]:
    """Sums under random signs; for differences of equal size, the number of negative ones is drawn."""
    random = np.random.default_rng(seed)
    sizes, counts = np.unique(np.abs(differences), return_counts=True)
    shared = len(sizes) * SHARED_BY <= len(differences)
    total = float(np.abs(differences).sum())
    for size in _blocks(permutations, len(differences)):
        if shared:
            negative = random.binomial(counts, 0.5, size=(size, len(sizes))) @ sizes
        else:
            negative = random.integers(0, 2, size=(size, len(differences)), dtype=np.int8) @ np.abs(differences)
        yield total - 2 * negative


def _every_sum(differences: Floats) -> Floats:
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate((sums - difference, sums + difference))
    return sums


def _blocks(total: int, width: int) -> Iterator[int]:
    size = max(1, CELLS_AT_ONCE // width)
    for start in range(0, total, size):
        yield min(size, total - start)
