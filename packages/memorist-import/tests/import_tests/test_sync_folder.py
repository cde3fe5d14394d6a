"""Sync when things go wrong: a folder that loses or cuts files, a database that is copied or restored, and kills."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import memorist
from import_tests.replicas import SECRET, Replica, agree, holding, live, meet
from memorist.errors import StoreBusy
from memorist.stores.memory import MemoryStore
from memorist_import.sync import state as sync_state
from memorist_import.sync.folder import ChangeFile, SharedFolder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "shared"


@pytest.fixture
def pair(folder: Path) -> tuple[Replica, Replica]:
    return Replica(folder), Replica(folder)


# A folder that misbehaves


def test_a_file_that_is_cut_short_waits_until_it_is_whole(pair: tuple[Replica, Replica], folder: Path) -> None:
    here, there = pair
    here.engine.remember("One.")
    here.sync()
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for size in (0, 10, len(whole) - 1):
        file.write_bytes(whole[:size])
        done = there.sync()
        assert "incomplete" in done.skipped[0].reason and not there.store.stats().memories
    file.write_bytes(whole)
    assert there.sync().came.memories == 1


def test_other_files_and_conflict_copies_are_left_alone(pair: tuple[Replica, Replica], folder: Path) -> None:
    here, there = pair
    here.engine.remember("One.")
    here.sync()
    (file,) = folder.iterdir()
    shutil.copy(file, folder / f"{file.stem} (conflicted copy).jsonl")
    (folder / "README.md").write_text("Ours.")
    (folder / f"memorist-{'0' * 16}-000001-{'0' * 32}.jsonl").symlink_to(file)
    os.mkfifo(folder / f"memorist-{'1' * 16}-000001-{'0' * 32}.jsonl")
    (folder / f"memorist-{'2' * 16}-000001-{'0' * 32}.jsonl").mkdir()
    done = there.sync()
    assert done.came.memories == 1 and len(done.skipped) == 3
    assert (folder / "README.md").read_text() == "Ours."


def test_files_that_vanish_are_written_again(pair: tuple[Replica, Replica], folder: Path) -> None:
    here, there = pair
    here.engine.remember("One.")
    there.engine.remember("Two.")
    meet(pair)
    shutil.rmtree(folder)
    meet(pair)
    third = Replica(folder)
    third.sync()
    agree(here, there, third)


def test_many_small_files_become_one(
    pair: tuple[Replica, Replica], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memorist_import.sync.run.MOST_FILES", 3)
    for number in range(5):
        pair[0].engine.remember(f"Number {number}.")
        pair[0].sync()
    assert len(list(folder.iterdir())) <= 3
    pair[1].sync()
    agree(*pair)


def test_a_large_change_is_split_into_files(
    pair: tuple[Replica, Replica], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memorist_import.sync.folder.LARGEST_FILE", 2000)
    pair[0].engine.remember_many([f"Number {number}." for number in range(20)])
    pair[0].sync()
    assert len(list(folder.iterdir())) > 5
    assert pair[1].sync().came.memories == 20
    agree(*pair)


def test_a_file_that_goes_away_while_it_is_read_is_no_forget(
    pair: tuple[Replica, Replica], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = pair
    kept, fact = here.engine.remember("One."), here.engine.relate("Ann", "lives_in", "Oslo")
    here.sync()
    real = SharedFolder.again

    def replaced(self: SharedFolder, file: ChangeFile, offsets: Any) -> Any:
        (folder / file.name).rename(folder / "aside")
        return real(self, file, offsets)

    with monkeypatch.context() as patch:
        patch.setattr(SharedFolder, "again", replaced)
        assert not there.sync().came
    here.sync()  # its file is missing: it writes another
    assert there.sync().came.memories == 1
    meet(pair)
    assert here.engine.get([kept.id, fact.id]) == there.engine.get([kept.id, fact.id]) == [kept.memory, fact.memory]


# Copies, backups and kills


def test_a_restored_or_copied_database_takes_a_new_name(folder: Path, tmp_path: Path) -> None:
    with memorist.open(tmp_path / "a.db", embedder="none") as engine:
        first = engine.remember("One.")
        old = memorist.sync(engine, folder).replica
        engine.backup(tmp_path / "saved.db")
        second = engine.remember("Two.")
        engine.forget(first.id)
        memorist.sync(engine, folder)
    memorist.restore(tmp_path / "saved.db", tmp_path / "a.db")
    with memorist.open(tmp_path / "a.db", embedder="none") as engine:
        engine.remember("Three.")
        done = memorist.sync(engine, folder)
        assert done.renewed and done.replica != old
        assert engine.get(second.id) and engine.get(first.id) is None  # both came back from the folder
        again = memorist.sync(engine, folder)
        assert not again.renewed and not again.went
        fresh = Replica(folder)
        fresh.sync()
        assert {memory.text for memory in fresh.engine.list(as_of="9999-12-31", known_at="9999-12-31").items} == {
            "Two.",
            "Three.",
        }


def test_two_syncs_of_one_database_at_once_are_noticed(
    pair: tuple[Replica, Replica], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = pair
    here.engine.remember("One.")
    real = sync_state.save

    def faster(*args: Any) -> None:
        monkeypatch.setattr("memorist_import.sync.run.save", real)
        here.sync()
        real(*args)

    monkeypatch.setattr("memorist_import.sync.run.save", faster)
    with pytest.raises(StoreBusy, match="Sync it again"):
        here.sync()
    assert not here.sync().went


class Killed(BaseException):
    """Stands for a kill."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_sync_that_is_killed_anywhere_loses_nothing(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every write to the store and every file put in place or removed is a moment to be killed at."""
    for moment in range(40):
        folder = tmp_path / str(moment)
        replicas = [Replica(folder), Replica(folder), Replica(folder)]
        dice = random.Random(seed)
        for replica in replicas:
            live(replica, dice, 6)
        kept = replicas[0].engine.remember(SECRET)
        meet(replicas)
        replicas[1].engine.forget(kept.id)
        replicas[1].sync()
        live(replicas[0], dice, 4)
        with monkeypatch.context() as patch:
            died = _killing_at(patch, moment)
            with suppress(Killed):
                replicas[0].sync()
        meet(replicas)
        agree(*replicas)
        assert not holding(folder, "treasure")
        if not died():
            return
    raise AssertionError("There are more moments")


def _killing_at(patch: pytest.MonkeyPatch, moment: int) -> Callable[[], bool]:
    """Raise `Killed` at the n-th moment; returns whether it came to that."""
    moments = iter(range(1000))
    last = -1

    def deadly(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def call(*args: Any, **keywords: Any) -> Any:
            nonlocal last
            last = next(moments)
            if last == moment:
                raise Killed
            return real(*args, **keywords)

        patch.setattr(owner, name, call)

    for owner, name in (
        (MemoryStore, "put"),
        (SharedFolder, "place"),
        (SharedFolder, "remove"),
        (Path, "replace"),
        (Path, "unlink"),
    ):
        deadly(owner, name)
    return lambda: last >= moment
