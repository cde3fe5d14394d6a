from __future__ import annotations

from pathlib import Path

import pytest

from memorist.ports import Store
from memorist.stores import index_sync
from memorist.testing.store_suite import StoreConformance
from memorist_server.postgres import PostgresStore
from tests.stores.machines import NewMachine, publish_always
from tests.stores.postgres_server import space_of


class TestPostgresStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _server(self, postgres: str) -> None:
        self.url = postgres

    def make_store(self, folder: Path, name: str = "space") -> Store:
        return PostgresStore.open(self.url, space=space_of(folder, name))


class TestPostgresStoreWithIndexFiles(TestPostgresStore):
    @pytest.fixture(autouse=True)
    def _every_index_has_a_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(index_sync, "FEWEST_ROWS", 0)
        monkeypatch.setattr(index_sync, "REST", 0)


@pytest.mark.slow
class TestPostgresStoreOnNewMachines(TestPostgresStore):
    @pytest.fixture(autouse=True)
    def _every_index_is_published(self, monkeypatch: pytest.MonkeyPatch) -> None:
        publish_always(monkeypatch)

    def make_store(self, folder: Path, name: str = "space") -> Store:
        return NewMachine.open(self.url, space=space_of(folder, name), index_in_server=1)
