"""How a memory has been used: counts, spacing, rewards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import exp, log

from memorist.model import Candidate, Memory, Tier, Usage
from memorist.recall.factors.recency import age_hours
from memorist.recall.stage import Draft, Env, Factor


def soft_count(recalls: int, cap: float = 5.0) -> float:
    """n up to the cap, then cap · (1 + ln(n / cap)): 10 → 8.47, 20 → 11.93."""
    return float(recalls) if recalls <= cap else cap * (1 + log(recalls / cap))


@dataclass(frozen=True, slots=True)
class RecallCount(Factor):
    """1 + weight · recalls; abmind: 0.1."""

    kind = "recall_count"
    weight: float = 0.1

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """1 for a memory never recalled."""
        return 1 + self.weight * (candidate.memory.usage or Usage()).recalls


@dataclass(frozen=True, slots=True)
class Spacing(Factor):
    """`weekly` when the last recalls lie 7 days apart on average, `daily` when 1 day; abmind: 1.3, 1.15."""

    kind = "spacing"
    weekly: float = 1.3
    daily: float = 1.15

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """1 for recalls in quick succession, or fewer than two."""
        times = (candidate.memory.usage or Usage()).recall_times
        if len(times) < 2:
            return 1.0
        days = (times[-1] - times[0]).total_seconds() / 86400 / (len(times) - 1)
        return self.weekly if days >= 7 else self.daily if days >= 1 else 1.0


@dataclass(frozen=True, slots=True)
class Weibull(Factor):
    """mnemo's decay by tier: clamp(0.3 + 0.7 · max(tier floor · confidence, composite), 0.3, 1).

    composite = 0.4 · recency + 0.3 · frequency + 0.3 · intrinsic; recency = exp(−(ln 2 / H) · days^β) since
    the last access, H = 30 · exp(1.5 · importance) · (1 + 0.5 · salience); frequency = 1 − exp(−n / 5);
    intrinsic = importance · confidence · (1 + 0.3 · salience). `soft_cap` counts recalls beyond 5 by their
    logarithm.
    """

    kind = "weibull"
    core: float = 0.8
    working: float = 1.0
    peripheral: float = 1.3
    core_floor: float = 0.9
    working_floor: float = 0.7
    peripheral_floor: float = 0.5
    half_life_days: float = 30.0
    soft_cap: bool = True

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Between 0.3 and 1."""
        memory = candidate.memory
        floor = getattr(self, f"{memory.tier}_floor") * memory.worth.confidence
        return min(1.0, max(0.3, 0.3 + 0.7 * max(floor, self.composite(memory, draft.request.now))))

    def composite(self, memory: Memory, now: datetime) -> float:
        """What tier changes are decided by."""
        worth = memory.worth
        recalls = (memory.usage or Usage()).recalls
        count = soft_count(recalls) if self.soft_cap else recalls
        intrinsic = worth.importance * worth.confidence * (1 + 0.3 * worth.salience)
        return 0.4 * self.curve(memory, now) + 0.3 * (1 - exp(-count / 5)) + 0.3 * intrinsic

    def recency(self, candidate: Candidate, draft: Draft) -> float:
        """The Weibull curve of the candidate's tier at the moment of the recall."""
        return self.curve(candidate.memory, draft.request.now)

    def curve(self, memory: Memory, now: datetime) -> float:
        """The Weibull curve of the memory's tier."""
        scale = self.half_life_days * exp(1.5 * memory.worth.importance) * (1 + 0.5 * memory.worth.salience)
        days = age_hours(memory, now, "access") / 24
        shape: float = getattr(self, Tier(memory.tier).value)
        return exp(-(log(2) / scale) * days**shape)
