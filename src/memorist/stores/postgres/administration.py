"""What whoever runs a database does with it: look at it, bring it up to date, spread it over machines."""

from __future__ import annotations

from dataclasses import dataclass

from memorist.errors import StoreError
from memorist.stores.postgres.database import Connection, connected, migrate, pending, recorded
from memorist.stores.postgres.pool import checked
from memorist.stores.postgres.schema import DISTRIBUTED

SERVER = "SELECT current_setting('server_version'), current_database()"
EXTENSIONS = "SELECT extname, extversion FROM pg_extension WHERE extname IN ('vector', 'citus')"
SPREAD = "SELECT table_name::text FROM citus_tables WHERE citus_table_type = 'distributed'"


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """A database as it stands; a version of None is not installed."""

    server: str
    database: str
    pgvector: str | None
    citus: str | None
    migrated: tuple[str, ...]
    pending: tuple[str, ...]
    spaces: int | None
    distributed: tuple[str, ...] = ()


class Administration:
    """A database to be looked after; each call has a connection of its own."""

    def __init__(self, url: str) -> None:
        self._conninfo = checked(url)

    def status(self) -> DatabaseStatus:
        """What is installed, and how far the tables are; changes nothing."""
        with connected(self._conninfo) as connection:
            return _status(connection)

    def migrate(self) -> list[str]:
        """Bring the tables up to date; returns the steps that were taken."""
        with connected(self._conninfo) as connection:
            return migrate(connection)

    def distribute(self) -> list[str]:
        """Spread the tables over the nodes of a Citus cluster by their space; returns those that were not yet."""
        with connected(self._conninfo) as connection:
            migrate(connection)
            _install_citus(connection)
            return spread(connection)


def _status(connection: Connection) -> DatabaseStatus:
    row = connection.execute(SERVER).fetchone()
    assert row is not None
    server, database = row
    versions: dict[str, str] = dict(connection.execute(EXTENSIONS).fetchall())
    done = recorded(connection)
    return DatabaseStatus(
        server=server,
        database=database,
        pgvector=versions.get("vector"),
        citus=versions.get("citus"),
        migrated=tuple(sorted(done)),
        pending=tuple(migration.name for migration in pending(connection)),
        spaces=_spaces(connection) if done else None,
        distributed=tuple(_spread_already(connection)) if "citus" in versions else (),
    )


def _spaces(connection: Connection) -> int:
    row = connection.execute("SELECT count(*) FROM memorist.spaces").fetchone()
    return row[0] if row else 0


def _install_citus(connection: Connection) -> None:
    if connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'citus'").fetchone() is None:
        raise StoreError(
            "the server has no Citus extension to spread the tables with",
            remedy="Install Citus on every node, add it to shared_preload_libraries, restart, and run this again.",
        )
    connection.execute("CREATE EXTENSION IF NOT EXISTS citus")


def spread(connection: Connection) -> list[str]:
    """Make every table a distributed one, colocated with the spaces; all of them or none."""
    already = set(_spread_already(connection))
    lacking = [table for table in DISTRIBUTED if f"memorist.{table}" not in already]
    with connection.transaction():
        for table in lacking:
            beside = "default" if table == DISTRIBUTED[0] else f"memorist.{DISTRIBUTED[0]}"
            connection.execute(
                "SELECT create_distributed_table(%s::regclass, 'space', colocate_with => %s)",
                (f"memorist.{table}", beside),
            )
    return lacking


def _spread_already(connection: Connection) -> list[str]:
    return sorted(name for (name,) in connection.execute(SPREAD))
