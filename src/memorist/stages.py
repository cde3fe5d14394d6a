"""Everything needed to write stages, signals, factors and recipes.

A recipe is a `Pipeline` of stages. Each stage takes a `Draft` and an `Env` and returns the next draft. Signals search,
factors change scores. A part of your own is a frozen dataclass with a `kind`:

>>> from dataclasses import dataclass
>>> from memorist.stages import RECIPES, Factor, Weigh
>>>
>>> @dataclass(frozen=True, slots=True)
... class Starred(Factor):
...     "`boost` for memories with the flag `starred`."
...
...     kind = "starred"
...     boost: float = 1.5
...
...     def __call__(self, candidate, draft, env):
...         return self.boost if "starred" in candidate.memory.worth.flags else 1.0
>>>
>>> recipe = RECIPES["memorist"].replacing("weigh", Weigh((Starred(),)))

A package offers its parts as entry points, by kind, in the groups `memorist.stages`, `memorist.signals` and
`memorist.factors`; recipes in `memorist.toml` can then name them. Value functions for the recipe `mnemosyne-graph` go
in the group `memorist.value_functions`. `memorist.testing.fakes.assert_stage_contract` checks a stage against its
contract.

Stability: names in `__all__`, the kinds and parameters of the parts, and the form of recipes as data follow semantic
versioning. Other modules in `memorist.recall` are private and may change in any release. The numbers of the recipe
`memorist` may be tuned in a minor release; the other recipes reproduce published systems and keep their numbers.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memorist.model import Candidate, Evidence, Found, Hit, Query, RecallRequest
    from memorist.recall.assemble import Assemble, AssembleFacts, AssembleTurns
    from memorist.recall.bridge import Bridge
    from memorist.recall.data import from_data, to_data, with_settings
    from memorist.recall.diversity import MMR
    from memorist.recall.factors import (
        BoundedRecency,
        CredibilityFactor,
        EmotionBoost,
        EmotionFactor,
        EmotionLog,
        FeedbackFactor,
        InTime,
        LinearRecency,
        RecallCount,
        RecencyBand,
        RelevanceFactor,
        SituationBoost,
        Spacing,
        TierFactor,
        TrustFactor,
        Weibull,
        WrittenWords,
    )
    from memorist.recall.fuse import Best, First, ReciprocalRank, WeightedSum
    from memorist.recall.graph import Edges, Graph
    from memorist.recall.hops import Hops, Provenance
    from memorist.recall.llm_or_rules import ClassifyMode, Expand, Tags
    from memorist.recall.nodes import Nodes
    from memorist.recall.persons import Asker
    from memorist.recall.pipeline import Pipeline
    from memorist.recall.prepare import AsKnown, Content, Dates, Embed, FindEntities
    from memorist.recall.read_together import ReadTogether
    from memorist.recall.reason import Enrich, Reason
    from memorist.recall.recipes import RECIPES, Recipes, custom_recipes
    from memorist.recall.rerank import Rerank, RerankBlend
    from memorist.recall.score import Add, Confirm, NeighbourBoost, Normalise, Weigh
    from memorist.recall.search import Cascade, Search
    from memorist.recall.select import (
        Confidence,
        DropShown,
        Judge,
        Limit,
        MinimumScore,
        Noise,
        Relevant,
        Scope,
        Track,
    )
    from memorist.recall.signals import Fuzzy, Keyword, Notes, Signature, Temporal, Trigram, Vector
    from memorist.recall.stage import Draft, Env, Factor, Part, Signal, Stage, ranked
    from memorist.recall.standing import Standing, Wishes
    from memorist.recall.superseded import Superseded
    from memorist.recall.told import Told

__all__ = [
    "MMR",
    "RECIPES",
    "Add",
    "AsKnown",
    "Asker",
    "Assemble",
    "AssembleFacts",
    "AssembleTurns",
    "Best",
    "BoundedRecency",
    "Bridge",
    "Candidate",
    "Cascade",
    "ClassifyMode",
    "Confidence",
    "Confirm",
    "Content",
    "CredibilityFactor",
    "Dates",
    "Draft",
    "DropShown",
    "Edges",
    "Embed",
    "EmotionBoost",
    "EmotionFactor",
    "EmotionLog",
    "Enrich",
    "Env",
    "Evidence",
    "Expand",
    "Factor",
    "FeedbackFactor",
    "FindEntities",
    "First",
    "Found",
    "Fuzzy",
    "Graph",
    "Hit",
    "Hops",
    "InTime",
    "Judge",
    "Keyword",
    "Limit",
    "LinearRecency",
    "MinimumScore",
    "NeighbourBoost",
    "Nodes",
    "Noise",
    "Normalise",
    "Notes",
    "Part",
    "Pipeline",
    "Provenance",
    "Query",
    "ReadTogether",
    "Reason",
    "RecallCount",
    "RecallRequest",
    "RecencyBand",
    "Recipes",
    "ReciprocalRank",
    "RelevanceFactor",
    "Relevant",
    "Rerank",
    "RerankBlend",
    "Scope",
    "Search",
    "Signal",
    "Signature",
    "SituationBoost",
    "Spacing",
    "Stage",
    "Standing",
    "Superseded",
    "Tags",
    "Temporal",
    "TierFactor",
    "Told",
    "Track",
    "Trigram",
    "TrustFactor",
    "Vector",
    "Weibull",
    "Weigh",
    "WeightedSum",
    "Wishes",
    "WrittenWords",
    "custom_recipes",
    "from_data",
    "ranked",
    "to_data",
    "with_settings",
]

_CONTRACT = ("recall.stage", "model", "recall.pipeline", "recall.recipes", "recall.data")
"""The modules of the names that are not parts."""


def __getattr__(name: str) -> Any:
    """Import a name on first use, so that a recipe loads only its own stages."""
    from memorist.recall.catalogue import BUILT_IN, RENAMED_STAGES, current_kind

    former = name.lower()
    if former in RENAMED_STAGES and name == former.title():
        name = current_kind(former).title().replace("_", "")
    if name not in __all__:
        raise AttributeError(f"module 'memorist.stages' has no attribute {name!r}")
    targets = (target.split(":") for kinds in BUILT_IN.values() for target in kinds.values())
    homes = [f"recall.{module}" for module, part in targets if part == name] or _CONTRACT
    modules = (_import_module(f"memorist.{home}") for home in homes)
    return next(getattr(module, name) for module in modules if hasattr(module, name))
