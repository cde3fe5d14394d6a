"""Tests of writing: puts, versions, revisions, plans, usage, jobs and the journal."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from memorist.errors import EmbeddingMismatch, InvalidInput
from memorist.model import Filter, Link, Memory, Origin, Times, Usage, Worth, instant
from memorist.ports import Batch, Entry, Job, Reader, Store
from memorist.testing.store_suite.base import ALL, EMBEDDER, SEARCHES, StoreCase, everything, ids, put, put_embedded
from memorist.testing.world import NOON, memory, sample_world

DAY = timedelta(days=1)
EARLY, LATE = instant("2024-01-01"), instant("2024-03-01T10:00:00Z")


def _city(text: str, at: str) -> Memory:
    return memory(text, id="city", at=at, usage=Usage())


class Writing(StoreCase):
    """Puts, versions, usage and embedding generations."""

    def test_every_field_comes_back(self, store: Store) -> None:
        """A memory is read as it was written, with known or unknown usage."""
        world = sample_world()
        assert put(store, *world) == world
        assert store.get(ids(world)) == {memory.id: memory for memory in world}

    def test_unknown_ids_are_left_out(self, store: Store) -> None:
        """Asking for an unknown id is not an error."""
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
        """A known id with the same text changes no field and not the generation."""
        (first,) = put(store, memory("a lamp", id="lamp"))
        before = store.view().generation
        again = memory("a lamp", id="lamp", at=LATE, topic="light")
        assert put(store, again) == [first]
        assert (store.view().generation, everything(store)) == (before, [first])

    def test_a_write_raises_the_generation(self, store: Store) -> None:
        """The next view has a higher generation after a write."""
        before = store.view().generation
        put(store, memory("a lamp"))
        assert store.view().generation > before

    def test_a_batch_answers_in_its_own_order(self, store: Store) -> None:
        """For known, new and repeated memories."""
        lamp, book = memory("a lamp"), memory("a book")
        put(store, lamp)
        assert put(store, book, lamp, book) == [book, lamp, book]
        assert ids(everything(store)) == [lamp.id, book.id]

    def test_an_empty_batch_changes_nothing(self, store: Store) -> None:
        """It returns nothing and keeps the generation."""
        before = store.view().generation
        assert store.put(Batch()) == []
        assert store.view().generation == before

    def test_another_text_is_a_new_version(self, store: Store) -> None:
        """The id goes to the new text; the old version is closed on both clocks and gets its own id."""
        (oslo,) = put(store, _city("Oslo", "2024-01-01"))
        (bergen,) = put(store, _city("Bergen", "2024-03-01T10:00:00Z"))
        assert bergen == replace(_city("Bergen", "2024-03-01T10:00:00Z"), version=2)
        assert store.get(["city"]) == {"city": bergen}
        past = oslo.archived(bergen)
        assert (past.times.valid_to, past.times.expired_at) == (LATE, LATE)
        assert store.get([past.id]) == {past.id: past}
        assert store.history("city") == [bergen, past]

    def test_a_later_version_of_the_same_text_is_a_new_version(self, store: Store) -> None:
        """An edit of other fields."""
        put(store, _city("Oslo", "2024-01-01"))
        (labelled,) = put(store, replace(_city("Oslo", "2024-01-01"), topic="home", version=2))
        assert (labelled.topic, labelled.version, store.history("city")[1].topic) == ("home", 2, None)
        put(store, replace(_city("Bergen", "2024-03-01"), version=3))
        assert [version.version for version in store.history("city")] == [3, 2, 1]

    def test_versions_within_one_batch_follow_each_other(self, store: Store) -> None:
        """Three texts for one id in one batch are three versions."""
        texts = ("Oslo", "Bergen", "Tromsø")
        answers = put(store, *(_city(text, f"2024-01-0{day}") for day, text in enumerate(texts, 1)))
        assert [memory.version for memory in answers] == [1, 2, 3]
        assert [version.text for version in store.history("city")] == ["Tromsø", "Bergen", "Oslo"]

    def test_a_version_that_was_imported_before_is_not_kept_twice(self, store: Store) -> None:
        """Imported history and our own use the same ids."""
        (oslo,) = put_embedded(store, _city("Oslo", "2024-01-01"))
        bergen = replace(_city("Bergen", "2024-03-01"), version=2)
        past = oslo.archived(bergen)
        put_embedded(store, past)
        assert put_embedded(store, bergen) == [bergen]
        assert store.history("city") == [bergen, past]
        assert (store.view().size, len(store.embedded([past.id, "city"]))) == (2, 2)

    def test_both_versions_can_be_found(self, store: Store) -> None:
        """A search finds the past version if the filter asks for that time."""
        put_embedded(store, _city("Alice lives in Oslo", "2024-01-01"))
        put_embedded(store, _city("Alice lives in Bergen", "2024-03-01T10:00:00Z"))
        past = store.history("city")[1].id
        view = store.view()
        then, now = replace(ALL, as_of=instant("2024-02-01")), replace(ALL, as_of=instant("2024-04-01"))
        assert ids(view.search_text("Alice", then, 9)) == [past]
        assert ids(view.search_text("Alice", now, 9)) == ["city"]
        probe = EMBEDDER.embed(["Alice lives in Oslo"], purpose="query")
        assert ids(view.search_vector(probe, then, 9)) == [past]

    def test_an_unknown_memory_has_no_history(self, store: Store) -> None:
        """Asking for it is not an error."""
        assert store.history("nothing") == []

    def test_usage_counts_recalls(self, store: Store) -> None:
        """Each touch counts once, even if an id is repeated; the last twenty times are kept."""
        (lamp,) = put(store, memory("a lamp"))
        moments = [instant(f"2024-07-01T00:{minute:02}:00Z") for minute in range(25)]
        for moment in moments:
            store.touch([lamp.id, lamp.id, "nothing"], moment)
        usage = store.get([lamp.id])[lamp.id].usage
        assert usage == Usage(25, moments[-1], tuple(moments[5:]))

    def test_a_recall_that_is_counted_late_keeps_its_moment(self, store: Store) -> None:
        """A use may wait in a queue: what is counted later may have happened earlier."""
        (lamp,) = put(store, memory("a lamp"))
        first, second = instant("2024-07-01T00:01:00Z"), instant("2024-07-01T00:02:00Z")
        store.touch([lamp.id], second)
        store.touch([lamp.id], first)
        assert store.get([lamp.id])[lamp.id].usage == Usage(2, second, (first, second))

    def test_unknown_usage_begins_at_the_first_recall(self, store: Store) -> None:
        """A memory imported without usage has one after its first recall."""
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
        """The count continues under the id; the old version keeps its count."""
        put(store, _city("Oslo", "2024-01-01"))
        store.touch(["city"], EARLY)
        (bergen,) = put(store, _city("Bergen", "2024-03-01"))
        assert bergen.usage == Usage(1, EARLY, (EARLY,))
        store.touch(["city"], LATE)
        assert [version.usage and version.usage.recalls for version in store.history("city")] == [2, 1]

    def test_an_embedding_is_adopted_once(self, store: Store) -> None:
        """Adopting the same embedding again is fine; another one is refused with a remedy."""
        assert store.embedding is None
        store.adopt("one:64", 64)
        store.adopt("one:64", 64)
        assert store.embedding == "one:64"
        with pytest.raises(EmbeddingMismatch, match="reembed"):
            store.adopt("two:64", 64)
        with pytest.raises(EmbeddingMismatch):
            store.adopt("one:64", 32)

    def test_vectors_that_do_not_fit_are_refused_whole(self, store: Store) -> None:
        """Before an adoption, with another length, or of a memory outside the batch; nothing is written."""
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
        """Current memories and versions are counted separately."""
        put_embedded(store, _city("Oslo", "2024-01-01"), memory("a lamp", scope="user:bo"))
        put(store, _city("Bergen", "2024-03-01"))
        stats = store.stats()
        assert (stats.memories, stats.versions, stats.links, stats.entities) == (2, 1, 0, 0)
        assert (stats.kinds, stats.scopes) == ({"episodic": 2}, {"global": 1, "user:bo": 1})
        assert (stats.space, stats.embedding) == (store.space, EMBEDDER.generation)
        assert stats.generation == store.view().generation


class Revising(StoreCase):
    """Revisions, plans, rewards, jobs and the journal."""

    def test_a_revision_replaces_the_known_memory(self, store: Store) -> None:
        """There is no new version; the place in the listing and the vectors stay."""
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
        """Its old vectors are dropped with the old text; new ones may be given."""
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
        """Including its version number and the memory that it is a version of."""
        past = memory("an old lamp", id="old", version=3, version_of="lamp", superseded_by="lamp", usage=Usage(7))
        store.put(Batch([memory("a lamp", id="lamp")], revised=[past]))
        assert store.get(["old"]) == {"old": past}
        assert ids(store.history("lamp")) == ["old", "lamp"]

    def test_a_revision_keeps_the_usage_that_was_counted(self, store: Store) -> None:
        """The memory may have been recalled after it was read for the revision."""
        read = put(store, memory("a lamp", id="lamp"))[0]
        store.touch(["lamp"], NOON)
        store.put(Batch(revised=[replace(read, topic="light")]))
        usage = store.get(["lamp"])["lamp"].usage
        assert usage is not None
        assert usage.recalls == 1

    def test_a_retracted_memory_is_known_only_before_its_retraction(self, store: Store) -> None:
        """By the filter `known_at`; without it, everything is listed."""
        times = Times(NOON, NOON, retracted_at=NOON + 2 * DAY)
        put_embedded(store, memory("a lamp", id="lamp", times=times))
        for days, found in ((-1, []), (0, ["lamp"]), (1, ["lamp"]), (2, []), (3, [])):
            where = Filter(as_of=NOON + 5 * DAY, known_at=NOON + days * DAY)
            assert ids(store.scan(where, 5).items) == found
            for search in SEARCHES:
                assert ids(search.run(store.view(), "a lamp", where, 5)) == found, search.name
        assert ids(everything(store)) == ["lamp"]

    def test_memories_are_found_by_their_key(self, store: Store) -> None:
        """In every scope, including versions, in the order written."""
        put(store, memory("red", id="a", origin=Origin(key="colour"), scope="user:a"))
        put(store, memory("blue", id="b", origin=Origin(key="colour"), scope="user:b"))
        put(store, memory("green", id="a", origin=Origin(key="colour"), scope="user:a"), memory("grey", id="c"))
        assert [row.text for row in store.by_key(["colour", "none"])] == ["red", "blue", "green"]
        assert store.by_key([]) == []

    def test_memories_are_found_by_what_they_say(self, store: Store) -> None:
        """Whatever their scope; without old versions, and in the order written."""
        put(store, memory("The lamp is ON.", id="a", scope="user:a"), memory("the lamp  is on", id="b"))
        put(store, memory("The lamp is on?", id="c"), memory("👍", id="d"), memory("👎", id="e"))
        assert ids(store.by_text(["THE LAMP IS ON"])) == ["a", "b"]
        assert (ids(store.by_text(["👍"])), store.by_text(["lamp"]), store.by_text([])) == (["d"], [], [])
        put(store, memory("The lamp is off.", id="a", scope="user:a"))
        assert (ids(store.by_text(["the lamp is on"])), ids(store.by_text(["the lamp is off"]))) == (["b"], ["a"])
        store.put(Batch(revised=[memory("The lamp is off", id="b")]))
        assert (store.by_text(["the lamp is on"]), ids(store.by_text(["the lamp is off"]))) == ([], ["b", "a"])
        store.delete(["a"])
        assert ids(store.by_text(["the lamp is off"])) == ["b"]

    def test_links_can_be_removed(self, store: Store) -> None:
        """Removing an unknown link is not an error."""
        kept, gone = Link("lamp", "next", "book"), Link("lamp", "next", "desk")
        store.put(Batch([memory("a lamp", id="lamp")], links=[kept, gone]))
        store.put(Batch(unlinked=[gone, Link("lamp", "never", "there")]))
        assert store.links(["lamp"]) == [kept]

    def test_rewards_add_up(self, store: Store) -> None:
        """Rewards do not change the recall count."""
        put(store, memory("a lamp", id="lamp"))
        store.touch(["lamp"], NOON)
        store.put(Batch(rewards={"lamp": [1.0, 0.5], "nobody": [1.0]}))
        store.put(Batch(rewards={"lamp": [0.0]}))
        usage = store.get(["lamp"])["lamp"].usage
        assert usage is not None
        assert (usage.recalls, usage.reward_count, usage.reward_total) == (1, 3, 1.5)

    def test_usage_is_kept_as_given(self, store: Store) -> None:
        """It replaces the counts; later rewards are added to it."""
        put(store, memory("a lamp", id="lamp"))
        store.touch(["lamp"], NOON)
        store.put(Batch(usage={"lamp": Usage(7, NOON - DAY, (NOON - DAY,), 2, 1.5), "nobody": Usage(1)}))
        store.put(Batch(rewards={"lamp": [0.5]}))
        assert store.get(["lamp"])["lamp"].usage == Usage(7, NOON - DAY, (NOON - DAY,), 3, 2.0)
        store.put(Batch(usage={"lamp": Usage()}))
        assert store.get(["lamp"])["lamp"].usage == Usage()

    def test_jobs_wait_until_they_are_done(self, store: Store) -> None:
        """Earliest due first; there is one job per task and subject."""
        late, early = Job("facts", "a", NOON + DAY), Job("session", "b", NOON, attempts=2, error="no answer")
        store.put(Batch(jobs=[late, early]))
        assert store.jobs() == [early, late]
        assert store.jobs("facts") == [late]
        assert store.jobs(limit=1) == [early]
        assert (store.jobs(subject=late.subject), store.jobs(early.task, 1, "nothing")) == ([late], [])
        again = replace(late, due=NOON - DAY, attempts=1)
        store.put(Batch(jobs=[again]))
        assert store.jobs() == [again, early]
        store.put(Batch(done=[("facts", "a"), ("facts", "never")]))
        assert store.jobs() == [early]

    def test_the_journal_keeps_entries_until_their_memories_are_erased(self, store: Store) -> None:
        """Newest first; a rewritten entry keeps its place."""
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
        """A plan may put, revise and erase in one batch."""
        put(store, memory("one", id="one", origin=Origin(key="k")), memory("two", id="two"))

        def plan(reader: Reader) -> Batch:
            one = reader.by_key(["k"])[0]
            assert reader.get(["two"])["two"].text == "two"
            return Batch([memory("three", id="three")], revised=[replace(one, topic="seen")], erased=["two"])

        assert ids(store.update(plan)) == ["three"]
        assert {memory.id: memory.topic for memory in everything(store)} == {"one": "seen", "three": None}

    def test_a_draft_is_only_a_hint(self, store: Store) -> None:
        """The plan decides what is written, whatever the draft said."""
        draft = Batch([memory("one", id="one"), memory("two", id="two")])
        assert ids(store.update(lambda reader: Batch([memory("another", id="one")]), draft)) == ["one"]
        assert [row.text for row in everything(store)] == ["another"]
        assert ids(store.view().search_text("another", ALL, 5)) == ["one"]

    def test_a_plan_that_fails_writes_nothing(self, store: Store) -> None:
        """The store keeps working."""
        put(store, memory("one", id="one"))

        def plan(reader: Reader) -> Batch:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            store.update(plan)
        assert ids(everything(store)) == ["one"]
        put(store, memory("two", id="two"))
        assert len(everything(store)) == 2

    def test_plans_of_many_threads_follow_one_another(self, store: Store) -> None:
        """Each plan reads what the previous one wrote, so no update is lost."""
        put(store, memory("a counter", id="counter", metadata={"count": 0}))

        def plan(reader: Reader) -> Batch:
            counter = reader.get(["counter"])["counter"]
            return Batch(revised=[replace(counter, metadata={"count": counter.metadata["count"] + 1})])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(store.update, [plan] * 40))
        assert store.get(["counter"])["counter"].metadata == {"count": 40}
