"""The pool of open spaces: bounded, shared, and never closed under anybody."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.errors import InvalidInput
from memorist_server.access.files import FolderCatalogue
from memorist_server.rest.server import machine_memory
from memorist_server.rest.spaces import SPACE_BYTES, Spaces


class Opened:
    """Stands for an engine and its store: knows its name, its size and whether it was closed."""

    def __init__(self, name: str, nbytes: int = 0) -> None:
        self.name = name
        self.nbytes = nbytes
        self.closed = False

    @property
    def store(self) -> Opened:
        return self

    def close(self) -> None:
        assert not self.closed
        self.closed = True

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Pool:
    """A pool with a record of all that it opened."""

    def __init__(self, most: int, budget: int = 0, sizes: Mapping[str, int] = MappingProxyType({})) -> None:
        self.opened: list[Opened] = []
        self._sizes = sizes
        self.spaces = Spaces(FolderCatalogue(Path("nowhere")), self._open, self._open, most, budget=budget)

    def _open(self, name: str) -> Any:
        self.opened.append(Opened(name, self._sizes.get(name, 0)))
        return self.opened[-1]

    def use(self, name: str) -> Any:
        return self.spaces.use(name, create=True)

    @property
    def alive(self) -> list[str]:
        return [opened.name for opened in self.opened if not opened.closed]


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


MIB = 2**20


def of_mib(*sizes: int) -> dict[str, int]:
    """The sizes of the spaces a, b, c… with which each takes so many MiB in all."""
    return {name: size * MIB - SPACE_BYTES for name, size in zip("abcdef", sizes, strict=False)}


def test_the_ones_unused_for_longest_are_closed_until_the_rest_fits() -> None:
    pool = Pool(10, 8 * MIB, of_mib(2, 3, 3, 5, 9))
    for name in "abc":
        with pool.use(name):
            pass
    assert (pool.alive, pool.spaces.held, pool.spaces.evicted) == (["a", "b", "c"], 8 * MIB, 0)
    with pool.use("a"), pool.use("d"):
        assert pool.alive == ["a", "b", "c", "d"]  # nothing is closed until one is left
    assert (pool.alive, pool.spaces.held, pool.spaces.evicted) == (["a", "d"], 7 * MIB, 2)
    with pool.use("e"):
        pass
    assert (pool.alive, pool.spaces.held) == (["e"], 9 * MIB)  # larger than the budget, so alone
    with pool.use("a"):
        pass
    assert (pool.alive, pool.spaces.held, pool.spaces.evicted) == (["a"], 2 * MIB, 5)
    pool.spaces.close()
    assert (pool.alive, pool.spaces.held) == ([], 0)


def test_one_that_was_used_until_now_is_closed_after_one_that_was_entered_later() -> None:
    pool = Pool(2)
    with pool.use("a"), pool.use("b"):
        pass
    with pool.use("c"):
        pass
    assert pool.alive == ["a", "c"]


def test_a_space_that_grows_makes_others_leave() -> None:
    pool = Pool(10, 4 * MIB, of_mib(1, 1, 1))
    for name in "abc":
        with pool.use(name) as engine:
            pass
    cast("Opened", engine).nbytes += 2 * MIB
    assert pool.spaces.held == 3 * MIB  # as of its last use
    with pool.use("c"):
        pass
    assert (pool.alive, pool.spaces.held) == (["b", "c"], 4 * MIB)


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), max_size=60),
    st.lists(st.integers(1, 12), min_size=6, max_size=6),
    st.integers(1, 16),
    st.integers(1, 4),
)
def test_the_idle_fit_the_budget_and_none_in_use_is_closed(
    steps: list[tuple[str, bool]], sizes: list[int], budget: int, most: int
) -> None:
    """Each step enters a space, or leaves it if somebody is in it."""
    pool, inside, last = Pool(most, budget * MIB, of_mib(*sizes)), dict[str, ExitStack](), list[str]()
    for name, again in steps:
        before = pool.alive
        if name in inside and not again:
            inside.pop(name).close()
        else:
            inside.setdefault(name, ExitStack()).enter_context(pool.use(name))
        last = [*(other for other in last if other != name), name]
        alive, closed = pool.alive, [space for space in before if space not in pool.alive]
        assert set(inside) <= set(alive)
        assert pool.spaces.open == len(alive) == len(set(alive))
        idle = [space for space in last if space in alive and space not in inside]
        assert not closed or not idle or max(map(last.index, closed)) < min(map(last.index, idle))
        if not inside:
            total = sum(sizes["abcdef".index(space)] for space in alive)
            assert pool.spaces.held == total * MIB and len(alive) <= most
            assert total <= budget or len(alive) == 1
    for stack in inside.values():
        stack.close()
    pool.spaces.close()
    assert pool.alive == []


def test_the_memory_of_the_machine_is_that_of_its_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr("memorist_server.rest.server._CGROUP_LIMITS", (str(limit), str(tmp_path / "none")))
    whole = machine_memory()
    assert whole > MIB
    limit.write_text("max\n")
    assert machine_memory() == whole
    limit.write_text(f"{MIB}\n")
    assert machine_memory() == MIB


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
    monkeypatch.setattr("memorist_server.rest.spaces.look_for_jobs", lambda engine: found.append(engine.name))
    pool = Pool(2)
    for _ in range(3):
        with pool.use("a"):
            pass
    assert found == []  # opening it has just looked
    monkeypatch.setattr("memorist_server.rest.spaces.LOOK_EVERY", 0.0)
    for name in ("a", "a", "b"):
        with pool.use(name):
            pass
    assert found[:2] == ["a", "a"]


def test_names_leave_out_what_is_no_space(tmp_path: Path) -> None:
    for file in ("b.db", "a.db", ".keys.db", "a.db-wal", "notes.txt"):
        (tmp_path / file).touch()
    assert FolderCatalogue(tmp_path).names() == ["a", "b"]
