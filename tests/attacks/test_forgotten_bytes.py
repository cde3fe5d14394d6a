"""What is forgotten leaves the files, or the receipt says that it has not yet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from memorist.engine.engine import Engine
from memorist.engine.open import open_database
from memorist.stores import index_sync
from memorist.stores.memory import MemoryStore
from memorist.testing.fakes import FakeClock, FakeEmbedder
from memorist_server.postgres import PostgresStore, rewriting
from memorist_server.postgres import store as postgres_store
from tests.stores.postgres_server import nodes_of, run, space_of

COUNT = 100
LONG = 3000
"""Letters of every tenth text: it is kept out of line, in the table's TOAST."""


def mark(number: int) -> str:
    return f"zq{number:06d}qzheron"


def told(number: int) -> str:
    rare = os.urandom(LONG).hex() if number % 10 == 0 else ""
    return f"The {mark(number)} nests behind mill {number}. {rare}"


def files_of(url: str) -> list[Path]:
    """The folders with a database's files, on every server that holds some; skips the test if they lie elsewhere."""
    found = list[Path]()
    for node in nodes_of(url):
        with psycopg.connect(node) as connection:
            place = "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
            ((data, oid),) = connection.execute(place).fetchall()
        if not os.access(data, os.R_OK | os.X_OK):
            pytest.skip("the files of the given server are not on this machine")
        found += [Path(data) / "base" / str(oid), Path(data) / "global", Path(data) / "pg_stat"]
    return found


def left(folders: Iterable[Path]) -> list[int]:
    """The numbers of the texts that are found in the files of some folders."""
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    content = b"\n".join(path.read_bytes() for path in paths)
    return [number for number in range(COUNT) if mark(number).encode() in content]


@pytest.fixture
def engine(postgres: str, tmp_path: Path) -> Iterator[Engine]:
    store = PostgresStore.open(postgres, space=space_of(tmp_path, "bytes"))
    with Engine(store, embedder=FakeEmbedder(), clock=FakeClock(), background=False) as engine:
        engine.remember_many({"text": told(number), "scope": "gone"} for number in range(COUNT))
        engine.remember("The lamp stays.")
        yield engine


def flush(url: str, *statements: str) -> None:
    for statement in statements:
        run(url, statement)
    for node in nodes_of(url):
        run(node, "CHECKPOINT")


def forget_all(engine: Engine, url: str) -> None:
    """Forget every text after the planner has sampled them; the receipt says that bytes are left, and it is true."""
    flush(url, "ANALYZE memorist.memories")
    receipt = engine.forget(scope="gone")
    flush(url)
    assert (len(receipt.forgotten) >= COUNT, receipt.pending) == (True, True)
    assert len(left(files_of(url))) > COUNT / 2
    assert [job.task for job in engine.jobs()] == ["scrub"]


@pytest.mark.slow
def test_a_server_keeps_forgotten_texts_until_a_job_rewrites_its_tables(engine: Engine, postgres: str) -> None:
    forget_all(engine, postgres)
    engine._clock.advance(timedelta(minutes=2))  # pyright: ignore
    assert (engine.work(), engine.jobs()) == (1, [])
    assert left(files_of(postgres)) == []
    assert [memory.text for memory in engine.list().items] == ["The lamp stays."]
    assert engine.recall("Where is the lamp?").items


@pytest.mark.slow
def test_a_large_database_is_rewritten_only_when_somebody_says_so(
    engine: Engine, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "LARGEST", 0)
    forget_all(engine, postgres)
    engine._clock.advance(timedelta(minutes=2))  # pyright: ignore
    assert engine.work() == 1
    (job,) = engine.jobs()
    assert "memorist db rewrite" in (job.error or "")
    open_database(postgres).rewrite()
    assert (left(files_of(postgres)), engine.jobs()) == ([], [])


@pytest.mark.slow
def test_while_a_transaction_still_sees_them_the_receipt_stays_pending(
    engine: Engine, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "SCRUB_PATIENCE", 0.1)
    with psycopg.connect(postgres) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM memorist.memories")
        forget_all(engine, postgres)
        assert not engine.store.scrub(rewrite=True)
    assert engine.store.scrub(rewrite=True)
    assert (left(files_of(postgres)), engine.jobs()) == ([], [])


@pytest.mark.slow
def test_an_index_in_the_server_goes_with_what_is_forgotten(
    engine: Engine, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_sync, "FEWEST_ROWS", 0)
    monkeypatch.setattr(postgres_store, "FEWEST", 1)
    publisher = PostgresStore.open(postgres, space=engine.store.space)
    publisher.view()
    publisher.close()
    pages = "SELECT count(*) FROM memorist.index_pages WHERE position(%s IN data) > 0"
    with psycopg.connect(postgres, autocommit=True) as connection:
        assert connection.execute(pages, (mark(3).encode(),)).fetchone() != (0,)
        forget_all(engine, postgres)
        assert connection.execute(pages, (mark(3).encode(),)).fetchone() == (0,)
    assert engine.store.scrub(rewrite=True)
    assert left(files_of(postgres)) == []


def test_the_index_files_of_every_machine_go_with_what_is_forgotten(
    engine: Engine, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_sync, "FEWEST_ROWS", 0)
    here, there = Path(os.environ["XDG_CACHE_HOME"]), tmp_path / "there"
    monkeypatch.setenv("XDG_CACHE_HOME", str(there))
    other = PostgresStore.open(postgres, space=engine.store.space)
    for store in (engine.store, other):
        store.view()
        store._cache._finish_work()  # pyright: ignore
    assert len(left([here])) == len(left([there])) == COUNT
    engine.forget(scope="gone")
    assert left([here]) == []
    assert other.view().size == 1
    assert left([there]) == []
    other.close()


def test_every_table_is_rewritten(postgres: str, tmp_path: Path) -> None:
    PostgresStore.open(postgres, space=space_of(tmp_path, "tables")).close()
    with psycopg.connect(postgres) as connection:
        found = {
            name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'memorist'")
        }
    assert found - {"migrations", "keys"} == {*rewriting.DISTRIBUTED, rewriting.ANSWERS}


def test_what_somebody_said_leaves_the_noise_bank_without_the_name_before_it() -> None:
    with Engine(MemoryStore(), background=False) as engine:
        kept = engine.remember("Ann: the heron nests", speaker="Ann")
        engine.store.learn_noise(["the heron nests", "okay"], keep=10)
        engine.forget(kept.id)
        assert engine.store.noise() == ["okay"]
