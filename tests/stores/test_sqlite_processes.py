"""Caches and other processes: following, forking, crashing, and many writers at once."""

from __future__ import annotations

import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memorist.model import Filter, instant
from memorist.ports import Batch
from memorist.stores.index import IndexEntry
from memorist.stores.sql import writes
from memorist.stores.sql.reads import Reads
from memorist.stores.sqlite import SqliteStore
from memorist.testing import memory
from tests.stores.processes import Worker, run, working
from tests.stores.worker import EVERYTHING, batch

AT = instant("2024-07-01")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "a.db")
    yield store
    store.close()


def lanterns(store: SqliteStore) -> int:
    return len(store.view().search_text("lantern", EVERYTHING, 1_000_000))


def test_a_view_is_shared_while_nothing_changes(store: SqliteStore) -> None:
    store.put(Batch([memory("a lamp", id="lamp")]))
    view = store.view()
    store.touch(["lamp"], AT)
    store.put(Batch([memory("a lamp", id="lamp")]))
    store.adopt("axes", 3)
    assert store.view() is view
    store.put(Batch([memory("a book")]))
    assert store.view() is not view


def test_another_processs_cache_follows_our_writes(store: SqliteStore) -> None:
    with working("follow", store.path) as other:
        assert other.hear() == "ready"
        assert other.ask("lantern") == "0"
        store.put(Batch([memory("a lantern", id="a"), memory("a lantern", id="b")]))
        assert other.ask("lantern") == "2"
        store.put(Batch([memory("a torch", id="a")]))
        store.delete(["b"])
        assert (other.ask("lantern"), other.ask("torch")) == ("1", "1")  # the old version is still found


def test_our_cache_follows_another_processs_writes(store: SqliteStore) -> None:
    assert store.view().size == 0
    assert run("write", store.path, "w", 20, 10) == ["ok 10", "ok 20"]
    assert (store.view().size, lanterns(store), store.view().generation) == (20, 20, 2)
    assert store.integrity() == []


def test_a_long_log_of_deletions_is_cut_and_caches_start_anew(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "DELETIONS_KEPT", 3)
    other = SqliteStore.open(store.path)
    store.put(Batch([memory("a lantern", id=str(number)) for number in range(9)]))
    assert lanterns(other) == 9
    store.delete(["0", "1", "2"])
    store.delete(["3"])
    with store._connections.reading() as db:  # how long the log is, no verb tells
        assert db.value("SELECT count(*) FROM deletions") == 0
    assert lanterns(other) == lanterns(store) == 5
    other.close()


def test_a_load_that_fails_is_made_up_for(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(Batch([memory("a lantern", id="a")]))
    assert lanterns(store) == 1
    store.put(Batch([memory("a lantern", id="b"), memory("a lantern", id="c")]))
    whole = Reads.changed

    def half(snapshot: Reads, seen: int) -> Iterator[IndexEntry]:
        yield next(whole(snapshot, seen))
        raise ZeroDivisionError

    monkeypatch.setattr(Reads, "changed", half)
    with pytest.raises(ZeroDivisionError):
        store.view()
    monkeypatch.undo()
    assert lanterns(store) == 3


def test_a_write_during_a_load_is_left_to_the_next(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    other = SqliteStore.open(store.path)
    store.put(Batch([memory("a lantern", id="a")]))
    whole = Reads.changed

    def meanwhile(snapshot: Reads, seen: int) -> Iterator[IndexEntry]:
        other.put(Batch([memory("a lantern", id="b")]))
        other.delete(["a"])
        return whole(snapshot, seen)

    monkeypatch.setattr(Reads, "changed", meanwhile)
    view = store.view()
    monkeypatch.undo()
    assert (view.generation, [hit.id for hit in view.search_text("lantern", EVERYTHING, 9)]) == (1, ["a"])
    view = store.view()
    assert (view.generation, [hit.id for hit in view.search_text("lantern", EVERYTHING, 9)]) == (3, ["b"])
    other.close()


def test_only_vectors_of_the_active_generation_are_searched(store: SqliteStore) -> None:
    east, north = np.eye(2, dtype=np.float32)
    store.adopt("old", 2)
    memories = [memory("a lamp", id="lamp"), memory("a book", id="book")]
    store.put(Batch(memories, {"lamp": {"text": east}, "book": {"text": east}}))
    with store._connections.writing() as db:  # as a change of the embedding prepares it
        db.execute("INSERT INTO generations (id, name, dim, active) VALUES (2, 'new', 2, 0)")
        db.execute("INSERT INTO vectors VALUES (1, 2, 'text', ?)", (north.astype("<f2").tobytes(),))
        db.execute("UPDATE space SET epoch = epoch + 1")
    assert store.view().vectors(["lamp"])["lamp"].tolist() == [1, 0]
    with store._connections.writing() as db:
        db.execute("UPDATE generations SET active = 0")
        db.execute("UPDATE generations SET active = 1 WHERE name = 'new'")
        db.execute("UPDATE space SET epoch = epoch + 1")
    assert (store.embedding, store.embedded(["lamp", "book"])) == ("new", {"lamp"})
    assert store.view().vectors(["lamp"])["lamp"].tolist() == [0, 1]


def test_a_fork_needs_its_own_handle(tmp_path: Path) -> None:
    *refusals, child, parent = run("fork", tmp_path / "a.db")
    assert refusals == ["Closed Open it again in the child process."] * 3
    assert (child, parent) == ("1", "parent 2 []")


@pytest.mark.slow
def test_four_processes_write_while_a_fifth_searches(store: SqliteStore) -> None:
    with working("follow", store.path) as reader:
        assert reader.hear() == "ready"
        writers = [Worker("write", store.path, f"w{number}", 1000, 10) for number in range(4)]
        seen = [0]
        while any(writer.process.poll() is None for writer in writers):
            seen.append(int(reader.ask("lantern")))
        outputs = [writer.process.communicate()[0].split("\n") for writer in writers]
        assert [writer.process.returncode for writer in writers] == [0] * 4
        assert [lines[-2] for lines in outputs] == ["ok 1000"] * 4
        assert seen == sorted(seen)
        assert reader.ask("lantern") == "4000"
    assert (store.stats().memories, lanterns(store), store.view().size) == (4000, 4000, 4000)
    assert store.integrity() == []


SIZE = 25


@pytest.mark.slow
def test_what_was_acknowledged_survives_twenty_kills(store: SqliteStore) -> None:
    dice = random.Random(20)
    for life in range(20):
        with working("write", store.path, f"life{life}", 100_000, SIZE) as writer:
            acknowledged = [writer.hear() for _ in range(dice.randrange(1, 6))]
            with pytest.raises(subprocess.TimeoutExpired):
                writer.process.wait(timeout=dice.uniform(0, 0.03))
            writer.process.send_signal(signal.SIGKILL)
            acknowledged += writer.rest()
        count = int(acknowledged[-1].removeprefix("ok "))
        ids = [memory.id for memory in batch(f"life{life}", 0, count).memories]
        assert len(store.get(ids)) == count
        assert store.stats().memories % SIZE == 0
        assert lanterns(store) == store.view().size == store.stats().memories
    assert store.integrity() == []
    fresh = SqliteStore.open(store.path)
    assert fresh.view().size == len(fresh.scan(Filter(), 1_000_000).items) == store.view().size
    fresh.close()
