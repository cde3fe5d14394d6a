"""Tests of searching, filtering, paging and records."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memorist.errors import InvalidInput
from memorist.model import (
    Entity,
    Filter,
    Kind,
    Link,
    Memory,
    Mention,
    NoiseText,
    Origin,
    Showing,
    Tier,
    Times,
    Worth,
    condition_of,
    instant,
)
from memorist.ports import Batch, Entry, Job, Kept, Store, StoreStats
from memorist.testing.fakes import START
from memorist.testing.store_suite.base import (
    ALL,
    EMBEDDER,
    SearchMethod,
    StoreCase,
    every_search,
    every_word_search,
    ids,
    put,
    put_embedded,
)
from memorist.testing.world import memory, sample_world

TEXT_QUERIES = {
    "where did Alice move": "Alice moved to Stockholm.",
    "half marathons": "Alice was delighted: she ran her first half marathon in under two hours.",
    "ALLERGY peanut": "Alice is allergic to peanuts and carries an adrenaline pen.",
    "人工智能": "博在东京学习人工智能,每周三上课。",
    "皇居": "ボーは毎朝、皇居のまわりを走ります。",
    "INV-2024-0117": "Invoice INV-2024-0117 was paid twice; the refund is pending.",
    "E_TIMEOUT": "Yes, at 02:00, with error E_TIMEOUT in module heron.sync_worker.",
}


class Searching(StoreCase):
    """Searching by words."""

    def test_words_that_no_memory_has_together_are_ruled_out(self, store: Store) -> None:
        """Nor do memories that are gone have them."""
        put(store, memory("Alice moved to Oslo", id="a"), memory("Bo flew to Rome", id="b"))
        view = store.view()
        assert view.may_hold(["alice", "oslo"])
        assert view.may_hold([])
        assert not view.may_hold(["alice", "rome"])
        assert not view.may_hold(["lisbon"])
        store.delete(["a"])
        assert not store.view().may_hold(["alice", "oslo"])

    @pytest.mark.parametrize("query", TEXT_QUERIES)
    def test_words_find_their_memory_first(self, store: Store, query: str) -> None:
        """English by stems, Chinese and Japanese by bigrams, identifiers as a whole."""
        world = {memory.id: memory.text for memory in put(store, *sample_world())}
        best, *_ = store.view().search_text(query, ALL, 5)
        assert world[best.id] == TEXT_QUERIES[query]
        assert best.score > 0

    def test_a_rarer_word_counts_more(self, store: Store) -> None:
        """If two words are found once each, the rarer one decides."""
        put(
            store,
            memory("red lamp", id="rare"),
            memory("blue lamp", id="common"),
            memory("blue door", id="other"),
        )
        assert ids(store.view().search_text("red blue", ALL, 1)) == ["rare"]

    def test_keywords_are_searched_like_the_text(self, store: Store) -> None:
        """A keyword finds the memory."""
        put(store, memory("She starts on Monday.", id="job", keywords=("employer",)))
        assert ids(store.view().search_text("employers", ALL, 5)) == ["job"]

    def test_fields_can_be_chosen(self, store: Store) -> None:
        """The original wording is searched unless `fields` excludes it."""
        put(store, memory("twice the butter", id="bun", original="dubbelt så mycket smör"))
        view = store.view()
        assert ids(view.search_text("smör", ALL, 5)) == ["bun"]
        assert ids(view.search_text("smör", ALL, 5, fields=("original",))) == ["bun"]
        assert view.search_text("smör", ALL, 5, fields=("text",)) == []

    def test_a_date_finds_what_mentions_a_time_within_it(self, store: Store) -> None:
        """A date is one more word of the query; a time that is only partly in it does not count."""
        june, july = instant("2024-06-01"), instant("2024-07-01")
        day = Mention("den 3 juni", instant("2024-06-03"), instant("2024-06-04"))
        put(
            store,
            memory("Lampan kom den 3 juni.", id="day", mentions=(day,)),
            memory("Lampan kom 2024.", id="year", mentions=(Mention("2024", instant("2024-01-01"), july),)),
            memory("Lampan.", id="never"),
        )
        view = store.view()
        assert ids(view.search_text("", ALL, 5, dates=[(june, july)])) == ["day"]
        both = view.search_text("2024", ALL, 5, dates=[(day.start, day.end)])
        assert sorted(ids(both)) == ["day", "year"]
        assert view.search_text("", ALL, 5, dates=[(july, instant("2025-01-01"))]) == []

    def test_a_window_finds_what_was_said_or_is_mentioned_in_it(self, store: Store) -> None:
        """Inside counts 1, a gap of a day beside a day 2/3, and a month for one of its 30 days the root of 1/30."""
        old, day = Times(LONG_AGO, LONG_AGO), instant("2024-06-10")
        month = Mention("juni", instant("2024-06-01"), instant("2024-07-01"))
        put(
            store,
            memory("Lampan kom.", id="said", times=Times(instant("2024-06-10T12:00"), LONG_AGO)),
            memory("Dagen efter.", id="after", times=Times(instant("2024-06-11T23:59:59.999999"), LONG_AGO)),
            memory("Den 10 juni.", id="day", mentions=(Mention("10 juni", day, instant("2024-06-11")),), times=old),
            memory("I juni.", id="month", mentions=(month,), times=old),
        )
        view, window, reach = store.view(), (day, instant("2024-06-11")), timedelta(days=7)
        found = {hit.id: hit.score for hit in view.search_time(*window, ALL, 5, reach=reach)}
        assert found == pytest.approx({"said": 1, "day": 1, "after": 2 / 3, "month": 30**-0.5})
        assert sorted(ids(view.search_time(*window, ALL, 5))) == ["day", "month", "said"]
        assert ids(view.search_time(*window, ALL, 5, said=False)) == ["day", "month"]

    def test_typos_are_found_by_trigrams(self, store: Store) -> None:
        """A misspelt word finds the memory with the correct word first."""
        put(store, *sample_world(), memory("Alice moved to Stockholm for good.", id="sweden"))
        (best, *_) = store.view().search_trigram("Stokholm", ALL, 5)
        assert "Stockholm" in store.get([best.id])[best.id].text
        assert best.score > 0

    @pytest.mark.parametrize("part", ["0117", "024-01", "sync_w", "fjordk", "TIMEOUT"])
    def test_parts_of_words_are_found(self, store: Store, part: str) -> None:
        """Any part of a name or identifier finds it, ignoring case."""
        put(store, *sample_world())
        found = store.view().search_substring(part, ALL, 1)
        assert [part.lower() in store.get([hit.id])[hit.id].text.lower() for hit in found] == [True]

    @every_word_search
    def test_words_that_are_nowhere_find_nothing(self, store: Store, search: SearchMethod) -> None:
        """There are no false hits."""
        put(store, *sample_world())
        assert list(search.run(store.view(), "xylophone", ALL, 5)) == []

    @every_search
    def test_hits_come_best_first_and_ties_by_id(self, store: Store, search: SearchMethod) -> None:
        """The order is the same on every store."""
        put_embedded(store, *sample_world(), *(memory("Alice likes Oslo.", id=letter) for letter in "cab"))
        found = list(search.run(store.view(), "Alice Oslo", ALL, 100))
        assert found == sorted(found, key=lambda hit: (-hit.score, hit.id))
        assert [id for id in ids(found) if id in "abc"] == ["a", "b", "c"]

    @every_search
    def test_the_limit_is_kept(self, store: Store, search: SearchMethod) -> None:
        """There are at most `limit` hits, and they are the best ones."""
        put_embedded(store, *sample_world())
        view = store.view()
        many = list(search.run(view, "Alice Heron", ALL, 100))
        assert len(many) > 3
        assert list(search.run(view, "Alice Heron", ALL, 3)) == many[:3]
        assert list(search.run(view, "Alice Heron", ALL, 0)) == []

    @every_search
    def test_an_empty_store_finds_nothing(self, store: Store, search: SearchMethod) -> None:
        """A store without memories has a view, too."""
        view = store.view()
        assert view.size == 0
        assert list(search.run(view, "Alice", ALL, 5)) == []

    @every_search
    def test_a_view_never_changes(self, store: Store, search: SearchMethod) -> None:
        """Later writes and deletions are invisible to it; the next view has them."""
        put_embedded(store, memory("Alice likes Oslo.", id="old"))
        view = store.view()
        put_embedded(store, memory("Alice likes Bergen.", id="new"))
        store.delete(["old"])
        assert (view.size, ids(search.run(view, "Alice", ALL, 5))) == (1, ["old"])
        after = store.view()
        assert (after.size, ids(search.run(after, "Alice", ALL, 5))) == (1, ["new"])


BOUND = instant("2024-06-01T12:00:00Z")
TICK = timedelta(microseconds=1)
BEFORE, AFTER = BOUND - TICK, BOUND + TICK
AROUND = (BEFORE, BOUND, AFTER)
LONG_AGO = instant("2020-01-01")


def _times() -> list[Times]:
    """For each clock: moments just before, at and just after the bound."""
    return [
        *(Times(at, LONG_AGO) for at in AROUND),
        *(Times(LONG_AGO, at) for at in AROUND),
        *(Times(LONG_AGO, LONG_AGO, valid_to=at) for at in AROUND),
        *(Times(LONG_AGO, LONG_AGO, valid_to=BEFORE, expired_at=at) for at in AROUND),
        *(Times(LONG_AGO, LONG_AGO, expires_at=at) for at in AROUND),
        *(Times(LONG_AGO, LONG_AGO, retracted_at=at) for at in AROUND),
        Times(LONG_AGO, LONG_AGO, expired_at=BEFORE),
    ]


def _labelled() -> list[Memory]:
    return [
        *(memory("a lantern", id=f"scope {scope}", scope=scope) for scope in ("user:a", "user:ab", "user:A")),
        *(memory("a lantern", id=f"kind {kind}", kind=kind) for kind in Kind),
        *(memory("a lantern", id=f"tier {tier}", tier=tier) for tier in Tier),
        *(memory("a lantern", id=f"topic {topic}", topic=topic) for topic in ("home", "work", "")),
        *(
            memory("a lantern", id=f"classification {number}", worth=Worth(classification=number))
            for number in range(4)
        ),
    ]


def _described() -> list[Memory]:
    """Memories with metadata and origins, and values of every type under one key."""
    values: list[object] = [None, True, False, 1, 1.0, 2, 2.5, "1", "b", "2024-06-03", ["b", 2], {"b": 1}, 2**70]
    return [
        *(memory("a lantern", id=f"value {number:02}", metadata={"k": one}) for number, one in enumerate(values)),
        memory("a lantern", id="dotted", metadata={"k.l": "b", "ключ": "значение"}),
        memory("a lantern", id="said", origin=Origin("notes.md", "s1", 1, "Ann")),
        memory("a lantern", id="glad", worth=Worth(emotion=3.3, emotion_tags=("joy", "pride"))),
        memory("a lantern", id="sad", worth=Worth(emotion=-2, emotion_tags=("grief",))),
        memory("a lantern", id="worded", keywords=("Café", "user_id"), original="eine Laterne"),
    ]


def _stated(**where: Any) -> Filter:
    return Filter(conditions=condition_of({name.replace("__", "."): value for name, value in where.items()}))


def _timed() -> list[Memory]:
    return [memory("a lantern", id=f"time {number:02}", times=times) for number, times in enumerate(_times())]


COMPARING, VALUES = ("eq", "ne", "gt", "gte", "lt", "lte"), (1, 2.5, "b", "2024")
FILTERS = {
    "all": Filter(),
    "one scope": Filter(scopes=("user:a",)),
    "two scopes": Filter(scopes=("user:ab", "nobody")),
    "scopes by prefix": Filter(scopes=(), scope_prefixes=("user:a", "%")),
    "a scope and others by prefix": Filter(scopes=("global",), scope_prefixes=("user:ab",)),
    "no scope": Filter(scopes=()),
    "many scopes": Filter(scopes=(*(f"user:{number}" for number in range(40_000)), "user:a")),
    "one kind": Filter(kinds=(Kind.SEMANTIC,)),
    "two kinds": Filter(kinds=(Kind.SEMANTIC, Kind.TAG)),
    "no kind": Filter(kinds=()),
    "topic": Filter(topic="home"),
    "empty topic": Filter(topic=""),
    "tier": Filter(tier=Tier.CORE),
    "since": Filter(since=BOUND),
    "until": Filter(until=BOUND),
    "between": Filter(since=BOUND, until=BOUND),
    "as of": Filter(as_of=BOUND),
    "known at": Filter(known_at=BOUND),
    "both clocks": Filter(as_of=BOUND, known_at=BOUND),
    "expired too": Filter(as_of=BOUND, include_expired=True),
    "expired too, both clocks": Filter(as_of=BOUND, known_at=BOUND, include_expired=True),
    "all at once": Filter(("global",), (Kind.EPISODIC,), None, Tier.WORKING, LONG_AGO, AFTER, 1, AFTER, BOUND),
    **{f"classification {number}": Filter(max_classification=number) for number in range(4)},
    **{f"k {name} {value}": _stated(metadata__k={name: value}) for name in COMPARING for value in VALUES},
    **{f"k {name} true": _stated(metadata__k={name: True}) for name in ("eq", "ne")},
    "k is one of": _stated(metadata__k={"in": [1, "b", False]}),
    "k contains": _stated(metadata__k={"contains": "b"}),
    "k contains a number": _stated(metadata__k={"contains": 2}),
    "k after a moment": _stated(metadata__k={"gte": "2024-06-02T23:00:00-01:00"}),
    **{f"k exists: {there}": _stated(metadata__k={"exists": there}) for there in (True, False)},
    "a dotted key": _stated(**{"metadata.k.l": "b", "metadata.ключ": {"contains": "знач"}}),
    "one session": _stated(session="s1"),
    "a session or another": _stated(**{"or": [{"session": "s1"}, {"session": "s2"}]}),
    "no such session": _stated(**{"not": {"session": "s1"}}),
    "who and where": _stated(speaker="Ann", session="s1", source={"contains": ".md"}),
    **{f"created {name}": _stated(created={name: BOUND}) for name in COMPARING},
    "created at all": _stated(created={"exists": True}),
    "words": _stated(text={"contains": "cafe ID"}),
    "words of the original": _stated(text={"contains": "LATERNE"}),
    "glad": _stated(emotion={"gte": 2}),
    "neither glad nor sad": _stated(emotion={"gt": -1, "lt": 1}),
    "a tag of an emotion": _stated(emotion_tags={"contains": "joy"}),
    "no tag of an emotion": _stated(emotion_tags={"exists": False}),
    "joined": _stated(
        **{"or": [{"speaker": "Ann"}, {"not": {"metadata.k": {"exists": False}}}], "speaker": {"ne": "B"}}
    ),
}


class Filtering(StoreCase):
    """Filters inside the store, compared with their definition."""

    def test_a_listing_admits_what_the_filter_does(self, store: Store) -> None:
        """`scan` agrees with `Filter.admits`."""
        memories = put_embedded(store, *_labelled(), *_timed(), *_described())
        for name, where in FILTERS.items():
            expected = [memory for memory in memories if where.admits(memory)]
            assert list(store.scan(where, 1000).items) == expected, name

    @every_search
    def test_a_search_admits_what_the_filter_does(self, store: Store, search: SearchMethod) -> None:
        """Every search agrees with `Filter.admits`."""
        memories = put_embedded(store, *_labelled(), *_timed(), *_described())
        view = store.view()
        for name, where in FILTERS.items():
            expected = [memory for memory in memories if where.admits(memory)]
            assert sorted(ids(search.run(view, "lantern", where, 1000))) == sorted(ids(expected)), name

    @every_search
    def test_the_limit_counts_what_is_admitted(self, store: Store, search: SearchMethod) -> None:
        """The filter is applied inside the search, so excluded memories do not use up the limit."""
        crowd, own = (dict[str, Any](topic=name, metadata={"of": name}) for name in ("crowd", "own"))
        put_embedded(store, *(memory("a lantern", id=f"crowd {number}", **crowd) for number in range(50)))
        put_embedded(store, *(memory("an old lantern", id=f"own {number}", **own) for number in range(3)))
        for where in (Filter(topic="own"), _stated(metadata__of="own")):
            found = search.run(store.view(), "lantern", where, 2)
            assert ids(found) == ["own 0", "own 1"]

    def test_a_condition_follows_what_is_written(self, store: Store) -> None:
        """Changed and new memories are judged by what they are now, also after a condition was asked for."""
        old, new = _stated(metadata__k=1), _stated(metadata__k=2)
        (lamp,) = put(store, memory("a lantern", id="lamp", metadata={"k": 1}))
        assert ids(store.view().search_text("lantern", old, 9)) == ["lamp"]
        store.put(Batch(revised=[replace(lamp, metadata={"k": 2})]))
        put(store, memory("a lantern", id="next", metadata={"k": 1}))
        assert ids(store.view().search_text("lantern", old, 9)) == ["next"]
        assert ids(store.view().search_text("lantern", new, 9)) == ids(store.scan(new, 9).items) == ["lamp"]
        store.delete(["lamp"])
        assert store.view().search_text("lantern", new, 9) == list(store.scan(new, 9).items) == []


def _pages(store: Store, where: Filter, limit: int) -> list[list[str]]:
    pages: list[list[str]] = []
    cursor: str | None = None
    while True:
        page = store.scan(where, limit, cursor)
        pages.append(ids(page.items))
        if (cursor := page.cursor) is None:
            return pages


class Paging(StoreCase):
    """Cursors and records."""

    def test_pages_cover_everything_once_and_in_order(self, store: Store) -> None:
        """The order of writing, not of ids or times."""
        names = ["d", "a", "c", "e", "b"]
        put(store, *(memory(name, id=name) for name in names))
        assert _pages(store, ALL, 2) == [["d", "a"], ["c", "e"], ["b"]]
        assert _pages(store, ALL, 5) == [names]
        assert _pages(store, ALL, 100) == [names]

    def test_a_filter_works_within_the_listing(self, store: Store) -> None:
        """Pages are filled with admitted memories."""
        put(store, *(memory(str(number), id=str(number), topic="ab"[number % 2]) for number in range(6)))
        assert _pages(store, Filter(topic="b"), 2) == [["1", "3"], ["5"]]

    def test_writes_and_deletions_between_pages_are_handled(self, store: Store) -> None:
        """Deleted memories are missing, new ones come last, and none comes twice."""
        put(store, *(memory(name, id=name) for name in "abcd"))
        first = store.scan(ALL, 2)
        store.delete(["b", "d"])
        put(store, memory("e", id="e"))
        assert ids(first.items) == ["a", "b"]
        assert ids(store.scan(ALL, 9, first.cursor).items) == ["c", "e"]

    def test_a_memory_written_after_a_deletion_comes_last(self, store: Store) -> None:
        """A place in the order is never used twice."""
        put(store, *(memory(name, id=name) for name in "abc"))
        page = store.scan(ALL, 2)
        store.delete(["b", "c"])
        put(store, memory("d", id="d"))
        assert ids(store.scan(ALL, 9, page.cursor).items) == ["d"]

    @pytest.mark.parametrize("cursor", ["", "nonsense", "after:-1", "after:x", "after:" + "9" * 30, "'; DROP"])
    def test_a_wrong_cursor_is_refused(self, store: Store, cursor: str) -> None:
        """With an error that names the cursor."""
        with pytest.raises(InvalidInput, match="cursor"):
            store.scan(ALL, 5, cursor)

    def test_a_negative_limit_is_refused(self, store: Store) -> None:
        """With an error that names the limit."""
        with pytest.raises(InvalidInput, match="limit"):
            store.scan(ALL, -1)

    def test_records_cover_the_whole_store(self, store: Store) -> None:
        """The statistics come first; each memory comes with its vectors and jobs."""
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
            map(repr, [ann, link, general, entry, Showing("talk", "lamp", START), NoiseText("hm"), NoiseText("ok")])
        )
