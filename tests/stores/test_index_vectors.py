"""Vector search against brute force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memorist.errors import EmbeddingMismatch
from memorist.model import Filter, Hit
from memorist.stores.index import Index, IndexEntry, IndexView, entry_of
from memorist.stores.index import vectors as vector_columns
from memorist.stores.index.vectors import VectorMatrix, normalize
from memorist.testing.world import memory

ALL = Filter()
Views = Mapping[str, NDArray[Any]]


def entry(id: str, views: Views, scope: str = "global") -> IndexEntry:
    return entry_of(memory("a lamp", id=id, scope=scope), views)


def index_of(vectors: Mapping[str, Views]) -> Index:
    made = Index()
    made.apply([entry(id, views) for id, views in vectors.items()], (), generation=1)
    return made


def brute(vectors: Mapping[str, Views], probes: NDArray[Any]) -> dict[str, float]:
    """The largest cosine of each memory, in double precision."""
    found: dict[str, float] = {}
    for id, views in vectors.items():
        for vector in views.values():
            for probe in np.atleast_2d(probes):
                cosine = float(vector @ probe / np.linalg.norm(vector) / np.linalg.norm(probe))
                found[id] = max(found.get(id, -2), cosine)
    return found


def random_vectors(count: int, dim: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(count, dim))


numbers = st.integers(-3, 3)
vectors = st.lists(numbers, min_size=3, max_size=3).filter(any).map(lambda row: np.array(row, np.float64))
views = st.dictionaries(st.sampled_from(("text", "context")), vectors)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcdefghij"), views), st.lists(vectors, min_size=1, max_size=3))
def test_hits_are_those_of_brute_force(world: dict[str, Views], probes: Sequence[NDArray[Any]]) -> None:
    matrix_of_probes = np.array(probes)
    hits = index_of(world).view().search_vector(matrix_of_probes, ALL, 100)
    expected = brute(world, matrix_of_probes)
    assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, abs=2e-3)  # float16 keeps 11 bits
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.id))


@pytest.mark.parametrize("probes", [1, 4])
@pytest.mark.parametrize("scope", [None, "user:a"])
def test_the_best_of_many_are_exact(probes: int, scope: str | None) -> None:
    rows = random_vectors(3000, 48).astype(np.float16)
    made = Index()
    made.apply(
        [entry(f"{n:04}", {"text": row}, "user:a" if n % 7 == 0 else "global") for n, row in enumerate(rows)],
        (),
        generation=1,
    )
    asked = random_vectors(probes, 48, seed=1)
    admitted = {
        f"{n:04}": {"text": row.astype(np.float64)} for n, row in enumerate(rows) if scope is None or n % 7 == 0
    }
    expected = brute(admitted, asked)
    where = ALL if scope is None else Filter(scopes=(scope,))
    hits = made.view().search_vector(asked, where, 25)
    assert [hit.id for hit in hits] == sorted(expected, key=lambda id: -expected[id])[:25]
    assert [hit.score for hit in hits] == pytest.approx([expected[hit.id] for hit in hits], abs=2e-3)


def test_equal_vectors_are_ties_wherever_they_stand() -> None:
    # BLAS takes the rows in blocks, and rounds those of the last, incomplete one differently.
    row = random_vectors(1, 384)[0]
    view = index_of({f"{997 - place:03}": {"text": row} for place in range(997)}).view()
    for probe in random_vectors(20, 384, seed=2):
        first, second = view.search_vector(probe, ALL, 2)
        assert (first.id, second.id, first.score) == ("001", "002", second.score)


def test_many_ties_are_cut_by_id() -> None:
    world = {f"{n:05}": {"text": np.array([1.0, 2.0])} for n in np.random.default_rng(0).permutation(9000)}
    hits = index_of(world).view().search_vector(np.array([1.0, 0.0]), ALL, 4)
    assert [hit.id for hit in hits] == ["00000", "00001", "00002", "00003"]


WORTHLESS = {
    "zero": np.zeros(3),
    "nan": np.array([1, np.nan, 0]),
    "infinite": np.array([1, np.inf, 0]),
    "huge": np.array([1e308, 1e308, 0]),
}


@pytest.mark.parametrize("name", WORTHLESS)
def test_vectors_without_a_direction_are_as_good_as_none(name: str) -> None:
    world = {"bad": {"text": WORTHLESS[name]}, "good": {"text": np.array([1, 1, 0])}}
    view = index_of(world).view()
    assert [hit.id for hit in view.search_vector(np.array([1, 0, 0]), ALL, 5)] == ["good"]
    assert list(view.vectors(["bad", "good"])) == ["good"]
    assert view.search_vector(WORTHLESS[name], ALL, 5) == []
    both = np.array([WORTHLESS[name], [0, 1, 0]])
    assert [hit.id for hit in view.search_vector(both, ALL, 5)] == ["good"]


def test_a_long_vector_is_as_good_as_a_short_one() -> None:
    view = index_of({"x": {"text": np.array([3e5, 4e5])}}).view()
    assert view.search_vector(np.array([1e30, 0.0]), ALL, 1)[0].score == pytest.approx(0.6, abs=1e-3)
    assert view.vectors(["x"])["x"].tolist() == pytest.approx([0.6, 0.8], abs=1e-3)


def test_no_probe_and_no_limit_find_nothing() -> None:
    view = index_of({"x": {"text": np.array([1.0, 0.0])}}).view()
    assert view.search_vector(np.empty((0, 2)), ALL, 5) == []
    assert view.search_vector(np.array([1.0, 0.0]), ALL, 0) == []
    assert Index().view().search_vector(np.array([1.0, 0.0]), ALL, 5) == []


def test_vectors_of_another_length_are_refused_whole() -> None:
    made = index_of({"x": {"text": np.array([1.0, 0.0])}})
    with pytest.raises(EmbeddingMismatch, match="reembed"):
        made.apply([entry("ok", {}), entry("y", {"text": np.ones(3)})], ["x"], generation=2)
    assert (made.view().generation, made.view().size) == (1, 1)
    with pytest.raises(EmbeddingMismatch, match="3 dimensions"):
        made.view().search_vector(np.ones(3), ALL, 5)


def test_an_earlier_view_keeps_its_vectors() -> None:
    east, north = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    made = index_of({"x": {"text": east}, "y": {"text": east}})
    before = made.view()
    made.apply([entry("x", {"text": north})], ["y"], generation=2)
    made.apply([entry("x", {})], (), generation=3)
    assert before.search_vector(east, ALL, 5) == [Hit("x", 1.0), Hit("y", 1.0)]
    assert {id: row.tolist() for id, row in before.vectors(["y", "x"]).items()} == {"x": [1, 0], "y": [1, 0]}
    assert (made.view().search_vector(east, ALL, 5), made.view().vectors(["x", "y"])) == ([], {})


def test_removing_most_memories_changes_nothing_for_the_rest() -> None:
    rows = random_vectors(2500, 8)
    made = index_of({f"{n:04}": {"text": row} for n, row in enumerate(rows)})
    before = made.view()
    made.apply((), [f"{n:04}" for n in range(2400)], generation=2)  # enough to compact
    made.apply([entry("new", {"text": rows[0]})], (), generation=3)
    after = made.view()
    assert (before.size, after.size) == (2500, 101)
    probe = rows[2450]
    assert [hit.id for hit in after.search_vector(probe, ALL, 1)] == ["2450"]
    kept = [hit for hit in before.search_vector(probe, ALL, 2500) if hit.id >= "2400"]
    assert [hit for hit in after.search_vector(probe, ALL, 2500) if hit.id != "new"] == kept
    assert len(after.search_text("lamp", ALL, 2500)) == 101


def clustered(count: int, dim: int) -> NDArray[np.float32]:
    centres = random_vectors(count // 20, dim)
    return normalize(np.repeat(centres, 20, axis=0) + 0.5 * random_vectors(count, dim, seed=3)).astype(np.float32)


def test_beyond_the_exact_rows_hardly_anything_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = clustered(6000, 100)
    view = index_of({f"{n:04}": {"text": row} for n, row in enumerate(rows)}).view()
    exact = [view.search_vector(row, ALL, 10) for row in rows[::300]]
    monkeypatch.setattr(vector_columns, "EXACT_ROWS", 1000)
    monkeypatch.setattr(vector_columns, "SHORTLIST", 400)
    found = [view.search_vector(row, ALL, 10) for row in rows[::300]]
    shared = [len(set(ours) & set(theirs)) / 10 for ours, theirs in zip(found, exact, strict=True)]
    assert sum(shared) / len(shared) > 0.98
    assert [hits[0] for hits in found] == [hits[0] for hits in exact]
    opposite = np.array([rows[100], -rows[100]])
    assert [hit.id for hit in view.search_vector(opposite, ALL, 1)] == ["0100"]  # the nearer probe counts


def test_what_was_preselected_is_ranked_as_if_everything_were_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, others = clustered(2000, 70), random_vectors(2000, 70, seed=9)
    pairs = zip(rows, others, strict=True)
    view = index_of({f"{n:04}": {"text": row, "context": other} for n, (row, other) in enumerate(pairs)}).view()
    exact = [view.search_vector(probe, ALL, 100) for probe in rows[::500]]
    monkeypatch.setattr(vector_columns, "EXACT_ROWS", 1000)
    monkeypatch.setattr(vector_columns, "SHORTLIST", 400)  # 40 per hit are preselected: all of them
    assert [view.search_vector(probe, ALL, 100) for probe in rows[::500]] == exact


def test_signs_are_read_as_far_as_a_view_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_columns, "EXACT_ROWS", 10)
    rows = clustered(200, 70)
    made = index_of({f"{n:03}": {"text": row} for n, row in enumerate(rows[:100])})
    early = made.view()
    made.apply([entry(f"{n:03}", {"text": row}) for n, row in enumerate(rows[100:], 100)], (), generation=2)
    late = made.view()
    assert nearest_id(late, rows[150]) == "150"
    assert nearest_id(early, rows[50]) == nearest_id(late, rows[50]) == "050"
    assert nearest_id(early, rows[150]) < "100"


def nearest_id(view: IndexView, probe: NDArray[Any]) -> str:
    return view.search_vector(probe, ALL, 1)[0].id


def test_a_matrix_gives_the_vectors_of_rows() -> None:
    made = VectorMatrix(2)
    made.extend([3, 5, 7], [np.array([0, 2]), np.array([0, 0]), np.array([3, 0])])
    having, found = made.lookup(np.array([7, 5, 4, 3, 9]))
    assert having.tolist() == [True, False, False, True, False]
    assert found.tolist() == [[1, 0], [0, 1]]


def test_an_empty_matrix_has_no_vectors() -> None:
    having, found = VectorMatrix(2).lookup(np.array([0, 4]))
    assert (having.tolist(), found.shape) == ([False, False], (0, 2))
