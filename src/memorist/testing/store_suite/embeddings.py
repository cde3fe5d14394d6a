"""Tests of vectors: searching them, reading them, and changing to another embedding generation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memorist.errors import EmbeddingMismatch, NotFound
from memorist.model import Memory
from memorist.ports import Batch, Embedded, Store, Vectors
from memorist.testing.fakes import FakeEmbedder
from memorist.testing.store_suite.base import ALL, EMBEDDER, StoreCase, everything, ids, put, put_embedded
from memorist.testing.world import memory, sample_world

if TYPE_CHECKING:
    from memorist.ports import Vector

HALF = 2e-3
"""The tolerance for vectors, which may be kept with 11 bits per number."""


def _vector(*parts: float) -> Vector:
    row = np.zeros(4, dtype=np.float32)
    row[: len(parts)] = parts
    row /= np.linalg.norm(row)
    return row


def _matrix(*rows: Vector) -> Vector:
    return np.stack(rows)


EAST, NORTH, UP = _vector(1), _vector(0, 1), _vector(0, 0, 1)


class VectorSearching(StoreCase):
    """Searching by vectors: cosines, views and probes."""

    def test_the_nearest_comes_first(self, store: Store) -> None:
        """A text's own vector finds it, with cosine 1."""
        world = put_embedded(store, *sample_world())
        view = store.view()
        for row in world:
            best = view.search_vector(EMBEDDER.embed([row.text], purpose="query"), ALL, 1)[0]
            assert best.score == pytest.approx(1, abs=HALF)
            assert store.get([best.id])[best.id].text == row.text

    def test_scores_are_cosines(self, store: Store) -> None:
        """Calculated by hand: 0.6 along one axis, 0.8 along the other, and the opposite direction."""
        store.adopt("axes", 4)
        directions = {"same": EAST, "near": _vector(0.8, 0.6), "across": NORTH, "opposite": -EAST}
        memories = [memory(name, id=name) for name in directions]
        store.put(Batch(memories, {name: {"text": vector} for name, vector in directions.items()}))
        found = store.view().search_vector(_matrix(EAST), ALL, 9)
        assert ids(found) == ["same", "near", "across", "opposite"]
        assert [hit.score for hit in found] == pytest.approx([1, 0.8, 0, -1], abs=HALF)

    def test_the_nearest_view_decides(self, store: Store) -> None:
        """The score of a memory is the cosine of its nearest view."""
        store.adopt("axes", 4)
        memories = [memory("one", id="one"), memory("two", id="two")]
        vectors = {"one": {"text": EAST, "context": NORTH}, "two": {"text": _vector(0.6, 0.8)}}
        store.put(Batch(memories, vectors))
        found = store.view().search_vector(_matrix(NORTH), ALL, 9)
        assert [(hit.id, round(hit.score, 2)) for hit in found] == [("one", 1.0), ("two", 0.8)]

    def test_the_nearest_probe_decides(self, store: Store) -> None:
        """With several probes, the score of a memory is its largest cosine."""
        store.adopt("axes", 4)
        memories = [memory("one", id="one"), memory("two", id="two")]
        store.put(Batch(memories, {"one": {"text": EAST}, "two": {"text": _vector(0, 0.6, 0.8)}}))
        probes, view = _matrix(EAST, UP), store.view()
        found = view.search_vector(probes, ALL, 9)
        assert [(hit.id, round(hit.score, 2)) for hit in found] == [("one", 1.0), ("two", 0.8)]
        assert view.cosines(probes, ["one", "two"]) == pytest.approx({"one": 1.0, "two": 0.8}, abs=HALF)

    def test_a_memory_without_vectors_is_not_near_anything(self, store: Store) -> None:
        """It is left out, not scored 0."""
        put_embedded(store, memory("a lamp", id="lamp"))
        put(store, memory("a book", id="book"))
        probe = EMBEDDER.embed(["a book"], purpose="query")
        assert ids(store.view().search_vector(probe, ALL, 9)) == ["lamp"]

    def test_vectors_are_read_by_id(self, store: Store) -> None:
        """The `text` view of each memory that has one, up to rounding."""
        store.adopt("axes", 4)
        memories = [memory(id, id=id) for id in ("both", "context", "none")]
        given = {"both": {"context": EAST, "text": _vector(1, 2, 3)}, "context": {"context": EAST}}
        store.put(Batch(memories, given))
        found = store.view().vectors(["both", "context", "none", "nothing"])
        assert list(found) == ["both"]
        assert found["both"].tolist() == pytest.approx(_vector(1, 2, 3).tolist(), abs=HALF)

    def test_a_store_tells_which_memories_have_vectors(self, store: Store) -> None:
        """Before and after an embedding is adopted."""
        put(store, memory("a book", id="book"))
        assert store.embedded(["book", "nothing"]) == set()
        put_embedded(store, memory("a lamp", id="lamp"), memory("a door", id="door"))
        assert store.embedded(["lamp", "book", "nothing"]) == {"lamp"}

    def test_missing_views_can_be_added_later(self, store: Store) -> None:
        """A known memory gets the views that it lacks and keeps the others; the generation rises."""
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


OTHER = FakeEmbedder(32)


def _vectors(memories: Sequence[Memory]) -> dict[str, Vectors]:
    rows = OTHER.embed([memory.text for memory in memories], purpose="memory")
    return {one.id: Embedded(OTHER.generation, {"text": row}) for one, row in zip(memories, rows, strict=True)}


def _fill(store: Store) -> None:
    while found := store.without_vectors(OTHER.generation, 3):
        store.add_vectors(OTHER.generation, found, _vectors(found))


def _nearest(store: Store, text: str, by: FakeEmbedder) -> list[str]:
    return ids(store.view().search_vector(by.embed([text], purpose="query"), ALL, 1))


class SwitchingEmbeddings(StoreCase):
    """Changing the embedding generation: a search never sees two of them."""

    def test_the_old_vectors_are_searched_until_the_switch(self, store: Store) -> None:
        """Filling another generation has no visible effect; the switch changes everything at once."""
        put_embedded(store, *sample_world())
        before = store.view()
        store.prepare(OTHER.generation, OTHER.dim)
        _fill(store)
        assert (store.embedding, store.view().embedding) == (EMBEDDER.generation, EMBEDDER.generation)
        assert store.switch(OTHER.generation)
        view = store.view()
        assert (store.embedding, view.embedding, store.stats().dimension) == (OTHER.generation, OTHER.generation, 32)
        assert view.generation > before.generation
        lamp = sample_world()[3]
        assert _nearest(store, lamp.text, OTHER) == [lamp.id]
        assert before.embedding == EMBEDDER.generation
        assert ids(before.search_vector(EMBEDDER.embed([lamp.text], purpose="query"), ALL, 1)) == [lamp.id]

    def test_every_version_is_reembedded(self, store: Store) -> None:
        """The history of a memory has vectors too."""
        put_embedded(store, memory("a lamp", id="lamp"))
        put_embedded(store, memory("a candle", id="lamp"))
        store.prepare(OTHER.generation, OTHER.dim)
        assert [memory.text for memory in store.without_vectors(OTHER.generation, 9)] == ["a lamp", "a candle"]
        _fill(store)
        assert store.switch(OTHER.generation)
        assert store.embedded(ids(everything(store))) == set(ids(everything(store)))

    def test_memories_written_meanwhile_delay_the_switch(self, store: Store) -> None:
        """A new memory, a new version and a changed text lack vectors of the new generation."""
        put_embedded(store, memory("a lamp", id="lamp"), memory("a book", id="book"))
        store.prepare(OTHER.generation, OTHER.dim)
        _fill(store)
        put_embedded(store, memory("a candle", id="lamp"))
        store.put(Batch(revised=[memory("a novel", id="book")]))
        put(store, memory("a door", id="door"))
        assert not store.switch(OTHER.generation)
        assert store.embedding == EMBEDDER.generation
        assert {memory.text for memory in store.without_vectors(OTHER.generation, 9)} == {
            "a candle",
            "a novel",
            "a door",
        }
        _fill(store)
        assert store.switch(OTHER.generation)

    def test_vectors_of_an_outdated_text_are_dropped(self, store: Store) -> None:
        """They do not belong to the new text."""
        put_embedded(store, memory("a lamp", id="lamp"))
        store.prepare(OTHER.generation, OTHER.dim)
        stale = store.without_vectors(OTHER.generation, 9)
        put_embedded(store, memory("a candle", id="lamp"))
        store.add_vectors(OTHER.generation, stale, _vectors(stale))
        assert "a candle" in {memory.text for memory in store.without_vectors(OTHER.generation, 9)}

    def test_a_prepared_generation_is_kept_for_the_next_run(self, store: Store) -> None:
        """Preparing it again keeps its vectors, and so does preparing another generation."""
        put_embedded(store, memory("a lamp", id="lamp"), memory("a book", id="book"))
        store.prepare(OTHER.generation, OTHER.dim)
        first = store.without_vectors(OTHER.generation, 1)
        store.add_vectors(OTHER.generation, first, _vectors(first))
        store.prepare("another", 3)
        store.prepare(OTHER.generation, OTHER.dim)
        assert ids(store.without_vectors(OTHER.generation, 9)) == ["book"]

    def test_missing_vectors_of_the_searched_generation_can_be_added(self, store: Store) -> None:
        """Memories without vectors get them and are then found."""
        put_embedded(store, memory("a lamp", id="lamp"))
        put(store, memory("a book", id="book"))
        store.prepare(EMBEDDER.generation, EMBEDDER.dim)
        lacking = store.without_vectors(EMBEDDER.generation, 9)
        rows = EMBEDDER.embed([memory.text for memory in lacking], purpose="memory")
        store.add_vectors(EMBEDDER.generation, lacking, {"book": {"text": rows[0]}})
        assert store.switch(EMBEDDER.generation)
        assert _nearest(store, "a book", EMBEDDER) == ["book"]

    def test_vectors_of_another_generation_are_refused(self, store: Store) -> None:
        """Even with the same dimension, if they name their generation; nothing is written."""
        store.adopt("axes", 32)
        lamp = memory("a lamp", id="lamp")
        with pytest.raises(EmbeddingMismatch, match="axes"):
            store.put(Batch([lamp], _vectors([lamp])))
        assert everything(store) == []
        store.prepare("others", 5)
        put(store, lamp)
        with pytest.raises(EmbeddingMismatch):
            store.add_vectors("others", [lamp], {"lamp": dict(_vectors([lamp])["lamp"])})
        with pytest.raises(NotFound, match="prepare"):
            store.switch("unheard of")

    def test_vectors_read_from_a_store_are_kept_bit_for_bit(self, store: Store) -> None:
        """So vectors can be moved between stores without loss."""
        put_embedded(store, *sample_world())
        kept = store.vectors(ids(everything(store)))
        store.put(Batch(revised=everything(store), vectors=kept))
        again = store.vectors(list(kept))
        assert {id: views["text"].tobytes() for id, views in again.items()} == {
            id: views["text"].tobytes() for id, views in kept.items()
        }
