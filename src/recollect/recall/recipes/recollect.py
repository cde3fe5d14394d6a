"""Our own recipe: what measurably helps, and nothing that does not."""

from recollect.recall.assemble import Assemble
from recollect.recall.company import Company
from recollect.recall.confidence import Confidence
from recollect.recall.credit import CreditSources
from recollect.recall.factors import BoundedRecency
from recollect.recall.fuse import WeightedSum
from recollect.recall.pipeline import Pipeline
from recollect.recall.prepare.embed import Embed
from recollect.recall.prepare.kinds import Content
from recollect.recall.rerank import Reread
from recollect.recall.score import Weigh
from recollect.recall.search import Keyword, Search, Trigram, Vector
from recollect.recall.select import Limit, Unseen
from recollect.recall.superseded import Superseded
from recollect.recall.track import Track

RECOLLECT = Pipeline(
    "recollect",
    (
        Content(),
        Embed(),
        Search((Vector(), Keyword(), Trigram()), limit=100),
        WeightedSum(weights={"vector": 0.9, "keyword": 0.1, "trigram": 0.02}, importance=0.0),
        Weigh((BoundedRecency(share=0.02, half_life_days=90),)),
        CreditSources(),
        Confidence(),
        Company(near=0.1, session=0.2),
        Reread(depth=20, weight=1.0),
        Company(near=0.1, session=0.0),
        Superseded(share=0.5),
        Unseen(),
        Limit(),
        Assemble(max_tokens=2000),
        Track(),
    ),
)
