"""Memoria: facts on two clocks, found by meaning, words and the graph of entities, fused by rank and reread.

Every search sees the world as it was known at `as_of`. 100 hits a signal, Σ 1 / (60 + rank), the best 30 to the
reranker, facts with their validity and citations in the context.
"""

from memorist.recall.cite import AssembleFacts
from memorist.recall.fuse import ReciprocalRank
from memorist.recall.pipeline import Pipeline
from memorist.recall.prepare.embed import Embed
from memorist.recall.prepare.kinds import Content
from memorist.recall.prepare.meaning import FindEntities
from memorist.recall.prepare.time import AsKnown
from memorist.recall.rerank import Rerank
from memorist.recall.search import Graph, Keyword, Search, Vector
from memorist.recall.select import Limit
from memorist.recall.track import Track

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
)
