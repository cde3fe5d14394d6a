"""Many processes in one space, backends that are killed, forks, and caches that follow."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

import memorist
from memorist.engine.engine import Engine
from memorist.engine.open import open_database
from memorist.errors import Closed
from memorist.model import Filter, Memory, instant
from memorist.ports import Batch
from memorist.stores.sql.bookkeeping import Use
from memorist.testing import memory
from memorist_server.postgres import PostgresStore
from tests.stores.postgres_server import space_of
from tests.stores.postgres_worker import COUNTER, KEYS

SCRIPT = Path(__file__).with_name("postgres_worker.py")
SECONDS = float(os.environ.get("MEMORIST_TEST_SECONDS", "3"))
EVERYTHING = Filter(max_classification=3)
AT = instant("2024-07-01")
KILL_ONE = """
    SELECT pg_terminate_backend(pid, 100) FROM pg_stat_activity
    WHERE application_name = 'memorist' AND datname = current_database() ORDER BY state = 'idle', random() LIMIT 1
"""
KILL_OTHERS = """
    SELECT count(pg_terminate_backend(pid, 1000)) FROM pg_stat_activity
    WHERE application_name = 'memorist' AND datname = current_database()
"""


@pytest.fixture
def space(tmp_path: Path) -> str:
    return space_of(tmp_path, "shared")


@pytest.fixture
def store(postgres: str, space: str) -> Iterator[PostgresStore]:
    store = PostgresStore.open(postgres, space=space)
    yield store
    store.close()


def kill_all(url: str) -> int:
    """Terminate every backend of ours, and wait until they are gone."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(KILL_OTHERS).fetchone()
        assert row is not None
        return int(row[0])


def kill_one(url: str) -> int:
    """Terminate a backend of ours, one that has something to do if there is one."""
    with psycopg.connect(url, autocommit=True) as connection:
        return len(connection.execute(KILL_ONE).fetchall())


class Crowd:
    """Sixteen processes that write to one space for a while."""

    def __init__(self, url: str, space: str) -> None:
        command = [sys.executable, str(SCRIPT), url, space]
        environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])}
        self.writers = {
            name: subprocess.Popen(
                [*command, name, str(SECONDS)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
            )
            for name in (f"p{number}" for number in range(16))
        }  # fmt: skip
        ready = [writer.stdout.readline() for writer in self.writers.values() if writer.stdout]
        assert ready == ["ready\n"] * 16, self.writers["p0"].communicate()[1]
        for writer in self.writers.values():
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()

    def at_work(self) -> bool:
        """Let them work for a moment; False when all are done."""
        working = [writer for writer in self.writers.values() if writer.poll() is None]
        with suppress(subprocess.TimeoutExpired):
            if working:
                working[0].wait(timeout=0.2)
        return bool(working)

    def rounds(self) -> tuple[set[str], set[str]]:
        """The keys of the rounds that were acknowledged, and of those that failed."""
        found: dict[str, set[str]] = {"kept": set(), "failed": set()}
        with ThreadPoolExecutor(16) as pool:
            said = list(pool.map(lambda writer: writer.communicate(), self.writers.values()))
        assert [writer.returncode for writer in self.writers.values()] == [0] * 16, [errors for _, errors in said]
        for name, (lines, _) in zip(self.writers, said, strict=True):
            for line in lines.splitlines():
                outcome, number, *_ = line.split()
                found[outcome].add(f"{name}/{number}")
        return found["kept"], found["failed"]


@pytest.mark.slow
def test_sixteen_processes_remember_supersede_and_forget_in_one_space(postgres: str, space: str) -> None:
    kept, failed = Crowd(postgres, space).rounds()
    assert (len(kept) >= 16, failed) == (True, set())
    with memorist.open(postgres, space=space, embedder="none") as engine:
        held = check_sound(engine)
        assert {memory.origin.key for memory in held if key_of(memory).startswith("p")} == kept
        assert len(engine.store.history(COUNTER)) == len(kept), "no update is lost"
        shared = [memory for memory in held if key_of(memory).startswith("shared/")]
        assert len(shared) == len(kept), "every note is there, the last of its key or as history"
        assert [memory.text for memory in held if "passing" in memory.text] == []


@pytest.mark.slow
def test_backends_killed_among_sixteen_processes_lose_nothing_acknowledged(postgres: str, space: str) -> None:
    crowd = Crowd(postgres, space)
    killed = 0
    while crowd.at_work():
        killed += kill_one(postgres)
    kept, failed = crowd.rounds()
    assert (len(kept | failed) >= 16, len(kept) > 0, killed > 0) == (True, True, True)
    with memorist.open(postgres, space=space, embedder="none") as engine:
        held = check_sound(engine)
        assert kept <= {key_of(memory) for memory in held} <= kept | failed | SHARED | {""}
        assert len(kept) <= len(engine.store.history(COUNTER)) <= len(kept | failed)


SHARED = {f"shared/{key}" for key in range(KEYS)}


def key_of(one: Memory) -> str:
    return "" if one.fact is not None or one.origin.key is None else one.origin.key


def check_sound(engine: Engine) -> list[Memory]:
    """No key twice, no gap in a history, one city at a time; returns all that is held."""
    held = list(engine.list(1_000_000, as_of="9999-12-31", include_expired=True, max_classification=3).items)
    keys = Counter(key_of(memory) for memory in held if key_of(memory) and memory.version_of is None)
    assert set(keys.values()) == {1}
    counted = [int(version.text) for version in engine.store.history(COUNTER)]
    assert counted == list(range(len(counted), 0, -1))
    living = [memory.fact for memory in engine.list(1_000, kinds="semantic").items if memory.fact]
    assert [(fact.subject, fact.relation) for fact in living] == [("Alice", "lives_in")]
    assert engine.store.view().size == len(held)
    return held


def test_a_killed_backend_is_replaced_and_nothing_is_lost(postgres: str, store: PostgresStore) -> None:
    store.put(Batch([memory("a lantern", id="a")]))
    assert kill_all(postgres) > 0
    assert list(store.get(["a"])) == ["a"]
    kill_all(postgres)
    store.put(Batch([memory("a lantern", id="b")]))
    kill_all(postgres)
    assert store.view().size == 2
    kill_all(postgres)
    store.touch(["a"], AT)
    assert store.stats().memories == 2


def test_a_plan_is_asked_again_when_its_backend_is_killed(postgres: str, store: PostgresStore) -> None:
    asked: list[int] = []

    def plan(reader: object) -> Batch:
        asked.append(len(asked))
        if len(asked) == 1:
            kill_all(postgres)
        return Batch([memory("a lantern", id=f"try-{len(asked)}")])

    assert [memory.id for memory in store.update(plan)] == ["try-2"]
    assert [memory.id for memory in store.scan(EVERYTHING, 10).items] == ["try-2"]


def test_a_plan_is_asked_again_when_a_node_of_a_cluster_is_lost(store: PostgresStore) -> None:
    asked: list[int] = []

    def plan(reader: object) -> Batch:
        asked.append(len(asked))
        if len(asked) < 3:
            raise psycopg.errors.ConnectionFailure("server closed the connection unexpectedly")
        return Batch([memory("a lantern", id=f"try-{len(asked)}")])

    assert [memory.id for memory in store.update(plan)] == ["try-3"]


def test_counting_a_recall_does_not_wait_for_a_writer(postgres: str, store: PostgresStore) -> None:
    store.put(Batch([memory("a lantern", id="a")]))
    other = PostgresStore.open(postgres, space=store.space)
    inside, leave = threading.Event(), threading.Event()

    def plan(reader: object) -> Batch:
        inside.set()
        assert leave.wait(10)
        return Batch([memory("a book", id="b")])

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(other.update, plan)
        assert inside.wait(10)
        store.touch(["a"], AT)
        store.show("talk", ["a"], AT)
        assert store.shown("talk", AT) == {"a"}  # nor does a session see it again meanwhile
        assert store.view().size == 1
        assert store.get(["a"])["a"].usage.recalls == 1  # it waits, and counts already
        leave.set()
        assert [memory.id for memory in slow.result()] == ["b"]
    assert store.view().size == 2
    assert store.get(["a"])["a"].usage.recalls == 1  # counted by the writer, before it committed
    assert store.shown("talk", AT) == {"a"}
    other.close()


def test_a_deleted_space_leaves_no_queue(postgres: str, store: PostgresStore) -> None:
    assert store._queue.add(Use(["a"], AT)) and store._has_queue()
    open_database(postgres).delete(store.space)
    assert not store._has_queue()


def test_a_child_process_must_open_the_store_itself(store: PostgresStore) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            store.stats()
        except Closed as error:
            os.write(writing, error.remedy.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    assert os.read(reading, 100) == b"Open it again in the child process."
    os.close(reading)
    assert store.stats().memories == 0


def test_a_closed_store_says_so(store: PostgresStore) -> None:
    store.close()
    with pytest.raises(Closed):
        store.stats()
