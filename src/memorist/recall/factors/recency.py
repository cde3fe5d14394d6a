"""How the passing of time lowers a score."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import exp
from typing import Literal

from memorist.model import Candidate, Memory
from memorist.recall.stage import Draft, Env, Factor

AgeFrom = Literal["ingested", "valid", "access"]


def age_hours(memory: Memory, now: datetime, since: AgeFrom = "ingested") -> float:
    """Hours since a memory was ingested, became true, or was last recalled (if ever); never negative."""
    return max(0.0, (now - _start(memory, since)).total_seconds() / 3600)


def _start(memory: Memory, since: AgeFrom) -> datetime:
    if since == "valid":
        return memory.times.valid_from
    if since == "access" and memory.usage is not None and memory.usage.last_recall is not None:
        return memory.usage.last_recall
    return memory.times.ingested_at


@dataclass(frozen=True, slots=True)
class BoundedRecency(Factor):
    """1 − share + share · 2^(−age / half-life): newer is better, by at most `share`."""

    kind = "bounded_recency"
    share: float = 0.05
    half_life_days: float = 30.0
    age_from: AgeFrom = "valid"

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

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Between floor and 1."""
        hours = age_hours(candidate.memory, draft.request.now, self.age_from)
        return self.floor + (1 - self.floor) * exp(-hours / self.time_constant)


@dataclass(frozen=True, slots=True)
class LinearRecency(Factor):
    """max(floor, 1 − days / span); abmind: floor 0.3, 365 days, so the floor is reached at 255.5 days."""

    kind = "linear_recency"
    floor: float = 0.3
    span_days: float = 365.0
    age_from: AgeFrom = "ingested"

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Between floor and 1."""
        days = age_hours(candidate.memory, draft.request.now, self.age_from) / 24
        return max(self.floor, 1 - days / self.span_days)
