"""Models are loaded in other threads while the first recall reads the index, and while the first text is checked."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, current_thread, main_thread
from typing import TYPE_CHECKING

import pytest

from memorist import config
from memorist.engine.engine import Engine
from memorist.engine.open import open_engine
from memorist.errors import ModelUnavailable
from memorist.ports import Progress, Purpose
from memorist.stores.memory import MemoryStore
from memorist.testing import FakeEmbedder

if TYPE_CHECKING:
    from memorist.ports import Vector


class Heavy(FakeEmbedder):
    """An embedder that notes which threads load it."""

    def __init__(self, problem: Exception | None = None) -> None:
        super().__init__()
        self.loads: list[bool] = []
        self.loaded = Event()
        self.problem = problem

    def load(self) -> None:
        self.loads.append(current_thread() is main_thread())
        self.loaded.set()
        if self.problem:
            raise self.problem

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        assert self.loaded.wait(60)
        if self.problem:
            raise self.problem
        return super().embed(texts, purpose=purpose, progress=progress)


class Reranker:
    """A reranker that notes when it is loaded."""

    def __init__(self) -> None:
        self.loaded = Event()

    def load(self) -> None:
        self.loaded.set()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        assert self.loaded.wait(60)
        return [float(len(text)) for text in texts]


def test_each_model_is_loaded_once_and_not_by_the_caller() -> None:
    embedder, reranker = Heavy(), Reranker()
    with Engine(MemoryStore(), embedder=embedder, reranker=reranker, background=False) as engine:
        assert not embedder.loads
        engine.remember("Alice moved to Stockholm.")
        assert not reranker.loaded.is_set()
        engine.recall("Where does Alice live?")
        engine.recall("Where does Bob live?")
    assert embedder.loads == [False]
    assert reranker.loaded.is_set()


def test_a_process_that_will_embed_loads_the_embedder_while_it_opens_the_memory() -> None:
    given = config.load({}, db=":memory:")
    one, other = Heavy(), Heavy()
    with open_engine(given, embedder=one, ahead=True) as engine:
        engine.remember("Alice moved to Stockholm.")
    assert one.loaded.is_set() and not any(one.loads)
    with open_engine(given, embedder=other):
        assert not other.loads


def test_looking_loads_no_model() -> None:
    embedder, reranker = Heavy(), Reranker()
    with Engine(MemoryStore(), embedder=embedder, reranker=reranker, background=False) as engine:
        assert (engine.list().items, engine.stats().memories, engine.journal()) == ((), 0, [])
    assert not embedder.loads and not reranker.loaded.is_set()


def test_a_recipe_without_a_reranker_does_not_load_one() -> None:
    reranker = Reranker()
    with Engine(MemoryStore(), embedder=FakeEmbedder(), reranker=reranker, background=False) as engine:
        engine.recall("Where does Alice live?", recipe="mnemosyne-hybrid")
    assert reranker.loaded.is_set() is engine.recipes["mnemosyne-hybrid"].uses("reranker")


def test_what_goes_wrong_while_loading_shows_when_the_model_is_used() -> None:
    broken = Heavy(ModelUnavailable("The file is damaged", remedy="Reinstall it."))
    with Engine(MemoryStore(), embedder=broken, background=False) as engine:
        with pytest.raises(ModelUnavailable, match="The file is damaged"):
            engine.remember("Alice moved to Stockholm.")
        assert engine.recall("Where does Alice live?").items == ()
