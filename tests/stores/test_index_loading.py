"""Loading an index: page by page it gives the same arrays, half a load leaves nothing, and its bytes are known."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memorist.errors import StoreError
from memorist.stores import index_sync
from memorist.stores.index import Index, postings
from memorist.stores.index.arrays import Chosen
from memorist.stores.index.table import ROW_BYTES
from memorist.stores.sqlite import SqliteStore
from tests.stores.test_index_file import EMBEDDER, file_of, filled, write
from tests.stores.worlds import small_numbers


@pytest.fixture(autouse=True)
def _every_index_has_a_file(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(index_sync, "FEWEST_ROWS", 0)
    with small_numbers():
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


def arrays_of(store: SqliteStore) -> dict[str, bytes]:
    """Every array of the store's index as it would be written."""
    made: dict[str, bytes] = {}
    for name, part in store.view().parts().items():
        array, places, *_ = part if isinstance(part, Chosen) else Chosen(part)
        made[name] = (array if places is None else array[places]).tobytes()
    return made


@pytest.mark.parametrize("page", [1, 7, 40, 41])
def test_a_load_in_pages_gives_the_same_arrays(path: Path, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    filled(path).close()
    monkeypatch.setattr(index_sync, "FEWEST_ROWS", 2**60)
    file_of(path).unlink()
    whole = SqliteStore.open(path)
    expected = arrays_of(whole)
    whole.close()
    monkeypatch.setattr(index_sync, "PAGE", page)
    monkeypatch.setattr(postings, "PAGE", page)
    paged = SqliteStore.open(path)
    assert arrays_of(paged) == expected
    paged.close()


def test_a_load_that_fails_between_two_pages_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(path)
    before, known = store.view(), arrays_of(store)
    write(store, range(40, 60), random.Random(2))
    monkeypatch.setattr(index_sync, "PAGE", 7)
    real, pages = Index.apply, list[int]()

    def broken(self: Index, *args: Any, **kwargs: Any) -> None:
        pages.append(1)
        if len(pages) == 2:
            raise StoreError("The disk is gone", remedy="Bring it back.")
        real(self, *args, **kwargs)

    with monkeypatch.context() as failing:
        failing.setattr(Index, "apply", broken)
        with pytest.raises(StoreError):
            store.view()
    assert before.size == 40
    assert store.view().size == 60
    store.close()
    again = SqliteStore.open(path)
    assert again.view().size == 60 and len(arrays_of(again)) == len(known)
    again.close()


def test_an_open_store_knows_about_how_many_bytes_it_takes(path: Path) -> None:
    store = SqliteStore.open(path)
    store.view()
    empty = store.nbytes
    store.close()
    store = filled(path, 400)
    of_400 = store.nbytes - empty
    assert of_400 > 400 * (4 * EMBEDDER.dim * 0.7 + ROW_BYTES)
    store.close()
    mapped = SqliteStore.open(path)
    mapped.view()
    assert 0.5 * of_400 < mapped.nbytes - empty < 2 * of_400  # a mapped index counts like one of its own
    mapped.close()
    assert mapped.nbytes >= 0  # also when it is closed
