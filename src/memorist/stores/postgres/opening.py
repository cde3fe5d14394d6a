"""Opening a space of a database: bringing the tables up to date, and giving the space its row."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from memorist.errors import InvalidInput
from memorist.stores.postgres.adapting import adapt
from memorist.stores.postgres.database import Connection
from memorist.stores.postgres.failures import translated
from memorist.stores.postgres.migrations import migrate

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
