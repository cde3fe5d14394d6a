"""Searching by vectors: the best probe against the best view of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from memorist.ports import Batch, Store
from memorist.testing.store_suite.base import ALL, EMBEDDER, StoreCase, ids, put, put_embedded
from memorist.testing.world import memory, sample_world

if TYPE_CHECKING:
    from memorist.ports import Vector

HALF = 2e-3
"""Vectors may be kept with 11 bits each."""


def _vector(*parts: float) -> Vector:
    row = np.zeros(4, dtype=np.float32)
    row[: len(parts)] = parts
    row /= np.linalg.norm(row)
    return row


def _matrix(*rows: Vector) -> Vector:
    return np.stack(rows)


EAST, NORTH, UP = _vector(1), _vector(0, 1), _vector(0, 0, 1)


class VectorSearching(StoreCase):
    """Cosines, views and probes."""

    def test_the_nearest_comes_first(self, store: Store) -> None:
        """A text's own vector finds it, with cosine 1."""
        world = put_embedded(store, *sample_world())
        view = store.view()
        for one in world:
            best = view.search_vector(EMBEDDER.embed([one.text], purpose="query"), ALL, 1)[0]
            assert best.score == pytest.approx(1, abs=HALF)
            assert store.get([best.id])[best.id].text == one.text

    def test_scores_are_cosines(self, store: Store) -> None:
        """Worked by hand: 0.6 along one axis, 0.8 along the other, and the opposite direction."""
        store.adopt("axes", 4)
        directions = {"same": EAST, "near": _vector(0.8, 0.6), "across": NORTH, "opposite": -EAST}
        memories = [memory(name, id=name) for name in directions]
        store.put(Batch(memories, {name: {"text": vector} for name, vector in directions.items()}))
        found = store.view().search_vector(_matrix(EAST), ALL, 9)
        assert ids(found) == ["same", "near", "across", "opposite"]
        assert [hit.score for hit in found] == pytest.approx([1, 0.8, 0, -1], abs=HALF)

    def test_the_best_view_counts(self, store: Store) -> None:
        """A memory is as near as the nearest of its views."""
        store.adopt("axes", 4)
        memories = [memory("one", id="one"), memory("two", id="two")]
        vectors = {"one": {"text": EAST, "context": NORTH}, "two": {"text": _vector(0.6, 0.8)}}
        store.put(Batch(memories, vectors))
        found = store.view().search_vector(_matrix(NORTH), ALL, 9)
        assert [(hit.id, round(hit.score, 2)) for hit in found] == [("one", 1.0), ("two", 0.8)]

    def test_the_best_probe_counts(self, store: Store) -> None:
        """With several probes a memory has its largest cosine."""
        store.adopt("axes", 4)
        memories = [memory("one", id="one"), memory("two", id="two")]
        store.put(Batch(memories, {"one": {"text": EAST}, "two": {"text": _vector(0, 0.6, 0.8)}}))
        found = store.view().search_vector(_matrix(EAST, UP), ALL, 9)
        assert [(hit.id, round(hit.score, 2)) for hit in found] == [("one", 1.0), ("two", 0.8)]

    def test_a_memory_without_vectors_is_not_near_anything(self, store: Store) -> None:
        """It is left out rather than scored 0."""
        put_embedded(store, memory("a lamp", id="lamp"))
        put(store, memory("a book", id="book"))
        probe = EMBEDDER.embed(["a book"], purpose="query")
        assert ids(store.view().search_vector(probe, ALL, 9)) == ["lamp"]

    def test_vectors_are_read_by_id(self, store: Store) -> None:
        """The `text` view of each memory that has one, nearly as it was given."""
        store.adopt("axes", 4)
        memories = [memory(id, id=id) for id in ("both", "context", "none")]
        given = {"both": {"context": EAST, "text": _vector(1, 2, 3)}, "context": {"context": EAST}}
        store.put(Batch(memories, given))
        found = store.view().vectors(["both", "context", "none", "nothing"])
        assert list(found) == ["both"]
        assert found["both"].tolist() == pytest.approx(_vector(1, 2, 3).tolist(), abs=HALF)

    def test_a_store_tells_which_memories_have_vectors(self, store: Store) -> None:
        """Of those asked for, before an adoption and after."""
        put(store, memory("a book", id="book"))
        assert store.embedded(["book", "nothing"]) == set()
        put_embedded(store, memory("a lamp", id="lamp"), memory("a door", id="door"))
        assert store.embedded(["lamp", "book", "nothing"]) == {"lamp"}

    def test_missing_views_can_be_added_later(self, store: Store) -> None:
        """A known memory takes the views it lacks, keeps the ones it has, and the generation rises."""
        store.adopt("axes", 4)
        lamp = memory("a lamp", id="lamp")
        put(store, lamp)
        store.put(Batch([lamp], {"lamp": {"text": EAST}}))
        before = store.view()
        store.put(Batch([lamp], {"lamp": {"text": UP, "context": NORTH}}))
        after = store.view()
        assert after.generation > before.generation
        assert after.vectors(["lamp"])["lamp"].tolist() == pytest.approx(EAST.tolist(), abs=HALF)
        assert after.search_vector(_matrix(NORTH), ALL, 1)[0].score == pytest.approx(1, abs=HALF)
        store.put(Batch([lamp], {"lamp": {"text": UP, "context": UP}}))
        assert store.view().generation == after.generation
