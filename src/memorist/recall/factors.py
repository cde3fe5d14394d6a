"""Factors besides relevance: age, use, emotion, feedback, trust and situation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import exp, log, log1p
from typing import Literal

from memorist.errors import InvalidInput
from memorist.model import DOUBTED, Candidate, Memory, Tier, Usage, Worth, time_zone
from memorist.models.embedding_text import is_talk
from memorist.recall.stage import Draft, Env, Factor

AgeFrom = Literal["ingested", "valid", "access"]


def age_hours(memory: Memory, now: datetime, since: AgeFrom = "ingested") -> float:
    """Hours since a memory was ingested, became valid, or was last recalled (else ingested); never negative."""
    return max(0.0, (now - _start(memory, since)).total_seconds() / 3600)


def _start(memory: Memory, since: AgeFrom) -> datetime:
    if since == "valid":
        return memory.times.valid_from
    if since == "access" and memory.usage is not None and memory.usage.last_recall is not None:
        return memory.usage.last_recall
    return memory.times.ingested_at


def _above_zero(name: str, value: float) -> None:
    """Refuse a parameter that a formula divides by, unless it is above 0."""
    if not value > 0:
        raise InvalidInput(f"{name} is {value:g}", remedy="It must be a number above 0.")


@dataclass(frozen=True, slots=True)
class BoundedRecency(Factor):
    """1 − share + share · 2^(−age / half-life): newer memories gain at most `share`."""

    kind = "bounded_recency"
    share: float = 0.05
    half_life_days: float = 30.0
    age_from: AgeFrom = "valid"

    def __post_init__(self) -> None:
        _above_zero("bounded_recency.half_life_days", self.half_life_days)

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Between 1 − share and 1."""
        days = age_hours(candidate.memory, draft.request.now, self.age_from) / 24
        return 1 - self.share + self.share * 2 ** (-days / self.half_life_days)


@dataclass(frozen=True, slots=True)
class RecencyBand(Factor):
    """floor + (1 − floor) · exp(−age hours / time_constant); mnemosyne-hybrid: floor 0.7, 168 hours."""

    kind = "recency_band"
    floor: float = 0.7
    time_constant: float = 168.0
    age_from: AgeFrom = "ingested"

    def __post_init__(self) -> None:
        _above_zero("recency_band.time_constant", self.time_constant)

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Between floor and 1."""
        hours = age_hours(candidate.memory, draft.request.now, self.age_from)
        return self.floor + (1 - self.floor) * exp(-hours / self.time_constant)


@dataclass(frozen=True, slots=True)
class LinearRecency(Factor):
    """max(floor, 1 − days / span); abmind: floor 0.3 and 365 days, so the floor applies from 255.5 days."""

    kind = "linear_recency"
    floor: float = 0.3
    span_days: float = 365.0
    age_from: AgeFrom = "ingested"

    def __post_init__(self) -> None:
        _above_zero("linear_recency.span_days", self.span_days)

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Between floor and 1."""
        days = age_hours(candidate.memory, draft.request.now, self.age_from) / 24
        return max(self.floor, 1 - days / self.span_days)


def soft_count(recalls: int, cap: float = 5.0) -> float:
    """n up to the cap, then cap · (1 + ln(n / cap)): 10 → 8.47, 20 → 11.93."""
    return float(recalls) if recalls <= cap else cap * (1 + log(recalls / cap))


@dataclass(frozen=True, slots=True)
class RecallCount(Factor):
    """1 + weight · recalls; abmind: 0.1."""

    kind = "recall_count"
    weight: float = 0.1

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """1 for a memory that was never recalled."""
        return 1 + self.weight * (candidate.memory.usage or Usage()).recalls


def _days_between(usage: Usage) -> float:
    """The mean of the days between the last recalls; 0 for fewer than two, and if the clock went back."""
    times = usage.recall_times
    return max(0.0, (times[-1] - times[0]).total_seconds() / 86400 / (len(times) - 1)) if len(times) > 1 else 0.0


@dataclass(frozen=True, slots=True)
class Spacing(Factor):
    """`weekly` if the last recalls are at least 7 days apart on average, `daily` if at least 1; abmind: 1.3, 1.15."""

    kind = "spacing"
    weekly: float = 1.3
    daily: float = 1.15

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """1 for fewer than two recalls, or recalls less than a day apart."""
        days = _days_between(candidate.memory.usage or Usage())
        return self.weekly if days >= 7 else self.daily if days >= 1 else 1.0


UNRATED = Worth().confidence
"""The confidence of a memory to which nobody gave one."""


def _decaying_tier(memory: Memory) -> str:
    """The tier by which a memory decays: a pinned one as slowly as the core."""
    return Tier.CORE.value if memory.tier is Tier.PINNED else Tier(memory.tier).value


@dataclass(frozen=True, slots=True)
class Weibull(Factor):
    """mnemo's decay by tier: clamp(0.3 + 0.7 · max(tier floor · confidence, composite), 0.3, 1).

    composite = 0.4 · recency + 0.3 · frequency + 0.3 · intrinsic; recency = exp(−(ln 2 / H) · days^β) since
    the last access, H = 30 · exp(1.5 · importance) · (1 + 0.5 · salience); frequency = (1 − exp(−n / 5)) ·
    (0.5 + 0.5 · exp(−gap / 30)), where gap is the mean of the days between recalls; intrinsic = importance ·
    confidence · (1 + 0.3 · salience). With `adaptive`, recalls beyond 5 count logarithmically.

    A remembered text that was stored with the confidence 1, the default, counts as one that nobody rated: it has
    `confidence`. Facts and lessons keep theirs.
    """

    kind = "weibull"
    core: float = 0.8
    working: float = 1.0
    peripheral: float = 1.3
    core_floor: float = 0.9
    working_floor: float = 0.7
    peripheral_floor: float = 0.5
    half_life_days: float = 30.0
    confidence: float = 0.7
    adaptive: bool = True

    def __post_init__(self) -> None:
        _above_zero("weibull.half_life_days", self.half_life_days)

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Between 0.3 and 1."""
        memory = candidate.memory
        floor = getattr(self, f"{_decaying_tier(memory)}_floor") * self.certainty(memory)
        return min(1.0, max(0.3, 0.3 + 0.7 * max(floor, self.composite(memory, draft.request.now))))

    def composite(self, memory: Memory, now: datetime) -> float:
        """The number that decides about tier changes."""
        intrinsic = memory.worth.importance * self.certainty(memory) * (1 + 0.3 * memory.worth.salience)
        return 0.4 * self.recency(memory, now) + 0.3 * self.frequency(memory.usage or Usage()) + 0.3 * intrinsic

    def certainty(self, memory: Memory) -> float:
        """Its confidence, or that of a remembered text that nobody rated, even if feedback called it wrong since."""
        own = memory.worth.confidence
        derived = memory.fact is not None or bool(memory.metadata.get("by"))
        unrated = own == UNRATED or DOUBTED in memory.worth.flags
        return min(own, self.confidence) if unrated and not derived else own

    def frequency(self, usage: Usage) -> float:
        """0 if it was never recalled; recalls far apart count up to half as much."""
        count = soft_count(usage.recalls) if self.adaptive else usage.recalls
        return (1 - exp(-count / 5)) * (0.5 + 0.5 * exp(-_days_between(usage) / 30))

    def recency(self, memory: Memory, now: datetime) -> float:
        """The Weibull curve of the memory's tier."""
        scale = self.half_life_days * exp(1.5 * memory.worth.importance) * (1 + 0.5 * memory.worth.salience)
        days = age_hours(memory, now, "access") / 24
        shape: float = getattr(self, _decaying_tier(memory))
        return exp(-(log(2) / scale) * days**shape)


@dataclass(frozen=True, slots=True)
class EmotionLog(Factor):
    """weight · ln(1 + |emotion|), for the stage `add`; abmind: 0.5."""

    kind = "emotion_log"
    weight: float = 0.5

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """0 without emotion."""
        return self.weight * log1p(abs(candidate.memory.worth.emotion))


@dataclass(frozen=True, slots=True)
class EmotionBoost(Factor):
    """weight · |emotion|, for the stage `add`: a tie-breaker; abmind: 0.02, so at most 0.1."""

    kind = "emotion_boost"
    weight: float = 0.02

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """0 without emotion."""
        return self.weight * abs(candidate.memory.worth.emotion)


@dataclass(frozen=True, slots=True)
class EmotionFactor(Factor):
    """1 + weight · |emotion|; abmind: 0.1."""

    kind = "emotion"
    weight: float = 0.1

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """1 without emotion."""
        return 1 + self.weight * abs(candidate.memory.worth.emotion)


@dataclass(frozen=True, slots=True)
class RelevanceFactor(Factor):
    """1 + boost if feedback has raised the memory's relevance above 0; abmind: 0.2."""

    kind = "relevance"
    boost: float = 0.2

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """1 or 1 + boost."""
        return 1 + self.boost if candidate.memory.worth.relevance > 0 else 1.0


@dataclass(frozen=True, slots=True)
class FeedbackFactor(Factor):
    """1 + share · relevance / 5, with relevance limited to −5 to 5: feedback changes a score by at most `share`."""

    kind = "feedback"
    share: float = 0.1

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Between 1 − share and 1 + share; 1 without feedback."""
        return 1 + self.share * min(5.0, max(-5.0, candidate.memory.worth.relevance)) / 5


@dataclass(frozen=True, slots=True)
class TrustFactor(Factor):
    """0.5 + 0.5 · trust / 3: 1 for memories from the owner, 0.5 for untrusted ones."""

    kind = "trust"

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Between 0.5 and 1."""
        return 0.5 + 0.5 * candidate.memory.worth.trust / 3


@dataclass(frozen=True, slots=True)
class CredibilityFactor(Factor):
    """`boost` for credibility 1 or 2, the best grades; abmind: 1.25."""

    kind = "credibility"
    boost: float = 1.25

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """1 or boost."""
        return self.boost if candidate.memory.worth.credibility <= 2 else 1.0


@dataclass(frozen=True, slots=True)
class TierFactor(Factor):
    """`core` for memories of that tier and pinned ones; abmind: 1.3."""

    kind = "tier"
    core: float = 1.3

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """1 or core."""
        return self.core if candidate.memory.tier in (Tier.CORE, Tier.PINNED) else 1.0


def part_of_day(hour: int) -> int:
    """0 for morning (6–12), 1 for afternoon (12–18), 2 for evening (18–23), 3 for night."""
    return 0 if 6 <= hour < 12 else 1 if 12 <= hour < 18 else 2 if 18 <= hour < 23 else 3


@dataclass(frozen=True, slots=True)
class SituationBoost(Factor):
    """For the stage `add`, if a situation is given: a boost each for the same part of day, weekday and topic.

    The weekday boost is halved if only the class of day (workday or weekend) is the same. abmind: 0.02, 0.015 and 0.03.
    The time of a memory is that of its ingestion, in the time zone of the situation.
    """

    kind = "situation"
    hour: float = 0.02
    weekday: float = 0.015
    topic: float = 0.03

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """0 without a situation."""
        now = draft.request.situation
        if now is None:
            return 0.0
        made = _local(candidate.memory.times.ingested_at, now.zone)
        boost = 0.0
        if now.hour is not None and part_of_day(now.hour) == part_of_day(made.hour):
            boost += self.hour
        if now.weekday is not None:
            boost += self.weekday * _same_day(now.weekday, made)
        if now.topic is not None and now.topic == candidate.memory.topic:
            boost += self.topic
        return boost


def _local(moment: datetime, zone: str | None) -> datetime:
    try:
        return moment.astimezone(time_zone(zone) if zone else UTC)
    except OverflowError:  # the first and the last day of the calendar
        return moment


def _same_day(weekday: int, made: datetime) -> float:
    if weekday == made.weekday():
        return 1.0
    return 0.5 if (weekday >= 5) == (made.weekday() >= 5) else 0.0


@dataclass(frozen=True, slots=True)
class WrittenWords(Factor):
    """weight · the norm of the keyword signal, for the stage `add`: documents use exact terms, people do not.

    0 for conversation, for notes of fewer than `least` characters, and for facts, which are replaced by their sources.
    """

    kind = "written_words"
    weight: float = 0.2
    least: int = 200

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """0 if the keyword signal did not find the memory."""
        found = candidate.evidence.get("keyword")
        memory = candidate.memory
        if found is None or memory.fact is not None or len(memory.text) < self.least or is_talk(memory):
            return 0.0
        return self.weight * found.norm


MONTH = timedelta(days=31)


@dataclass(frozen=True, slots=True)
class InTime(Factor):
    """weight · the norm of the signal `temporal`, for the stage `add`, if the question names a day, a week or a month.

    0 for a question without a time, and for one about a whole year or more, in which too much happens.
    """

    kind = "in_time"
    weight: float = 0.3

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """0 if nothing happened in or near that time."""
        found = candidate.evidence.get("temporal")
        named = any(end - start <= MONTH for start, end in draft.query.windows)
        return self.weight * found.norm if found is not None and named else 0.0
