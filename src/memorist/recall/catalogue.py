"""Every part that a recipe may name: ours, and those that installed packages offer as entry points.

A part is imported when it is first looked up, so a recall loads only the modules of its recipe.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING
from warnings import warn

from memorist.errors import InvalidInput
from memorist.recall.stage import Part

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

BUILT_IN = {
    "stage": {  # in the order in which a recall usually runs them
        "content": "prepare:Content",
        "as_known": "prepare:AsKnown",
        "dates": "prepare:Dates",
        "expand": "llm_or_rules:Expand",
        "mode": "llm_or_rules:ClassifyMode",
        "tags": "llm_or_rules:Tags",
        "entities": "prepare:FindEntities",
        "embed": "prepare:Embed",
        "search": "search:Search",
        "cascade": "search:Cascade",
        "rrf": "fuse:ReciprocalRank",
        "weighted_sum": "fuse:WeightedSum",
        "first": "fuse:First",
        "best": "fuse:Best",
        "nodes": "nodes:Nodes",
        "hops": "hops:Hops",
        "provenance": "hops:Provenance",
        "confirm": "score:Confirm",
        "add": "score:Add",
        "weigh": "score:Weigh",
        "wishes": "standing:Wishes",
        "neighbour_boost": "score:NeighbourBoost",
        "asker": "persons:Asker",
        "told": "told:Told",
        "judge": "select:Judge",
        "confidence": "select:Confidence",
        "read_together": "read_together:ReadTogether",
        "superseded": "superseded:Superseded",
        "normalise": "score:Normalise",
        "rerank": "rerank:Rerank",
        "rerank_blend": "rerank:RerankBlend",
        "bridge": "bridge:Bridge",
        "relevant": "select:Relevant",
        "minimum_score": "select:MinimumScore",
        "mmr": "diversity:MMR",
        "scope": "select:Scope",
        "noise": "select:Noise",
        "drop_shown": "select:DropShown",
        "limit": "select:Limit",
        "enrich": "reason:Enrich",
        "reason": "reason:Reason",
        "standing": "standing:Standing",
        "assemble": "assemble:Assemble",
        "assemble_turns": "assemble:AssembleTurns",
        "assemble_facts": "assemble:AssembleFacts",
        "track": "select:Track",
    },
    "signal": {
        "vector": "signals:Vector",
        "keyword": "signals:Keyword",
        "trigram": "signals:Trigram",
        "graph": "graph:Graph",
        "temporal": "signals:Temporal",
        "fuzzy": "signals:Fuzzy",
        "signature": "signals:Signature",
        "notes": "signals:Notes",
        "edges": "graph:Edges",
    },
    "factor": {
        "bounded_recency": "factors:BoundedRecency",
        "recency_band": "factors:RecencyBand",
        "linear_recency": "factors:LinearRecency",
        "weibull": "factors:Weibull",
        "recall_count": "factors:RecallCount",
        "spacing": "factors:Spacing",
        "relevance": "factors:RelevanceFactor",
        "feedback": "factors:FeedbackFactor",
        "trust": "factors:TrustFactor",
        "credibility": "factors:CredibilityFactor",
        "tier": "factors:TierFactor",
        "emotion": "factors:EmotionFactor",
        "emotion_log": "factors:EmotionLog",
        "emotion_boost": "factors:EmotionBoost",
        "situation": "factors:SituationBoost",
        "written_words": "factors:WrittenWords",
        "in_time": "factors:InTime",
    },
}
"""Module and class of each part, by role and kind."""
RENAMED_STAGES = {"newest": "read_together", "unseen": "drop_shown", "reread": "rerank_blend"}
"""The former names of stages. Recipes, settings and imports may still use them."""
ROLES = tuple(BUILT_IN)


def part_named(role: str, kind: str) -> type[Part]:
    """The class of a part, by its role (`stage`, `signal` or `factor`) and kind."""
    kind = current_kind(kind) if role == "stage" else kind
    if kind in BUILT_IN[role]:
        return _built_in(role, kind)
    offered = _offered(role).select(name=kind)
    if not offered:
        raise InvalidInput(f"There is no {role} called {kind!r}", remedy=f"Choose one of {', '.join(_kinds(role))}.")
    return offered[kind].load()


def current_kind(kind: str) -> str:
    """The name that a stage has now; its former name still works, with a warning."""
    if kind in RENAMED_STAGES:
        warn(f"The stage {kind!r} is now called {RENAMED_STAGES[kind]!r}", DeprecationWarning, stacklevel=2)
    return RENAMED_STAGES.get(kind, kind)


def parts(role: str) -> dict[str, type[Part]]:
    """All parts of a role by kind: ours in order, then those of installed packages."""
    offered = (entry.name for entry in _offered(role))
    return {kind: part_named(role, kind) for kind in dict.fromkeys([*BUILT_IN[role], *offered])}


def _kinds(role: str) -> list[str]:
    return sorted({*BUILT_IN[role], *(entry.name for entry in _offered(role))})


def _offered(role: str) -> EntryPoints:
    """The parts of a role that installed packages offer. A recipe of our own parts never asks for them."""
    from importlib.metadata import entry_points

    return entry_points(group=f"memorist.{role}s")


@cache
def _built_in(role: str, kind: str) -> type[Part]:
    module, _, name = BUILT_IN[role][kind].partition(":")
    return getattr(import_module(f"memorist.recall.{module}"), name)
