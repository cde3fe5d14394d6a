from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memorist.errors import InvalidInput
from memorist.recall.graph import RECALL_TOLERANCE, Adjacency, personalized_pagerank

Edge = tuple[int, int, float]
EXACT = 1e-12


def graph(nodes: int, edges: list[Edge], keep: list[bool] | None = None) -> Adjacency:
    source, target, weight = np.array(edges, np.float64).reshape(-1, 3).T
    mask = None if keep is None else np.array(keep, np.bool_)
    return Adjacency.from_edges(
        nodes, source.astype(np.int32), target.astype(np.int32), weight.astype(np.float32), mask
    )


def unit(*pairs: tuple[int, int]) -> list[Edge]:
    return [(source, target, 1.0) for source, target in pairs]


def by_definition(
    nodes: int, edges: list[Edge], seeds: Mapping[int, float], damping: float = 0.85
) -> NDArray[np.float64]:
    """Dense power iteration, word for word: walk, return to the seeds, and give them what dangles."""
    weights = np.zeros((nodes, nodes))
    for source, target, weight in edges:
        weights[target, source] += np.float32(weight)
        if source != target:
            weights[source, target] += np.float32(weight)
    start = np.array([seeds.get(node, 0.0) for node in range(nodes)])
    start /= start.sum()
    degree = weights.sum(axis=0)
    step = np.divide(weights, degree, out=np.zeros_like(weights), where=degree > 0)
    ranks = start
    for _ in range(250):
        dangling = ranks[degree == 0].sum()
        ranks = (1 - damping) * start + damping * (step @ ranks + dangling * start)
    return ranks


@st.composite
def worlds(draw: st.DrawFn) -> tuple[int, list[Edge], dict[int, float]]:
    nodes = draw(st.integers(1, 25))
    node = st.integers(0, nodes - 1)
    weight = st.sampled_from([0.0, 0.001, 0.5, 1.0, 1.0, 3.0, 1000.0])
    edges = draw(st.lists(st.tuples(node, node, weight), max_size=80))
    seeds = draw(st.dictionaries(node, st.floats(0.01, 10), min_size=1, max_size=4))
    return nodes, edges, seeds


@given(worlds())
def test_it_agrees_with_the_definition(world: tuple[int, list[Edge], dict[int, float]]) -> None:
    nodes, edges, seeds = world
    ranks = personalized_pagerank(graph(nodes, edges), seeds, tolerance=EXACT)
    np.testing.assert_allclose(ranks, by_definition(nodes, edges, seeds), atol=1e-9)


@given(worlds())
def test_the_tolerance_bounds_the_error(world: tuple[int, list[Edge], dict[int, float]]) -> None:
    nodes, edges, seeds = world
    ranks = personalized_pagerank(graph(nodes, edges), seeds, tolerance=RECALL_TOLERANCE)
    assert ranks.sum() == pytest.approx(1)
    assert ranks.min() >= 0
    # Twice, as bringing the sum to 1 may double it; over 1 − damping, as unlinked seeds may hold most of the share.
    assert np.abs(ranks - by_definition(nodes, edges, seeds)).sum() <= 2 * RECALL_TOLERANCE / 0.15


@given(worlds(), st.data())
def test_a_mask_is_the_graph_without_those_edges(
    world: tuple[int, list[Edge], dict[int, float]], data: st.DataObject
) -> None:
    nodes, edges, seeds = world
    keep = data.draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges)))
    kept = [edge for edge, stays in zip(edges, keep, strict=True) if stays]
    walked = personalized_pagerank(graph(nodes, edges, keep), seeds, tolerance=EXACT)
    np.testing.assert_allclose(walked, by_definition(nodes, kept, seeds), atol=1e-9)


def test_two_linked_nodes_by_hand() -> None:
    # x0 = 0.15 + 0.85·x1 and x1 = 0.85·x0, so x0 = 0.15 / (1 − 0.7225).
    ranks = personalized_pagerank(graph(2, unit((0, 1))), {0: 1.0}, tolerance=EXACT)
    assert ranks == pytest.approx([0.15 / 0.2775, 0.1275 / 0.2775])


def test_weights_share_out_the_walk_by_hand() -> None:
    # From 0 a quarter goes to 1 and three quarters to 2; both return it: x0 = 0.5 + 0.5·(x1 + x2) = 2/3.
    ranks = personalized_pagerank(graph(3, [(0, 1, 1.0), (0, 2, 3.0)]), {0: 1.0}, damping=0.5, tolerance=EXACT)
    assert ranks == pytest.approx([2 / 3, 1 / 12, 1 / 4])


def test_parallel_edges_add_up_and_direction_does_not_matter() -> None:
    twice = personalized_pagerank(graph(3, unit((0, 1), (1, 0), (0, 2))), {0: 1.0}, tolerance=EXACT)
    once = personalized_pagerank(graph(3, [(0, 1, 2.0), (2, 0, 1.0)]), {0: 1.0}, tolerance=EXACT)
    assert twice == pytest.approx(once)


def test_a_self_loop_keeps_a_share_at_home() -> None:
    # From 0 half stays and half goes to 1, which returns all: x0 = 0.5 + 0.25·x0 + 0.5·x1, x1 = 0.25·x0.
    ranks = personalized_pagerank(graph(2, unit((0, 0), (0, 1))), {0: 1.0}, damping=0.5, tolerance=EXACT)
    assert ranks == pytest.approx([0.8, 0.2])


def test_what_cannot_be_reached_has_rank_zero() -> None:
    ranks = personalized_pagerank(graph(6, unit((0, 1), (2, 3))), {0: 1.0})
    assert list(ranks[2:]) == [0, 0, 0, 0]


def test_a_seed_without_links_keeps_its_share() -> None:
    # Nothing leaves node 2, so its whole share returns to the seeds: x ∝ (0.5 / (1 − α) over 0 and 1, and 0.5).
    ranks = personalized_pagerank(graph(3, unit((0, 1))), {0: 1.0, 2: 1.0}, tolerance=EXACT)
    assert ranks[2] == pytest.approx(0.5 / (0.5 + 0.5 / 0.15))
    assert personalized_pagerank(graph(3, unit((0, 1))), {2: 1.0}) == pytest.approx([0, 0, 1])


def test_an_edge_of_weight_zero_is_no_edge() -> None:
    ranks = personalized_pagerank(graph(3, [(0, 1, 1.0), (0, 2, 0.0)]), {0: 1.0})
    assert ranks[2] == 0


def test_no_damping_stays_at_the_seeds() -> None:
    ranks = personalized_pagerank(graph(2, unit((0, 1))), {0: 3.0, 1: 1.0}, damping=0.0)
    assert ranks == pytest.approx([0.75, 0.25])


def test_an_empty_graph_has_no_ranks() -> None:
    assert len(personalized_pagerank(graph(0, []), {})) == 0


def test_seeds_may_be_an_array_and_need_not_sum_to_one() -> None:
    linked = graph(3, unit((0, 1), (1, 2)))
    expected = personalized_pagerank(linked, {0: 0.2, 2: 0.6})
    assert personalized_pagerank(linked, np.array([1.0, 0.0, 3.0])) == pytest.approx(expected)


def test_hubs_beyond_the_columns_are_summed_whole() -> None:
    star = unit(*((0, leaf) for leaf in range(1, 41)), *((1, leaf) for leaf in range(2, 30)))
    ranks = personalized_pagerank(graph(41, star), {1: 1.0}, tolerance=EXACT)
    np.testing.assert_allclose(ranks, by_definition(41, star, {1: 1.0}), atol=1e-12)


def test_recall_finds_the_same_first_fifty_on_a_power_law_graph() -> None:
    rng = np.random.default_rng(1)
    share = np.arange(1, 2001) ** -0.8
    source, target = rng.choice(2000, (2, 8000), p=share / share.sum()).astype(np.int32)
    linked = Adjacency.from_edges(2000, source, target)
    exact = personalized_pagerank(linked, {7: 1.0, 500: 1.0, 1500: 1.0}, tolerance=EXACT)
    quick = personalized_pagerank(linked, {7: 1.0, 500: 1.0, 1500: 1.0}, tolerance=RECALL_TOLERANCE)
    assert len(set(np.argsort(-exact)[:50]) & set(np.argsort(-quick)[:50])) >= 49


@pytest.mark.parametrize(
    ("edges", "remedy"),
    [
        ([(0, 3, 1.0)], "0 to 2"),
        ([(-1, 1, 1.0)], "0 to 2"),
        ([(0, 1, -1.0)], "1e-9"),
        ([(0, 1, float("nan"))], "1e-9"),
        ([(0, 1, float("inf"))], "1e-9"),
    ],
)
def test_a_bad_edge_is_refused(edges: list[Edge], remedy: str) -> None:
    with pytest.raises(InvalidInput, match=remedy):
        graph(3, edges)


def test_edges_must_be_complete() -> None:
    with pytest.raises(InvalidInput, match="per edge"):
        Adjacency.from_edges(3, np.array([0], np.int32), np.array([1, 2], np.int32))
    with pytest.raises(InvalidInput, match="per edge"):
        graph(3, unit((0, 1), (1, 2)), keep=[True])


@pytest.mark.parametrize(
    "seeds",
    [{}, {0: 0.0}, {0: -1.0, 1: 2.0}, {0: float("nan")}, {5: 1.0}, {-1: 1.0}, np.ones(3), np.ones((2, 1))],
    ids=str,
)
def test_bad_seeds_are_refused(seeds: Mapping[int, float] | NDArray[np.float64]) -> None:
    with pytest.raises(InvalidInput):
        personalized_pagerank(graph(2, unit((0, 1))), seeds)


@pytest.mark.parametrize(
    "settings", [{"damping": 1.0}, {"damping": -0.1}, {"tolerance": -1.0}, {"tolerance": float("nan")}]
)
def test_bad_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match="out of range"):
        personalized_pagerank(graph(2, unit((0, 1))), {0: 1.0}, **settings)
