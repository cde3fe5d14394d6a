"""A database that was deleted does not come back, and a program that forgets to close leaves no log."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import memorist
from memorist.errors import StoreMoved
from memorist.stores.sqlite.restoring import restore
from memorist.surfaces.cli import main

SECRET = "The heron nests behind the old mill."
SIDES = ("-wal", "-shm", "-journal", "-index", "-usage")
WRITE = f"""
import os, sys, memorist
memory = memorist.open(sys.argv[1], embedder="none", background=False)
memory.remember({SECRET!r})
"""
FORGETFUL = f"""
import sys, memorist
def use():
    memory = memorist.open(sys.argv[1], embedder="none")
    memory.remember({SECRET!r})
use()
kept = memorist.open(sys.argv[1], embedder="none")
kept.remember("The lamp is red.")
"""
FORKING = f"""
import os, sys, memorist
memory = memorist.open(sys.argv[1], embedder="none")
memory.remember({SECRET!r})
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
    memory.remember("The lamp is red.")
"""


def python(program: str, path: Path, *, status: int = 0) -> None:
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr


def killed_while_open(path: Path) -> None:
    """Leave a database and its log as a killed process does."""
    python(f"{WRITE}\nos.kill(os.getpid(), {int(signal.SIGKILL)})", path, status=-signal.SIGKILL)
    assert path.with_name(f"{path.name}-wal").stat().st_size


def texts(path: Path) -> list[str]:
    with memorist.open(path, embedder="none", background=False) as memory:
        return [row.text for row in memory.list().items]


def test_a_deleted_database_does_not_come_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "agent.db"
    killed_while_open(path)
    path.unlink()
    with caplog.at_level(logging.WARNING, "memorist"):
        assert texts(path) == []
    (aside,) = tmp_path.glob("agent.db.before-*-wal")
    assert SECRET.encode() in aside.read_bytes()
    assert aside.name in caplog.text and "remove it" in caplog.text
    with memorist.open(path, embedder="none") as memory:
        memory.remember("The lamp is red.")
    assert texts(path) == ["The lamp is red."]
    assert SECRET.encode() not in path.read_bytes()


def test_nothing_of_a_deleted_database_is_adopted(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    for side in SIDES:
        path.with_name(path.name + side).write_bytes(SECRET.encode())
    assert texts(path) == []
    kept = {file.name for file in tmp_path.iterdir() if file.is_file() and SECRET.encode() in file.read_bytes()}
    assert len(kept) == 2 and all(".before-" in name and name.endswith(("-wal", "-journal")) for name in kept)


KEEPING = {"plainly": [], "with its attributes": ["-a"]}
"""How `cp` copies a file."""


def copied(how: list[str], *pairs: tuple[Path, Path]) -> None:
    for source, to in pairs:
        subprocess.run(["cp", *how, source, to], check=True)


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


@pytest.mark.parametrize("how", KEEPING.values(), ids=KEEPING)
def test_a_copy_in_the_place_of_a_deleted_database_does_not_bring_it_back(
    tmp_path: Path, how: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    path, saved = tmp_path / "agent.db", tmp_path / "saved.db"
    with memorist.open(saved, embedder="none") as memory:
        memory.remember("The lamp is red.")
    killed_while_open(path)
    path.unlink()
    copied(how, (saved, path))
    with caplog.at_level(logging.WARNING, "memorist"):
        assert texts(path) == ["The lamp is red."]
    (aside,) = tmp_path.glob("agent.db.before-*-wal")
    assert SECRET.encode() in aside.read_bytes() and aside.name in caplog.text
    with memorist.open(path, embedder="none", background=False) as memory:
        memory.remember("The door is green.")
        assert texts(path) == ["The lamp is red.", "The door is green."]


@pytest.mark.parametrize("how", KEEPING.values(), ids=KEEPING)
@pytest.mark.parametrize("replaced", [False, True], ids=["new", "replaced"])
def test_a_copy_with_its_log_is_whole(tmp_path: Path, how: list[str], replaced: bool) -> None:
    path, copy = tmp_path / "agent.db", tmp_path / "copy.db"
    killed_while_open(path)
    if replaced:
        killed_while_open(copy)
        copy.unlink()
        log_of(copy).unlink()
    copied(how, (log_of(path), log_of(copy)), (path, copy))
    assert texts(copy) == texts(path) == [SECRET]
    assert not list(tmp_path.glob("*.before-*"))


def test_a_database_that_is_renamed_with_its_log_is_whole(tmp_path: Path) -> None:
    path, folder = tmp_path / "agent.db", tmp_path / "attic"
    killed_while_open(path)
    folder.mkdir()
    for file in tmp_path.glob("agent.db*"):
        file.rename(folder / file.name.replace("agent", "old"))
    assert texts(folder / "old.db") == [SECRET]


def test_a_copy_without_its_log_has_what_was_in_the_file(tmp_path: Path) -> None:
    path, copy = tmp_path / "agent.db", tmp_path / "copy.db"
    killed_while_open(path)
    copied([], (path, copy))
    assert texts(copy) == [] and texts(path) == [SECRET]


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    for _ in range(3):
        killed_while_open(path)
        path.with_name(f"{path.name}-shm").unlink()
    assert texts(path) == [SECRET]


BEGINNING = {
    "remember": ["remember", "The lamp is red."],
    "ingest": ["ingest", "{folder}/lamp.txt"],
    "relate": ["relate", "Ann", "lives_in", "Oslo"],
    "session start": ["session", "start", "Buy a lamp"],
    "import": ["import", "{folder}/saved.jsonl"],
    "restore": ["restore", "{folder}/saved.db"],
    "move": ["move", "{folder}/saved.db", "{folder}/agent.db"],
    "sync": ["sync", "{folder}/shared"],
}
"""Commands that begin a memory."""


@pytest.mark.parametrize("words", BEGINNING.values(), ids=BEGINNING)
def test_no_command_adopts_what_a_deleted_database_left(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "agent.db"
    (tmp_path / "lamp.txt").write_text("The lamp is red.", encoding="utf-8")
    with memorist.open(tmp_path / "saved.db", embedder="none") as memory:
        memory.remember("The lamp is red.")
        memory.export(tmp_path / "saved.jsonl")
    assert main(["--db", str(tmp_path / "saved.db"), "--embedder", "none", "sync", str(tmp_path / "shared")]) == 0
    killed_while_open(path)
    path.unlink()
    given = [word.format(folder=tmp_path) for word in words]
    assert main(["--db", str(path), "--embedder", "none", *given]) == 0
    found = texts(path)
    assert found and SECRET not in found
    assert SECRET.encode() not in path.read_bytes()


def test_a_process_that_still_has_the_deleted_file_open_cannot_harm_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    old = memorist.open(path, embedder="none", background=False)
    old.remember(SECRET)
    path.unlink()
    with memorist.open(path, embedder="none", background=False) as new:
        new.remember("The lamp is red.")
        with pytest.raises(StoreMoved):
            old.remember("The lamp is blue.")
        old.close()
        new.remember("The door is green.")
    assert texts(path) == ["The lamp is red.", "The door is green."]


def test_processes_that_create_a_database_at_once_keep_what_each_wrote(tmp_path: Path) -> None:
    program = WRITE.replace(repr(SECRET), "f'The number is {os.getpid()}.'") + "print(os.getpid())\nmemory.close()"
    for round_ in range(2):
        path = tmp_path / f"{round_}.db"
        path.with_name(f"{path.name}-wal").write_bytes(b"the log of another database")
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: python(program, path), range(4)))  # noqa: B023 - all end within the round
        assert len(texts(path)) == 4


def test_a_backup_is_restored_without_the_log_of_a_deleted_database(tmp_path: Path) -> None:
    path, backup = tmp_path / "agent.db", tmp_path / "saved.db"
    with memorist.open(path, embedder="none") as memory:
        memory.remember("The lamp is red.")
        memory.backup(backup)
    path.unlink()
    killed_while_open(path)
    path.unlink()
    restore(backup, path)
    assert texts(path) == ["The lamp is red."]


@pytest.mark.parametrize("program", [WRITE, FORGETFUL, FORKING], ids=["open", "collected", "forked"])
def test_a_program_that_does_not_close_leaves_no_log(tmp_path: Path, program: str) -> None:
    path = tmp_path / "agent.db"
    python(program, path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert SECRET in texts(path)


def test_the_end_of_a_program_does_not_wait_for_a_thread_for_ever(tmp_path: Path) -> None:
    busy = (
        WRITE
        + """
import threading
inside = threading.Event()
def read():
    with memory.store._connections.reading():
        inside.set()
        threading.Event().wait()
threading.Thread(target=read, daemon=True).start()
inside.wait()
"""
    )
    python(busy, tmp_path / "agent.db")
    assert SECRET in texts(tmp_path / "agent.db")
