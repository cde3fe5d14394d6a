"""What is erased leaves no byte in the file, wherever SQLite had moved it before."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from memorist.model import Entity, Link, Memory, Origin
from memorist.ports import Batch
from memorist.stores import index_sync
from memorist.stores.sqlite import SqliteStore, remnants
from memorist.testing import FakeEmbedder
from memorist.testing.world import memory

LENGTHS = (3, 10, 60, 400, 900)
"""Words: some rows fill a page and more, and push others to the next."""


@pytest.mark.parametrize(
    ("value", "pieces"),
    [
        ("Ann: met the ambassador.", [b"ambassad"]),
        ("a word, or two", []),
        ("東京タワー", ["東京タワー".encode()[:8], "東京タワー".encode()[8:]]),
        (bytes(range(40)), [bytes(range(16)), bytes(range(16, 32)), bytes(range(32, 40))]),
    ],
)
def test_what_would_be_known_again(value: str | bytes, pieces: list[bytes]) -> None:
    assert list(remnants.traces(value)) == pieces


def token(number: int) -> str:
    return f"zq{number:06d}qz"


def told(number: int, dice: random.Random) -> Memory:
    words = [f"w{dice.randint(0, 9999):04d}" for _ in range(dice.choice(LENGTHS))]
    origin = Origin(session="s", position=number, key=f"k{token(number)}")
    return memory(" ".join([token(number), *words, token(number)]), id=f"id{number:06d}", origin=origin)


def write(store: SqliteStore, new: range, again: list[int], dice: random.Random) -> None:
    """New memories with vectors and names, and some old ones with a text of another length."""
    memories = [told(number, dice) for number in new]
    rows = FakeEmbedder().embed([memory.text for memory in memories], purpose="memory")
    names = [Entity(f"e{one.id}", f"Name {token(number)}") for one, number in zip(memories, new, strict=True)]
    vectors = {one.id: {"text": row} for one, row in zip(memories, rows, strict=True)}
    links = [Link(memory.id, "mentions", f"e{memory.id}") for memory in memories]
    store.put(Batch(memories, vectors, links, names))
    store.put(Batch(revised=[told(number, dice) for number in again]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4])
def test_after_many_writes_and_erasures_nothing_is_left_of_what_went(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_sync, "FEWEST_ROWS", 0)
    monkeypatch.setattr(index_sync, "REST", 0)
    dice, alive, gone, last = random.Random(seed), set[int](), set[int](), 0
    store = SqliteStore.open(tmp_path / "a.db")
    store.adopt(FakeEmbedder().generation, FakeEmbedder().dim)
    for _ in range(40):
        new = range(last + 1, last + dice.randint(2, 120))
        last = new[-1]
        alive |= set(new)
        write(store, new, dice.sample(sorted(alive), min(20, len(alive))), dice)
        going = dice.sample(sorted(alive), dice.randint(0, min(60, len(alive))))
        ids = [f"id{number:06d}" for number in going]
        store.put(Batch(erased=[*ids, *(f"e{id}" for id in ids)]))
        alive -= set(going)
        gone |= set(going)
        store.view()  # begins an index file, if none is being written
    assert store.scrub()
    store.close()
    assert (tmp_path / "a.db-index").exists()
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [number for number in sorted(gone) if token(number).encode() in data] == []
    assert [number for number in sorted(alive) if token(number).encode() not in data] == []
    store = SqliteStore.open(tmp_path / "a.db")
    assert (store.integrity(), store.stats().entities) == ([], len(alive))
    store.close()
