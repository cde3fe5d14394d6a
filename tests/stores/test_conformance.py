from __future__ import annotations

from pathlib import Path

from memorist.ports import Store
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore
from memorist.testing.store_suite import StoreConformance


class TestMemoryStore(StoreConformance):
    shared = False

    def make_store(self, folder: Path, name: str = "space") -> Store:
        return MemoryStore(name)


class TestSqliteStore(StoreConformance):
    def make_store(self, folder: Path, name: str = "space") -> Store:
        return SqliteStore.open(folder / f"{name}.db")
