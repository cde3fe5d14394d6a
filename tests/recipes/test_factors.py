"""The factors of mnemo (seed 001), abmind (003) and mnemosyne-hybrid (004), number by number."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import exp, log

import pytest

from memorist.model import Candidate, Situation, Tier, Usage, Worth
from memorist.recall.factors import LinearRecency, RecencyBand, SituationBoost, Spacing, Weibull, soft_count
from memorist.recall.signals import Fuzzy
from tests.recall.worlds import NOW, draft, memory, world


def aged(days: float, **fields: object) -> Candidate:
    return Candidate(memory("a", at=NOW - timedelta(days=days), **fields), 1.0)


@pytest.mark.parametrize(
    ("tier", "recency", "multiplier"),
    [(Tier.CORE, 0.847, 0.93), (Tier.WORKING, 0.721, 0.79), (Tier.PERIPHERAL, 0.403, 0.65)],
)
def test_weibull_by_tier_after_thirty_days(tier: Tier, recency: float, multiplier: float) -> None:
    one, asked = aged(30, tier=tier), draft()
    with world() as env:
        assert Weibull().recency(one.memory, asked.request.now) == pytest.approx(recency, abs=5e-4)
        assert Weibull()(one, asked, env) == pytest.approx(multiplier, abs=5e-3)


def test_weibull_of_a_peripheral_memory_recalled_five_times() -> None:
    """Last access stays 30 days ago, so only the frequency grows: 1 − e⁻¹ = 0.632."""
    usage = Usage(recalls=5, last_recall=NOW - timedelta(days=30))
    with world() as env:
        assert Weibull()(aged(30, tier=Tier.PERIPHERAL, usage=usage), draft(), env) == pytest.approx(0.6506, abs=5e-5)


def test_weibull_counts_from_the_last_access() -> None:
    recalled = aged(300, usage=Usage(recalls=1, last_recall=NOW))
    assert Weibull().recency(recalled.memory, draft().request.now) == 1.0


@pytest.mark.parametrize(("recalls", "count"), [(0, 0), (5, 5), (10, 8.466), (20, 11.931)])
def test_the_soft_cap_counts_recalls_beyond_five_by_their_logarithm(recalls: int, count: float) -> None:
    assert soft_count(recalls) == pytest.approx(count, abs=5e-4)


@pytest.mark.parametrize(("hours", "factor"), [(0, 1.0), (24, 0.960), (168, 0.810), (10**6, 0.7)])
def test_the_recency_band_of_mnemosyne_hybrid(hours: float, factor: float) -> None:
    with world() as env:
        assert RecencyBand()(aged(hours / 24), draft(), env) == pytest.approx(factor, abs=5e-4)


@pytest.mark.parametrize(("days", "factor"), [(0, 1.0), (73, 0.8), (255.5, 0.3), (365, 0.3)])
def test_the_linear_recency_of_abmind_reaches_its_floor_at_255_days(days: float, factor: float) -> None:
    with world() as env:
        assert LinearRecency()(aged(days), draft(), env) == pytest.approx(factor)


def worked() -> Candidate:
    one = aged(
        73,
        tier=Tier.CORE,
        usage=Usage(recalls=2),
        worth=Worth(emotion=3, relevance=0.5, trust=3, credibility=2),
    )
    return Candidate(one.memory, 2.0)


def test_abminds_formula_on_the_worked_example() -> None:
    with world() as env:
        assert Fuzzy().hit(worked(), draft(), env).score == pytest.approx(6.554, abs=5e-4)


def test_abminds_formula_term_by_term() -> None:
    with world() as env:
        factors = {factor.kind: factor(worked(), draft(), env) for factor in Fuzzy().factors}
        added = Fuzzy().add[0](worked(), draft(), env)
    assert added == pytest.approx(0.5 * log(4))
    assert factors == pytest.approx(
        {
            "recall_count": 1.2,
            "relevance": 1.2,
            "trust": 1.0,
            "credibility": 1.25,
            "tier": 1.3,
            "linear_recency": 0.8,
            "emotion": 1.3,
        }
    )


@pytest.mark.parametrize(
    ("days", "factor"), [([0, 7, 14], 1.3), ([0, 1], 1.15), ([0, 0.5], 1.0), ([3], 1.0), ([], 1.0), ([0, 6, 8], 1.15)]
)
def test_spaced_recalls_are_remembered_better(days: list[float], factor: float) -> None:
    times = tuple(NOW - timedelta(days=30 - day) for day in days)
    with world() as env:
        assert Spacing()(aged(40, usage=Usage(recalls=len(times), recall_times=times)), draft(), env) == factor


MADE = datetime(2024, 6, 4, 9, 30, tzinfo=UTC)  # a Tuesday morning


@pytest.mark.parametrize(
    ("situation", "boost"),
    [
        (None, 0.0),
        (Situation(), 0.0),
        (Situation(hour=6), 0.02),
        (Situation(hour=12), 0.0),
        (Situation(weekday=1), 0.015),
        (Situation(weekday=4), 0.0075),
        (Situation(weekday=6), 0.0),
        (Situation(topic="work"), 0.03),
        (Situation(hour=11, weekday=1, topic="work"), 0.065),
    ],
)
def test_the_same_situation_helps_a_little(situation: Situation | None, boost: float) -> None:
    one = Candidate(memory("a", at=MADE, topic="work"), 1.0)
    with world() as env:
        assert SituationBoost()(one, draft(situation=situation), env) == pytest.approx(boost)


def test_weibull_written_out() -> None:
    """importance 0.8, confidence 0.9, salience 0.5, n 3, 10 days, working."""
    worth = Worth(importance=0.8, confidence=0.9, salience=0.5)
    one = aged(10, worth=worth, usage=Usage(recalls=3, last_recall=NOW - timedelta(days=10)))
    scale = 30 * exp(1.5 * 0.8) * 1.25
    composite = 0.4 * exp(-log(2) / scale * 10) + 0.3 * (1 - exp(-0.6)) + 0.3 * 0.8 * 0.9 * 1.15
    with world() as env:
        assert Weibull()(one, draft(), env) == pytest.approx(0.3 + 0.7 * max(0.7 * 0.9, composite))
