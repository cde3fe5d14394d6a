"""Our own recipe: what measurably helps, and nothing that does not."""

from recollect.recall.assemble import Assemble
from recollect.recall.credit import CreditSources
from recollect.recall.factors import BoundedRecency
from recollect.recall.fuse import ReciprocalRank
from recollect.recall.pipeline import Pipeline
from recollect.recall.prepare.embed import Embed
from recollect.recall.prepare.kinds import Content
from recollect.recall.score import Weigh
from recollect.recall.search import Keyword, Search, Trigram, Vector
from recollect.recall.select import Limit
from recollect.recall.superseded import Superseded
from recollect.recall.track import Track

RECOLLECT = Pipeline(
    "recollect",
    (
        Content(),
        Embed(),
        Search((Vector(), Keyword(), Trigram()), limit=100),
        ReciprocalRank(k=20, keep=60, weights={"trigram": 0.3}),
        Weigh((BoundedRecency(share=0.02, half_life_days=90),)),
        CreditSources(),
        Superseded(share=0.5),
        Limit(),
        Assemble(max_tokens=2000),
        Track(),
    ),
)
