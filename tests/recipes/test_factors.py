"""The factors of mnemo (seed 001), abmind (003) and mnemosyne-hybrid (004), number by number."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import exp, log

import pytest

from memorist.errors import InvalidInput
from memorist.model import DOUBTED, Candidate, Fact, Kind, Situation, Tier, Usage, Worth
from memorist.recall.data import with_settings
from memorist.recall.factors import LinearRecency, RecencyBand, SituationBoost, Spacing, Weibull, soft_count
from memorist.recall.recipes import RECIPES
from memorist.recall.signals import Fuzzy
from tests.recall.worlds import NOW, draft, memory, world


def aged(days: float, **fields: object) -> Candidate:
    return Candidate(memory("a", at=NOW - timedelta(days=days), **fields), 1.0)


@pytest.mark.parametrize(
    ("tier", "recency", "rated", "unrated"),
    [(Tier.CORE, 0.847, 0.93, 0.741), (Tier.WORKING, 0.721, 0.79, 0.643), (Tier.PERIPHERAL, 0.403, 0.65, 0.545)],
)
def test_weibull_by_tier_after_thirty_days(tier: Tier, recency: float, rated: float, unrated: float) -> None:
    one, asked = aged(30, tier=tier), draft()
    with world() as env:
        assert Weibull().recency(one.memory, asked.request.now) == pytest.approx(recency, abs=5e-4)
        assert Weibull(confidence=1.0)(one, asked, env) == pytest.approx(rated, abs=5e-4)
        assert Weibull()(one, asked, env) == pytest.approx(unrated, abs=5e-4)


def test_weibull_of_a_peripheral_memory_recalled_five_times() -> None:
    """Last access stays 30 days ago, so only the frequency grows: 1 − e⁻¹ = 0.632."""
    usage = Usage(recalls=5, last_recall=NOW - timedelta(days=30))
    often = aged(30, tier=Tier.PERIPHERAL, usage=usage)
    with world() as env:
        assert Weibull(confidence=1.0)(often, draft(), env) == pytest.approx(0.6506, abs=5e-5)


@pytest.mark.parametrize(("days", "factor"), [(0, 0.692), (5, 0.677), (30, 0.643), (365, 0.643)])
def test_a_memory_that_nobody_rated_fades_to_the_floor_of_its_tier(days: float, factor: float) -> None:
    """Recalled once: composite 0.4 · recency + 0.3 · (1 − e^−0.2) + 0.3 · 0.5 · 0.7, or the floor 0.7 · 0.7."""
    once = aged(days, usage=Usage(recalls=1, last_recall=NOW - timedelta(days=days)))
    with world() as env:
        assert Weibull()(once, draft(), env) == pytest.approx(factor, abs=5e-4)


def test_only_a_remembered_text_with_the_default_confidence_counts_as_unrated() -> None:
    """A verdict of "wrong" lowers the stored confidence by a quarter and never raises what counts."""
    fact = memory("fact", fact=Fact("Ann", "likes", "tea"))
    lesson = memory("lesson", kind=Kind.SEMANTIC, metadata={"by": "rules"})
    text = {share: memory("text", worth=Worth(confidence=share)) for share in (1.0, 0.9, 0.4)}
    wrong = {share: memory("wrong", worth=Worth(confidence=share, flags=(DOUBTED,))) for share in (0.75, 0.5)}
    certain = [Weibull().certainty(row) for row in (fact, lesson, *text.values(), *wrong.values())]
    assert certain == [1.0, 1.0, 0.7, 0.9, 0.4, 0.7, 0.5]


@pytest.mark.parametrize(("gap", "share"), [(0, 1.0), (1, 0.984), (30, 0.684), (3650, 0.5)])
def test_recalls_far_apart_count_less(gap: float, share: float) -> None:
    """Four recalls count 1 − e^−0.8, times 0.5 + 0.5 · e^(−gap / 30)."""
    times = tuple(NOW - timedelta(days=gap * back) for back in (3, 2, 1, 0))
    often = Usage(recalls=4, last_recall=NOW, recall_times=times)
    assert Weibull().frequency(often) == pytest.approx((1 - exp(-0.8)) * share, abs=5e-4)


def test_a_clock_that_went_back_is_no_gap() -> None:
    back = Usage(recalls=2, recall_times=(NOW, NOW - timedelta(days=300)))
    assert Weibull().frequency(back) == pytest.approx(1 - exp(-0.4))


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


@pytest.mark.parametrize(
    ("recipe", "parameter", "named"),
    [
        ("mnemosyne-hybrid", "half_life_hours", "recency_band.time_constant"),
        ("abmind", "linear_recency.span_days", "linear_recency.span_days"),
        ("mnemo", "weibull.half_life_days", "weibull.half_life_days"),
        ("memorist", "bounded_recency.half_life_days", "bounded_recency.half_life_days"),
    ],
)
@pytest.mark.parametrize("value", [0, -3, float("nan")])
def test_a_time_of_decay_must_be_above_zero(recipe: str, parameter: str, named: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=f"{named} is {value:g}"):
        with_settings(RECIPES[recipe], {parameter: value})
