from __future__ import annotations

from pathlib import Path

from recollect.ports import Store
from recollect.stores.memory import MemoryStore
from recollect.stores.sqlite import SqliteStore
from recollect.testing.store_suite import StoreConformance


class TestMemoryStore(StoreConformance):
    shared = False

    def make_store(self, folder: Path, name: str = "space") -> Store:
        return MemoryStore(name)


class TestSqliteStore(StoreConformance):
    def make_store(self, folder: Path, name: str = "space") -> Store:
        return SqliteStore.open(folder / f"{name}.db")
