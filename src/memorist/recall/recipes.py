"""The recipes that ship, and those that users write as data."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memorist.errors import InvalidInput
from memorist.recall.assemble import Assemble, AssembleFacts, AssembleTurns
from memorist.recall.boosts import NeighbourBoost, PromoteSources
from memorist.recall.bridge import Bridge
from memorist.recall.data import from_data, with_settings
from memorist.recall.factors import (
    BoundedRecency,
    EmotionBoost,
    RecencyBand,
    SituationBoost,
    Spacing,
    Weibull,
    WrittenWords,
)
from memorist.recall.fuse import First, ReciprocalRank, WeightedSum
from memorist.recall.hops import Hops, Provenance
from memorist.recall.nodes import Nodes
from memorist.recall.pipeline import Pipeline
from memorist.recall.prepare import AsKnown, ClassifyMode, Content, Dates, Embed, Expand, FindEntities, Tags
from memorist.recall.reason import Enrich, Reason
from memorist.recall.rerank import Normalise, Rerank, Reread
from memorist.recall.score import Add, Confirm, Weigh
from memorist.recall.search import Cascade, Search
from memorist.recall.select import MMR, Confidence, Limit, MinimumScore, Noise, Scope, Unseen
from memorist.recall.signals import Edges, Fuzzy, Graph, Keyword, Notes, Signature, Temporal, Vector
from memorist.recall.stage import Track
from memorist.recall.superseded import Superseded

WEIGHTS = {"vector": 0.9, "keyword": 0.1, "temporal": 0.1}
"""The weight of each signal; docs/explanation/recall.md says what each one adds on which data."""
MEMORIST = Pipeline(
    "memorist",
    (
        Content(),
        Dates(),
        Embed(latin=("memorist-embed-1", "all-minilm-l6-v2")),
        Search((Vector(), Keyword(spelling=True), Temporal(reach_days=7)), limit=100),
        # A question without a vector, for its script or for want of an embedder, has words alone to go by.
        WeightedSum(weights=WEIGHTS, importance=0.0, keep=60, fallback={"vector": "keyword"}),
        Add((WrittenWords(weight=0.2),)),
        Weigh((BoundedRecency(share=0.02, half_life_days=90),)),
        PromoteSources(),
        Confidence(),
        NeighbourBoost(near=0.1, session=0.2),
        Reread(depth=20, weight=1.0, statement_weight=2.0, tokens=2500),
        Bridge(weight=0.4),
        NeighbourBoost(near=0.1, session=0.0),
        Superseded(share=0.5),
        Unseen(),
        Limit(),
        AssembleTurns(max_tokens=2000),
        Track(),
    ),
    about="Our own recipe: every part of it helped on at least two public datasets.",
)

MNEMOSYNE_GRAPH = Pipeline(
    "mnemosyne-graph",
    (
        ClassifyMode(),
        Tags(),
        Embed(),
        Nodes(),
        Hops(max_hops=2),
        Provenance(decay=0.5),
        Reason(),
        Limit(),
        Assemble(),
        Track(),
    ),
    about="""Mnemosyne's knowledge graph: the kind of memory wanted, tag probes, a value per node, hops, reasoning.

score = relevance · recency · frequency · reward; up to two hops through tags and intents; sources of episodes at half
their score; a summary per type of memory.""",
)

MNEMO = Pipeline(
    "mnemo",
    (
        Content(),
        Expand(),
        Dates(rewrite=True),
        FindEntities(),
        Embed(),
        Search((Vector(), Keyword(), Graph()), limit=30, adaptive=True),
        ReciprocalRank(k=60, keep=1000),
        Weigh((Weibull(soft_cap=True),)),
        Normalise(),
        Rerank(depth=1000, blend=0.6),
        MinimumScore(score=0.3, adaptive=True),
        MMR(balance=0.7, by="vectors"),
        Scope(),
        Noise(similarity=0.82),
        Unseen(),
        Limit(),
        Assemble(),
        Track(),
    ),
    about="""Mnemo's ten stages: preprocess, embed, three paths, fusion, decay, rerank, MMR, scope, noise, context.

Adaptive, like its paid cloud: pool and minimum score follow the size of the store, recalls beyond five count by their
logarithm, and a session is not shown the same memory twice.""",
)

MEMORIA = Pipeline(
    "memoria",
    (
        Content(),
        AsKnown(),
        FindEntities(),
        Embed(),
        Search((Vector(), Keyword(), Graph(damping=0.85)), limit=100),
        ReciprocalRank(k=60, keep=30),
        Rerank(depth=30, blend=1.0),
        Limit(),
        AssembleFacts(),
        Track(),
    ),
    about="""Memoria: facts on two clocks, found by meaning, words and the entity graph, fused by rank and reranked.

Every search sees the world as it was known at `as_of`. 100 hits per signal, Σ 1 / (60 + rank), the best 30 to the
reranker, facts with their validity and citations in the context.""",
)

ABMIND = Pipeline(
    "abmind",
    (
        Content(),
        Embed(ahead=True),
        FindEntities(),
        Cascade(
            until_enough=(Fuzzy(), Vector(least=0.5), Signature(least=0.65, most=5)),
            always=(Notes(score=0.5), Edges(score=0.6)),
            times=3,
        ),
        First(),
        Confirm(of="fuzzy", by="vector", penalty=0.5),
        Add((SituationBoost(), EmotionBoost())),
        Weigh((Spacing(),)),
        MMR(balance=0.7, by="words"),
        Limit(),
        Enrich(),
        Assemble(),
        Track(signals=("fuzzy", "vector", "signature")),
    ),
    about="""Abmind's cascade: fuzzy words, then meaning and signature if needed; notes and relations always.

Then doubt for what only words found, boosts for the situation, emotion and spaced recalls, diversity of words, and
notes on timelines and conflicts.""",
)

MNEMOSYNE_HYBRID = Pipeline(
    "mnemosyne-hybrid",
    (
        Content(),
        Embed(),
        Search((Vector(), Keyword()), times=3),
        WeightedSum(weights={"vector": 0.5, "keyword": 0.3}, importance=0.2),
        Weigh((RecencyBand(floor=0.7, time_constant=168),)),
        Limit(),
        Assemble(),
        Track(),
    ),
    about="""Mnemosyne's hybrid ranking: 0.5 meaning, 0.3 words, 0.2 importance, and a bounded recency.

base = 0.5 · cos + 0.3 · bm25 / best bm25 + 0.2 · importance; final = base · (0.7 + 0.3 · exp(−age hours / 168)).""",
)

RECIPES: dict[str, Pipeline] = {
    recipe.name: recipe for recipe in (MEMORIST, MNEMOSYNE_GRAPH, MNEMO, MEMORIA, ABMIND, MNEMOSYNE_HYBRID)
}


def custom_recipes(written: Mapping[str, Mapping[str, Any]]) -> dict[str, Pipeline]:
    """Recipes from a settings file, each a list of `stages`, or a `base` and single parameters to `set`.

    A recipe that bears the name of one of ours and gives no stages starts from ours.
    """
    return {name: _custom(name, dict(data)) for name, data in written.items()}


def _custom(name: str, data: dict[str, Any]) -> Pipeline:
    unknown = data.keys() - {"stages", "base", "set"}
    if unknown or ("stages" in data and "base" in data):
        raise InvalidInput(
            f"Recipe {name!r} is not understood",
            remedy="Give it either stages, or a base; and what to set, if anything.",
        )
    if "stages" in data:
        recipe = from_data({"name": name, "stages": data["stages"]})
    elif (base := data.get("base", name)) in RECIPES:
        recipe = replace(RECIPES[base], name=name, about="")
    else:
        raise InvalidInput(f"Recipe {name!r} has no base {base!r}", remedy=f"Choose one of {', '.join(RECIPES)}.")
    return with_settings(recipe, data.get("set", {}))
