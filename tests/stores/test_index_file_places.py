"""Where an index file lies: not beside small databases, and nowhere that would keep a memory from being forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memorist.errors import StoreError
from memorist.files import PART
from memorist.model import Filter
from memorist.ports import Batch
from memorist.stores.index import Index
from memorist.stores.index_file import Counters, IndexFile
from memorist.stores.sqlite import SqliteStore
from memorist.testing import memory


def cached(path: Path) -> IndexFile:
    """A file in a cache folder, as for a space on a server, whose database lists every file."""

    def publish(token: str, at: Counters, place: Callable[[], object]) -> bool:
        place()
        return True

    return IndexFile(path, tokens=list, publish=publish)


def test_a_small_database_has_no_index_file(tmp_path: Path) -> None:
    for number in range(3):
        store = SqliteStore.open(tmp_path / "small.db")
        store.put(Batch([memory(f"lantern {number}", id=f"m{number}")]))
        assert len(store.view().search_text("lantern", Filter(), 9)) == number + 1
        store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["small.db"]


def test_without_a_cache_folder_there_is_no_file_and_forgetting_goes_on(tmp_path: Path) -> None:
    (tmp_path / "null").touch()
    file = cached(tmp_path / "null" / "cache" / "index")
    assert not file.take(Index().view(), Counters(0, 0))
    assert file.open() is None
    file.drop_unlisted()
    file.remove()
    assert not file.exists()


def test_a_file_that_cannot_be_removed_keeps_its_memories_from_being_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = cached(tmp_path / "index")
    assert file.take(Index().view(), Counters(0, 0))

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(StoreError, match="Permission denied"):
        file.remove()
    assert file.exists()


def test_what_a_killed_process_left_of_a_file_goes_with_it(tmp_path: Path) -> None:
    file = cached(tmp_path / "index")
    assert file.take(Index().view(), Counters(0, 0))
    left = tmp_path / f".index{PART}killed"
    left.mkdir()
    (left / "index").write_text("zqsecretqz")
    file.remove()
    assert list(tmp_path.iterdir()) == []
