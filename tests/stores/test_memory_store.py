"""What the reference store does beyond the shipped suite."""

from __future__ import annotations

import numpy as np

from memorist.model import Filter
from memorist.ports import Batch
from memorist.stores.memory import MemoryStore
from memorist.testing.world import memory

ALL = Filter()


def test_a_vector_is_kept_as_it_was_given() -> None:
    store = MemoryStore()
    store.adopt("axes", 2)
    vector = np.array([1.0, 0.0], np.float32)
    store.put(Batch([memory("a lamp", id="lamp")], {"lamp": {"text": vector}}))
    vector[:] = (0, 1)
    store.put(Batch([memory("a brighter lamp", id="lamp")]))  # archives the first text with its vector
    (past,) = store.view().search_vector(np.array([1.0, 0.0], np.float32), ALL, 5)
    assert (past.score, past.id) == (1, store.history("lamp")[1].id)


def test_bytes_grow_with_what_is_kept() -> None:
    store = MemoryStore()
    assert store.stats().bytes == 0
    store.adopt("axes", 2)
    store.put(Batch([memory("åäö", id="lamp")], {"lamp": {"text": np.ones(2, np.float32)}}))
    assert store.stats().bytes == 6 + 8


def test_lone_surrogates_are_kept_but_not_searched() -> None:
    store = MemoryStore()
    (kept,) = store.put(Batch([memory("a lamp \ud800", id="lamp")]))
    assert store.get(["lamp"]) == {"lamp": kept}
    assert [hit.id for hit in store.view().search_text("lamp \ud800", ALL, 5)] == ["lamp"]
    assert store.stats().bytes == 10


def test_a_memory_deleted_by_the_id_of_a_version_loses_only_that() -> None:
    store = MemoryStore()
    store.put(Batch([memory(text, id="city") for text in ("Oslo", "Bergen")]))
    past = store.history("city")[1].id
    assert store.delete([past]) == [past]
    assert [version.text for version in store.history("city")] == ["Bergen"]
