"""The graph of facts: signals that walk it, and personalized PageRank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from memorist.errors import InvalidInput
from memorist.model import Entity, FactGraph, Hit, bare_name
from memorist.recall.folding import ends, fold_hits
from memorist.recall.stage import Draft, Env, Signal
from memorist.text.words import fold

RECALL_TOLERANCE = 0.05
"""For recall: finds 49 or 50 of the exact solution's first 50 nodes, in a quarter of the time of 1e-6."""

_SLOTS = 16
"""The first neighbours of a node, up to this many, are summed by column; the others of a hub in one run."""

_SINGLE_PRECISION = 1e-3
"""At this tolerance and above, 32 bits are precise enough, and faster."""

_SMALLEST_TOLERANCE = 1e-13

Ints = NDArray[np.int32 | np.int64]
Floats = NDArray[np.float64 | np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Graph(Signal):
    """Personalized PageRank from the query's entities over the facts that the filter admits.

    score = rank of the subject + rank of the object, for the memory's best edge. A query without a known entity has no
    hits. Page et al. 1999; Haveliwala, WWW 2002; undirected, with memoria's damping of 0.85.
    """

    kind = "graph"
    damping: float = 0.85
    tolerance: float = RECALL_TOLERANCE

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The facts nearest to the entities of the question."""
        graph, admitted = env.view.graph(draft.request.where)
        known = (bare_name(entity.id) for entity in draft.query.entities)
        seeds = {graph.nodes[node]: 1.0 for node in known if node in graph.nodes}
        if not seeds:
            return []
        usable = _adjacency(graph).masked(admitted)
        rank = personalized_pagerank(usable, seeds, damping=self.damping, tolerance=self.tolerance)
        scores = np.where(admitted, rank[graph.source] + rank[graph.target], 0.0)
        return fold_hits(_best_memories(graph, scores, limit), draft.request.where, env)


@dataclass(frozen=True, slots=True)
class Edges(Signal):
    """The facts about the first entity in the query that has any, at a fixed score (abmind's S8)."""

    kind = "edges"
    score: float = 0.6

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The edges of one entity."""
        graph, admitted = env.view.graph(draft.request.where)
        for entity in draft.query.entities:
            if hits := self._edges(entity, graph, admitted, draft, env):
                return hits[:limit]
        return []

    def _edges(self, entity: Entity, graph: FactGraph, admitted: Mask, draft: Draft, env: Env) -> list[Hit]:
        """The facts with an entity as an end; a name that texts mention beside others may have none."""
        node = graph.nodes.get(bare_name(entity.id), -1)
        touching = np.flatnonzero(((graph.source == node) | (graph.target == node)) & admitted)
        memories = env.store.get(list({graph.memories[edge] for edge in touching.tolist()}))
        names = {fold(name) for name in (entity.name, *entity.aliases)}
        facts = [id for id, memory in memories.items() if memory.fact is not None and names & ends(memory.fact)]
        return fold_hits([Hit(id, self.score) for id in sorted(facts)], draft.request.where, env)


_adjacencies: WeakKeyDictionary[FactGraph, Adjacency] = WeakKeyDictionary()
_lock = Lock()


def _adjacency(graph: FactGraph) -> Adjacency:
    """The adjacency of a graph, built once per graph."""
    with _lock:
        made = _adjacencies.get(graph)
        if made is None:
            made = Adjacency.from_edges(len(graph.nodes), graph.source, graph.target)
            _adjacencies[graph] = made
        return made


def _best_memories(graph: FactGraph, scores: NDArray[np.float64], limit: int) -> list[Hit]:
    """The memories of the best edges above 0, best first, ties by id."""
    best: dict[str, float] = {}
    cut = np.flatnonzero(scores > 0)
    edges: list[int] = cut[np.argsort(-scores[cut], kind="stable")].tolist()
    last = np.inf
    for edge in edges:
        score = float(scores[edge])
        if len(best) >= limit and score < last:
            break
        best.setdefault(graph.memories[edge], score)
        last = score
    return [Hit(id, score) for id, score in sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]]


@dataclass(frozen=True, slots=True, eq=False)
class Adjacency:
    """An immutable undirected weighted graph, laid out for fast sums over the neighbours of every node.

    Positions number the nodes by descending number of links. `indices` holds the position of every node's first
    neighbour, then of every second one, up to `_SLOTS`; then, node by node, the remaining neighbours of the hubs. So
    nearly all sums are additions of contiguous columns. Parallel edges add up; a self-loop counts once.
    """

    links: int
    order: NDArray[np.intp]
    indices: NDArray[np.intp]
    edges: NDArray[np.intp]
    weights: NDArray[np.float32]
    degree: NDArray[np.float64]
    columns: tuple[int, ...]
    runs: NDArray[np.intp]

    @classmethod
    def from_edges(
        cls,
        nodes: int,
        source: Ints,
        target: Ints,
        weight: NDArray[np.float32] | None = None,
        keep: NDArray[np.bool_] | None = None,
    ) -> Adjacency:
        """The graph with nodes 0 to `nodes` − 1; `keep` masks the edges that may be used."""
        weight = np.ones(len(source), np.float32) if weight is None else weight.astype(np.float32)
        _check_edges(nodes, source, target, weight)
        once = np.flatnonzero(source != target)
        row = np.concatenate((source, target[once])).astype(np.intp)
        neighbour = np.concatenate((target, source[once])).astype(np.intp)
        edge = np.concatenate((np.arange(len(source)), once))
        counts = np.bincount(row, minlength=nodes)
        order = np.argsort(-counts, kind="stable")
        position = np.empty(nodes, np.intp)
        position[order] = np.arange(nodes)
        layout, columns = _layout(position[row], counts[order])
        surplus = counts[order][counts[order] > _SLOTS] - _SLOTS
        graph = cls(
            links=len(source),
            order=order,
            indices=position[neighbour[layout]],
            edges=edge[layout],
            weights=weight[edge[layout]],
            degree=np.zeros(nodes),
            columns=columns,
            runs=np.cumsum(surplus) - surplus,
        )
        return graph.masked(np.ones(len(source), np.bool_) if keep is None else keep)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.order)

    def masked(self, keep: NDArray[np.bool_]) -> Adjacency:
        """This graph with only the edges that a mask keeps; cheap, because the layout is shared."""
        if keep.shape != (self.links,):
            raise InvalidInput("The mask does not fit the graph", remedy="Give one boolean per edge.")
        weights = self.weights * keep[self.edges]
        return replace(self, weights=weights, degree=self._sums(weights.astype(np.float64)))

    def spread(self, values: Floats, scratch: Floats) -> Floats:
        """W·x: for each position the weighted sum of its neighbours' values. `scratch` must hold one value per link."""
        # All indices are valid: `clip` only avoids a copy. Allocating memory for each call would take a third longer.
        values.take(self.indices, mode="clip", out=scratch)
        scratch *= self.weights
        return self._sums(scratch)

    def _sums(self, entries: Floats) -> Floats:
        sums = np.zeros(self.nodes, entries.dtype)
        start = 0
        for size in self.columns:
            sums[:size] += entries[start : start + size]
            start += size
        if len(self.runs):
            sums[: len(self.runs)] += np.add.reduceat(entries[start:], self.runs)
        return sums


def personalized_pagerank(
    graph: Adjacency,
    seeds: Mapping[int, float] | NDArray[np.float64],
    *,
    damping: float = 0.85,
    tolerance: float = 1e-6,
    max_iterations: int = 200,
) -> NDArray[np.float64]:
    """The stationary distribution of a walk that follows links and returns to the seeds; sums to 1.

    x = (1 − α)·s + α·W·D⁻¹·x, where the share of nodes without links returns to the seeds (Page et al. 1999;
    Haveliwala 2002). Links are undirected, so D − α·W is symmetric and positive definite, and conjugate gradients,
    preconditioned by D, solve (D − α·W)·u = s; then x ∝ D·u. `tolerance` bounds ‖s − (D − α·W)·u‖₁, which bounds
    the error ‖x − x*‖₁ before x is normalised. With 25,000 nodes and 100,000 power-law links, 0.05 takes under 4 ms,
    has a total error of 0.01 and keeps 49.9 of the first 50 (docs/decisions/0004-pagerank.md).
    """
    _check_settings(damping, tolerance)
    if not graph.nodes:
        return np.zeros(0)
    start = _distribution(seeds, graph.nodes)[graph.order]
    linked = graph.degree > 0
    solution = graph.degree * _solve(graph, start * linked, damping, tolerance, max_iterations)
    share = np.maximum(np.where(linked, solution, start), 0.0)
    ranks = np.empty(graph.nodes)
    ranks[graph.order] = share / share.sum()
    return ranks


def _solve(
    graph: Adjacency, start: NDArray[np.float64], damping: float, tolerance: float, max_iterations: int
) -> NDArray[np.float64]:
    """Conjugate gradients on (D − α·W)·u = start, preconditioned by D."""
    precision = np.float32 if tolerance >= _SINGLE_PRECISION else np.float64
    degree = graph.degree.astype(precision)
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
    scratch = np.empty(len(graph.indices), precision)
    residual = start.astype(precision)
    solution = np.zeros_like(residual)
    direction = residual * inverse
    energy = _dot(residual, direction)
    for _ in range(max_iterations):
        if np.abs(residual).sum() <= max(tolerance, _SMALLEST_TOLERANCE):
            break
        image = degree * direction - precision(damping) * graph.spread(direction, scratch)
        step = energy / _dot(direction, image)
        solution += step * direction
        residual -= step * image
        scaled = residual * inverse
        before, energy = energy, _dot(residual, scaled)
        direction = scaled + (energy / before) * direction
    return solution.astype(np.float64)


def _dot(a: Floats, b: Floats) -> np.floating[Any]:
    """The inner product without BLAS: at this size its threads cost more than they save."""
    return np.einsum("i,i", a, b)


def _layout(row: NDArray[np.intp], counts: NDArray[np.intp]) -> tuple[NDArray[np.intp], tuple[int, ...]]:
    """The order of entries, column by column and then run by run, and the length of each column."""
    by_row = np.argsort(row, kind="stable")
    first = np.cumsum(counts) - counts
    slot = np.minimum(np.arange(len(row)) - first[row[by_row]], _SLOTS)
    columns = np.bincount(slot, minlength=_SLOTS)[:_SLOTS]
    return by_row[np.argsort(slot, kind="stable")], tuple(columns[columns > 0].tolist())


def _distribution(seeds: Mapping[int, float] | NDArray[np.float64], nodes: int) -> NDArray[np.float64]:
    """Seeds as one share per node, summing to 1."""
    if isinstance(seeds, Mapping):
        at = np.fromiter(seeds.keys(), np.intp, len(seeds))
        if len(at) and not 0 <= at.min() <= at.max() < nodes:
            raise InvalidInput("A seed is not a node of the graph", remedy=f"Use nodes from 0 to {nodes - 1}.")
        weights = np.zeros(nodes)
        weights[at] = np.fromiter(seeds.values(), np.float64, len(seeds))
    else:
        weights = seeds.astype(np.float64)
    total = weights.sum()
    if weights.shape != (nodes,) or not (np.isfinite(total) and total > 0 and weights.min() >= 0):
        raise InvalidInput(
            "The seeds are not a distribution",
            remedy="Give finite weights of at least 0, not all 0; in an array, one per node.",
        )
    return weights / total


def _check_edges(nodes: int, source: Ints, target: Ints, weight: NDArray[np.float32]) -> None:
    if not len(source) == len(target) == len(weight):
        raise InvalidInput("The edge arrays differ in length", remedy="Give a source, a target and a weight per edge.")
    if len(source) and not 0 <= min(source.min(), target.min()) <= max(source.max(), target.max()) < nodes:
        raise InvalidInput("An edge refers to a node outside the graph", remedy=f"Use nodes from 0 to {nodes - 1}.")
    if not ((weight == 0) | ((weight >= 1e-9) & (weight <= 1e9))).all():
        raise InvalidInput("The weight of a link is out of range", remedy="Use 0, or a number from 1e-9 to 1e9.")


def _check_settings(damping: float, tolerance: float) -> None:
    if not 0 <= damping < 1:
        raise InvalidInput(f"The damping {damping} is out of range", remedy="Use at least 0 and less than 1.")
    if not tolerance >= 0:
        raise InvalidInput(f"The tolerance {tolerance} is out of range", remedy="Use at least 0.")
