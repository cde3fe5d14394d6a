"""Reembedding: resumable, atomic, and never two generations in one search."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memorist.engine.engine import Engine
from memorist.errors import EmbeddingMismatch, InvalidInput, MissingService
from memorist.model import HIERARCHY, Filter, Kind, Link
from memorist.models.embedding_text import generation_of
from memorist.ports import Batch, Progress, Purpose, Store
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore
from memorist.testing.fakes import FakeEmbedder
from memorist.testing.world import memory
from memorist.upkeep import maintenance
from tests.upkeep.worlds import fill, opened

if TYPE_CHECKING:
    from memorist.ports import Vector

FILTER = Filter()


class Mirrored(FakeEmbedder):
    """Of the same dimension as the fake embedder, and of opposite meaning."""

    @property
    def generation(self) -> str:
        return f"mirrored:{self.dim}"

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        return np.flip(super().embed(texts, purpose=purpose, progress=progress), axis=1)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore.open(tmp_path / "agent.db")
    yield made
    made.close()


def cosine(engine: Engine, text: str) -> float:
    """How near the memory with this very text is, by the vector signal: 1 if query and memory are of one model."""
    found = engine.recall(text, track=False).items
    return max(item.signals["vector"].score for item in found if item.memory.text == text)


def test_everything_gets_new_vectors_and_is_found_by_them(store: Store) -> None:
    with opened(store) as engine:
        fill(engine)
        told: list[int] = []
        done = engine.reembed(FakeEmbedder(32), progress=told.append)
        stats = engine.stats()
        assert (done.embedding, done.dimension, done.previous) == (
            "fake-bow:crc32:32:turns-1",
            32,
            "fake-bow:crc32:64:turns-1",
        )
        assert done.embedded == done.memories == stats.memories + stats.versions == sum(told)
        assert (stats.embedding, stats.dimension) == (done.embedding, 32)
        assert cosine(engine, "Bo never eats shellfish.") == pytest.approx(1, abs=2e-3)
        engine.remember("A new lamp.")
        assert cosine(engine, "A new lamp.") == pytest.approx(1, abs=2e-3)


def test_a_second_run_costs_nothing_and_fills_only_what_lacks(store: Store) -> None:
    with opened(store) as engine:
        engine.remember("A lamp.")
        assert engine.reembed().embedded == 0
        store.put(Batch([memory("A book.", id="book")]))
        generation = store.view().generation
        assert engine.reembed().embedded == 1
        assert store.view().generation > generation
        assert store.embedded(["book"]) == {"book"}


def test_another_engine_goes_on_with_the_new_vectors(tmp_path: Path) -> None:
    """One opened with the new embedder and one with the old, while a third process changes the file."""
    path = tmp_path / "agent.db"
    with opened(SqliteStore.open(path)) as old, opened(SqliteStore.open(path), Mirrored()) as new:
        old.remember("Ann keeps a lamp.")
        assert cosine(old, "Ann keeps a lamp.") == pytest.approx(1, abs=2e-3)
        with pytest.raises(EmbeddingMismatch, match="reembed"):
            new.recall("lamp")
        new.reembed()
        assert cosine(new, "Ann keeps a lamp.") == pytest.approx(1, abs=2e-3)
        with pytest.raises(EmbeddingMismatch, match="mirrored"):
            old.recall("lamp")
        with pytest.raises(EmbeddingMismatch, match="mirrored"):
            old.remember("A book.")
        assert new.stats().memories == 1


def test_a_recall_under_way_is_not_disturbed(store: Store) -> None:
    """A view taken before the switch is asked with the embedder that made its vectors, of the same length or not."""
    with opened(store) as engine:
        engine.remember("Ann keeps a lamp.")
        before = engine._env()  # pyright: ignore[reportPrivateUsage]  # a recall that has begun
        engine.reembed(Mirrored())
        after = engine._env()  # pyright: ignore[reportPrivateUsage]
        for env in (before, after):
            assert env.embedder is not None
            probe = env.embedder.embed(["Ann keeps a lamp."], purpose="query")
            assert env.view.search_vector(probe, FILTER, 1)[0].score == pytest.approx(1, abs=2e-3)


def test_vectors_made_before_the_switch_are_not_written_after_it(store: Store) -> None:
    with opened(store) as engine:
        engine.remember("A lamp.")
        embedder = engine._embedder  # pyright: ignore[reportPrivateUsage]
        assert embedder is not None
        late = embedder.of_texts(["A book."])["A book."]
        engine.reembed(Mirrored())
        with pytest.raises(EmbeddingMismatch, match="write it again"):
            store.put(Batch([memory("A book.", id="book")], {"book": late}))
        assert store.get(["book"]) == {}


def test_what_others_write_meanwhile_is_embedded_too(store: Store) -> None:
    writer = opened(store)

    class Busy(FakeEmbedder):
        left = 3

        def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
            if self.left:
                self.left -= 1
                writer.remember(f"Written meanwhile, number {self.left}.")
            return super().embed(texts, purpose=purpose, progress=progress)

    with opened(store) as engine:
        engine.remember("A lamp.")
        done = engine.reembed(Busy(16))
        assert (done.embedded, done.memories) == (4, 4)
        ids = [memory.id for memory in engine.list().items]
        assert store.embedded(ids) == set(ids)


def test_a_procedure_keeps_the_view_of_what_it_is_for(store: Store) -> None:
    purpose = memory("tea", id="tea", kind=Kind.INTENT)
    steps = memory("boil water, pour it over leaves", id="steps", kind=Kind.PROCEDURAL)
    store.put(Batch([purpose, steps], links=[Link("steps", HIERARCHY, "tea")]))
    with opened(store) as engine:
        engine.reembed()
        assert set(store.vectors(["steps"])["steps"]) == {"text", "intent"}
        hits = store.view().search_vector(FakeEmbedder().embed(["tea"], purpose="query"), FILTER, 2)
        assert [round(hit.score, 2) for hit in hits] == [1.0, 1.0]


def test_there_must_be_an_embedder(store: Store) -> None:
    with Engine(store, background=False) as engine, pytest.raises(MissingService, match="without an embedder"):
        engine.reembed()
    with opened(MemoryStore()) as engine, pytest.raises(InvalidInput, match="none"):
        engine.reembed("none")


def test_recalls_and_writes_go_on_during_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer before, during and after the switch compares query and memory by one model."""
    monkeypatch.setattr(maintenance, "BATCH", 8)
    with opened(SqliteStore.open(tmp_path / "agent.db")) as engine:
        engine.remember_many(f"Lantern number {number} of Ann." for number in range(300))
        run = Thread(target=engine.reembed, args=(Mirrored(),))
        run.start()
        seen: list[float] = []
        while run.is_alive():
            seen.append(cosine(engine, "Lantern number 7 of Ann."))
        run.join()
        seen.append(cosine(engine, "Lantern number 7 of Ann."))
        assert seen == pytest.approx([1.0] * len(seen), abs=2e-3)
        assert engine.stats().embedding == "mirrored:64:turns-1"


KILLED = """
import os, signal, sys
from memorist.engine.engine import Engine
from memorist.stores.sqlite import SqliteStore
from memorist.testing.fakes import FakeEmbedder
from memorist.upkeep import maintenance
maintenance.BATCH = 16
left = int(sys.argv[2])
def progress(done):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
with Engine(SqliteStore.open(sys.argv[1]), embedder=FakeEmbedder(32), background=False) as engine:
    engine.reembed(progress=progress)
"""


@pytest.mark.slow
def test_killed_at_any_place_recall_stays_on_the_old_vectors_and_the_next_run_goes_on(tmp_path: Path) -> None:
    path, dice, total = tmp_path / "agent.db", random.Random(11), 1000
    with opened(SqliteStore.open(path)) as engine:
        engine.remember_many(f"Lantern number {number} of Ann." for number in range(total))
        embedded = 0
        for _ in range(5):
            run = subprocess.run([sys.executable, "-c", KILLED, str(path), str(dice.randrange(1, 8))], check=False)
            assert run.returncode == -signal.SIGKILL
            assert engine.stats().embedding == generation_of(FakeEmbedder())
            assert cosine(engine, "Lantern number 7 of Ann.") == pytest.approx(1, abs=2e-3)
            left = len(engine.store.without_vectors(generation_of(FakeEmbedder(32)), 2 * total))
            assert left < total - embedded
            embedded = total - left
        done = engine.reembed(FakeEmbedder(32))
        assert done.embedded == total - embedded < total
        assert cosine(engine, "Lantern number 7 of Ann.") == pytest.approx(1, abs=2e-3)
        store = engine.store
        assert isinstance(store, SqliteStore)
        assert store.integrity() == []
