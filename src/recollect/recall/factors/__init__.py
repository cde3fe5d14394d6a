"""Factors: what besides relevance makes a memory worth recalling."""

from recollect.recall.factors.recency import BoundedRecency, LinearRecency, RecencyBand
from recollect.recall.factors.situation import SituationBoost
from recollect.recall.factors.usage import RecallCount, Spacing, Weibull
from recollect.recall.factors.words import WrittenWords
from recollect.recall.factors.worth import (
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
