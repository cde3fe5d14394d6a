"""What a store computes before it takes its write lock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
import pytest

from memorist.model import Memory
from memorist.ports import Batch, Reader, Vectors
from memorist.stores import encoding
from memorist.stores.encoding import EncodedMemory, Pack
from memorist.stores.sqlite import SqliteStore
from memorist.testing import FakeEmbedder, memory

EMBEDDER = FakeEmbedder()
LAMP = memory("a lamp", id="lamp")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "a.db")
    store.adopt(EMBEDDER.generation, EMBEDDER.dim)
    yield store
    store.close()


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were encoded, in order."""
    texts: list[str] = []
    encode_memory = encoding.encode_memory

    def recorded(memory: Memory, views: Vectors, pack: Pack[bytes]) -> EncodedMemory[bytes]:
        texts.append(memory.text)
        return encode_memory(memory, views, pack)

    monkeypatch.setattr(encoding, "encode_memory", recorded)
    return texts


def batch_of(*memories: Memory) -> Batch:
    rows = EMBEDDER.embed([memory.text for memory in memories], purpose="memory")
    return Batch(memories, {one.id: {"text": row} for one, row in zip(memories, rows, strict=True)})


def wait_until(encoded: list[str], count: int) -> None:
    for _ in range(1000):
        if len(encoded) >= count:
            return
        threading.Event().wait(0.005)
    pytest.fail(f"only {encoded} were encoded")


@pytest.mark.parametrize("verb", ["put", "update"])
def test_a_batch_is_encoded_while_another_process_holds_the_lock(
    store: SqliteStore, encoded: list[str], verb: str
) -> None:
    batch, planned = batch_of(LAMP), threading.Event()

    def plan(reader: Reader) -> Batch:
        planned.set()
        return replace(batch, memories=[LAMP])

    other = apsw.Connection(str(store.path))
    other.execute("BEGIN IMMEDIATE")
    writing = {"put": lambda: store.put(batch), "update": lambda: store.update(plan, batch)}
    thread = threading.Thread(target=writing[verb])
    thread.start()
    wait_until(encoded, 1)
    assert not planned.is_set()
    other.execute("COMMIT")
    other.close()
    thread.join()
    assert encoded == ["a lamp"], "nothing is encoded a second time inside the lock"
    assert store.get(["lamp"]) == {"lamp": LAMP}
    assert store.embedded(["lamp"]) == {"lamp"}


def test_what_the_plan_changed_is_encoded_again(store: SqliteStore, encoded: list[str]) -> None:
    book, torch = memory("a book", id="book"), memory("a torch", id="lamp")
    draft, changed = batch_of(LAMP, book), batch_of(torch, book)
    store.update(lambda reader: replace(changed, vectors={**draft.vectors, "lamp": changed.vectors["lamp"]}), draft)
    assert encoded == ["a lamp", "a book", "a torch"]
    assert store.get(["lamp", "book"]) == {"lamp": torch, "book": book}
    kept = store.vectors(["lamp"])["lamp"]["text"]
    assert np.allclose(kept, changed.vectors["lamp"]["text"], atol=1e-3)


def test_another_vector_of_the_same_memory_is_encoded_again(store: SqliteStore, encoded: list[str]) -> None:
    other = {"lamp": {"text": -batch_of(LAMP).vectors["lamp"]["text"]}}
    store.update(lambda reader: Batch([LAMP], other), batch_of(LAMP))
    assert encoded == ["a lamp", "a lamp"]
    assert np.allclose(store.vectors(["lamp"])["lamp"]["text"], other["lamp"]["text"], atol=1e-3)


def test_a_plan_without_a_draft_is_encoded_inside(store: SqliteStore, encoded: list[str]) -> None:
    store.update(lambda reader: Batch([LAMP]))
    assert encoded == ["a lamp"]
