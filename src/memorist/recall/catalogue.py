"""Every part a recipe may name: ours, and those that installed packages offer as entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from memorist.errors import InvalidInput
from memorist.recall import factors, fuse, hops, score, search, select, signals
from memorist.recall.assemble import Assemble, AssembleFacts, AssembleTurns
from memorist.recall.boosts import NeighbourBoost, PromoteSources
from memorist.recall.bridge import Bridge
from memorist.recall.nodes import Nodes
from memorist.recall.prepare import AsKnown, ClassifyMode, Content, Dates, Embed, Expand, FindEntities, Tags
from memorist.recall.reason import Enrich, Reason
from memorist.recall.rerank import Normalise, Rerank, Reread
from memorist.recall.select import MMR, Confidence, Noise
from memorist.recall.stage import Part, Track
from memorist.recall.superseded import Superseded

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
    PromoteSources,
    Confidence,
    NeighbourBoost,
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
    signals.Vector,
    signals.Keyword,
    signals.Trigram,
    signals.Graph,
    signals.Temporal,
    signals.Fuzzy,
    signals.Signature,
    signals.Notes,
    signals.Edges,
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
