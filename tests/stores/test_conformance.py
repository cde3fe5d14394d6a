from __future__ import annotations

from pathlib import Path

import pytest

from memorist.ports import Store
from memorist.stores import index_sync
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


class TestSqliteStoreWithIndexFiles(TestSqliteStore):
    @pytest.fixture(autouse=True)
    def _every_index_has_a_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(index_sync, "FEWEST_ROWS", 0)
        monkeypatch.setattr(index_sync, "REST", 0)
