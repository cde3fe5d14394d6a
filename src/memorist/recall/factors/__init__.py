"""Factors: what besides relevance makes a memory worth recalling."""

from memorist.recall.factors.recency import BoundedRecency, LinearRecency, RecencyBand
from memorist.recall.factors.situation import SituationBoost
from memorist.recall.factors.usage import RecallCount, Spacing, Weibull
from memorist.recall.factors.words import WrittenWords
from memorist.recall.factors.worth import (
    CredibilityFactor,
    EmotionBoost,
    EmotionFactor,
    EmotionLog,
    FeedbackFactor,
    RelevanceFactor,
    TierFactor,
    TrustFactor,
)

__all__ = [
    "BoundedRecency",
    "CredibilityFactor",
    "EmotionBoost",
    "EmotionFactor",
    "EmotionLog",
    "FeedbackFactor",
    "LinearRecency",
    "RecallCount",
    "RecencyBand",
    "RelevanceFactor",
    "SituationBoost",
    "Spacing",
    "TierFactor",
    "TrustFactor",
    "Weibull",
    "WrittenWords",
]
