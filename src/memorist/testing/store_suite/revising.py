"""The suite: changing memories, and renewing their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from memorist.errors import EmbeddingMismatch, NotFound
from memorist.model import Entity, Filter, Link, Memory, Noise, Origin, Showing, Times, Usage, Worth
from memorist.ports import Batch, Embedded, Entry, Job, Kept, Reader, Store, StoreStats, Vectors
from memorist.testing.fakes import START, FakeEmbedder
from memorist.testing.store_suite.base import ALL, EMBEDDER, SEARCHES, StoreCase, everything, ids, put, put_embedded
from memorist.testing.world import NOON, memory, sample_world

DAY = timedelta(days=1)


class Revising(StoreCase):
    """Revisions, plans, rewards and jobs."""

    def test_a_revision_takes_the_place_of_what_was_known(self, store: Store) -> None:
        """Same id, other fields: no new version, the place in the listing and the vectors stay."""
        put_embedded(store, memory("a lamp", id="lamp"), memory("a book", id="book"))
        lamp = replace(store.get(["lamp"])["lamp"], topic="light", worth=Worth(importance=0.9))
        before = store.vectors(["lamp"])["lamp"]["text"]
        store.put(Batch(revised=[lamp]))
        assert store.get(["lamp"])["lamp"] == lamp
        assert ids(everything(store)) == ["lamp", "book"]
        assert store.history("lamp") == [lamp]
        assert store.vectors(["lamp"])["lamp"]["text"].tolist() == before.tolist()
        view = store.view()
        assert ids(view.search_text("lamp", Filter(topic="light"), 5)) == ["lamp"]
        assert len(view.search_vector(EMBEDDER.embed(["a lamp"], purpose="query"), ALL, 5)) == 2

    def test_a_revised_text_is_found_by_its_new_words_alone(self, store: Store) -> None:
        """Its old vectors go with the old text, unless new ones are given."""
        put_embedded(store, memory("a lamp", id="it"))
        store.put(Batch(revised=[memory("a candle", id="it")]))
        view = store.view()
        assert ids(view.search_text("candle", ALL, 5)) == ["it"]
        assert view.search_text("lamp", ALL, 5) == []
        assert store.vectors(["it"]) == {}
        row = EMBEDDER.embed(["a candle"], purpose="memory")[0]
        store.put(Batch(revised=[memory("a candle", id="it")], vectors={"it": {"text": row}}))
        assert store.vectors(["it"])["it"]["text"] == pytest.approx(row, abs=1e-3)

    def test_a_revision_of_something_unknown_is_kept_as_it_is_given(self, store: Store) -> None:
        """With its version number and what it is a version of."""
        past = memory("an old lamp", id="old", version=3, version_of="lamp", superseded_by="lamp", usage=Usage(7))
        store.put(Batch([memory("a lamp", id="lamp")], revised=[past]))
        assert store.get(["old"]) == {"old": past}
        assert ids(store.history("lamp")) == ["old", "lamp"]

    def test_a_revision_keeps_the_usage_that_was_counted(self, store: Store) -> None:
        """Whoever revises may have read it before the last recall."""
        read = put(store, memory("a lamp", id="lamp"))[0]
        store.touch(["lamp"], NOON)
        store.put(Batch(revised=[replace(read, topic="light")]))
        usage = store.get(["lamp"])["lamp"].usage
        assert usage is not None
        assert usage.recalls == 1

    def test_what_was_taken_back_is_seen_only_from_before(self, store: Store) -> None:
        """On the second clock; without a moment there, everything is listed."""
        times = Times(NOON, NOON, retracted_at=NOON + 2 * DAY)
        put_embedded(store, memory("a lamp", id="lamp", times=times))
        for days, found in ((-1, []), (0, ["lamp"]), (1, ["lamp"]), (2, []), (3, [])):
            where = Filter(as_of=NOON + 5 * DAY, known_at=NOON + days * DAY)
            assert ids(store.scan(where, 5).items) == found
            for search in SEARCHES:
                assert ids(search.run(store.view(), "a lamp", where, 5)) == found, search.name
        assert ids(everything(store)) == ["lamp"]

    def test_memories_are_found_by_their_key(self, store: Store) -> None:
        """In every scope, versions included, in the order written."""
        put(store, memory("red", id="a", origin=Origin(key="colour"), scope="user:a"))
        put(store, memory("blue", id="b", origin=Origin(key="colour"), scope="user:b"))
        put(store, memory("green", id="a", origin=Origin(key="colour"), scope="user:a"), memory("grey", id="c"))
        assert [one.text for one in store.keyed(["colour", "none"])] == ["red", "blue", "green"]
        assert store.keyed([]) == []

    def test_links_can_be_taken_out(self, store: Store) -> None:
        """And the graph no longer walks them."""
        kept, gone = Link("lamp", "next", "book"), Link("lamp", "next", "desk")
        store.put(Batch([memory("a lamp", id="lamp")], links=[kept, gone]))
        store.put(Batch(unlinked=[gone, Link("lamp", "never", "there")]))
        assert store.links(["lamp"]) == [kept]

    def test_rewards_add_up(self, store: Store) -> None:
        """Beside recalls, and without touching the content."""
        put(store, memory("a lamp", id="lamp"))
        store.touch(["lamp"], NOON)
        store.put(Batch(rewards={"lamp": [1.0, 0.5], "nobody": [1.0]}))
        store.put(Batch(rewards={"lamp": [0.0]}))
        usage = store.get(["lamp"])["lamp"].usage
        assert usage is not None
        assert (usage.recalls, usage.reward_count, usage.reward_total) == (1, 3, 1.5)

    def test_usage_is_kept_as_given(self, store: Store) -> None:
        """In place of what was counted; recalls and rewards are counted on from there."""
        put(store, memory("a lamp", id="lamp"))
        store.touch(["lamp"], NOON)
        store.put(Batch(usage={"lamp": Usage(7, NOON - DAY, (NOON - DAY,), 2, 1.5), "nobody": Usage(1)}))
        store.put(Batch(rewards={"lamp": [0.5]}))
        assert store.get(["lamp"])["lamp"].usage == Usage(7, NOON - DAY, (NOON - DAY,), 3, 2.0)
        store.put(Batch(usage={"lamp": Usage()}))
        assert store.get(["lamp"])["lamp"].usage == Usage()

    def test_jobs_wait_until_they_are_done(self, store: Store) -> None:
        """First due first; the same task for the same subject is one job."""
        late, early = Job("facts", "a", NOON + DAY), Job("session", "b", NOON, attempts=2, error="no answer")
        store.put(Batch(jobs=[late, early]))
        assert store.jobs() == [early, late]
        assert store.jobs("facts") == [late]
        assert store.jobs(limit=1) == [early]
        again = replace(late, due=NOON - DAY, attempts=1)
        store.put(Batch(jobs=[again]))
        assert store.jobs() == [again, early]
        store.put(Batch(done=[("facts", "a"), ("facts", "never")]))
        assert store.jobs() == [early]

    def test_the_journal_tells_of_memories_until_they_are_erased(self, store: Store) -> None:
        """Newest first; an entry written again stays in its place."""
        first = Entry("1", NOON, "feedback", ("lamp", "book"), {"verdict": "useful"})
        second = Entry("2", NOON + DAY, "tidy", ("book",), {"before": [1, None, "ä"]})
        put(store, memory("a lamp", id="lamp"), memory("a book", id="book"))
        store.put(Batch(journal=[first, second]))
        assert store.journal() == [second, first]
        assert store.journal(limit=1) == [second]
        assert store.journal("feedback") == store.journal(subject="lamp") == [first]
        undone = replace(first, data={"verdict": "useful", "undone": True})
        store.put(Batch(journal=[undone]))
        assert store.journal() == [second, undone]
        store.delete(["lamp"])
        assert store.journal() == [second]

    def test_a_plan_sees_the_store_and_is_written_whole(self, store: Store) -> None:
        """It may put, revise and erase at once."""
        put(store, memory("one", id="one", origin=Origin(key="k")), memory("two", id="two"))

        def plan(reader: Reader) -> Batch:
            one = reader.keyed(["k"])[0]
            assert reader.get(["two"])["two"].text == "two"
            return Batch([memory("three", id="three")], revised=[replace(one, topic="seen")], erased=["two"])

        assert ids(store.update(plan)) == ["three"]
        assert {one.id: one.topic for one in everything(store)} == {"one": "seen", "three": None}

    def test_a_plan_that_fails_writes_nothing(self, store: Store) -> None:
        """And the store goes on."""
        put(store, memory("one", id="one"))

        def plan(reader: Reader) -> Batch:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            store.update(plan)
        assert ids(everything(store)) == ["one"]
        put(store, memory("two", id="two"))
        assert len(everything(store)) == 2

    def test_plans_of_many_threads_follow_one_another(self, store: Store) -> None:
        """Each reads what the one before wrote: no update is lost."""
        put(store, memory("a counter", id="counter", metadata={"count": 0}))

        def plan(reader: Reader) -> Batch:
            counter = reader.get(["counter"])["counter"]
            return Batch(revised=[replace(counter, metadata={"count": counter.metadata["count"] + 1})])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(store.update, [plan] * 40))
        assert store.get(["counter"])["counter"].metadata == {"count": 40}


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
