"""While another process holds the write lock, everything that reads answers; its uses are counted later."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import anyio
import apsw
import pytest
from mcp import Client

import memorist
from memorist.errors import StoreBusy
from memorist.model import instant
from memorist.ports import Batch, Job
from memorist.stores.index_file import USAGE_FILE
from memorist.stores.sql import usage_queue
from memorist.stores.sql.bookkeeping import Use
from memorist.stores.sqlite import SqliteStore, connection
from memorist.testing import memory
from memorist_server.mcp.server import MemoryServer
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import running

HANGS = 120
"""Seconds after which a process counts as hanging: far more than any needs."""
PATIENT = """
import sys, time
from memorist.stores.sqlite import connection
wait_for, persist = connection.SqliteDatabase.wait_for, connection._persist
def patient(take, deadline, look=lambda: None):
    persist(take, deadline + 3600 * (deadline > time.monotonic()), look)
connection.SqliteDatabase.wait_for = lambda self, seconds: wait_for(self, 3600 if seconds else 0)
connection._persist = patient
from memorist.surfaces.cli import main
"""
"""Commands that, if they wait for a lock at all, wait for an hour."""
AT = instant("2024-07-01")
LAMP = "The lamp in the kitchen is red."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "agent.db"
    with memorist.open(path, embedder="none", background=False) as engine:
        engine.remember(LAMP)
    return path


@pytest.fixture
def held(path: Path) -> Iterator[apsw.Connection]:
    """The write lock, held until the test ends or gives it back: whatever waits for it fails."""
    holder = apsw.Connection(str(path))
    holder.execute("BEGIN IMMEDIATE")
    yield holder
    holder.close()


def command(path: Path, *words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    line = [
        sys.executable,
        "-c",
        f"{PATIENT}sys.exit(main(sys.argv[1:]))",
        "--db",
        str(path),
        "--embedder",
        "none",
        *words,
    ]
    return subprocess.run(line, capture_output=True, text=True, check=False, input=given, timeout=HANGS)


def recalls(path: Path) -> int | None:
    with memorist.open(path, embedder="none", background=False) as engine:
        return engine.list().items[0].usage.recalls


def test_a_recall_answers_and_the_next_write_counts_it(path: Path, held: apsw.Connection) -> None:
    told = command(path, "recall", "What colour is the lamp?", "--session", "talk", "--json")
    assert told.returncode == 0, told.stderr
    assert [item["text"] for item in json.loads(told.stdout)["items"]] == [LAMP]
    assert "usage not counted" not in told.stdout
    waiting = path.with_name(f"{path.name}{USAGE_FILE}")
    assert waiting.exists() and waiting.stat().st_mode & 0o077 == 0 and "lamp" not in waiting.read_text()
    assert recalls(path) == 1 and waiting.exists()
    held.execute("ROLLBACK")
    with memorist.open(path, embedder="none") as engine:
        engine.remember("The door is green.")
    assert recalls(path) == 1 and not waiting.exists()
    with memorist.open(path, embedder="none") as engine:
        assert engine.store.shown("talk", AT) == {engine.list().items[0].id}


def test_nobody_waits_for_a_process_that_was_stopped_while_it_read_the_queue(path: Path, held: apsw.Connection) -> None:
    assert command(path, "recall", "lamp").returncode == 0
    with path.with_name(f"{path.name}{USAGE_FILE}").open("rb") as queue:
        fcntl.flock(queue, fcntl.LOCK_EX)
        told = command(path, "recall", "lamp", "--json")
        assert told.returncode == 0 and "usage not counted" in told.stdout
        held.execute("ROLLBACK")
        assert command(path, "remember", "The door is green.").returncode == 0


READING = (
    *("list", "stats", "entities", "journal", "pinned", "audit", "tidy", "doctor", "session list", "export -"),
    *("sleep", "wake-up"),
)


def test_what_reads_answers(path: Path, held: apsw.Connection) -> None:
    code = f"{PATIENT}for words in sys.argv[5:]: assert main([*sys.argv[1:5], *words.split()]) == 0, words"
    line = [sys.executable, "-c", code, "--db", str(path), "--embedder", "none", *READING]
    told = subprocess.run(line, capture_output=True, text=True, check=False, timeout=HANGS)
    assert told.returncode == 0, told.stderr
    assert held.in_transaction


def test_a_recall_does_not_wait_for_a_job_that_is_due(path: Path, held: apsw.Connection) -> None:
    held.execute("ROLLBACK")
    with memorist.open(path, embedder="none", background=False) as engine:
        engine.store.put(Batch(jobs=[Job("scrub", "file", AT)]))
    held.execute("BEGIN IMMEDIATE")
    told = command(path, "recall", "What colour is the lamp?")
    assert told.returncode == 0 and LAMP in told.stdout, told.stderr
    assert held.in_transaction


def test_the_hook_of_a_prompt_answers(path: Path, held: apsw.Connection, tmp_path: Path) -> None:
    prompt = {"session_id": "s", "cwd": str(tmp_path), "prompt": "Which colour has the lamp in the kitchen?"}
    told = command(path, "hook", "prompt", "--client", "claude-code", given=json.dumps(prompt))
    assert told.returncode == 0 and LAMP in told.stdout, (told.stdout, told.stderr)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits for a lock in this process; each fails at once."""
    told = list[float]()

    def sleep(seconds: float) -> None:
        told.append(seconds)
        raise apsw.BusyError

    monkeypatch.setattr(connection, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    monkeypatch.setattr(connection.SqliteDatabase, "wait_for", lambda self, _: self._connection.set_busy_timeout(0))
    return told


@pytest.mark.parametrize("background", [False, True], ids=["plain", "background"])
def test_a_program_answers(path: Path, held: apsw.Connection, waits: list[float], background: bool) -> None:
    with memorist.open(path, embedder="none", background=background) as engine:
        assert [item.memory.text for item in engine.recall("What colour is the lamp?", session="talk").items] == [LAMP]
        assert engine.recall("What colour is the lamp?", session="talk", fresh=True).items == ()
        assert waits == [] and held.in_transaction


def test_a_server_answers(path: Path, held: apsw.Connection, waits: list[float]) -> None:
    with running(Settings(db=f"{path.parent}/", embedder="none")) as server, server.http() as http:
        asked = {"query": "What colour is the lamp?", "session": "talk"}
        for _ in range(2):
            answer = http.post("/v1/spaces/agent/recall", json=asked)
            assert answer.status_code == 200 and answer.json()["items"][0]["text"] == LAMP, answer.text
        for page in ("memories", "stats", "journal", "entities"):
            assert http.get(f"/v1/spaces/agent/{page}").status_code == 200
        assert waits == [] and held.in_transaction
        held.execute("ROLLBACK")
        assert http.post("/v1/spaces/agent/memories", json={"text": "The door is green."}).status_code == 201
    assert recalls(path) == 2


def test_an_agent_is_answered(path: Path, held: apsw.Connection, waits: list[float]) -> None:
    async def asked(engine: memorist.Engine) -> list[str]:
        async with Client(MemoryServer(engine)) as client:
            asked = ("recall", {"query": "What colour is the lamp?"}), ("status", {})
            answers = [await client.call_tool(*call) for call in asked]
        assert not any(answer.is_error for answer in answers)
        return [str(answer.content) for answer in answers]

    with memorist.open(path, embedder="none", background=False) as engine:
        assert LAMP in anyio.run(asked, engine)[0]
        assert waits == [] and held.in_transaction


def test_a_write_fails_after_one_wait_and_names_the_remedy(
    path: Path, held: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, clock = list[float](), iter(range(10_000))
    seconds = SimpleNamespace(sleep=waits.append, monotonic=lambda: float(next(clock)))  # a second per look
    monkeypatch.setattr(connection, "time", seconds)
    with memorist.open(path, embedder="none", background=False) as engine:
        waits.clear()
        with pytest.raises(StoreBusy, match="another process") as refused:
            engine.remember("The door is green.")
        assert "Try again" in refused.value.remedy
        assert 0 < len(waits) <= connection.PATIENCE
        waits.clear()
    assert waits == []  # closing does not wait


# The queue


def test_what_was_forgotten_meanwhile_leaves_no_trace(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "a.db")
    store.put(Batch([memory("a lamp", id="lamp"), memory("a book", id="book")]))
    holder = apsw.Connection(str(store.path))
    holder.execute("BEGIN IMMEDIATE")
    store.show("talk", ["lamp", "book"], AT)
    store.touch(["lamp", "book"], AT)
    holder.close()
    store.delete(["lamp"])
    assert store.shown("talk", AT) == {"book"}
    assert store.get(["book"])["book"].usage.recalls == 1
    assert not (tmp_path / "a.db-usage").exists()
    store.close()


def test_a_queue_is_bounded_and_what_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage_queue, "MOST_BYTES", 100)
    store = SqliteStore.open(tmp_path / "a.db")
    store.put(Batch([memory("a lamp", id="lamp")]))
    holder = apsw.Connection(str(store.path))
    holder.execute("BEGIN IMMEDIATE")
    store.touch(["lamp"], AT)
    store.touch(["lamp"], AT)
    with pytest.raises(StoreBusy):
        store.touch(["lamp"] * 10, AT)
    assert (tmp_path / "a.db-usage").stat().st_size <= 100
    holder.close()
    store.touch(["lamp"], AT)
    assert store.get(["lamp"])["lamp"].usage.recalls == 3
    store.close()


def test_uses_that_are_added_while_others_are_counted_are_each_counted_once(tmp_path: Path) -> None:
    stores = [SqliteStore.open(tmp_path / "a.db") for _ in range(2)]
    stores[0].put(Batch([memory("a lamp", id="lamp")]))

    def used(_: int) -> None:
        assert stores[0]._queue.add(Use(["lamp"], AT))

    with ThreadPoolExecutor(2) as adding, ThreadPoolExecutor(2) as counting:
        added = [adding.submit(used, number) for number in range(200)]
        counted = [counting.submit(stores[number % 2].put, Batch()) for number in range(60)]
        for future in (*added, *counted):
            future.result()
    stores[1].put(Batch())
    assert stores[0].get(["lamp"])["lamp"].usage.recalls == 200
    assert not (tmp_path / "a.db-usage").exists()
    for store in stores:
        store.close()


def test_a_backup_and_what_is_restored_have_no_queue(tmp_path: Path, held: apsw.Connection, path: Path) -> None:
    assert command(path, "recall", "What colour is the lamp?").returncode == 0
    assert path.with_name(f"{path.name}{USAGE_FILE}").exists()
    assert command(path, "backup", str(tmp_path / "saved.db")).returncode == 0
    held.execute("ROLLBACK")
    held.close()
    assert command(path, "restore", str(tmp_path / "saved.db")).returncode == 0
    assert not list(tmp_path.glob(f"*{USAGE_FILE}*"))
    assert recalls(path) == 0


@pytest.mark.parametrize("committed", [True, False])
def test_uses_are_counted_once_whenever_a_kill_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    store = SqliteStore.open(tmp_path / "a.db")
    store.put(Batch([memory("a lamp", id="lamp"), memory("a book", id="book")]))
    store.touch(["lamp", "book"], AT)
    store.touch(["lamp"], AT + timedelta(hours=1))
    store.show("talk", ["lamp"], AT)
    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        if committed:  # after the commit, before the file is removed
            patched.setattr(usage_queue.UsageQueue, "remove_aside", interrupted)
        else:  # after the file is set aside, before the commit
            patched.setattr(connection.SqliteConnections, "_check_place", interrupted)
        store.put(Batch())
    assert (tmp_path / "a.db-counting").exists() and not (tmp_path / "a.db-usage").exists()
    with closing(SqliteStore.open(tmp_path / "a.db")) as again:
        used = {id: one.usage.recalls for id, one in again.get(["lamp", "book"]).items()}
        assert used == {"lamp": 2, "book": 1} and again.shown("talk", AT) == {"lamp"}
        assert not list(tmp_path.glob("a.db-[cu]*"))
    store.close()


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "line",
    [
        b"[",
        b"7",
        b"[[1], 5, null]",
        b'[["lamp"], "now", null]',
        b'[["lamp"], 99999999999999999999, null]',
        b'[["lamp"], 5, "\\ud800"]',
        b'[["lamp"], 5, "\\u0000"]',
        b'[["\\ud800"], 5, null]',
        b"\xff\n" * 9,
    ],
)
def test_a_damaged_queue_does_no_harm(tmp_path: Path, line: bytes) -> None:
    store = SqliteStore.open(tmp_path / "a.db")
    store.put(Batch([memory("a lamp", id="lamp")]))
    (tmp_path / "a.db-usage").write_bytes(line + b'\n[["lamp"], 1719792000000000, null]\n[["la')
    (tmp_path / "a.db-usage").chmod(0o600)
    assert store.get(["lamp"])["lamp"].usage.recalls == 1
    store.put(Batch())
    assert not (tmp_path / "a.db-usage").exists()
    assert store.get(["lamp"])["lamp"].usage.recalls == 1
    store.close()


def test_a_queue_that_others_could_write_is_not_read(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "a.db")
    store.put(Batch([memory("a lamp", id="lamp")]))
    (tmp_path / "a.db-usage").write_bytes(b'[["lamp"], 1719792000000000, null]\n')
    (tmp_path / "a.db-usage").chmod(0o666)
    assert store.get(["lamp"])["lamp"].usage.recalls == 0
    store.put(Batch())
    assert store.get(["lamp"])["lamp"].usage.recalls == 0
    store.close()
