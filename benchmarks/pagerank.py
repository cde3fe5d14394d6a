"""Ways to solve Personalized PageRank with numpy alone: time, error and the first 50 nodes.

    python benchmarks/pagerank.py [--nodes 25000] [--links 100000] [--questions 10]

The graph is random with power-law degrees (Chung and Lu 2002: ends drawn in proportion to rank^-0.8); a question
starts at three nodes. Errors are against 400 steps of power iteration. The time of a question is the
processor's, best of thirty, as other work on the machine only ever adds; the table has the median over questions.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from common import options, print_head, print_row
from numpy.typing import NDArray

from memorist.recall.graph import Adjacency, personalized_pagerank

DAMPING = 0.85
SEEDS = 3
REPEATS = 30
Vector = NDArray[np.float64]
Solver = Callable[[Vector], Vector]
Start = TypeVar("Start")


@dataclass(frozen=True)
class Rows:
    """The textbook layout: every node's neighbours in a row."""

    starts: NDArray[np.intp]
    indices: NDArray[np.intp]
    linked: NDArray[np.intp]
    degree: Vector
    nodes: int

    @classmethod
    def of(cls, nodes: int, source: NDArray[np.int32], target: NDArray[np.int32]) -> Rows:
        row = np.concatenate((source, target)).astype(np.intp)
        order = np.argsort(row, kind="stable")
        counts = np.bincount(row, minlength=nodes)
        linked = np.flatnonzero(counts)
        indices = np.concatenate((target, source)).astype(np.intp)[order]
        return cls((np.cumsum(counts) - counts)[linked], indices, linked, counts.astype(np.float64), nodes)

    def spread(self, values: Vector) -> Vector:
        sums = np.zeros(self.nodes)
        sums[self.linked] = np.add.reduceat(values[self.indices], self.starts)
        return sums

    @property
    def inverse(self) -> Vector:
        return np.divide(1, self.degree, out=np.zeros(self.nodes), where=self.degree > 0)


def power(rows: Rows, steps: int, start: Vector) -> Vector:
    inverse, ranks = rows.inverse, start
    for _ in range(steps):
        ranks = (1 - DAMPING) * start + DAMPING * rows.spread(ranks * inverse)
        ranks = ranks + (1 - ranks.sum()) * start
    return ranks


def chebyshev(rows: Rows, steps: int, start: Vector) -> Vector:
    """Chebyshev's semi-iteration: the spectrum of α·W·D⁻¹ lies within ±α (Golub and Varga 1961)."""
    inverse, omega = rows.inverse, 1.0
    before, ranks = np.zeros(rows.nodes), (1 - DAMPING) * start
    for _ in range(steps):
        omega = 1 / (1 - DAMPING**2 * omega / 4) if omega != 1 else 1 / (1 - DAMPING**2 / 2)
        moved = (1 - DAMPING) * start + DAMPING * rows.spread(ranks * inverse)
        before, ranks = ranks, omega * (moved - before) + before
    return ranks / ranks.sum()


def push(rows: Rows, threshold: float, start: Vector) -> Vector:
    """Forward push in waves: only nodes with much left to give, per link, give (Andersen, Chung and Lang 2006)."""
    inverse, kept, left = rows.inverse, np.zeros(rows.nodes), start.copy()
    while (giving := np.flatnonzero(left * inverse > threshold)).size:
        amount = left[giving]
        kept[giving] += (1 - DAMPING) * amount
        left[giving] = 0
        counts = rows.degree[giving].astype(np.intp)
        first = np.repeat(rows.starts[np.searchsorted(rows.linked, giving)] - np.cumsum(counts) + counts, counts)
        links = rows.indices[first + np.arange(counts.sum())]
        shares = np.repeat(DAMPING * amount * inverse[giving], counts)
        left += np.bincount(links, weights=shares, minlength=rows.nodes)
    return kept / kept.sum()


def conjugate(rows: Rows, tolerance: float, start: Vector) -> Vector:
    """The method we use, on the textbook layout."""
    inverse, residual, solution = rows.inverse, start.copy(), np.zeros(rows.nodes)
    direction = residual * inverse
    energy = np.einsum("i,i", residual, direction)
    while np.abs(residual).sum() > tolerance:
        image = rows.degree * direction - DAMPING * rows.spread(direction)
        step = energy / np.einsum("i,i", direction, image)
        solution += step * direction
        residual -= step * image
        before, energy = energy, np.einsum("i,i", residual, residual * inverse)
        direction = residual * inverse + energy / before * direction
    return (ranks := rows.degree * solution) / ranks.sum()


def ours(graph: Adjacency, tolerance: float, start: Vector) -> Vector:
    return personalized_pagerank(graph, start, damping=DAMPING, tolerance=tolerance)


def random_graph(nodes: int, links: int, rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    share = np.arange(1, nodes + 1) ** -0.8
    ends = rng.choice(nodes, (2, links), p=share / share.sum())
    source, target = rng.permutation(nodes)[ends[0]], rng.permutation(nodes)[ends[1]]
    proper = source != target
    return source[proper].astype(np.int32), target[proper].astype(np.int32)


def questions(degree: Vector, count: int, rng: np.random.Generator) -> list[Vector]:
    linked = np.flatnonzero(degree)
    starts = np.zeros((count, len(degree)))
    for row in starts:
        row[rng.choice(linked, SEEDS, replace=False)] = 1 / SEEDS
    return list(starts)


def first(ranks: Vector, count: int = 50) -> set[int]:
    return set(np.argsort(-ranks, kind="stable")[:count].tolist())


def timed(solve: Callable[[Start], Vector], start: Start) -> tuple[Vector, float]:
    begin = time.thread_time()
    ranks = solve(start)
    best = time.thread_time() - begin
    for _ in range(REPEATS - 1):
        begin = time.thread_time()
        solve(start)
        best = min(best, time.thread_time() - begin)
    return ranks, best * 1000


def report(name: str, solve: Solver, starts: list[Vector], exact: list[Vector]) -> None:
    runs = [timed(solve, start) for start in starts]
    errors = [np.abs(ranks - truth).sum() for (ranks, _), truth in zip(runs, exact, strict=True)]
    overlaps = [len(first(ranks) & first(truth)) for (ranks, _), truth in zip(runs, exact, strict=True)]
    times = [ms for _, ms in runs]
    error, overlap = f"{np.median(errors):.0e}", f"{np.mean(overlaps):.1f}"
    print_row(name, f"{statistics.median(times):.1f}", error, overlap, min(overlaps))


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("--nodes", type=int, default=25_000)
    arguments.add_argument("--links", type=int, default=100_000)
    arguments.add_argument("--questions", type=int, default=10)
    given = arguments.parse_args()
    rng = np.random.default_rng(0)
    source, target = random_graph(given.nodes, given.links, rng)
    rows = Rows.of(given.nodes, source, target)
    graph = Adjacency.from_edges(given.nodes, source, target)
    starts = questions(rows.degree, given.questions, rng)
    exact = [power(rows, 400, start) for start in starts]
    print_head("method", "ms", "error, L1", "of the first 50", "worst")
    for name, solve in {
        "power iteration, rows, 12 steps": partial(power, rows, 12),
        "power iteration, rows, 20 steps": partial(power, rows, 20),
        "Chebyshev, rows, 12 steps": partial(chebyshev, rows, 12),
        "forward push, rows, 1e-6": partial(push, rows, 1e-6),
        "conjugate gradients, rows, tolerance 0.01": partial(conjugate, rows, 0.01),
        **{f"ours, tolerance {size:g}": partial(ours, graph, size) for size in (0.05, 0.01, 1e-3, 1e-6)},
    }.items():
        report(name, solve, starts, exact)
    keep = rng.random(len(source)) < 0.8
    print(f"\nbuilding the graph: {timed(lambda _: _build(given.nodes, source, target), keep)[1]:.0f} ms; ", end="")
    print(f"keeping 80 % of its links: {timed(lambda mask: graph.masked(mask).degree, keep)[1]:.1f} ms")


def _build(nodes: int, source: NDArray[np.int32], target: NDArray[np.int32]) -> Vector:
    return Adjacency.from_edges(nodes, source, target).degree


if __name__ == "__main__":
    main()
