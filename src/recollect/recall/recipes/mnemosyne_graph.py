"""Mnemosyne's knowledge graph: the kind of memory a question wants, tag probes, a value per node, hops, reasoning.

score = relevance · recency · frequency · reward; up to two hops through tags and intents; sources of episodes at
half their score; a summary per type of memory.
"""

from recollect.recall.assemble import Assemble
from recollect.recall.hops import Hops, Provenance
from recollect.recall.nodes import Nodes
from recollect.recall.pipeline import Pipeline
from recollect.recall.prepare.embed import Embed
from recollect.recall.prepare.meaning import ClassifyMode, Tags
from recollect.recall.reason import Reason
from recollect.recall.select import Limit
from recollect.recall.track import Track

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
)
