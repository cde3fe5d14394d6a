"""Mnemo's ten stages: preprocess, embed, three paths, fusion, Weibull decay, rerank, MMR, scope, noise, context.

Adaptive, as its paid cloud is: pool and minimum score follow the size of the store, recalls beyond five count by
their logarithm, and a session is not shown the same memory twice.
"""

from memorist.recall.assemble import Assemble
from memorist.recall.diversify import MMR
from memorist.recall.factors import Weibull
from memorist.recall.fuse import ReciprocalRank
from memorist.recall.noise import Noise
from memorist.recall.pipeline import Pipeline
from memorist.recall.prepare.embed import Embed
from memorist.recall.prepare.kinds import Content
from memorist.recall.prepare.meaning import Expand, FindEntities
from memorist.recall.prepare.time import Dates
from memorist.recall.rerank import Normalise, Rerank
from memorist.recall.score import Weigh
from memorist.recall.search import Graph, Keyword, Search, Vector
from memorist.recall.select import Limit, MinimumScore, Scope, Unseen
from memorist.recall.track import Track

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
)
