"""The pool of open spaces: bounded, shared, and never closed under anybody."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.access.files import FolderCatalogue
from memorist.errors import InvalidInput
from memorist.surfaces.rest.spaces import Spaces


class Opened:
    """Stands for an engine: knows its name and whether it was closed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Pool:
    """A pool with a record of all that it opened."""

    def __init__(self, most: int) -> None:
        self.opened: list[Opened] = []
        self.spaces = Spaces(FolderCatalogue(Path("nowhere")), self._open, self._open, most)

    def _open(self, name: str) -> Any:
        self.opened.append(Opened(name))
        return self.opened[-1]

    def use(self, name: str) -> Any:
        return self.spaces.use(name, create=True)

    @property
    def alive(self) -> list[str]:
        return [one.name for one in self.opened if not one.closed]


def test_the_one_unused_for_longest_is_closed_first() -> None:
    pool = Pool(2)
    for name in ("a", "b", "a", "c"):
        with pool.use(name):
            pass
    assert pool.alive == ["a", "c"]
    pool.spaces.close()
    assert pool.alive == [] and len(pool.opened) == 3


def test_one_in_use_is_kept_open_and_the_surplus_closed_afterwards() -> None:
    pool = Pool(1)
    with ExitStack() as held:
        for name in ("a", "b", "c"):
            held.enter_context(pool.use(name))
        with pool.use("a") as again:
            assert not again.closed
        assert pool.alive == ["a", "b", "c"]
    assert len(pool.alive) == 1


def test_all_who_ask_at_once_share_one_engine() -> None:
    pool, gate = Pool(4), threading.Barrier(8)
    got: list[Opened] = []

    def ask() -> None:
        gate.wait()
        with pool.use("a") as engine:
            got.append(engine)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pool.opened) == 1 and got == [pool.opened[0]] * 8


def test_a_space_that_cannot_be_opened_can_be_asked_for_again() -> None:
    attempts: list[str] = []

    def failing(name: str) -> Any:
        attempts.append(name)
        raise InvalidInput("It is locked", remedy="Unlock it.")

    spaces = Spaces(FolderCatalogue(Path("nowhere")), failing, failing, 2)
    for _ in range(2):
        with pytest.raises(InvalidInput, match="locked"), spaces.use("a", create=True):
            pass
    assert attempts == ["a", "a"]
    spaces.close()


@given(st.lists(st.sampled_from("abcdef"), max_size=40), st.integers(1, 4))
def test_there_are_never_more_open_than_allowed_when_one_at_a_time_is_used(names: list[str], most: int) -> None:
    pool = Pool(most)
    for name in names:
        with pool.use(name) as engine:
            assert cast("Opened", engine).name == name
        assert len(pool.alive) == pool.spaces.open <= most


def test_a_question_to_a_space_that_is_not_there_leaves_no_file(tmp_path: Path) -> None:
    asked: list[str] = []

    def made(name: str) -> Any:
        asked.append("made")
        return Opened(name)

    def empty(name: str) -> Any:
        asked.append("empty")
        return Opened(name)

    spaces = Spaces(FolderCatalogue(tmp_path), made, empty, 2)
    with spaces.use("a", create=False) as engine:
        pass
    assert cast("Any", engine).closed and asked == ["empty"] and list(tmp_path.iterdir()) == []
    for odd in ("../a", "", "a/b", ".keys"):
        with pytest.raises(InvalidInput, match="is not a valid space name"), spaces.use(odd, create=False):
            pass


def test_a_space_in_use_is_searched_for_jobs_that_others_left(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []
    monkeypatch.setattr("memorist.surfaces.rest.spaces.look_for_jobs", lambda engine: found.append(engine.name))
    pool = Pool(2)
    for _ in range(3):
        with pool.use("a"):
            pass
    assert found == []  # opening it has just looked
    monkeypatch.setattr("memorist.surfaces.rest.spaces.LOOK_EVERY", 0.0)
    for name in ("a", "a", "b"):
        with pool.use(name):
            pass
    assert found[:2] == ["a", "a"]


def test_names_leave_out_what_is_no_space(tmp_path: Path) -> None:
    for file in ("b.db", "a.db", ".keys.db", "a.db-wal", "notes.txt"):
        (tmp_path / file).touch()
    assert FolderCatalogue(tmp_path).names() == ["a", "b"]
