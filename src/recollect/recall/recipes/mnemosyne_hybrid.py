"""Mnemosyne's hybrid ranking: half meaning, three tenths words, two tenths importance, and a bounded recency.

base = 0.5 · cos + 0.3 · bm25 / best bm25 + 0.2 · importance; final = base · (0.7 + 0.3 · exp(−age hours / 168)).
"""

from recollect.recall.assemble import Assemble
from recollect.recall.factors import RecencyBand
from recollect.recall.fuse import WeightedSum
from recollect.recall.pipeline import Pipeline
from recollect.recall.prepare.embed import Embed
from recollect.recall.prepare.kinds import Content
from recollect.recall.score import Weigh
from recollect.recall.search import Keyword, Search, Vector
from recollect.recall.select import Limit
from recollect.recall.track import Track

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
