"""One database: its statements, its migrations, opening it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg

from memorist.errors import InvalidInput, NewerStore
from memorist.stores.postgres.failures import translated
from memorist.stores.postgres.rows import adapt
from memorist.stores.postgres.schema import FIRST_TABLES
from memorist.stores.rows import Row

Connection = psycopg.Connection[Row]
Value = object
"""Whatever an adapter of the connection can write."""


class Database:
    """A connection as seen from a space, which every statement knows as `%(space)s`."""

    def __init__(self, connection: Connection, space: str) -> None:
        self.connection = connection
        self.space = space

    def execute(self, sql: str, **values: Value) -> list[Row]:
        """Run a statement, and give its rows."""
        cursor = self._run(sql, values)
        return cursor.fetchall() if cursor.description else []

    def change(self, sql: str, **values: Value) -> int:
        """Run a statement, and tell how many rows it changed."""
        return self._run(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Mapping[str, Value]]) -> None:
        """Run a statement once for each row of values, without waiting in between."""
        given = [{**row, "space": self.space} for row in rows]
        if given:
            with self.connection.cursor(binary=True) as cursor:
                cursor.executemany(sql.encode(), given)

    def first(self, sql: str, **values: Value) -> Row | None:
        """The first row, if there is one."""
        return self._run(sql, values).fetchone()

    def value(self, sql: str, **values: Value) -> Any:
        """The only value of the only row."""
        ((value,),) = self.execute(sql, **values)
        return value

    def _run(self, sql: str, values: Mapping[str, Value]) -> psycopg.Cursor[Row]:
        cursor = self.connection.cursor(binary=True)
        return cursor.execute(sql.encode(), {**values, "space": self.space})


LOCK = 0x5EC011EC
"""The number of the advisory lock under which one process at a time migrates."""

OURS = "SELECT 1 FROM pg_tables WHERE schemaname = 'memorist' AND tablename = 'migrations'"
"""Read from the catalogue, and not by `to_regclass`, which may remember that there was nothing before we waited."""


class Migration(NamedTuple):
    """A step: the name it is recorded by, and its statements."""

    name: str
    sql: str


MIGRATIONS = (Migration("m001_first_tables", FIRST_TABLES),)


def recorded(connection: Connection) -> set[str]:
    """The steps a database has been through; none where there is nothing of ours."""
    if connection.execute(OURS).fetchone() is None:
        return set()
    return {name for (name,) in connection.execute("SELECT name FROM memorist.migrations")}


def pending(connection: Connection) -> list[Migration]:
    """The steps a database still lacks; refuses one of a newer version."""
    done = recorded(connection)
    newer = sorted(done - {migration.name for migration in MIGRATIONS})
    if newer:
        raise NewerStore(
            f"the database was written by a newer version of Memorist (it has {', '.join(newer)})",
            remedy="Upgrade Memorist to open it; the database was left as it is.",
        )
    return [migration for migration in MIGRATIONS if migration.name not in done]


def migrate(connection: Connection) -> list[str]:
    """Bring a database up to date, one process at a time; returns the steps that were taken."""
    if not pending(connection):
        return []
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        lacking = pending(connection)  # another process may have been faster
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("CREATE SCHEMA IF NOT EXISTS memorist")
        connection.execute('CREATE TABLE IF NOT EXISTS memorist.migrations (name TEXT COLLATE "C" PRIMARY KEY)')
        for migration in lacking:
            connection.execute(migration.sql.encode())
            connection.execute("INSERT INTO memorist.migrations VALUES (%s)", (migration.name,))
    return [migration.name for migration in lacking]


LONGEST_NAME = 200


@contextmanager
def connected(conninfo: str) -> Generator[Connection]:
    """One connection outside any pool: a failure to connect is told at once."""
    with translated(), psycopg.connect(conninfo, autocommit=True) as connection:
        yield connection


def prepare(conninfo: str, space: str) -> None:
    """Bring the database up to date and make sure that it knows the space."""
    if not space or "\0" in space or len(space.encode("utf-8", "replace")) > LONGEST_NAME:
        raise InvalidInput(f"{space[:40]!r} cannot name a space", remedy="Use between 1 and 200 bytes, without NUL.")
    with connected(conninfo) as connection:
        migrate(connection)
        adapt(connection)
        known = connection.execute("SELECT 1 FROM memorist.spaces WHERE space = %s", (space,)).fetchone()
        if known is None:  # two processes may find that at once
            connection.execute("INSERT INTO memorist.spaces VALUES (%s, 0, 0, 0) ON CONFLICT DO NOTHING", (space,))
