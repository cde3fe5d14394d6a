"""Backups while others write, and restoring without losing what was there."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memorist
from memorist.errors import InvalidInput, NotFound, SpaceMismatch, StoreBusy, StoreError
from memorist.model import Filter
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore
from memorist.stores.sqlite.restoring import restore
from memorist.testing.fakes import FakeClock
from tests.upkeep.worlds import answers, fill, opened

WRITER = """
import sys
from memorist.engine.engine import Engine
from memorist.stores.sqlite import SqliteStore
from memorist.testing.fakes import FakeEmbedder
with Engine(SqliteStore.open(sys.argv[1]), embedder=FakeEmbedder(), background=False) as engine:
    for number in range(10**6):
        engine.remember_many({"text": f"{side} {number}", "key": f"{side}/{number}"} for side in ("left", "right"))
        print(number, flush=True)
"""


def test_a_backup_answers_like_the_memory(tmp_path: Path) -> None:
    with opened(SqliteStore.open(tmp_path / "agent.db")) as engine:
        fill(engine)
        made = engine.backup(tmp_path / "deep" / "copy.db")
        assert made.path == tmp_path / "deep" / "copy.db"
        assert made.bytes == made.path.stat().st_size
        with opened(SqliteStore.open(made.path)) as copy:
            assert copy.space == "agent"
            assert answers(copy) == answers(engine)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["copy.db"]


def test_notes_go_with_the_backup_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    notes = tmp_path / "agent.db.notes" / "daily"
    notes.mkdir(parents=True)
    (notes / "2024-06-03.md").write_text("first")
    with opened(SqliteStore.open(path)) as engine:
        assert engine.backup(tmp_path / "copy.db").notes == 1
        (notes / "2024-06-03.md").write_text("second")
        assert engine.backup(tmp_path / "copy.db", overwrite=True).notes == 1
    (notes / "2024-06-03.md").write_text("third")
    aside = restore(tmp_path / "copy.db", path)
    assert (notes / "2024-06-03.md").read_text() == "second"
    assert [(path / "daily" / "2024-06-03.md").read_text() for path in aside if path.is_dir()] == ["third"]


def test_notes_in_a_folder_of_their_own_go_with_the_backup_and_what_else_is_there_stays(tmp_path: Path) -> None:
    path, vault = tmp_path / "agent.db", tmp_path / "vault"
    options: dict[str, Any] = {"notes_dir": str(vault), "embedder": "none"}
    clock = FakeClock()
    with memorist.open(path, config=options, clock=clock, background=False) as engine:
        engine.remember("The ferry sailed with 41 cars.", at=clock.now())
        clock.advance(timedelta(days=2))
        engine.consolidate("daily")
        (vault / "recipes.md").write_text("Soup")
        assert engine.backup(tmp_path / "copy.db").notes == 1
    (note,) = (vault / "daily").iterdir()
    told = note.read_text()
    note.write_text("changed")
    aside = memorist.restore(tmp_path / "copy.db", path, config=options)
    assert (note.read_text(), (vault / "recipes.md").read_text()) == (told, "Soup")
    assert [(path / note.name).read_text() for path in aside if path.is_dir()] == ["changed"]
    assert not (tmp_path / "copy.db.notes" / "recipes.md").exists()


def test_a_backup_overwrites_nothing_unless_told(tmp_path: Path) -> None:
    with opened(SqliteStore.open(tmp_path / "agent.db")) as engine:
        engine.remember("A lamp.")
        (tmp_path / "taken.db").write_text("precious")
        with pytest.raises(InvalidInput, match="exists already"):
            engine.backup(tmp_path / "taken.db")
        assert (tmp_path / "taken.db").read_text() == "precious"
        with pytest.raises(InvalidInput, match="in use"):
            engine.backup(tmp_path / "agent.db", overwrite=True)
        with pytest.raises(InvalidInput, match="folder"):
            engine.backup(tmp_path)
        engine.backup(tmp_path / "taken.db", overwrite=True)
    assert texts(tmp_path / "taken.db") == ["A lamp."]


def test_a_memory_without_a_file_is_backed_up_to_one(tmp_path: Path) -> None:
    with opened(MemoryStore()) as engine:
        fill(engine)
        engine.backup(tmp_path / "copy.db")
        with opened(SqliteStore.open(tmp_path / "copy.db")) as copy:
            assert answers(copy) == answers(engine)


@pytest.mark.slow
def test_backups_are_whole_while_another_process_writes(tmp_path: Path) -> None:
    """Each holds both of a pair that was written together, and all that was acknowledged before it began."""
    path = tmp_path / "agent.db"
    with opened(SqliteStore.open(path)) as engine:
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        try:
            for turn in range(6):
                acknowledged = [int(writer.stdout.readline()) for _ in range(20)][-1]
                made = engine.backup(tmp_path / f"copy-{turn}.db")
                copy = SqliteStore.open(made.path)
                keys = {memory.origin.key for memory in copy.scan(Filter(), 10**6).items}
                copy.close()
                lefts = {key for key in keys if key is not None and key.startswith("left/")}
                assert keys == lefts | {key.replace("left", "right") for key in lefts}
                assert len(lefts) > acknowledged
        finally:
            writer.kill()
            writer.communicate()


def test_restoring_moves_aside_what_was_there(tmp_path: Path) -> None:
    path, now = tmp_path / "agent.db", datetime(2024, 7, 1, 12, tzinfo=UTC)
    with opened(SqliteStore.open(path)) as engine:
        engine.remember("A lamp.")
        engine.backup(tmp_path / "copy.db")
        engine.remember("A book.")
    for name in ("agent.db.before-20240701T120000Z", "agent.db.before-20240701T120000Z-2"):
        assert restore(tmp_path / "copy.db", path, now=now) == [tmp_path / name]
        assert texts(path) == ["A lamp."]
    assert texts(tmp_path / "agent.db.before-20240701T120000Z") == ["A lamp.", "A book."]


def test_a_restored_file_takes_the_place_of_a_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    with opened(SqliteStore.open(path)) as engine:
        engine.remember("A lamp.")
        engine.backup(tmp_path / "copy.db")
    path.write_bytes(b"no database at all" * 100)
    aside = restore(tmp_path / "copy.db", path)
    assert [file.read_bytes()[:18] for file in aside] == [b"no database at all"]
    assert texts(path) == ["A lamp."]


def test_a_damaged_backup_touches_nothing(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    with opened(SqliteStore.open(path)) as engine:
        fill(engine)
        engine.backup(tmp_path / "copy.db")
    whole = (tmp_path / "copy.db").read_bytes()
    page = 4096
    (tmp_path / "copy.db").write_bytes(whole[: 4 * page] + b"\xff" * page * 3 + whole[7 * page :])
    before = path.read_bytes()
    for broken in (tmp_path / "copy.db", tmp_path / "nothing.db", tmp_path / "text.db"):
        (tmp_path / "text.db").write_text("hello " * 1000)
        with pytest.raises((StoreError, NotFound)):
            restore(broken, path)
    assert path.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"agent.db", "copy.db", "text.db"}


def test_a_memory_in_use_is_not_pulled_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memorist.stores.sqlite.restoring.PATIENCE", 0.01)
    path = tmp_path / "agent.db"
    with opened(SqliteStore.open(path)) as engine:
        engine.remember("A lamp.")
        engine.backup(tmp_path / "copy.db")
        with pytest.raises(StoreBusy, match="in use"):
            restore(tmp_path / "copy.db", path)
        assert engine.remember("A book.")
    assert texts(path) == ["A lamp.", "A book."]


def test_a_space_of_a_folder_is_restored_under_its_own_name(tmp_path: Path) -> None:
    with opened(SqliteStore.open(tmp_path / "ann.db")) as engine:
        engine.remember("A lamp.")
        engine.backup(tmp_path / "copy.db")
    folder = f"{tmp_path}/spaces/"
    with pytest.raises(SpaceMismatch, match="ann"):
        memorist.restore(tmp_path / "copy.db", folder, space="bob")
    assert memorist.restore(tmp_path / "copy.db", folder, space="ann") == []
    assert texts(tmp_path / "spaces" / "ann.db") == ["A lamp."]
    with pytest.raises(InvalidInput, match="memory"):
        memorist.restore(tmp_path / "copy.db", ":memory:")


def texts(path: Path) -> list[str]:
    with opened(SqliteStore.open(path)) as engine:
        return [memory.text for memory in engine.list().items]
