"""Our own recipe: what measurably helps, and nothing that does not."""

from memorist.recall.bridge import Bridge
from memorist.recall.company import Company
from memorist.recall.confidence import Confidence
from memorist.recall.conversation import AssembleTurns
from memorist.recall.credit import CreditSources
from memorist.recall.factors import BoundedRecency, WrittenWords
from memorist.recall.fuse import WeightedSum
from memorist.recall.pipeline import Pipeline
from memorist.recall.prepare.embed import Embed
from memorist.recall.prepare.kinds import Content
from memorist.recall.prepare.time import Dates
from memorist.recall.rerank import Reread
from memorist.recall.score import Add, Weigh
from memorist.recall.search import Keyword, Search, Temporal, Vector
from memorist.recall.select import Limit, Unseen
from memorist.recall.superseded import Superseded
from memorist.recall.track import Track

WEIGHTS = {"vector": 0.9, "keyword": 0.1, "temporal": 0.1}
"""What a signal is worth; docs/explanation/recall.md tells what each brings on which data."""
MEMORIST = Pipeline(
    "memorist",
    (
        Content(),
        Dates(),
        Embed(latin=("memorist-embed-1", "all-minilm-l6-v2")),
        Search((Vector(), Keyword(spelling=True), Temporal(reach_days=7)), limit=100),
        # A question without a vector, for its script or for want of an embedder, has words alone to go by.
        WeightedSum(weights=WEIGHTS, importance=0.0, keep=60, instead={"vector": "keyword"}),
        Add((WrittenWords(weight=0.2),)),
        Weigh((BoundedRecency(share=0.02, half_life_days=90),)),
        CreditSources(),
        Confidence(),
        Company(near=0.1, session=0.2),
        Reread(depth=20, weight=1.0, told=2.0, tokens=2500),
        Bridge(weight=0.4),
        Company(near=0.1, session=0.0),
        Superseded(share=0.5),
        Unseen(),
        Limit(),
        AssembleTurns(max_tokens=2000),
        Track(),
    ),
)
