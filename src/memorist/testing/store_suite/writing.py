"""Writing: what comes back is what was put, once; a new text under a known id is a new version."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memorist.errors import EmbeddingMismatch, InvalidInput
from memorist.model import Memory, Times, Usage, instant
from memorist.ports import Batch, Store
from memorist.testing.store_suite.base import (
    ALL,
    EMBEDDER,
    StoreCase,
    everything,
    ids,
    put,
    put_embedded,
)
from memorist.testing.world import memory, sample_world

EARLY, LATE = instant("2024-01-01"), instant("2024-03-01T10:00:00Z")


def _told(text: str, at: str) -> Memory:
    return memory(text, id="city", at=at, usage=Usage())


class Writing(StoreCase):
    """Puts, versions, usage and embedding generations."""

    def test_every_field_comes_back(self, store: Store) -> None:
        """A memory is read as it was written, usage unknown or known."""
        world = sample_world()
        assert put(store, *world) == world
        assert store.get(ids(world)) == {one.id: one for one in world}

    def test_unknown_ids_are_left_out(self, store: Store) -> None:
        """Asking for what is not there is no error."""
        (known,) = put(store, memory("a lamp"))
        assert store.get(["nothing", known.id, known.id]) == {known.id: known}
        assert store.get([]) == {}

    def test_times_keep_their_microseconds(self, store: Store) -> None:
        """The ends of the calendar and single microseconds survive."""
        first, last = instant("0001-01-01"), instant("9999-12-31T23:59:59.999999Z")
        given = memory("ever", times=Times(first, last, last, first, instant("1969-12-31T23:59:59.999999Z")))
        put(store, given)
        assert store.get([given.id])[given.id].times == given.times

    def test_the_same_again_changes_nothing(self, store: Store) -> None:
        """A known id with the same text keeps every field and the generation."""
        (first,) = put(store, memory("a lamp", id="lamp"))
        before = store.view().generation
        again = memory("a lamp", id="lamp", at=LATE, topic="light")
        assert put(store, again) == [first]
        assert (store.view().generation, everything(store)) == (before, [first])

    def test_a_write_raises_the_generation(self, store: Store) -> None:
        """A content write is seen by the generation of the next view."""
        before = store.view().generation
        put(store, memory("a lamp"))
        assert store.view().generation > before

    def test_a_batch_answers_in_its_own_order(self, store: Store) -> None:
        """Known, new and repeated memories each get their place."""
        lamp, book = memory("a lamp"), memory("a book")
        put(store, lamp)
        assert put(store, book, lamp, book) == [book, lamp, book]
        assert ids(everything(store)) == [lamp.id, book.id]

    def test_an_empty_batch_changes_nothing(self, store: Store) -> None:
        """Nothing in, nothing out."""
        before = store.view().generation
        assert store.put(Batch()) == []
        assert store.view().generation == before

    def test_another_text_is_a_new_version(self, store: Store) -> None:
        """The id moves on to the new text; the old one is closed on both clocks and keeps its own id."""
        (oslo,) = put(store, _told("Oslo", "2024-01-01"))
        (bergen,) = put(store, _told("Bergen", "2024-03-01T10:00:00Z"))
        assert bergen == replace(_told("Bergen", "2024-03-01T10:00:00Z"), version=2)
        assert store.get(["city"]) == {"city": bergen}
        past = oslo.archived(bergen)
        assert (past.times.valid_to, past.times.expired_at) == (LATE, LATE)
        assert store.get([past.id]) == {past.id: past}
        assert store.history("city") == [bergen, past]

    def test_versions_within_one_batch_follow_each_other(self, store: Store) -> None:
        """Three texts for one id in a batch are three versions."""
        texts = ("Oslo", "Bergen", "Tromsø")
        answers = put(store, *(_told(text, f"2024-01-0{day}") for day, text in enumerate(texts, 1)))
        assert [one.version for one in answers] == [1, 2, 3]
        assert [one.text for one in store.history("city")] == ["Tromsø", "Bergen", "Oslo"]

    def test_a_version_that_was_imported_before_is_not_kept_twice(self, store: Store) -> None:
        """History that came from elsewhere and our own meet under one id."""
        (oslo,) = put_embedded(store, _told("Oslo", "2024-01-01"))
        bergen = replace(_told("Bergen", "2024-03-01"), version=2)
        past = oslo.archived(bergen)
        put_embedded(store, past)
        assert put_embedded(store, bergen) == [bergen]
        assert store.history("city") == [bergen, past]
        assert (store.view().size, len(store.embedded([past.id, "city"]))) == (2, 2)

    def test_both_versions_can_be_found(self, store: Store) -> None:
        """A search sees the past where the filter looks at it."""
        put_embedded(store, _told("Alice lives in Oslo", "2024-01-01"))
        put_embedded(store, _told("Alice lives in Bergen", "2024-03-01T10:00:00Z"))
        past = store.history("city")[1].id
        view = store.view()
        then, now = replace(ALL, as_of=instant("2024-02-01")), replace(ALL, as_of=instant("2024-04-01"))
        assert ids(view.search_text("Alice", then, 9)) == [past]
        assert ids(view.search_text("Alice", now, 9)) == ["city"]
        probe = EMBEDDER.embed(["Alice lives in Oslo"], purpose="query")
        assert ids(view.search_vector(probe, then, 9)) == [past]

    def test_an_unknown_memory_has_no_history(self, store: Store) -> None:
        """Asking for it is no error."""
        assert store.history("nothing") == []

    def test_usage_counts_recalls(self, store: Store) -> None:
        """Each touch counts once, however often an id is named; the last twenty times are kept."""
        (lamp,) = put(store, memory("a lamp"))
        moments = [instant(f"2024-07-01T00:{minute:02}:00Z") for minute in range(25)]
        for moment in moments:
            store.touch([lamp.id, lamp.id, "nothing"], moment)
        usage = store.get([lamp.id])[lamp.id].usage
        assert usage == Usage(25, moments[-1], tuple(moments[5:]))

    def test_unknown_usage_begins_at_the_first_recall(self, store: Store) -> None:
        """A memory imported without usage has one from its first recall on."""
        put(store, memory("a lamp", id="lamp", usage=None))
        store.touch(["lamp"], LATE)
        assert store.get(["lamp"])["lamp"].usage == Usage(1, LATE, (LATE,))

    def test_touching_changes_no_generation(self, store: Store) -> None:
        """Usage invalidates no cache."""
        (lamp,) = put(store, memory("a lamp"))
        before = store.view()
        store.touch([lamp.id], LATE)
        assert store.view().generation == before.generation

    def test_usage_goes_on_with_a_new_version(self, store: Store) -> None:
        """The id keeps its count; the old version keeps what it had."""
        put(store, _told("Oslo", "2024-01-01"))
        store.touch(["city"], EARLY)
        (bergen,) = put(store, _told("Bergen", "2024-03-01"))
        assert bergen.usage == Usage(1, EARLY, (EARLY,))
        store.touch(["city"], LATE)
        assert [one.usage and one.usage.recalls for one in store.history("city")] == [2, 1]

    def test_an_embedding_is_adopted_once(self, store: Store) -> None:
        """The same again is fine, another one is refused and the way out named."""
        assert store.embedding is None
        store.adopt("one:64", 64)
        store.adopt("one:64", 64)
        assert store.embedding == "one:64"
        with pytest.raises(EmbeddingMismatch, match="memorist reembed"):
            store.adopt("two:64", 64)
        with pytest.raises(EmbeddingMismatch):
            store.adopt("one:64", 32)

    def test_vectors_that_do_not_fit_are_refused_whole(self, store: Store) -> None:
        """Before an adoption, of another length, or of a memory outside the batch: nothing is written."""
        lamp, vector = memory("a lamp"), EMBEDDER.embed(["a lamp"], purpose="memory")[0]
        with pytest.raises(EmbeddingMismatch):
            store.put(Batch([lamp], {lamp.id: {"text": vector}}))
        store.adopt(EMBEDDER.generation, EMBEDDER.dim)
        with pytest.raises(EmbeddingMismatch):
            store.put(Batch([lamp], {lamp.id: {"text": vector[:10]}}))
        with pytest.raises(InvalidInput):
            store.put(Batch([lamp], {"another": {"text": vector}}))
        assert everything(store) == []

    def test_stats_count_what_is_there(self, store: Store) -> None:
        """Current memories and versions are told apart."""
        put_embedded(store, _told("Oslo", "2024-01-01"), memory("a lamp", scope="user:bo"))
        put(store, _told("Bergen", "2024-03-01"))
        stats = store.stats()
        assert (stats.memories, stats.versions, stats.links, stats.entities) == (2, 1, 0, 0)
        assert (stats.kinds, stats.scopes) == ({"episodic": 2}, {"global": 1, "user:bo": 1})
        assert (stats.space, stats.embedding) == (store.space, EMBEDDER.generation)
        assert stats.generation == store.view().generation
