"""The moment of asking, compared with the moment a memory was made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memorist.model import Candidate
from memorist.recall.stage import Draft, Env, Factor


def part_of_day(hour: int) -> int:
    """Morning 6–12, afternoon 12–18, evening 18–23, night the rest."""
    return 0 if 6 <= hour < 12 else 1 if 12 <= hour < 18 else 2 if 18 <= hour < 23 else 3


@dataclass(frozen=True, slots=True)
class SituationBoost(Factor):
    """To add, only when a situation is given: same part of day, weekday (half for the same class), topic.

    abmind: 0.02, 0.015 and 0.03. Memories were made at their ingestion, seen in the caller's zone.
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
        made = candidate.memory.times.ingested_at.astimezone(draft.request.now.tzinfo)
        boost = 0.0
        if now.hour is not None and part_of_day(now.hour) == part_of_day(made.hour):
            boost += self.hour
        if now.weekday is not None:
            boost += self.weekday * _same_day(now.weekday, made)
        if now.topic is not None and now.topic == candidate.memory.topic:
            boost += self.topic
        return boost


def _same_day(weekday: int, made: datetime) -> float:
    if weekday == made.weekday():
        return 1.0
    return 0.5 if (weekday >= 5) == (made.weekday() >= 5) else 0.0
