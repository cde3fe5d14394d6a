"""What a memory is worth in itself: abmind's factors and boosts."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p

from memorist.model import Candidate, Tier
from memorist.recall.stage import Draft, Env, Factor


@dataclass(frozen=True, slots=True)
class EmotionLog(Factor):
    """weight · ln(1 + |e|), to add; abmind: 0.5."""

    kind = "emotion_log"
    weight: float = 0.5

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """0 without emotion."""
        return self.weight * log1p(abs(candidate.memory.worth.emotion))


@dataclass(frozen=True, slots=True)
class EmotionBoost(Factor):
    """weight · |e|, to add: a tie-breaker; abmind: 0.02, so at most 0.1."""

    kind = "emotion_boost"
    weight: float = 0.02

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """0 without emotion."""
        return self.weight * abs(candidate.memory.worth.emotion)


@dataclass(frozen=True, slots=True)
class EmotionFactor(Factor):
    """1 + weight · |e|; abmind: 0.1."""

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
    """1 + share · relevance / 5, relevance held to −5 … 5: feedback moves a score by at most `share`."""

    kind = "feedback"
    share: float = 0.1

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Between 1 − share and 1 + share; 1 without feedback."""
        return 1 + self.share * min(5.0, max(-5.0, candidate.memory.worth.relevance)) / 5


@dataclass(frozen=True, slots=True)
class TrustFactor(Factor):
    """0.5 + 0.5 · trust / 3: an owner's word counts fully, an untrusted one half."""

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
    """`core` for memories of that tier; abmind: 1.3."""

    kind = "tier"
    core: float = 1.3

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """1 or core."""
        return self.core if candidate.memory.tier is Tier.CORE else 1.0
