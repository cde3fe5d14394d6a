"""The shape of a database: numbered steps, each recorded in it by its name.

A step that has been released never changes; a new shape is a new step at the end.
"""

from __future__ import annotations

from typing import NamedTuple

from memorist.errors import NewerStore
from memorist.stores.postgres.database import Connection
from memorist.stores.postgres.schema import FIRST_TABLES

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
