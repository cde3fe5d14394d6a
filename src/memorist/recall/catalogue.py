"""Every part a recipe may name: ours, and those that installed packages offer as entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from memorist.errors import InvalidInput
from memorist.recall import factors, fuse, hops, score, search, select
from memorist.recall.assemble import Assemble
from memorist.recall.bridge import Bridge
from memorist.recall.cite import AssembleFacts
from memorist.recall.company import Company
from memorist.recall.confidence import Confidence
from memorist.recall.conversation import AssembleTurns
from memorist.recall.credit import CreditSources
from memorist.recall.diversify import MMR
from memorist.recall.enrich import Enrich
from memorist.recall.nodes import Nodes
from memorist.recall.noise import Noise
from memorist.recall.prepare.embed import Embed
from memorist.recall.prepare.kinds import Content
from memorist.recall.prepare.meaning import ClassifyMode, Expand, FindEntities, Tags
from memorist.recall.prepare.time import AsKnown, Dates
from memorist.recall.reason import Reason
from memorist.recall.rerank import Normalise, Rerank, Reread
from memorist.recall.stage import Part
from memorist.recall.superseded import Superseded
from memorist.recall.track import Track

STAGES: tuple[type[Part], ...] = (
    # in the order a recall usually runs them
    Content,
    AsKnown,
    Dates,
    Expand,
    ClassifyMode,
    Tags,
    FindEntities,
    Embed,
    search.Search,
    search.Cascade,
    fuse.ReciprocalRank,
    fuse.WeightedSum,
    fuse.First,
    fuse.Best,
    Nodes,
    hops.Hops,
    hops.Provenance,
    score.Confirm,
    score.Add,
    score.Weigh,
    CreditSources,
    Confidence,
    Company,
    Superseded,
    Normalise,
    Rerank,
    Reread,
    Bridge,
    select.MinimumScore,
    MMR,
    select.Scope,
    Noise,
    select.Unseen,
    select.Limit,
    Enrich,
    Reason,
    Assemble,
    AssembleTurns,
    AssembleFacts,
    Track,
)
SIGNALS: tuple[type[Part], ...] = (
    search.Vector,
    search.Keyword,
    search.Trigram,
    search.Graph,
    search.Temporal,
    search.Fuzzy,
    search.Signature,
    search.Notes,
    search.Edges,
)
FACTORS: tuple[type[Part], ...] = (
    factors.BoundedRecency,
    factors.RecencyBand,
    factors.LinearRecency,
    factors.Weibull,
    factors.RecallCount,
    factors.Spacing,
    factors.RelevanceFactor,
    factors.FeedbackFactor,
    factors.TrustFactor,
    factors.CredibilityFactor,
    factors.TierFactor,
    factors.EmotionFactor,
    factors.EmotionLog,
    factors.EmotionBoost,
    factors.SituationBoost,
    factors.WrittenWords,
)
BUILT_IN = (*STAGES, *SIGNALS, *FACTORS)


@cache
def parts(role: str) -> dict[str, type[Part]]:
    """All parts of a role (`stage`, `signal` or `factor`) by their kind."""
    known: dict[str, type[Part]] = {part.kind: part for part in BUILT_IN if part.role == role}
    for entry in entry_points(group=f"memorist.{role}s"):
        known.setdefault(entry.name, entry.load())
    return known


def part_named(role: str, kind: str) -> type[Part]:
    """The class behind a name in a recipe."""
    try:
        return parts(role)[kind]
    except KeyError:
        raise InvalidInput(
            f"There is no {role} called {kind!r}", remedy=f"Choose one of {', '.join(sorted(parts(role)))}."
        ) from None
