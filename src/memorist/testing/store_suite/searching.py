"""Searching by words: stems, unspaced scripts, identifiers, typos and parts of words."""

from __future__ import annotations

import pytest

from memorist.ports import Store
from memorist.testing.store_suite.base import (
    ALL,
    Search,
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
    """Words in a view."""

    @pytest.mark.parametrize("query", TEXT_QUERIES)
    def test_words_find_their_memory_first(self, store: Store, query: str) -> None:
        """English by its stems, Chinese and Japanese by pairs, identifiers whole."""
        world = {one.id: one.text for one in put(store, *sample_world())}
        best, *_ = store.view().search_text(query, ALL, 5)
        assert world[best.id] == TEXT_QUERIES[query]
        assert best.score > 0

    def test_a_rarer_word_counts_more(self, store: Store) -> None:
        """Of two words found once each, the rarer decides."""
        put(
            store,
            memory("red lamp", id="rare"),
            memory("blue lamp", id="common"),
            memory("blue door", id="other"),
        )
        assert ids(store.view().search_text("red blue", ALL, 1)) == ["rare"]

    def test_keywords_are_searched_like_the_text(self, store: Store) -> None:
        """What a writer adds as keywords finds the memory."""
        put(store, memory("She starts on Monday.", id="job", keywords=("employer",)))
        assert ids(store.view().search_text("employers", ALL, 5)) == ["job"]

    def test_fields_can_be_chosen(self, store: Store) -> None:
        """The original wording is searched unless only the text is asked for."""
        put(store, memory("twice the butter", id="bun", original="dubbelt så mycket smör"))
        view = store.view()
        assert ids(view.search_text("smör", ALL, 5)) == ["bun"]
        assert ids(view.search_text("smör", ALL, 5, fields=("original",))) == ["bun"]
        assert view.search_text("smör", ALL, 5, fields=("text",)) == []

    def test_typos_are_found_by_trigrams(self, store: Store) -> None:
        """A misspelt word finds the memory with the right one first."""
        put(store, *sample_world(), memory("Alice moved to Stockholm for good.", id="sweden"))
        (best, *_) = store.view().search_trigram("Stokholm", ALL, 5)
        assert "Stockholm" in store.get([best.id])[best.id].text
        assert best.score > 0

    @pytest.mark.parametrize("part", ["0117", "024-01", "sync_w", "fjordk", "TIMEOUT"])
    def test_parts_of_words_are_found(self, store: Store, part: str) -> None:
        """Names and identifiers are found by any part of them, whatever the case."""
        put(store, *sample_world())
        found = store.view().search_substring(part, ALL, 1)
        assert [part.lower() in store.get([hit.id])[hit.id].text.lower() for hit in found] == [True]

    @every_word_search
    def test_words_that_are_nowhere_find_nothing(self, store: Store, search: Search) -> None:
        """No hit is better than a false one."""
        put(store, *sample_world())
        assert list(search.run(store.view(), "xylophone", ALL, 5)) == []

    @every_search
    def test_hits_come_best_first_and_ties_by_id(self, store: Store, search: Search) -> None:
        """The order is the same on every store."""
        put_embedded(store, *sample_world(), *(memory("Alice likes Oslo.", id=letter) for letter in "cab"))
        found = list(search.run(store.view(), "Alice Oslo", ALL, 100))
        assert found == sorted(found, key=lambda hit: (-hit.score, hit.id))
        assert [id for id in ids(found) if id in "abc"] == ["a", "b", "c"]

    @every_search
    def test_the_limit_is_kept(self, store: Store, search: Search) -> None:
        """No more hits than asked for, and the best of them."""
        put_embedded(store, *sample_world())
        view = store.view()
        many = list(search.run(view, "Alice Heron", ALL, 100))
        assert len(many) > 3
        assert list(search.run(view, "Alice Heron", ALL, 3)) == many[:3]
        assert list(search.run(view, "Alice Heron", ALL, 0)) == []

    @every_search
    def test_an_empty_store_finds_nothing(self, store: Store, search: Search) -> None:
        """There is a view before the first memory."""
        view = store.view()
        assert view.size == 0
        assert list(search.run(view, "Alice", ALL, 5)) == []

    @every_search
    def test_a_view_stays_as_it_was(self, store: Store, search: Search) -> None:
        """Writes and deletions after it was taken do not show in it; the next view has them."""
        put_embedded(store, memory("Alice likes Oslo.", id="old"))
        view = store.view()
        put_embedded(store, memory("Alice likes Bergen.", id="new"))
        store.delete(["old"])
        assert (view.size, ids(search.run(view, "Alice", ALL, 5))) == (1, ["old"])
        after = store.view()
        assert (after.size, ids(search.run(after, "Alice", ALL, 5))) == (1, ["new"])
