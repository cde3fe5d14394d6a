"""Moving between every two sorts of store: nothing lost, nothing twice, and checked."""

from __future__ import annotations

import io
from itertools import permutations

import pytest

from memorist.engine.engine import Engine
from memorist.errors import StoreError
from memorist.ports import Batch, Plan, Store
from memorist.testing import memory
from memorist.testing.fakes import FakeClock, FakeEmbedder
from memorist.upkeep.transfer import export, move
from tests.stores.kinds import STORES, OpenStore


def fill(store: Store) -> None:
    """A little of everything a store can hold."""
    engine = Engine(store, embedder=FakeEmbedder(), clock=FakeClock(), background=False)
    for number in range(5):
        engine.remember(f"Alice keeps lamp {number} in Oslo.", speaker="Bob", session="talk", position=number)
    engine.remember("A note.", key="note")
    engine.remember("A better note.", key="note")
    engine.relate("Alice", "lives_in", "Oslo", valid_from="2020-01-01")
    engine.relate("Alice", "lives_in", "Bergen", valid_from="2023-01-01")
    engine.recall("lamp", session="talk")
    engine.feedback(engine.remember("Zoë was here.").id, "useful")
    store.learn_noise(["hm", "ok"], keep=9)


def content(store: Store) -> list[bytes]:
    """The lines of an export, without the one that tells its space."""
    file = io.BytesIO()
    export(store, file)
    return file.getvalue().splitlines()[1:]


@pytest.mark.parametrize(("first", "second"), list(permutations(STORES, 2)))
def test_everything_moves_and_moves_again_to_no_effect(first: str, second: str, open_store: OpenStore) -> None:
    source, target = open_store(first, "here"), open_store(second, "there")
    fill(source)
    moved = move(source, target)
    assert content(target) == content(source)
    held = source.stats()
    assert (moved.added, moved.memories) == (held.memories + held.versions,) * 2
    again = move(source, target)
    assert (again.added, again.known, again.checksum) == (0, moved.memories, moved.checksum)
    source.close()
    target.close()


def test_a_move_that_was_interrupted_goes_on(open_store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = open_store("sqlite", "here"), open_store("postgres", "there")
    source.put(Batch([memory(f"lamp {number}", id=f"{number:04}") for number in range(1500)]))
    whole, calls = target.update, list[int]()

    def interrupted(plan: Plan) -> object:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(plan)

    monkeypatch.setattr(target, "update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        move(source, target)
    monkeypatch.undo()
    begun = target.stats().memories
    assert 0 < begun < 1500
    moved = move(source, target)
    assert (moved.known, moved.added, target.stats().memories) == (begun, 1500 - begun, 1500)
    source.close()
    target.close()


def test_a_store_with_something_else_in_it_is_told(open_store: OpenStore) -> None:
    source, target = open_store("memory", "here"), open_store("sqlite", "there")
    source.put(Batch([memory("a lamp", id="lamp")]))
    target.put(Batch([memory("a book", id="book")]))
    with pytest.raises(StoreError, match="2 memories for 1"):
        move(source, target)
    target.close()
