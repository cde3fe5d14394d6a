"""Our own recipe: what measurably helps, and nothing that does not."""

from recollect.recall.bridge import Bridge
from recollect.recall.company import Company
from recollect.recall.confidence import Confidence
from recollect.recall.conversation import AssembleTurns
from recollect.recall.credit import CreditSources
from recollect.recall.factors import BoundedRecency, WrittenWords
from recollect.recall.fuse import WeightedSum
from recollect.recall.pipeline import Pipeline
from recollect.recall.prepare.embed import Embed
from recollect.recall.prepare.kinds import Content
from recollect.recall.prepare.time import Dates
from recollect.recall.rerank import Reread
from recollect.recall.score import Add, Weigh
from recollect.recall.search import Keyword, Search, Temporal, Vector
from recollect.recall.select import Limit, Unseen
from recollect.recall.superseded import Superseded
from recollect.recall.track import Track

WEIGHTS = {"vector": 0.9, "keyword": 0.1, "temporal": 0.1}
"""What a signal is worth; docs/explanation/recall.md tells what each brings on which data."""
RECOLLECT = Pipeline(
    "recollect",
    (
        Content(),
        Dates(),
        Embed(latin=("recollect-embed-1", "all-minilm-l6-v2")),
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
