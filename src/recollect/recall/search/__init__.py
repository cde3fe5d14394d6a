"""The signals, each one way of searching, and the stages that run them."""

from recollect.recall.search.combine import Cascade, Search
from recollect.recall.search.fuzzy import Fuzzy
from recollect.recall.search.graph import Edges, Graph
from recollect.recall.search.keyword import Keyword
from recollect.recall.search.notes import Notes
from recollect.recall.search.signature import Signature
from recollect.recall.search.temporal import Temporal
from recollect.recall.search.trigram import Trigram
from recollect.recall.search.vector import Vector

__all__ = [
    "Cascade",
    "Edges",
    "Fuzzy",
    "Graph",
    "Keyword",
    "Notes",
    "Search",
    "Signature",
    "Temporal",
    "Trigram",
    "Vector",
]
