"""Listing: pages in the order of writing, whatever happens between them."""

from __future__ import annotations

import pytest

from memorist.errors import InvalidInput
from memorist.model import Filter
from memorist.ports import Store
from memorist.testing.store_suite.base import ALL, StoreCase, ids, put
from memorist.testing.world import memory


def _pages(store: Store, where: Filter, limit: int) -> list[list[str]]:
    pages: list[list[str]] = []
    cursor: str | None = None
    while True:
        page = store.scan(where, limit, cursor)
        pages.append(ids(page.items))
        if (cursor := page.cursor) is None:
            return pages


class Listing(StoreCase):
    """Cursors."""

    def test_pages_cover_everything_once_and_in_order(self, store: Store) -> None:
        """The order of writing, not of ids or times."""
        names = ["d", "a", "c", "e", "b"]
        put(store, *(memory(name, id=name) for name in names))
        assert _pages(store, ALL, 2) == [["d", "a"], ["c", "e"], ["b"]]
        assert _pages(store, ALL, 5) == [names]
        assert _pages(store, ALL, 100) == [names]

    def test_a_filter_works_within_the_listing(self, store: Store) -> None:
        """Pages are full of what is admitted."""
        put(store, *(memory(str(number), id=str(number), topic="ab"[number % 2]) for number in range(6)))
        assert _pages(store, Filter(topic="b"), 2) == [["1", "3"], ["5"]]

    def test_writing_and_deleting_between_pages_is_harmless(self, store: Store) -> None:
        """What is deleted is gone, what is new comes last, nothing comes twice."""
        put(store, *(memory(name, id=name) for name in "abcd"))
        first = store.scan(ALL, 2)
        store.delete(["b", "d"])
        put(store, memory("e", id="e"))
        assert ids(first.items) == ["a", "b"]
        assert ids(store.scan(ALL, 9, first.cursor).items) == ["c", "e"]

    def test_what_is_written_after_a_deletion_comes_last(self, store: Store) -> None:
        """A place in the order is never used twice."""
        put(store, *(memory(name, id=name) for name in "abc"))
        page = store.scan(ALL, 2)
        store.delete(["b", "c"])
        put(store, memory("d", id="d"))
        assert ids(store.scan(ALL, 9, page.cursor).items) == ["d"]

    @pytest.mark.parametrize("cursor", ["", "nonsense", "after:-1", "after:x", "after:" + "9" * 30, "'; DROP"])
    def test_a_wrong_cursor_is_refused(self, store: Store, cursor: str) -> None:
        """Clearly, and as the caller's mistake."""
        with pytest.raises(InvalidInput, match="cursor"):
            store.scan(ALL, 5, cursor)

    def test_a_negative_limit_is_refused(self, store: Store) -> None:
        """As the caller's mistake."""
        with pytest.raises(InvalidInput, match="limit"):
            store.scan(ALL, -1)
