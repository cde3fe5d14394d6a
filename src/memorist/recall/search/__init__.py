"""The signals, each one way of searching, and the stages that run them."""

from memorist.recall.search.combine import Cascade, Search
from memorist.recall.search.fuzzy import Fuzzy
from memorist.recall.search.graph import Edges, Graph
from memorist.recall.search.keyword import Keyword
from memorist.recall.search.notes import Notes
from memorist.recall.search.signature import Signature
from memorist.recall.search.temporal import Temporal
from memorist.recall.search.trigram import Trigram
from memorist.recall.search.vector import Vector

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
