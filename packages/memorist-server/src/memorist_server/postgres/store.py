"""Memories on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from pgvector import HalfVector
from psycopg.conninfo import conninfo_to_dict

from memorist.errors import Error
from memorist.files import cache_folder
from memorist.stores.index_server import FEWEST, ServerIndex
from memorist.stores.rows import Row
from memorist.stores.sql.database import NO_VALUES, Values
from memorist.stores.sql.reads import Noted, Reads
from memorist.stores.sql.store import SqlStore
from memorist.stores.sql.writes import Write
from memorist_server.postgres.database import Connection, PostgresDatabase, connect_once, prepare
from memorist_server.postgres.pages import ServerPages
from memorist_server.postgres.pool import PostgresConnections, check_conninfo
from memorist_server.postgres.rewriting import LARGEST
from memorist_server.postgres.rewriting import rewrite as rewrite_tables
from memorist_server.postgres.statements import POSTGRES, SIZE

T = TypeVar("T")
SCRUB_PATIENCE = 2.0
"""Seconds that erasing waits for others before it leaves the rest to a later job."""


class PostgresStore(SqlStore[HalfVector]):
    """A space in a database. Threads, processes and machines may share it; a fork must open it again."""

    def __init__(self, connections: PostgresConnections, space: str, *, index_in_server: int | None = None) -> None:
        self._connections = connections
        self._pages = ServerPages(self._ask, self._write)
        fewest = FEWEST if index_in_server is None else index_in_server
        super().__init__(
            space,
            HalfVector,
            index_file_of(connections.url, space),
            server_index=(lambda file: ServerIndex(file, self._pages, space, fewest)) if fewest > 0 else None,
        )
        self._count_set_aside()

    @classmethod
    def open(cls, url: str, *, space: str, index_in_server: int | None = None, create: bool = True) -> PostgresStore:
        """Open a space of a database, or create it; migrates the database if needed.

        Without `create`, a space that does not exist is refused. From `index_in_server` memories on, its index is kept
        in the server, too; 0 for never.
        """
        conninfo = check_conninfo(url)
        prepare(conninfo, space, create=create)
        return cls(PostgresConnections(conninfo), space, index_in_server=index_in_server)

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Rewrite the tables if asked to and if they are small; otherwise their files keep what was erased."""
        if not rewrite:
            return False
        if not self._outdated_index_files(wait=SCRUB_PATIENCE):
            return False
        self._pages.sweep()
        with connect_once(self._connections.url) as connection:
            return rewrite_tables(connection, wait=SCRUB_PATIENCE, largest=LARGEST)

    def close(self) -> None:
        """Release the connections; safe to call twice."""
        self._cache.close()
        self._count_waiting()
        self._connections.close()

    def _read(self, question: Callable[[Reads], T]) -> T:
        noted = self._noted  # before the question is asked
        return self._connections.read(lambda connection: question(self._reads(connection, noted)))

    def _read_still(self, question: Callable[[Reads], T]) -> T:
        return self._connections.read_still(lambda connection: question(self._reads(connection)))

    @contextmanager
    def _snapshot(self) -> Generator[Reads]:
        with self._connections.snapshot() as connection:
            yield self._reads(connection)

    def _reads(self, connection: Connection, noted: Noted | None = None) -> Reads:
        database = PostgresDatabase(connection, self._space)
        return Reads(database, POSTGRES, lenient=True, waiting=self._waiting, noted=noted)

    def _write(self, change: Callable[[Write[HalfVector]], T], *, wait: float | None = None) -> T:
        def job(connection: Connection) -> tuple[T, Write[HalfVector]]:
            write = Write[HalfVector](PostgresDatabase(connection, self._space), POSTGRES, self._noted)
            return self._carry_out(write, change), write

        done, write = self._connections.write(job, wait=wait)
        self._committed(write)
        if write.outdates_index_files:
            self._sweep()
        return done

    def _sweep(self) -> None:
        """Remove the pages of what was published, when the views of this process need none any more."""
        with suppress(Error):
            if self._server_index is not None:
                self._server_index.fetch_all()
        with suppress(Error):  # what is erased is erased; the job that rewrites the tables sweeps again
            self._pages.sweep()

    def _ask(self, sql: str, values: Values = NO_VALUES) -> list[Row]:
        return self._connections.read(lambda connection: PostgresDatabase(connection, self._space).execute(sql, values))

    def _size(self, reads: Reads) -> int:
        return reads.value(SIZE)


def index_file_of(url: str, space: str) -> Path:
    """The place of the index file of a space: in the user's cache, under a name that outlives a new password."""
    given = conninfo_to_dict(url)
    server = [str(given.get(part)) for part in ("host", "hostaddr", "port", "dbname", "user")]
    name = blake2b("\0".join((*server, space)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return cache_folder() / "index" / name
