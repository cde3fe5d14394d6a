"""Plain rankings to measure recipes against; the bench knows them, the engine does not offer them."""

from __future__ import annotations

from memorist.errors import InvalidInput
from memorist.recall.assemble import Assemble
from memorist.recall.fuse import Best, ReciprocalRank
from memorist.recall.pipeline import Pipeline
from memorist.recall.prepare.embed import Embed
from memorist.recall.recipes import RECIPES
from memorist.recall.search import Keyword, Search, Vector
from memorist.recall.select import Limit

BM25 = Pipeline("bm25", (Search((Keyword(),)), Best(), Limit(), Assemble()))
COSINE = Pipeline("cosine", (Embed(), Search((Vector(),)), Best(), Limit(), Assemble()))
RRF = Pipeline("rrf", (Embed(), Search((Vector(), Keyword())), ReciprocalRank(k=60), Limit(), Assemble()))

BASELINES: dict[str, Pipeline] = {one.name: one for one in (BM25, COSINE, RRF)}
ALL = "all"
"""Stands for every recipe that ships."""


def chosen(names: list[str], known: dict[str, Pipeline]) -> list[Pipeline]:
    """The pipelines of these names, each once; `known` are the recipes there are besides the baselines."""
    pipelines = {**BASELINES, **known}
    wanted = [one for name in names for one in (RECIPES if name == ALL else [name])]
    for name in wanted:
        if name not in pipelines:
            raise InvalidInput(
                f"There is no recipe {name!r}", remedy=f"Choose {ALL} or some of {', '.join([*known, *BASELINES])}."
            )
    return [pipelines[name] for name in dict.fromkeys(wanted)]
