"""Mnemosyne's hybrid ranking: half meaning, three tenths words, two tenths importance, and a bounded recency.

base = 0.5 · cos + 0.3 · bm25 / best bm25 + 0.2 · importance; final = base · (0.7 + 0.3 · exp(−age hours / 168)).
"""

from memorist.recall.assemble import Assemble
from memorist.recall.factors import RecencyBand
from memorist.recall.fuse import WeightedSum
from memorist.recall.pipeline import Pipeline
from memorist.recall.prepare.embed import Embed
from memorist.recall.prepare.kinds import Content
from memorist.recall.score import Weigh
from memorist.recall.search import Keyword, Search, Vector
from memorist.recall.select import Limit
from memorist.recall.track import Track

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
)
