"""A Citus cluster on this machine: a coordinator and some workers on loopback, gone at the end.

It needs a PostgreSQL with Citus and pgvector installed, and starts its servers from the `bin` folder of that. A server
refuses to run as root, so root names another user.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

DATABASE = "memories"
OWNER = "memorist"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_preload_libraries": "citus",
    "wal_level": "logical",  # shards move by logical replication
    "max_connections": "300",
    "max_wal_senders": "40",
    "max_replication_slots": "40",
    "max_worker_processes": "60",
    "fsync": "off",  # nobody pulls the plug; what a killed server acknowledged is in the system's cache
    "citus.node_conninfo": "sslmode=disable",
    "citus.enable_stat_counters": "on",
    "citus.max_background_task_executors_per_node": "4",
}
SPLITTING = "output_plugin_libraries"
"""A setting of the newest minor versions: without it, no library but the server's own may decode the log."""


@dataclass(frozen=True)
class Node:
    """One server of the cluster."""

    name: str
    port: int
    data: Path

    @property
    def url(self) -> str:
        return f"postgresql://{OWNER}@127.0.0.1:{self.port}/{DATABASE}"


class Cluster:
    """The servers of a cluster; the first one is the coordinator."""

    def __init__(self, programs: Path, folder: Path, *, workers: int, shards: int, user: str | None) -> None:
        self._programs, self._user = programs, user
        self._shards = shards
        names = ["coordinator", *(f"worker-{number}" for number in range(1, workers + 1))]
        self.nodes = [Node(name, free_port(), folder / name) for name in names]

    @property
    def url(self) -> str:
        """Where programs connect to."""
        return self.nodes[0].url

    @property
    def workers(self) -> Sequence[Node]:
        return self.nodes[1:]

    def start(self) -> None:
        """Start every server, make the database on each, and let the coordinator know the workers."""
        for node in self.nodes:
            self._initialise(node)
            self.start_node(node)
            with psycopg.connect(node.url.replace(f"/{DATABASE}", "/postgres"), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {DATABASE}".encode())
            run(node, "CREATE EXTENSION citus")
        coordinator, *workers = self.nodes
        run(coordinator, "SELECT citus_set_coordinator_host('127.0.0.1', %s)", coordinator.port)
        for worker in workers:
            run(coordinator, "SELECT citus_add_node('127.0.0.1', %s)", worker.port)

    def start_node(self, node: Node) -> None:
        self._program("pg_ctl", "-D", node.data, "-l", node.data / "log", "-w", "-t", 60, "start")

    def stop_node(self, node: Node, mode: str = "immediate") -> None:
        """Stop a server; `immediate` drops everything at once, as a crash does."""
        if (node.data / "postmaster.pid").exists():
            self._program("pg_ctl", "-D", node.data, "-m", mode, "-w", "-t", 60, "stop")

    def stop(self) -> None:
        for node in self.nodes:
            self.stop_node(node)

    def _initialise(self, node: Node) -> None:
        options = ("-A", "trust", "-U", OWNER, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        self._program("initdb", "-D", node.data, *options)
        known = self._program("postgres", "--describe-config")
        settings = {**SETTINGS, "port": str(node.port), "citus.shard_count": str(self._shards)}
        if f"\n{SPLITTING}\t" in known:
            settings[SPLITTING] = "pgoutput, test_decoding, citus"
        with (node.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def _program(self, name: str, *arguments: object) -> str:
        command = [str(self._programs / name), *map(str, arguments)]
        done = subprocess.run(
            command, user=self._user, group=self._user, cwd="/", stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout


def run(node: Node, sql: str, *values: object) -> list[Any]:
    """Run a statement on one server; returns its rows."""
    with psycopg.connect(node.url, autocommit=True) as connection:
        cursor = connection.execute(sql.encode(), values or None)
        return cursor.fetchall() if cursor.description else []


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@contextmanager
def cluster(programs: Path, folder: Path, *, workers: int = 2, shards: int = 8) -> Generator[Cluster]:
    """A running cluster whose data lies in a folder; both are gone afterwards."""
    user = "postgres" if os.geteuid() == 0 else None
    folder.mkdir(parents=True)
    if user:
        shutil.chown(folder, user, user)
    made = Cluster(programs, folder, workers=workers, shards=shards, user=user)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder)
