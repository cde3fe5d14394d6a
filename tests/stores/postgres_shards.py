"""Three servers as one: every table hash-partitioned by its space over foreign tables.

A statement that names its space goes to the one server that has it. No unique index spans such a table, foreign tables
know no ON CONFLICT with a target, and what two servers write commits without two phases: a store that passes its tests
here writes no statement that crosses spaces, and needs none of those.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from memorist_server.postgres.database import migrate
from memorist_server.postgres.schema import DISTRIBUTED
from tests.stores.postgres_server import running


@contextmanager
def sharded(count: int = 3) -> Iterator[tuple[str, list[str]]]:
    """The URL of a database whose tables lie on other servers, and the URLs of those."""
    with ExitStack() as stack:
        coordinator, *shards = [stack.enter_context(running(distributed=False)) for _ in range(count + 1)]
        for url in (coordinator, *shards):
            with psycopg.connect(url, autocommit=True) as connection:
                migrate(connection)
        with psycopg.connect(coordinator, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION postgres_fdw")
            for number, url in enumerate(shards):
                _add_server(connection, number, url)
            for table in DISTRIBUTED:
                _spread(connection, table, count)
        yield coordinator, shards


def _add_server(connection: psycopg.Connection, number: int, url: str) -> None:
    place = conninfo_to_dict(url)
    _run(
        connection,
        "CREATE SERVER {server} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host {host}, port {port}, dbname {db})",
        server=sql.Identifier(f"shard_{number}"),
        host=sql.Literal(str(place["host"])),
        port=sql.Literal(str(place.get("port", 5432))),
        db=sql.Literal(str(place["dbname"])),
    )
    _run(
        connection,
        "CREATE USER MAPPING FOR CURRENT_USER SERVER {server} OPTIONS (user {user})",
        server=sql.Identifier(f"shard_{number}"),
        user=sql.Literal(str(place["user"])),
    )


def _spread(connection: psycopg.Connection, table: str, count: int) -> None:
    names = {"table": sql.Identifier("memorist", table), "plain": sql.Identifier(f"{table}_plain")}
    _run(connection, "ALTER TABLE {table} RENAME TO {plain}", **names)
    names["plain"] = sql.Identifier("memorist", f"{table}_plain")
    _run(connection, "CREATE TABLE {table} (LIKE {plain}) PARTITION BY HASH (space)", **names)
    _run(connection, "DROP TABLE {plain}", **names)
    for number in range(count):
        _run(
            connection,
            "CREATE FOREIGN TABLE {part} PARTITION OF {table} FOR VALUES WITH (MODULUS {count}, REMAINDER {number}) "
            "SERVER {server} OPTIONS (schema_name 'memorist', table_name {remote})",
            part=sql.Identifier("memorist", f"{table}_{number}"),
            server=sql.Identifier(f"shard_{number}"),
            remote=sql.Literal(table),
            count=sql.Literal(count),
            number=sql.Literal(number),
            **names,
        )


def _run(connection: psycopg.Connection, statement: LiteralString, **parts: sql.Composable) -> None:
    connection.execute(sql.SQL(statement).format(**parts))
