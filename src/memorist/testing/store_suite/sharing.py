"""Several stores, several handles, several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memorist.ports import Batch, Store
from memorist.testing.store_suite.base import ALL, StoreCase, everything, ids, put, put_embedded
from memorist.testing.world import memory, sample_world

THREADS = 8


class Sharing(StoreCase):
    """Who sees what, and when."""

    def test_two_stores_know_nothing_of_each_other(self, store: Store, tmp_path: Path) -> None:
        """Memories, embeddings and counts are a store's own."""
        other = self.make_store(tmp_path, "other")
        put_embedded(store, *sample_world())
        assert (everything(other), other.view().size, other.embedding) == ([], 0, None)
        assert other.view().search_text("Alice", ALL, 5) == []
        assert other.stats().memories == 0
        other.close()

    def test_a_second_handle_sees_the_first_ones_writes(self, store: Store, tmp_path: Path) -> None:
        """At its next view: what was added, changed and deleted."""
        if not self.shared:
            pytest.skip("every handle is a store of its own")
        second = self.make_store(tmp_path)
        assert second.view().size == 0
        put_embedded(store, memory("a lamp", id="lamp"), memory("a book", id="book"))
        assert second.embedding == store.embedding
        assert ids(second.view().search_text("lamp", ALL, 5)) == ["lamp"]
        store.delete(["book"])
        put(store, memory("a candle", id="lamp"))
        view = second.view()
        assert (view.size, ids(view.search_text("candle", ALL, 5))) == (2, ["lamp"])
        assert view.search_text("book", ALL, 5) == []
        assert view.generation == store.view().generation
        second.close()

    def test_threads_write_and_search_at_once(self, store: Store) -> None:
        """No error, nothing lost; every thread finds its own writes at once."""

        def work(thread: int) -> None:
            for number in range(20):
                id = f"{thread}-{number}"
                store.put(Batch([memory(f"lantern {id}", id=id)]))
                assert id in ids(store.view().search_text(f"lantern {id}", ALL, 1000))

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, range(THREADS)))
        assert len(everything(store)) == store.view().size == THREADS * 20

    def test_threads_putting_the_same_memory_write_it_once(self, store: Store) -> None:
        """Whoever is first writes it; all get the same answer."""
        lamp = memory("a lamp", id="lamp")
        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(store.put, [Batch([lamp])] * THREADS * 4))
        assert answers == [[lamp]] * THREADS * 4
        assert everything(store) == [lamp]

    def test_threads_changing_one_memory_make_a_chain_of_versions(self, store: Store) -> None:
        """Every text is kept once, and the versions are numbered without a gap."""
        texts = [f"text {number}" for number in range(THREADS * 4)]
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(store.put, [Batch([memory(text, id="lamp")]) for text in texts]))
        history = store.history("lamp")
        assert [one.version for one in history] == list(range(len(texts), 0, -1))
        assert sorted(one.text for one in history) == sorted(texts)

    def test_closing_twice_is_harmless(self, store: Store) -> None:
        """A second close does nothing."""
        store.close()
        store.close()
