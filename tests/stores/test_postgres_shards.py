"""The whole conformance suite on three servers that are one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from memorist.model import Filter
from memorist.ports import Batch, Store
from memorist.testing import memory
from memorist.testing.store_suite import StoreConformance
from memorist_server.postgres import PostgresStore
from tests.stores.machines import NewMachine, publish_always
from tests.stores.postgres_server import space_of
from tests.stores.postgres_shards import sharded

pytestmark = pytest.mark.slow
Cluster = tuple[str, list[str]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with sharded() as made:
        yield made


class TestShardedStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _cluster(self, cluster: Cluster) -> None:
        self.url, _ = cluster

    def make_store(self, folder: Path, name: str = "space") -> Store:
        return PostgresStore.open(self.url, space=space_of(folder, name))


def test_a_space_lies_whole_on_one_server(cluster: Cluster) -> None:
    url, shards = cluster
    for number in range(12):
        store = PostgresStore.open(url, space=f"whole-{number}")
        store.put(Batch([memory("a lamp", id="lamp"), memory("a book", id="book")]))
        store.close()
    held: list[dict[str, int]] = []
    for shard in shards:
        with psycopg.connect(shard) as connection:
            rows = connection.execute(
                "SELECT space, count(*) FROM memorist.memories WHERE space LIKE 'whole-%' GROUP BY space"
            )
            held.append(dict(rows.fetchall()))
    assert all(held), "every server has some"
    assert sorted(space for record in held for space in record) == sorted(f"whole-{number}" for number in range(12))
    assert {count for record in held for count in record.values()} == {2}


def test_an_index_is_published_on_the_server_of_its_space(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_always(monkeypatch)
    url, shards = cluster
    store = NewMachine.open(url, space="published", index_in_server=1)
    store.put(Batch([memory(f"lamp number {number}", id=f"m{number}") for number in range(40)]))
    assert len(store.view().search_text("lamp", Filter(), 99)) == 40
    assert store.index_origin == "server"
    assert sorted(map(_pages_on, shards)) == [0, 0, store._ask("SELECT count(*) FROM memorist.index_pages")[0][0]]
    store.delete(["m3"])
    assert sum(map(_pages_on, shards)) == 0
    assert len(store.view().search_text("lamp", Filter(), 99)) == 39
    store.close()


def _pages_on(shard: str) -> int:
    with psycopg.connect(shard) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM memorist.index_pages").fetchall()
    return count
