"""A space on a server is backed up to a file, and restored from it."""

from __future__ import annotations

import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

import memorist
from memorist.engine.backups import fill_from
from memorist.engine.engine import Engine
from memorist.engine.open import open_database
from memorist.errors import InvalidInput, NotFound, StoreError
from memorist.model import Filter
from memorist.ports import Plan, Store
from memorist.stores.sqlite import SqliteStore
from memorist_server.postgres import PostgresStore
from tests.stores.postgres_server import space_of
from tests.upkeep.test_moving import content
from tests.upkeep.worlds import answers, fill, opened


@pytest.fixture
def engine(postgres: str, tmp_path: Path) -> Engine:
    """A filled space."""
    made = opened(PostgresStore.open(postgres, space=space_of(tmp_path, "here")))
    fill(made)
    return made


def test_a_backup_is_an_ordinary_private_file_that_answers_like_the_space(engine: Engine, tmp_path: Path) -> None:
    with engine:
        made = engine.backup(tmp_path / "deep" / "copy.db")
        assert made.bytes == made.path.stat().st_size
        assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
        assert [path.name for path in made.path.parent.iterdir()] == ["copy.db"]
        with opened(SqliteStore.open(made.path)) as copy:
            assert copy.space == engine.space
            assert content(copy.store) == content(engine.store)
            assert answers(copy) == answers(engine)
        with pytest.raises(InvalidInput, match="exists already"):
            engine.backup(made.path)


def test_a_backup_is_of_one_moment(engine: Engine, tmp_path: Path) -> None:
    """Each holds both of a pair that was written together while it was made."""
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            engine.remember_many({"text": f"{side} {number}", "key": f"{side}/{number}"} for side in ("left", "right"))
            number += 1

    with engine:
        writer = threading.Thread(target=write)
        writer.start()
        try:
            made = [engine.backup(tmp_path / f"{turn}.db") for turn in range(3)]
        finally:
            stop.set()
            writer.join()
    for backup in made:
        with closing(SqliteStore.open(backup.path)) as copy:
            keys = {memory.origin.key or "" for memory in copy.scan(Filter(), 10**6).items}
        lefts = {key for key in keys if key.startswith("left/")}
        assert {key for key in keys if key.startswith("right/")} == {key.replace("left", "right") for key in lefts}


def test_it_is_restored_to_a_space_that_was_not_there(engine: Engine, postgres: str, tmp_path: Path) -> None:
    there = space_of(tmp_path, "there")
    with engine:
        engine.backup(tmp_path / "copy.db")
        assert memorist.restore(tmp_path / "copy.db", postgres, space=there) == []
        with opened(PostgresStore.open(postgres, space=there)) as restored:
            assert content(restored.store) == content(engine.store)
            assert answers(restored) == answers(engine)
    assert {path.name for path in tmp_path.iterdir() if path.suffix == ".db"} == {"copy.db"}


def test_a_space_with_other_memories_is_left_alone(engine: Engine, postgres: str, tmp_path: Path) -> None:
    with engine:
        engine.backup(tmp_path / "copy.db")
        engine.remember("Written after the backup.")
        before = content(engine.store)
        with pytest.raises(InvalidInput, match="db delete"):
            memorist.restore(tmp_path / "copy.db", postgres, space=engine.space)
        assert content(engine.store) == before


def test_an_interrupted_restore_goes_on_wherever_it_was_cut_off(
    engine: Engine, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine:
        engine.backup(tmp_path / "copy.db")
        whole = content(engine.store)
    monkeypatch.setattr("memorist.upkeep.importing.BATCH", 16)
    cut, done = 0, False
    with closing(SqliteStore.open(tmp_path / "copy.db")) as saved:
        while not done:
            with closing(PostgresStore.open(postgres, space=space_of(tmp_path, f"cut-{cut}"))) as store:
                done = not _cut_off(saved, store, cut)
                fill_from(saved, store)
                assert sorted(content(store)) == sorted(whole)
            cut += 1
    assert cut > 5


def _cut_off(saved: Store, store: Store, after: int) -> bool:
    """Restore until a number of writes; whether there was one more to stop at."""
    whole, left = store.update, [None] * after

    def update(plan: Plan) -> object:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return whole(plan)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "update", update)
        try:
            fill_from(saved, store)
        except KeyboardInterrupt:
            return True
    return False


def test_what_is_no_backup_makes_no_space(postgres: str, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("hello " * 1000)
    for file, error in (("text.db", StoreError), ("nothing.db", NotFound)):
        with pytest.raises(error):
            memorist.restore(tmp_path / file, postgres, space=space_of(tmp_path, "none"))
    memorist.open(postgres, space="other", embedder="none").close()
    with pytest.raises(NotFound):
        open_database(postgres).delete(space_of(tmp_path, "none"))


def test_notes_come_back_where_the_settings_put_them(postgres: str, tmp_path: Path) -> None:
    space, vault = space_of(tmp_path, "notes"), tmp_path / "vault"
    daily = vault / space / "daily"
    daily.mkdir(parents=True)
    (daily / "2024-06-03.md").write_text("first")
    config = {"notes_dir": str(vault), "embedder": "none"}
    with memorist.open(postgres, space=space, config=config, background=False) as engine:
        assert engine.backup(tmp_path / "copy.db").notes == 1
    (daily / "2024-06-03.md").write_text("second")
    (aside,) = memorist.restore(tmp_path / "copy.db", postgres, space=space, config=config)
    assert ((daily / "2024-06-03.md").read_text(), (aside / "2024-06-03.md").read_text()) == ("first", "second")
