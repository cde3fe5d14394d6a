"""A second embedding generation beside the first, the switch between them, and everything as records."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memorist.errors import EmbeddingMismatch, NotFound
from memorist.model import Entity, Link, Memory, Noise, Showing
from memorist.ports import Batch, Embedded, Entry, Job, Kept, Store, StoreStats, Vectors
from memorist.testing.fakes import START, FakeEmbedder
from memorist.testing.store_suite.base import ALL, EMBEDDER, StoreCase, everything, ids, put, put_embedded
from memorist.testing.world import memory, sample_world

OTHER = FakeEmbedder(32)


def _vectors(memories: Sequence[Memory]) -> dict[str, Vectors]:
    rows = OTHER.embed([one.text for one in memories], purpose="memory")
    return {one.id: Embedded(OTHER.generation, {"text": row}) for one, row in zip(memories, rows, strict=True)}


def _fill(store: Store) -> None:
    while found := store.lacking(OTHER.generation, 3):
        store.add_vectors(OTHER.generation, found, _vectors(found))


def _nearest(store: Store, text: str, by: FakeEmbedder) -> list[str]:
    return ids(store.view().search_vector(by.embed([text], purpose="query"), ALL, 1))


class Renewing(StoreCase):
    """Never two generations in one search."""

    def test_the_old_vectors_are_searched_until_the_switch(self, store: Store) -> None:
        """Filling another generation shows nowhere; the switch changes everything at once."""
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

    def test_every_form_is_renewed(self, store: Store) -> None:
        """A memory's history has vectors too."""
        put_embedded(store, memory("a lamp", id="lamp"))
        put_embedded(store, memory("a candle", id="lamp"))
        store.prepare(OTHER.generation, OTHER.dim)
        assert [one.text for one in store.lacking(OTHER.generation, 9)] == ["a lamp", "a candle"]
        _fill(store)
        assert store.switch(OTHER.generation)
        assert store.embedded(ids(everything(store))) == set(ids(everything(store)))

    def test_what_is_written_meanwhile_holds_the_switch_up(self, store: Store) -> None:
        """A new memory, a new version and a changed text lack vectors of the new generation."""
        put_embedded(store, memory("a lamp", id="lamp"), memory("a book", id="book"))
        store.prepare(OTHER.generation, OTHER.dim)
        _fill(store)
        put_embedded(store, memory("a candle", id="lamp"))
        store.put(Batch(revised=[memory("a novel", id="book")]))
        put(store, memory("a door", id="door"))
        assert not store.switch(OTHER.generation)
        assert store.embedding == EMBEDDER.generation
        assert {one.text for one in store.lacking(OTHER.generation, 9)} == {"a candle", "a novel", "a door"}
        _fill(store)
        assert store.switch(OTHER.generation)

    def test_vectors_of_a_text_that_is_no_longer_there_are_dropped(self, store: Store) -> None:
        """They would lie beside another text."""
        put_embedded(store, memory("a lamp", id="lamp"))
        store.prepare(OTHER.generation, OTHER.dim)
        stale = store.lacking(OTHER.generation, 9)
        put_embedded(store, memory("a candle", id="lamp"))
        store.add_vectors(OTHER.generation, stale, _vectors(stale))
        assert "a candle" in {one.text for one in store.lacking(OTHER.generation, 9)}

    def test_what_was_prepared_stays_for_the_next_run(self, store: Store) -> None:
        """Preparing again goes on; another generation does not disturb it."""
        put_embedded(store, memory("a lamp", id="lamp"), memory("a book", id="book"))
        store.prepare(OTHER.generation, OTHER.dim)
        first = store.lacking(OTHER.generation, 1)
        store.add_vectors(OTHER.generation, first, _vectors(first))
        store.prepare("another", 3)
        store.prepare(OTHER.generation, OTHER.dim)
        assert ids(store.lacking(OTHER.generation, 9)) == ["book"]

    def test_the_searched_generation_can_be_filled_up(self, store: Store) -> None:
        """Memories without vectors get them, and are found."""
        put_embedded(store, memory("a lamp", id="lamp"))
        put(store, memory("a book", id="book"))
        store.prepare(EMBEDDER.generation, EMBEDDER.dim)
        lacking = store.lacking(EMBEDDER.generation, 9)
        rows = EMBEDDER.embed([one.text for one in lacking], purpose="memory")
        store.add_vectors(EMBEDDER.generation, lacking, {"book": {"text": rows[0]}})
        assert store.switch(EMBEDDER.generation)
        assert _nearest(store, "a book", EMBEDDER) == ["book"]

    def test_vectors_of_another_generation_are_refused(self, store: Store) -> None:
        """Of the same length too, if they tell who made them; nothing of the batch is written."""
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
        """So that they can be moved."""
        put_embedded(store, *sample_world())
        kept = store.vectors(ids(everything(store)))
        store.put(Batch(revised=everything(store), vectors=kept))
        again = store.vectors(list(kept))
        assert {id: views["text"].tobytes() for id, views in again.items()} == {
            id: views["text"].tobytes() for id, views in kept.items()
        }

    def test_records_are_everything_there_is(self, store: Store) -> None:
        """How much there is comes first; each memory brings its vectors and jobs."""
        lamp, book = memory("a lamp", id="lamp"), memory("a book", id="book")
        put_embedded(store, lamp)
        link, ann = Link("lamp", "mentions", "ann", 0.5), Entity("ann", "Ann", "person", ("Annie",))
        mine, general = Job("read", "lamp", START), Job("tidy", "week", START, 2, "late")
        entry = Entry("e1", START, "hide", ("lamp",), {"why": "old"})
        store.put(Batch([book], links=[link], entities=[ann], jobs=[general, mine], journal=[entry]))
        store.show("talk", ["lamp"], START)
        store.learn_noise(["hm", "ok"], keep=9)
        head, *records = store.records()
        assert isinstance(head, StoreStats)
        assert (head.memories, head.links, head.entities, head.embedding) == (2, 1, 1, EMBEDDER.generation)
        assert records[:2] == [Kept(lamp, records[0].vectors, (mine,)), Kept(book)]  # pyright: ignore
        assert sorted(map(repr, records[2:])) == sorted(
            map(repr, [ann, link, general, entry, Showing("talk", "lamp", START), Noise("hm"), Noise("ok")])
        )
