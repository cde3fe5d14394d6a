"""Administration of a database: its status, its migrations, and its distribution over a cluster."""

from __future__ import annotations

from dataclasses import dataclass

from memorist.errors import NotFound, StoreBusy, StoreError
from memorist.stores.index_file import usage_files
from memorist.stores.index_server import remove_sparse
from memorist_server.postgres.database import (
    Connection,
    adapt,
    connect_once,
    migrate,
    pending_migrations,
    recorded_migrations,
)
from memorist_server.postgres.pool import check_conninfo
from memorist_server.postgres.rewriting import rewrite
from memorist_server.postgres.schema import ANSWERS, DISTRIBUTED
from memorist_server.postgres.store import index_file_of

REWRITE_PATIENCE = 30.0
"""Seconds that a rewrite waits for others."""
SERVER = "SELECT current_setting('server_version'), current_database()"
EXTENSIONS = "SELECT extname, extversion FROM pg_extension WHERE extname IN ('vector', 'citus')"
TRUNCATE_LOCAL = "SELECT truncate_local_data_after_distributing_table(%s::regclass)"
DISTRIBUTED_TABLES = """
    SELECT n.nspname || '.' || c.relname FROM citus_tables AS t
    JOIN pg_class AS c ON c.oid = t.table_name JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE t.citus_table_type = 'distributed'
"""
"""With their schema: the plain name of a table lacks it if the search path has it, as that of a user named memorist."""


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """The state of a database; a version of None means not installed."""

    server: str
    database: str
    pgvector: str | None
    citus: str | None
    migrated: tuple[str, ...]
    pending: tuple[str, ...]
    spaces: int | None
    distributed: tuple[str, ...] = ()


class Administration:
    """Administers a database; each call opens its own connection."""

    def __init__(self, url: str) -> None:
        self._conninfo = check_conninfo(url)

    def status(self) -> DatabaseStatus:
        """What is installed, and which migrations were applied; changes nothing."""
        with connect_once(self._conninfo) as connection:
            return _status(connection)

    def migrate(self) -> list[str]:
        """Apply the missing migrations; returns their names."""
        with connect_once(self._conninfo) as connection:
            return migrate(connection)

    def rewrite(self) -> None:
        """Rewrite the tables, so that the server's files hold nothing that was erased; others wait meanwhile."""
        with connect_once(self._conninfo) as connection:
            migrate(connection)
            if not rewrite(connection, wait=REWRITE_PATIENCE):
                raise StoreBusy(
                    "Others hold a table or still read what was erased",
                    remedy="End long transactions, prepared ones and unused replication slots; then try again.",
                )

    def delete(self, space: str) -> int:
        """Delete a space with everything in it; returns the number of its memories. Who has it open must open it again.

        The answers about it are erased in a statement of its own: a cluster keeps them on another node.
        """
        with connect_once(self._conninfo) as connection:
            migrate(connection)
            adapt(connection)
            gone = _delete(connection, space)
            connection.execute(f"DELETE FROM memorist.{ANSWERS} WHERE space = %s".encode(), (space,))  # noqa: S608
        file = index_file_of(self._conninfo, space)
        for path in (file, *usage_files(file)):
            path.unlink(missing_ok=True)
        remove_sparse(file)
        return gone

    def distribute(self) -> list[str]:
        """Distribute the tables over the nodes of a Citus cluster by space; returns the newly distributed ones."""
        with connect_once(self._conninfo) as connection:
            migrate(connection)
            _install_citus(connection)
            return distribute(connection)


def _delete(connection: Connection, space: str) -> int:
    """Delete all rows of a space while nobody writes it; returns the number of its memories in all versions."""
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{REWRITE_PATIENCE}s'".encode())
        found = connection.execute("SELECT 1 FROM memorist.spaces WHERE space = %s FOR UPDATE", (space,)).fetchone()
        if found is None:
            raise NotFound(f"There is no space {space!r}", remedy="Check its name.")
        gone = {
            table: connection.execute(f"DELETE FROM memorist.{table} WHERE space = %s".encode(), (space,)).rowcount  # noqa: S608
            for table in reversed(DISTRIBUTED)
        }
    return gone["memories"]


def _status(connection: Connection) -> DatabaseStatus:
    row = connection.execute(SERVER).fetchone()
    assert row is not None
    server, database = row
    versions: dict[str, str] = dict(connection.execute(EXTENSIONS).fetchall())
    done = recorded_migrations(connection)
    return DatabaseStatus(
        server=server,
        database=database,
        pgvector=versions.get("vector"),
        citus=versions.get("citus"),
        migrated=tuple(sorted(done)),
        pending=tuple(migration.name for migration in pending_migrations(connection)),
        spaces=_spaces(connection) if done else None,
        distributed=tuple(_distributed(connection)) if "citus" in versions else (),
    )


def _spaces(connection: Connection) -> int:
    row = connection.execute("SELECT count(*) FROM memorist.spaces").fetchone()
    return row[0] if row else 0


def _install_citus(connection: Connection) -> None:
    if connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'citus'").fetchone() is None:
        raise StoreError(
            "the server has no Citus extension, which distributes the tables",
            remedy="Install Citus on every node, add it to shared_preload_libraries, restart, and run this again.",
        )
    connection.execute("CREATE EXTENSION IF NOT EXISTS citus")


def distribute(connection: Connection) -> list[str]:
    """Distribute every table, colocated with the spaces; all of them or none."""
    already = set(_distributed(connection))
    missing = [table for table in DISTRIBUTED if f"memorist.{table}" not in already]
    with connection.transaction():
        for table in missing:
            colocated = "default" if table == DISTRIBUTED[0] else f"memorist.{DISTRIBUTED[0]}"
            connection.execute(
                "SELECT create_distributed_table(%s::regclass, 'space', colocate_with => %s)",
                (f"memorist.{table}", colocated),
            )
        for table in missing:  # the rows were copied; what is erased later must not live on in these
            connection.execute(TRUNCATE_LOCAL, (f"memorist.{table}",))
    return missing


def _distributed(connection: Connection) -> list[str]:
    return sorted(name for (name,) in connection.execute(DISTRIBUTED_TABLES))
