"""Mnemosyne's knowledge graph: the kind of memory a question wants, tag probes, a value per node, hops, reasoning.

score = relevance · recency · frequency · reward; up to two hops through tags and intents; sources of episodes at
half their score; a summary per type of memory.
"""

from memorist.recall.assemble import Assemble
from memorist.recall.hops import Hops, Provenance
from memorist.recall.nodes import Nodes
from memorist.recall.pipeline import Pipeline
from memorist.recall.prepare.embed import Embed
from memorist.recall.prepare.meaning import ClassifyMode, Tags
from memorist.recall.reason import Reason
from memorist.recall.select import Limit
from memorist.recall.track import Track

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
