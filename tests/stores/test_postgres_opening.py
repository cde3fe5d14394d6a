"""Opening a database: URLs, migrations, refusals that name a remedy and never a password."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import numpy as np
import psycopg
import pytest
from psycopg import errors
from psycopg.conninfo import make_conninfo

import memorist
from memorist.engine.open import open_database
from memorist.errors import InvalidInput, NewerStore, StoreError
from memorist.model import Origin
from memorist.ports import Batch
from memorist.testing import memory
from memorist_server.postgres import PostgresStore
from memorist_server.postgres.administration import distribute
from memorist_server.postgres.database import MIGRATIONS, statements
from memorist_server.postgres.failures import translate_failures
from memorist_server.postgres.schema import DISTRIBUTED
from tests.stores.postgres_server import needs_a_server_without_citus, new_database

STAND_IN_FOR_CITUS = """
    CREATE TABLE calls (number SERIAL, made TEXT);
    CREATE FUNCTION create_distributed_table(called regclass, by TEXT, colocate_with TEXT) RETURNS VOID LANGUAGE SQL AS
        $$ INSERT INTO calls (made) SELECT 'memorist.' || relname || ' ' || by || ' ' || colocate_with
           FROM pg_class WHERE oid = called $$;
    CREATE FUNCTION truncate_local_data_after_distributing_table(emptied regclass) RETURNS VOID LANGUAGE SQL AS '';
    CREATE VIEW citus_tables AS
        SELECT split_part(made, ' ', 1)::regclass AS table_name, 'distributed' AS citus_table_type FROM calls;
"""


@pytest.fixture
def empty(postgres: str) -> Iterator[str]:
    """The URL of an empty database on the server."""
    with new_database(postgres) as url:
        yield url


def test_a_url_opens_a_space_of_a_database(postgres: str) -> None:
    space = f"opened-{uuid4().hex[:8]}"
    with memorist.open(postgres, space=space, embedder="none") as engine:
        engine.remember("Alice lives in Oslo.")
        assert (engine.space, engine.recall("Where does Alice live?").items[0].memory.text) == (
            space,
            "Alice lives in Oslo.",
        )
    with memorist.open(postgres, embedder="none") as engine:
        assert engine.space == "default"


def test_a_space_has_a_name_of_some_length(postgres: str) -> None:
    for space in ("", "a/b", "x" * 101):
        with pytest.raises(InvalidInput, match="is not a valid space name"):
            memorist.open(postgres, space=space, embedder="none")
    for space in ("", "a\0b", "ø" * 101):
        with pytest.raises(InvalidInput, match="is not a valid space name"):
            PostgresStore.open(postgres, space=space)


def test_many_that_open_an_empty_database_at_once_make_its_tables_once(empty: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(lambda number: PostgresStore.open(empty, space=f"s{number % 3}"), range(8)))
    for store in stores:
        store.put(Batch([memory("a lamp", id="lamp")]))
        store.close()
    status = open_database(empty).status()
    assert (status.migrated, status.pending, status.spaces) == (
        tuple(migration.name for migration in MIGRATIONS),
        (),
        3,
    )


def test_looking_at_an_empty_database_changes_nothing(empty: str) -> None:
    looked = open_database(empty)
    before = looked.status()
    assert (before.migrated, before.spaces, before.pgvector) == ((), None, None)
    assert looked.status() == before
    assert looked.migrate() == [migration.name for migration in MIGRATIONS]
    assert looked.migrate() == []
    assert replace(looked.status(), pgvector=None) == replace(
        before, migrated=tuple(migration.name for migration in MIGRATIONS), pending=(), spaces=0
    )


def test_a_newer_database_is_left_alone(empty: str) -> None:
    PostgresStore.open(empty, space="a").close()
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute("INSERT INTO memorist.migrations VALUES ('m999_from_the_future')")
    with pytest.raises(NewerStore, match="m999_from_the_future"):
        PostgresStore.open(empty, space="a")


def test_every_table_begins_with_its_space_and_so_does_every_index(postgres: str) -> None:
    """Except the small ones of all spaces, which stay on one node."""
    PostgresStore.open(postgres, space="shape").close()
    common = (["migrations", "keys", "answers"],)
    with psycopg.connect(postgres) as connection:
        tables = connection.execute(
            "SELECT table_name, column_name, collation_name FROM information_schema.columns "
            "WHERE table_schema = 'memorist' AND table_name <> ALL(%s) AND ordinal_position = 1",
            common,
        ).fetchall()
        indexes = connection.execute(
            "SELECT indexdef FROM pg_indexes WHERE schemaname = 'memorist' AND tablename <> ALL(%s)", common
        ).fetchall()
        sequences = connection.execute("SELECT count(*) FROM pg_sequences WHERE schemaname = 'memorist'").fetchone()
    assert sorted(tables) == sorted((table, "space", "C") for table in DISTRIBUTED)
    assert all("(space" in definition for (definition,) in indexes)
    assert sequences == (0,)


@pytest.mark.parametrize("path", ["public", "memorist, public"], ids=["any user", "a user named memorist"])
def test_a_database_is_spread_by_its_spaces_all_tables_together(empty: str, path: str) -> None:
    PostgresStore.open(empty, space="a").close()
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute(f"SET search_path = {path}".encode())
        connection.execute(STAND_IN_FOR_CITUS.encode())
        assert distribute(connection) == list(DISTRIBUTED)
        calls = [made for (made,) in connection.execute("SELECT made FROM calls ORDER BY number")]
        assert distribute(connection) == []
    first, *others = calls
    assert first == "memorist.spaces space default"
    assert others == [f"memorist.{table} space memorist.spaces" for table in DISTRIBUTED[1:]]


def test_without_citus_distributing_says_what_is_missing(postgres: str) -> None:
    needs_a_server_without_citus(postgres)
    with pytest.raises(StoreError, match="Install Citus"):
        open_database(postgres).distribute()


def test_a_migration_is_sent_statement_by_statement() -> None:
    assert statements("CREATE TABLE a (x INT); -- the first; there are two\nALTER TABLE a\n  ADD y INT;\n") == [
        "CREATE TABLE a (x INT)",
        "ALTER TABLE a\n  ADD y INT",
    ]
    assert [len(statements(migration.sql)) for migration in MIGRATIONS[1:3]] == [2, 1]


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (errors.FeatureNotSupported("complex joins are not supported"), "memorist db distribute"),
        (errors.ConnectionFailure("connection to the remote node ann@worker:5432 failed"), "promote its standby"),
        (errors.AdminShutdown("terminating connection"), "promote its standby"),
    ],
    ids=["a refused statement", "a lost node", "a stopped node"],
)
def test_what_a_cluster_says_has_its_own_remedy(error: psycopg.Error, remedy: str) -> None:
    with pytest.raises(StoreError, match=remedy) as refused, translate_failures():
        raise error
    assert "pgvector" not in str(refused.value)
    assert str(error) in str(refused.value)


@pytest.mark.parametrize(
    "parts",
    [{"dbname": "nowhere"}, {"host": "127.0.0.1", "port": "1"}, {"user": "nobody"}],
    ids=["database", "port", "user"],
)
def test_a_failure_to_connect_names_a_remedy_and_no_password(postgres: str, parts: dict[str, str]) -> None:
    url = make_conninfo(postgres, **parts, password="hunter2")
    with pytest.raises(StoreError, match="Check that the server runs") as refused:
        PostgresStore.open(url, space="a")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("url", ["postgresql://ann:hunter2@[half", "postgresql://ann:hunter2@h/x?colour=red"])
def test_a_url_that_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(InvalidInput, match="URL of the database is invalid") as refused:
        memorist.open(url, embedder="none")
    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_what_a_server_cannot_keep_is_refused_and_nothing_of_it_kept(postgres: str) -> None:
    store = PostgresStore.open(postgres, space="refusals")
    store.adopt("axes", 2)
    good = memory("a lamp", id="lamp")
    worthless = np.array([np.nan, 1], dtype=np.float32)
    for batch in (
        Batch([good, memory("\ud800", id="surrogate")]),
        Batch([good, memory("a book", id="long" + "".join(map(chr, range(0x4E00, 0x9000))))]),
        Batch([good, memory("a book", id="big", origin=Origin(position=2**63))]),
        Batch([good], {"lamp": {"text": worthless}}),
    ):
        with pytest.raises(InvalidInput, match="Remove|Keep"):
            store.put(batch)
    assert store.stats().memories == 0
    store.close()
