"""One database: running statements, adapting values, migrating it, and opening a space."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg.halfvec import register_halfvec_info
from psycopg import errors
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from memorist.errors import InvalidInput, NotFound, Remedy, StoreError, VerbCall
from memorist.model import LONGEST_SPACE
from memorist.stores.rows import Row, text_fingerprint
from memorist.stores.sql.database import NO_VALUES, Migration, Values, missing_migrations
from memorist_server.postgres.failures import translate_failures
from memorist_server.postgres.schema import (
    ACCESS,
    DISTRIBUTED,
    FIRST_TABLES,
    INDEX_FILES,
    INDEX_PAGES,
    INDEX_TABLES,
    SAYING,
)

Connection = psycopg.Connection[Row]
FETCHED = 2_000
"""Rows of a long answer that are held at a time."""


class PostgresDatabase:
    """A connection and its space, which every statement knows as `%(space)s`."""

    def __init__(self, connection: Connection, space: str) -> None:
        self.connection = connection
        self.space = space

    def execute(self, sql: str, values: Values = NO_VALUES) -> list[Row]:
        cursor = self._run(sql, values)
        return cursor.fetchall() if cursor.description else []

    def each(self, sql: str, values: Values = NO_VALUES) -> Iterator[Row]:
        self.connection.execute("SET LOCAL cursor_tuple_fraction = 1")  # all rows are read, not only the first
        with self.connection.cursor(name="memorist", binary=True) as cursor:
            cursor.itersize = FETCHED
            yield from cursor.execute(sql.encode(), {**values, "space": self.space})

    def change(self, sql: str, values: Values = NO_VALUES) -> int:
        return self._run(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        """Run a statement once per row of values, without waiting in between."""
        given = [{**row, "space": self.space} for row in rows]
        if given:
            with self.connection.cursor(binary=True) as cursor:
                cursor.executemany(sql.encode(), given)

    def copy(self, sql: str, types: Sequence[str], rows: Iterable[Values]) -> None:
        """Copy rows into a table by a binary `COPY`, whose first column is the space: much cheaper than inserting."""
        with self.connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row((self.space, *row.values()))

    def first(self, sql: str, values: Values = NO_VALUES) -> Row | None:
        return self._run(sql, values).fetchone()

    def value(self, sql: str, values: Values = NO_VALUES) -> Any:
        ((value,),) = self.execute(sql, values)
        return value

    def _run(self, sql: str, values: Values) -> psycopg.Cursor[Row]:
        cursor = self.connection.cursor(binary=True)
        return cursor.execute(sql.encode(), {**values, "space": self.space})


TEXT = 25
"""The object id of the type `text`."""


def escape_nul(text: str) -> str:
    """Escape NUL characters, which a PostgreSQL text cannot hold; texts sort as before."""
    return text.replace("\1", "\1\2").replace("\0", "\1\1") if "\0" in text or "\1" in text else text


def unescape_nul(text: str) -> str:
    """The inverse of `escape_nul`."""
    return text.replace("\1\1", "\0").replace("\1\2", "\1") if "\1" in text else text


class _TextDumper(Dumper):
    oid = TEXT

    def dump(self, obj: str) -> Buffer:
        return escape_nul(obj).encode()


class _TextDumperBinary(_TextDumper):
    format = Format.BINARY


class _TextLoader(Loader):
    def load(self, data: Buffer) -> str:
        return unescape_nul(str(data, "utf-8"))


class _TextLoaderBinary(_TextLoader):
    format = Format.BINARY


class _HalfvecLoader(Loader):
    """Reads the binary format: dimension and padding, two bytes each, then the numbers, all big-endian."""

    format = Format.BINARY

    def load(self, data: Buffer) -> NDArray[np.float16]:
        return np.frombuffer(bytes(data), ">f2", offset=4).astype(np.float16)


def adapt(connection: Connection) -> None:
    """Register our adapters on a connection; those for vectors only if the server has pgvector."""
    adapters = connection.adapters
    for dumper in (_TextDumperBinary, _TextDumper):
        adapters.register_dumper(str, dumper)
    for loader in (_TextLoader, _TextLoaderBinary):
        adapters.register_loader(TEXT, loader)
    halfvec = TypeInfo.fetch(connection, "halfvec")
    if halfvec is not None:
        register_halfvec_info(connection, halfvec)
        adapters.register_loader(halfvec.oid, _HalfvecLoader)


LOCK = 0x5EC011EC
"""The key of the advisory lock that lets one process migrate at a time."""

OURS = "SELECT 1 FROM pg_tables WHERE schemaname = 'memorist' AND tablename = 'migrations'"
"""Reads the catalogue, because `to_regclass` may cache that there was no table before we waited for the lock."""


def _fill_saying(connection: Connection) -> None:
    adapt(connection)
    last: tuple[str, int] = ("", 0)
    page = "SELECT space, row, text FROM memorist.memories WHERE (space, row) > (%s, %s) ORDER BY space, row LIMIT 500"
    while rows := connection.execute(page, last).fetchall():
        with connection.cursor() as cursor:
            cursor.executemany(
                "UPDATE memorist.memories SET said = %s WHERE space = %s AND row = %s",
                [(text_fingerprint(text), space, row) for space, row, text in rows],
            )
        last = rows[-1][0], rows[-1][1]


def _colocate(connection: Connection) -> None:
    """Distribute new tables like the others, if a cluster already has those."""
    if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone() is None:
        return
    spaces = f"memorist.{DISTRIBUTED[0]}"
    if connection.execute("SELECT 1 FROM pg_dist_partition WHERE logicalrelid = %s::regclass", (spaces,)).fetchone():
        for table in INDEX_TABLES:
            connection.execute(
                "SELECT create_distributed_table(%s::regclass, 'space', colocate_with => %s)",
                (f"memorist.{table}", spaces),
            )


NEW_SPACE = """
    INSERT INTO memorist.spaces (space, seq, epoch, last, indexes) VALUES (%s, 0, %s, 0, '') ON CONFLICT DO NOTHING
"""
MIGRATIONS = (
    Migration("m001_first_tables", FIRST_TABLES),
    Migration("m002_saying", SAYING, _fill_saying),
    Migration("m003_index_files", INDEX_FILES),
    Migration("m004_access", ACCESS),
    Migration("m005_index_pages", INDEX_PAGES, _colocate),
)


def recorded_migrations(connection: Connection) -> set[str]:
    """The migrations that were applied; none if there are no tables of ours."""
    if connection.execute(OURS).fetchone() is None:
        return set()
    return {name for (name,) in connection.execute("SELECT name FROM memorist.migrations")}


def pending_migrations(connection: Connection) -> list[Migration]:
    """The migrations that a database lacks; refuses one of a newer version."""
    return missing_migrations(recorded_migrations(connection), MIGRATIONS, "the database")


def migrate(connection: Connection) -> list[str]:
    """Apply the missing migrations, one process at a time; returns their names."""
    if not pending_migrations(connection):
        return []
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        missing = pending_migrations(connection)  # another process may have been faster
        _install_vector(connection)
        connection.execute("CREATE SCHEMA IF NOT EXISTS memorist")
        connection.execute('CREATE TABLE IF NOT EXISTS memorist.migrations (name TEXT COLLATE "C" PRIMARY KEY)')
        for migration in missing:
            for statement in statements(migration.sql):
                connection.execute(statement.encode())
            if migration.fill is not None:
                migration.fill(connection)
            connection.execute("INSERT INTO memorist.migrations VALUES (%s)", (migration.name,))
    return [migration.name for migration in missing]


def statements(script: str) -> list[str]:
    """The statements of a migration, one by one, because a cluster sends its nodes the whole text that it was sent.

    No quoted text in a migration may hold a semicolon or two dashes.
    """
    code = "\n".join(line.partition("--")[0] for line in script.splitlines())
    return [statement.strip() for statement in code.split(";") if statement.strip()]


def _install_vector(connection: Connection) -> None:
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        raise StoreError(
            "the server has no pgvector, which keeps the vectors",
            remedy="Install pgvector 0.7 or later on the server; on a cluster, on every node.",
        ) from error


@contextmanager
def connect_once(conninfo: str) -> Generator[Connection]:
    """One connection outside any pool, so that a failure to connect is reported at once."""
    with translate_failures(), psycopg.connect(conninfo, autocommit=True) as connection:
        yield connection


def prepare(conninfo: str, space: str, *, create: bool = True) -> None:
    """Migrate the database if needed, and register the space; without `create`, it must be there."""
    if not space or "\0" in space or len(space.encode("utf-8", "replace")) > LONGEST_SPACE:
        remedy = f"Use between 1 and {LONGEST_SPACE} bytes, without NUL."
        raise InvalidInput(f"{space[:40]!r} is not a valid space name", remedy=remedy)
    with connect_once(conninfo) as connection:
        migrate(connection)
        adapt(connection)
        known = connection.execute("SELECT 1 FROM memorist.spaces WHERE space = %s", (space,)).fetchone()
        if known is None and not create:
            raise NotFound(
                f"There is no space {space!r} in this database",
                remedy=Remedy("Check its name; ", VerbCall("remember"), " begins a new one."),
            )
        if known is None:  # two processes may get here at once
            # The epoch is new for each creation: who had a deleted space of this name open must load it again.
            connection.execute(NEW_SPACE, (space, time.time_ns() // 1000))
