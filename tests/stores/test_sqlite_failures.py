"""What goes wrong, and what is left: full disks, busy files, damage, closing, values that cannot be kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from memorist.errors import Closed, InvalidInput, StoreBusy, StoreError
from memorist.model import Entity, Filter, Link, Origin, Usage, instant
from memorist.ports import Batch
from memorist.stores.sql import writes
from memorist.stores.sqlite import SqliteStore, connection
from memorist.stores.sqlite import store as sqlite_store
from memorist.testing import FakeEmbedder, memory, sample_world

AT = instant("2024-07-01")
SECRET = "the heron nests behind the old mill"
EMBEDDER = FakeEmbedder()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "a.db")
    yield store
    store.close()


def pages_of(store: SqliteStore) -> list[bytes]:
    return [path.read_bytes() for path in store.path.parent.glob("a.db*")]


def limit_pages(store: SqliteStore, extra: int) -> None:
    with store._connections.reading() as db:  # a disk cannot be filled in a test
        db.execute(f"PRAGMA max_page_count = {db.value('PRAGMA page_count') + extra}")


def test_a_full_disk_keeps_nothing_of_the_batch(store: SqliteStore) -> None:
    store.put(Batch([memory("a lamp", id="lamp")]))
    before = store.stats()
    limit_pages(store, 5)
    many = [memory(f"{SECRET} {number}") for number in range(2000)]
    with pytest.raises(StoreError, match="disk is full") as caught:
        store.put(Batch(many, links=[Link("lamp", "next", "book")]))
    assert "Free some space" in caught.value.remedy
    assert (store.stats().memories, store.stats().generation) == (before.memories, before.generation)
    assert (store.links(["lamp"]), store.view().size, store.integrity()) == ([], 1, [])
    limit_pages(store, 10_000)
    store.put(Batch(many))
    assert store.view().size == 2001


@pytest.fixture
def locked(store: SqliteStore) -> Iterator[apsw.Connection]:
    """Another program that holds the write lock."""
    other = apsw.Connection(str(store.path))
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def test_a_recall_that_can_be_counted_neither_now_nor_later_says_so(
    store: SqliteStore, locked: apsw.Connection
) -> None:
    (store.path.parent / f"{store.path.name}-usage").mkdir()
    with pytest.raises(StoreBusy, match="another process"):
        store.touch(["lamp"], AT)


def test_reading_goes_on_while_another_writes(store: SqliteStore, locked: apsw.Connection) -> None:
    assert (store.get(["lamp"]), store.view().size, store.scan(Filter(), 5).items) == ({}, 0, ())


def test_a_write_waits_for_another_process(store: SqliteStore, locked: apsw.Connection) -> None:
    waiting = threading.Thread(target=store.put, args=[Batch([memory("a lamp", id="lamp")])])
    waiting.start()
    locked.execute("COMMIT")
    waiting.join()
    assert list(store.get(["lamp"])) == ["lamp"]


def test_a_write_that_waited_too_long_says_so(tmp_path: Path) -> None:
    connections = connection.SqliteConnections(SqliteStore.open(tmp_path / "a.db").path)
    other = apsw.Connection(str(tmp_path / "a.db"))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="another process"), connections.writing(wait=0.01):
        pytest.fail("the lock is another's")
    other.close()
    with connections.writing(wait=0.01) as db:
        db.execute("UPDATE space SET epoch = 5")
    connections.close()


def test_a_write_that_waited_too_long_for_a_thread_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore.open(tmp_path / "a.db")
    monkeypatch.setattr(sqlite_store, "PATIENCE", 0.01)
    with (
        ThreadPoolExecutor(1) as pool,
        store._connections.writing(),  # a write that takes its time
        pytest.raises(StoreBusy, match="another thread"),
    ):
        pool.submit(store.put, Batch([memory("a lamp", id="lamp")])).result()
    store.close()


def test_a_use_does_not_wait_for_a_thread_that_writes(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "a.db")
    store.put(Batch([memory("a lamp", id="lamp")]))
    with store._connections.writing(), ThreadPoolExecutor(1) as pool:
        pool.submit(store.touch, ["lamp"], AT).result()
        pool.submit(store.show, "talk", ["lamp"], AT).result()
    store.put(Batch())
    assert store.get(["lamp"])["lamp"].usage.recalls == 1 and store.shown("talk", AT) == {"lamp"}
    store.close()


def test_a_failed_write_is_rolled_back(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(writes.Write, "put_entities", stumble)
    with pytest.raises(ZeroDivisionError):
        store.put(Batch([memory("a lamp")], links=[Link("a", "b", "c")], entities=[Entity("e", "E")]))
    monkeypatch.undo()
    assert (store.stats().memories, store.stats().links, store.view().generation) == (0, 0, 0)
    store.put(Batch([memory("a lamp")]))


@pytest.mark.parametrize(
    "batch",
    [
        Batch([memory("fine"), memory("a lone \ud800 surrogate", id="bad")]),
        Batch([memory("fine"), memory("far", origin=Origin(session="s", position=2**63))]),
        Batch([memory("fine")], links=[Link("a", "b", "c", float("nan"))]),
        Batch([memory("fine"), memory("odd", metadata={"a": {1, 2}})]),
        Batch([memory("fine"), memory("odd", usage=Usage(reward_total=float("nan")))]),
    ],
    ids=["surrogate", "number", "weight", "metadata", "usage"],
)
def test_what_cannot_be_kept_is_refused_whole(store: SqliteStore, batch: Batch) -> None:
    with pytest.raises(InvalidInput, match="cannot be kept"):
        store.put(batch)
    assert (store.stats().memories, store.stats().generation) == (0, 0)


VERBS: dict[str, Callable[[SqliteStore], object]] = {
    "put": lambda store: store.put(Batch()),
    "get": lambda store: store.get([]),
    "embedded": lambda store: store.embedded([]),
    "scan": lambda store: store.scan(Filter(), 1),
    "history": lambda store: store.history("a"),
    "neighbours": lambda store: store.neighbours(["a"], 1, 1),
    "turns": lambda store: store.turns("s", 0, 1),
    "links": lambda store: store.links([]),
    "entities": lambda store: store.entities([]),
    "touch": lambda store: store.touch([], AT),
    "delete": lambda store: store.delete([]),
    "view": lambda store: store.view(),
    "stats": lambda store: store.stats(),
    "embedding": lambda store: store.embedding,
    "adopt": lambda store: store.adopt("a", 3),
    "integrity": lambda store: store.integrity(),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_closed_store_says_so(store: SqliteStore, verb: Callable[[SqliteStore], object]) -> None:
    store.close()
    store.close()
    with pytest.raises(Closed, match="Open it again"):
        verb(store)


def test_closing_leaves_one_file_and_closes_every_threads_connection(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "a.db")
    store.put(Batch(sample_world()))
    opened, closed = threading.Event(), threading.Event()
    refused: list[Closed] = []

    def other() -> None:
        store.stats()
        opened.set()
        closed.wait()
        try:
            store.stats()
        except Closed as error:
            refused.append(error)

    thread = threading.Thread(target=other)
    thread.start()
    opened.wait()
    store.close()
    closed.set()
    thread.join()
    assert len(refused) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


def test_a_thread_that_ended_leaves_no_connection_behind(store: SqliteStore) -> None:
    for _ in range(5):
        thread = threading.Thread(target=store.stats)
        thread.start()
        thread.join()
    assert len(store._connections._open_handles()) == 1  # counted nowhere else


def test_deleted_text_is_nowhere_in_the_file(store: SqliteStore) -> None:
    store.adopt(EMBEDDER.generation, EMBEDDER.dim)
    vector = EMBEDDER.embed([SECRET], purpose="memory")[0]
    store.put(Batch([memory(f"filler {number}") for number in range(500)]))
    for text in (SECRET, SECRET + " again"):
        store.put(Batch([memory(text, id="s", original=text, keywords=(text,))], {"s": {"text": vector}}))
    assert any(SECRET.encode() in page for page in pages_of(store))
    store.delete(["s"])
    words = [SECRET.encode(), b"heron", b"nests", vector.astype("<f2").tobytes()]
    assert not [word for word in words for page in pages_of(store) if word in page]


def test_damage_is_noticed(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "a.db")
    store.put(Batch([memory(f"lamp {number}") for number in range(500)]))
    store.close()
    content = bytearray((tmp_path / "a.db").read_bytes())
    content[20_000:60_000] = b"\xff" * 40_000
    (tmp_path / "a.db").write_bytes(content)
    store = SqliteStore.open(tmp_path / "a.db")
    with pytest.raises(StoreError, match="damaged") as caught:
        store.scan(Filter(), 1000)
    assert "backup" in caught.value.remedy
    problems = store.integrity()
    assert problems[0].problem.startswith("SQLite reports")
    assert "cannot be read further" in problems[-1].problem
    store.close()


def test_integrity_names_what_has_drifted(store: SqliteStore) -> None:
    store.put(Batch([memory("a lamp", id="lamp"), memory("a book", id="book")]))
    store.adopt("axes", 3)
    assert store.integrity() == []  # memories without a vector are no damage
    with store._connections.writing() as db:  # no verb of ours does such things
        db.execute("UPDATE memories SET words = 'en something else' WHERE id = 'lamp'")
        db.execute("INSERT INTO vectors SELECT row, 1, 'text', x'00' FROM memories")
        db.execute("INSERT INTO usage VALUES ('ghost', 1, NULL, '[]', 0, 0)")
    found = store.integrity()
    assert [damage.of_words for damage in found] == [True, False, False]
    problems = " ".join(map(str, found))
    for part in (
        "words of their text: 1, such as lamp",
        "wrong length: 2, such as lamp",
        "not there: 1, such as ghost",
    ):
        assert part in problems
