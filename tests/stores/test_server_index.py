"""The index in the server: a new machine searches it without loading the space, and nothing that is erased stays."""

from __future__ import annotations

import logging
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from memorist.errors import StoreBusy, StoreUnavailable
from memorist.model import Filter
from memorist.ports import Batch
from memorist.stores.index import Index, paging
from memorist.stores.index_server import ServerIndex
from memorist.stores.sql.reads import Reads
from memorist.testing import memory
from memorist_server.postgres import PostgresStore
from memorist_server.postgres.pages import ServerPages
from tests.stores.machines import publish_always
from tests.stores.postgres_server import running, space_of, stopped
from tests.stores.test_index_file import EMBEDDER, answers, write
from tests.stores.worlds import small_numbers

fill = ServerIndex.fill
ROOT = Path(__file__).parents[2]
Opened = Callable[..., PostgresStore]


@pytest.fixture(autouse=True)
def _published(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    publish_always(monkeypatch)
    for name, size in (("LARGE", 512), ("SMALL", 128), ("BATCH", 4096)):
        monkeypatch.setattr(paging, name, size)
    with small_numbers():
        yield


@pytest.fixture
def on(postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """Opens the space on a machine: each has a cache folder of its own."""
    opened = list[PostgresStore]()

    def open(machine: str, index_in_server: int = 1) -> PostgresStore:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / machine))
        store = PostgresStore.open(postgres, space=space_of(tmp_path, "space"), index_in_server=index_in_server)
        opened.append(store)
        return store

    yield open
    for store in opened:
        store.close()


def published(store: PostgresStore, count: int = 60, seed: int = 1) -> PostgresStore:
    """A store with memories, which it has published."""
    store.adopt(f"{EMBEDDER.generation}:turns-1", EMBEDDER.dim)
    write(store, range(count), random.Random(seed))  # pyright: ignore[reportArgumentType]
    return viewed(store)


def viewed(store: PostgresStore) -> PostgresStore:
    """The store after it has done what is due."""
    store.view()
    store._cache._finish_work()
    return store


def counted(store: PostgresStore, table: str = "index_pages") -> int:
    ((count,),) = store._ask(f"SELECT count(*) FROM memorist.{table} WHERE space = %(space)s")
    return count


def files_of(tmp_path: Path, machine: str) -> list[str]:
    folder = tmp_path / machine / "memorist" / "index"
    return sorted(path.suffix for path in folder.iterdir()) if folder.exists() else []


def built(store: PostgresStore) -> Any:
    """What an index gives that is built from the rows."""
    with store._snapshot() as reads:
        index = Index()
        index.apply(reads.changed(0), (), generation=reads.counters().seq, embedding=reads.embedding())
    return answers(index.view())


def test_a_new_machine_gives_what_the_rows_give_without_reading_them(
    on: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = published(on("here"))
    write(here, [3, 61, 62], random.Random(2))  # pyright: ignore[reportArgumentType]
    read, changed = list[int](), Reads.changed
    monkeypatch.setattr(Reads, "changed", lambda self, seen: read.append(seen) or changed(self, seen))
    there = on("there")
    found = answers(there.view())
    assert there.index_origin == "server" and read and 0 not in read
    assert found == built(here)
    assert files_of(tmp_path, "there") == [".pages"]


@pytest.mark.slow
def test_after_any_writes_a_new_machine_gives_what_the_rows_give(on: Opened) -> None:
    here, dice, origins = published(on("here"), 20), random.Random(5), set[str | None]()
    for round in range(6):
        write(here, [*range(20 * round, 20 * round + 25)], dice)  # pyright: ignore[reportArgumentType]
        if round % 3 == 1:
            here.delete([f"m{number}" for number in dice.sample(range(20 * round), 4)])
        if round % 2:
            viewed(here)
        there = on(f"there-{round}")
        assert answers(there.view()) == built(here)
        origins.add(there.index_origin)
    assert "server" in origins


def test_what_is_fetched_in_the_end_is_an_index_file(
    on: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = published(on("here"))
    monkeypatch.setattr(ServerIndex, "fill", fill)
    monkeypatch.setattr("memorist.stores.index_server.PACE", 0)
    there = on("there")
    first = there.view()
    assert there.index_origin == "server"
    there._cache._finish_work()
    assert files_of(tmp_path, "there") == [""]
    assert counted(here)
    here._ask("DELETE FROM memorist.index_pages WHERE space = %(space)s RETURNING 1")  # nothing is fetched any more
    assert answers(first) == built(here)
    again = on("there")
    assert answers(again.view()) == built(here)
    assert again.index_origin == "file"


def test_publishing_again_sends_what_changed_and_keeps_two(on: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    here, sent = published(on("here")), list[int]()
    whole, add = counted(here), ServerPages._add
    monkeypatch.setattr(
        ServerPages,
        "_add",
        lambda self, manifest, batch, write: sent.append(len(batch)) or add(self, manifest, batch, write),
    )
    for round in range(4):
        write(here, range(60 + 10 * round, 70 + 10 * round), random.Random(round))  # pyright: ignore[reportArgumentType]
        viewed(here)
        assert counted(here, "index_lists") == 2
    assert sum(sent) < 4 * whole
    listed = {digest for (digests,) in here._ask("SELECT digests FROM memorist.index_lists WHERE space = %(space)s")
              for digest in (digests[n : n + 16] for n in range(0, len(digests), 16))}  # fmt: skip
    assert {
        digest for (digest,) in here._ask("SELECT digest FROM memorist.index_pages WHERE space = %(space)s")
    } == listed


def test_what_is_forgotten_leaves_the_server_and_every_machine(on: Opened, tmp_path: Path) -> None:
    here, there = published(on("here")), on("there")
    view = there.view()
    assert (counted(here) > 0, counted(here, "index_lists"), files_of(tmp_path, "there")) == (True, 1, [".pages"])
    here.delete(["m7"])
    assert (counted(here), counted(here, "index_lists")) == (0, 0)
    with pytest.raises(StoreBusy, match="replaced"):  # it has to fetch what is gone
        view.search_vector(EMBEDDER.embed(["lantern"], purpose="query"), Filter(), 5)
    assert answers(there.view()) == built(here)
    assert there.index_origin != "server"
    assert files_of(tmp_path, "there") in ([], [""])  # a new one of the rows


def test_the_machine_that_forgets_keeps_its_views_and_no_file(
    on: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, there = built(published(on("here"))), on("there")
    view = there.view()
    there.delete(["m7"])
    assert (counted(there), files_of(tmp_path, "there")) == (0, [])
    assert answers(view) == before
    after, read, changed = built(there), list[int](), Reads.changed
    monkeypatch.setattr(Reads, "changed", lambda self, seen: read.append(seen) or changed(self, seen))
    assert answers(there.view()) == after
    assert read and 0 not in read  # the space is not loaded


def test_nothing_is_published_that_was_made_before_something_was_erased(
    on: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, other, erased = published(on("here"), 30), on("other"), list[str]()
    here._pages.clear()
    change_alone = here._pages._write

    def interrupted(change: Any) -> bool:
        erased.extend(() if erased else other.delete(["m3"]))
        return change_alone(change)

    monkeypatch.setattr(here._pages, "_write", interrupted)
    assert here._server_index is not None
    here._server_index.publish(lambda rows, lacking: True)
    assert (erased, counted(here), counted(here, "index_lists")) == (["m3"], 0, 0)


def test_what_a_killed_publisher_left_is_removed_by_the_next(on: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(ServerPages, "_list", lambda *_: False)  # it sends its pages, and lists them never
        here = published(on("here"))
        assert counted(here) and not counted(here, "index_lists")
        there = on("there")
        assert answers(there.view()) == built(here) and there.index_origin != "server"
        there._cache._finish_work()  # it is killed as well
    write(here, range(200, 300), random.Random(4))  # pyright: ignore[reportArgumentType]
    viewed(here)
    (digests,) = here._ask("SELECT digests FROM memorist.index_lists WHERE space = %(space)s")[0]
    assert counted(here) == len({digests[n : n + 16] for n in range(0, len(digests), 16)})
    assert on("third").view().size == 160


SWAPPED = """SELECT other.data FROM memorist.index_pages AS other
WHERE other.space = page.space AND other.data <> page.data LIMIT 1"""
"""The bytes of another page of the same space."""


@pytest.mark.parametrize(
    "data",
    ["'nonsense'", "substring(data FOR length(data) - 1)", "data || 'x'", f"({SWAPPED})"],
    ids=["nonsense", "truncated", "longer", "swapped"],
)
def test_a_damaged_page_is_refused_and_what_was_published_is_removed(on: Opened, data: str) -> None:
    here, there = published(on("here")), on("there")
    here._ask(f"UPDATE memorist.index_pages AS page SET data = {data} WHERE space = %(space)s RETURNING 1")
    assert answers(there.view()) == built(here)
    assert there.index_origin != "server"
    there._cache._finish_work()  # it publishes anew
    third = on("third")
    assert answers(third.view()) == built(here) and third.index_origin == "server"


def test_a_small_space_is_not_published_and_a_large_one_only_if_it_is_wanted(on: Opened) -> None:
    assert not counted(published(on("here", index_in_server=61)))
    assert not counted(published(on("here", index_in_server=0), 80))
    assert counted(viewed(on("here", index_in_server=61)))


def test_loading_a_large_space_is_noted(on: Opened, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "memorist"):
        published(on("here", index_in_server=30))
        on("there").view()
    assert [record.getMessage().split(" · ")[0::2] for record in caplog.records] == [["space_loaded", "memories=60"]]


@pytest.mark.slow
def test_a_search_while_the_server_is_down_fails_and_goes_on_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memorist_server.postgres.pool.PATIENCE", 1.0)
    with running() as url:
        here = published(PostgresStore.open(url, space="space", index_in_server=1))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "there"))
        there = PostgresStore.open(url, space="space", index_in_server=1)
        view = there.view()
        with stopped(url), pytest.raises((StoreUnavailable, StoreBusy)):
            view.search_text("lantern harbour", Filter(), 5)
        assert answers(view) == built(here)
        for store in (here, there):
            store.close()


ASKED = """
import sys
from memorist.stores.index import paging
from memorist.stores.index_server import ServerIndex
from memorist_server.postgres import PostgresStore
from tests.stores.test_index_file import answers
from tests.stores.worlds import small_numbers

ServerIndex.fill = lambda *_: None
paging.LARGE, paging.SMALL, paging.BATCH = 512, 128, 4096
with small_numbers():
    store = PostgresStore.open(sys.argv[1], space=sys.argv[2])
    print("ready", flush=True)
    sys.stdin.readline()
    print(store.index_origin, ascii(answers(store.view())), store.index_origin)
"""


@pytest.mark.slow
def test_processes_that_fill_one_file_at_once_give_the_same(on: Opened, postgres: str, tmp_path: Path) -> None:
    here = published(on("here"), 300)
    command = [sys.executable, "-c", ASKED, postgres, here.space]
    surroundings = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "there")}
    pipes: dict[str, Any] = {"stdin": PIPE, "stdout": PIPE, "text": True, "cwd": ROOT, "env": surroundings}
    processes = [Popen(command, **pipes) for _ in range(3)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    expected = f"None {built(here)!a} server\n"
    assert [process.communicate()[0] for process in processes] == [expected] * 3
    assert files_of(tmp_path, "there") == [".pages"]


def test_a_memory_that_is_told_again_is_found_with_its_new_text(on: Opened) -> None:
    published(on("here"))
    there = on("there")
    there.put(Batch([memory("A completely different lighthouse.", id="m5")]))
    assert [hit.id for hit in there.view().search_text("lighthouse", Filter(), 3)] == ["m5"]
    assert there.index_origin == "server"
