"""Opening files: new, odd, foreign, newer, older, read-only, and two processes at once."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Literal

import apsw
import pytest

from memorist.errors import InvalidInput, NewerStore, NotFound, SpaceMismatch, StoreError
from memorist.ports import Batch
from memorist.stores.sql.database import Migration
from memorist.stores.sqlite import SqliteStore
from memorist.stores.sqlite.connection import SqliteConnections, SqliteDatabase
from memorist.stores.sqlite.schema import MIGRATIONS, migrate, pending_migrations
from memorist.testing import memory
from tests.stores.processes import run, working


def filled(path: Path) -> Path:
    """A closed store with one memory."""
    store = SqliteStore.open(path)
    store.put(Batch([memory("a lamp", id="lamp")]))
    store.close()
    return path


def test_a_new_file_is_named_after_itself_and_its_folder_is_made(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "deep" / "er" / "agent.db")
    assert (store.space, store.path) == ("agent", tmp_path / "deep" / "er" / "agent.db")
    assert store.integrity() == []
    store.close()


def test_a_space_keeps_its_name_when_the_file_is_renamed(tmp_path: Path) -> None:
    filled(tmp_path / "a.db").rename(tmp_path / "b.db")
    with pytest.raises(SpaceMismatch, match="holds the space 'a', not 'b'"):
        SqliteStore.open(tmp_path / "b.db", space="b")
    store = SqliteStore.open(tmp_path / "b.db")
    assert (store.space, list(store.get(["lamp"]))) == ("a", ["lamp"])
    store.close()


def test_a_space_can_be_named(tmp_path: Path) -> None:
    SqliteStore.open(tmp_path / "a.db", space="team 東京").close()
    store = SqliteStore.open(tmp_path / "a.db", space="team 東京")
    assert store.space == store.stats().space == "team 東京"
    store.close()


@pytest.mark.parametrize("name", ["a b.db", "é東京 👍.db", "q?x=1&y#z%20.db", "file:x.db", "'; --.db", "bare", "~"])
def test_odd_paths_are_plain_paths(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    filled(Path(name))
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [name]
    store = SqliteStore.open(name, create=False)
    assert list(store.get(["lamp"])) == ["lamp"]
    store.close()


def test_a_relative_path_stays_put_when_the_working_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = SqliteStore.open("a.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    store.put(Batch([memory("a lamp", id="lamp")]))
    store.close()
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(("synchronous", "level"), [("normal", 1), ("full", 2)])
def test_every_threads_connection_is_set_up_alike(
    tmp_path: Path, synchronous: Literal["normal", "full"], level: int
) -> None:
    store = SqliteStore.open(tmp_path / "a.db", synchronous=synchronous)

    def settings() -> list[object]:
        with store._connections.reading() as db:  # what SQLite was told, no verb tells
            names = ("journal_mode", "synchronous", "secure_delete", "foreign_keys", "busy_timeout")
            return [db.value(f"PRAGMA {name}") for name in names]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(settings).result() == settings() == ["wal", level, 1, 1, 10_000]
    store.close()


@pytest.mark.parametrize("path", ["", ":memory:", "a\0b"])
def test_what_is_no_file_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput):
        SqliteStore.open(path)


def test_a_missing_file_is_not_created_on_request(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no memory at"):
        SqliteStore.open(tmp_path / "folder" / "a.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_or_a_file_on_the_way_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        SqliteStore.open(tmp_path)
    (tmp_path / "file").write_text("text")
    with pytest.raises(StoreError, match="cannot be created"):
        SqliteStore.open(tmp_path / "file" / "a.db")


@pytest.mark.parametrize("content", [b"not a database, but long enough to be one " * 40, b"short"])
def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is not a Memorist store"):
        SqliteStore.open(path)
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (content, [path])


@pytest.mark.parametrize("table", ["bookmarks", "migrations"])
def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path, table: str) -> None:
    path = tmp_path / "places.sqlite"
    other = sqlite3.connect(path)
    other.execute(f"CREATE TABLE {table} (name TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="of another program"):
        SqliteStore.open(path)
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (before, [path])


def test_a_file_from_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    newer = sqlite3.connect(path)
    newer.execute("INSERT INTO migrations VALUES ('m999_of_tomorrow')")
    newer.commit()
    newer.close()
    before = path.read_bytes()
    with pytest.raises(NewerStore, match="m999_of_tomorrow"):
        SqliteStore.open(path)
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (before, [path])


A_TABLE_MORE = Migration("m900_a_table_more", "CREATE TABLE later (name TEXT)")
THAT_FAILS = Migration("m901_that_fails", "CREATE TABLE never (name TEXT); INSERT INTO nowhere VALUES (1)")


@pytest.fixture
def older(tmp_path: Path) -> Iterator[SqliteConnections]:
    connections = SqliteConnections(filled(tmp_path / "a.db"))
    yield connections
    connections.close()


def tables(db: SqliteDatabase) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_an_older_file_is_brought_up_to_date(older: SqliteConnections) -> None:
    steps = (*MIGRATIONS, A_TABLE_MORE)
    with older.writing() as db:
        assert pending_migrations(db, older.path, steps) == [A_TABLE_MORE]
        migrate(db, older.path, steps)
        assert pending_migrations(db, older.path, steps) == []
        assert "later" in tables(db)
        assert db.value("SELECT text FROM memories") == "a lamp"


def test_what_older_memories_say_is_found_after_the_migration(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    connections = SqliteConnections(path)
    with connections.writing() as db:
        db.execute("DROP INDEX memories_by_saying; ALTER TABLE memories DROP COLUMN said")
        db.execute("DELETE FROM migrations WHERE name = 'm003_saying'")
    connections.close()
    with closing(SqliteStore.open(path)) as store:
        assert [memory.text for memory in store.by_text(["A LAMP."])] == ["a lamp"]


def test_a_migration_that_fails_leaves_the_file_as_it_was(older: SqliteConnections) -> None:
    steps = (*MIGRATIONS, A_TABLE_MORE, THAT_FAILS)
    with pytest.raises(apsw.SQLError, match="nowhere"), older.writing() as db:
        migrate(db, older.path, steps)
    with older.reading() as db:
        assert pending_migrations(db, older.path, steps) == [A_TABLE_MORE, THAT_FAILS]
        assert not {"later", "never"} & tables(db)


def test_migrations_are_numbered_in_order() -> None:
    numbers = [int(migration.name[1:4]) for migration in MIGRATIONS]
    assert numbers == list(range(1, len(numbers) + 1))


def test_processes_may_create_the_same_file_at_once(tmp_path: Path) -> None:
    with working("open", tmp_path / "a.db") as one, working("open", tmp_path / "a.db") as two:
        assert (one.hear(), two.hear()) == ("ready", "ready")
        one.tell("go")
        two.tell("go")
        assert (one.hear(), two.hear()) == ("a", "a")
    store = SqliteStore.open(tmp_path / "a.db")
    assert store.integrity() == []
    store.close()


def test_processes_that_name_a_new_space_differently_cannot_both_have_it(tmp_path: Path) -> None:
    with working("open", tmp_path / "a.db", "one") as one, working("open", tmp_path / "a.db", "two") as two:
        assert (one.hear(), two.hear()) == ("ready", "ready")
        one.tell("go")
        two.tell("go")
        assert sorted((one.hear(), two.hear())) in (["SpaceMismatch", "one"], ["SpaceMismatch", "two"])


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users reach; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.mark.parametrize("folder_mode", [0o777, 0o555], ids=["folder writable", "folder read-only"])
def test_a_read_only_file_refuses_writes_with_a_remedy(open_folder: Path, folder_mode: int) -> None:
    path = filled(open_folder / "a.db")
    path.chmod(0o444)
    open_folder.chmod(folder_mode)
    before = path.read_bytes()
    *_, last = run("read-only", path)
    assert last.startswith("StoreError")
    assert "permission" in last or "may write" in last
    assert path.read_bytes() == before
    open_folder.chmod(0o777)
