"""Search along the relations between entities."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from memorist.model import FactGraph, Hit, Memory
from memorist.recall.pagerank import RECALL_TOLERANCE, Adjacency, personalized_pagerank
from memorist.recall.stage import Draft, Env, Signal
from memorist.text.fold import fold

_adjacencies: WeakKeyDictionary[FactGraph, Adjacency] = WeakKeyDictionary()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class Graph(Signal):
    """Personalized PageRank from the query's entities over the facts that the filter admits.

    A memory scores the sum of both ends' rank, of its best edge. No known entity in the query, no hits.
    Page et al. 1999; Haveliwala, WWW 2002; undirected, damping 0.85 as memoria has it.
    """

    kind = "graph"
    damping: float = 0.85
    tolerance: float = RECALL_TOLERANCE

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The facts nearest to what the question is about."""
        graph, admitted = env.view.graph(draft.request.where)
        seeds = {graph.nodes[one.id]: 1.0 for one in draft.query.entities if one.id in graph.nodes}
        if not seeds:
            return []
        walkable = adjacency(graph).walking(admitted)
        rank = personalized_pagerank(walkable, seeds, damping=self.damping, tolerance=self.tolerance)
        return best_memories(graph, np.where(admitted, rank[graph.source] + rank[graph.target], 0.0), limit)


@dataclass(frozen=True, slots=True)
class Edges(Signal):
    """The facts of the first word of the query that names a known entity, at a fixed score (abmind's S8)."""

    kind = "edges"
    score: float = 0.6

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """One entity's edges."""
        graph, admitted = env.view.graph(draft.request.where)
        first = next((one for one in draft.query.entities if one.id in graph.nodes), None)
        if first is None:
            return []
        node = graph.nodes[first.id]
        touching = np.flatnonzero(((graph.source == node) | (graph.target == node)) & admitted)
        memories = env.store.get(list({graph.memories[edge] for edge in touching.tolist()}))
        names = {fold(name) for name in (first.name, *first.aliases)}
        facts = [id for id, memory in memories.items() if names & ends(memory)]
        return [Hit(id, self.score) for id in sorted(facts)[:limit]]


def ends(memory: Memory) -> set[str]:
    """The folded names of a fact's subject and object; none of what is no fact."""
    return set() if memory.fact is None else {fold(memory.fact.subject), fold(memory.fact.object)}


def adjacency(graph: FactGraph) -> Adjacency:
    """The graph laid out for walking, made once for as long as the graph lives."""
    with _lock:
        made = _adjacencies.get(graph)
        if made is None:
            made = Adjacency.from_edges(len(graph.nodes), graph.source, graph.target)
            _adjacencies[graph] = made
        return made


def best_memories(graph: FactGraph, scores: NDArray[np.float64], limit: int) -> list[Hit]:
    """The memories of the best edges above 0, best first, ties by id."""
    best: dict[str, float] = {}
    cut = np.flatnonzero(scores > 0)
    edges: list[int] = cut[np.argsort(-scores[cut], kind="stable")].tolist()
    for edge in edges:
        best.setdefault(graph.memories[edge], float(scores[edge]))
    return [Hit(id, score) for id, score in sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]]
