"""Every sort of store, for tests that must hold on all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memorist.ports import Store
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore
from memorist_server.postgres import PostgresStore
from tests.stores.postgres_server import space_of

STORES = ("memory", "sqlite", "postgres")
OpenStore = Callable[[str, str], Store]
"""Opens an empty store of a sort under a name."""


def opener(folder: Path, server: Callable[[], str]) -> OpenStore:
    """Opens stores below a folder, or on a server that is started when it is first needed."""

    def open(sort: str, name: str) -> Store:
        if sort == "memory":
            return MemoryStore(name)
        if sort == "sqlite":
            return SqliteStore.open(folder / f"{name}.db")
        return PostgresStore.open(server(), space=space_of(folder, name))

    return open
