"""Worlds for tests of recipes: engines over given memories, vectors chosen by hand, services that count their calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import sqrt
from typing import Any

import numpy as np

from memorist.engine.engine import Engine
from memorist.model import Kind, Link, Memory, Recall, fingerprint
from memorist.models.embedding_text import generation_of
from memorist.ports import Batch, Embedder, Purpose, Reranker, Store
from memorist.recall.data import with_settings
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES
from memorist.remember.entities import about
from memorist.stores.memory import MemoryStore
from memorist.testing.fakes import FakeClock
from tests.recall.worlds import NOW, memory

DIM = 6
TOLERANCE = 2e-3
"""Stores keep vectors as float16, so a cosine is right to about three digits."""


def near(cosine: float, axis: int = 0) -> tuple[float, ...]:
    """A vector of that cosine to an axis (0 is where queries point), and of none to any other axis but the next."""
    row = [0.0] * DIM
    row[axis], row[axis + 1] = cosine, sqrt(1 - cosine**2)
    return tuple(row)


class ChosenEmbedder:
    """Vectors chosen by hand; other queries and other memories each have an axis of their own, so they never meet."""

    dim = DIM

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors
        self.generation = f"chosen:{fingerprint(sorted(vectors.items()))[:8]}:{DIM}"
        self.calls: list[tuple[str, ...]] = []

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: object = None) -> Any:
        if purpose == "query":
            self.calls.append(tuple(texts))
        rows = np.zeros((len(texts), DIM), np.float32)
        for row, text in enumerate(texts):
            chosen = self.vectors.get(text)
            rows[row, DIM - 1 if purpose == "query" else DIM - 2] = 1
            rows[row] = rows[row] if chosen is None else chosen
        return rows


class ChosenReranker:
    """Logits chosen by hand, by text; 0 for any other."""

    def __init__(self, logits: Mapping[str, float] | None = None) -> None:
        self.logits = logits or {}
        self.calls: list[tuple[str, tuple[str, ...]]] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.calls.append((query, tuple(texts)))
        return [self.logits.get(text, 0.0) for text in texts]


class CountingStore:
    """A store that counts the searches of its views by name."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.searches: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def view(self) -> Any:
        return _CountingView(self._store.view(), self.searches)


class _CountingView:
    def __init__(self, view: object, searches: Counter[str]) -> None:
        self._view = view
        self._searches = searches

    def __getattr__(self, name: str) -> Any:
        if name.startswith("search_") or name == "graph":
            self._searches[name] += 1
        return getattr(self._view, name)


def keep(store: Store, memories: Sequence[Memory], embedder: Embedder | None, links: Sequence[Link] = ()) -> None:
    """Write memories as the engine does, with their own ids and links."""
    vectors = {}
    if embedder is not None and memories:
        store.adopt(generation_of(embedder), embedder.dim)
        rows = embedder.embed([memory.text for memory in memories], purpose="memory")
        vectors = {one.id: {"text": row} for one, row in zip(memories, rows, strict=True)}
    entities, mentions = about(memories, store.entities)
    store.put(Batch(memories, vectors, [*links, *mentions], entities))


@contextmanager
def opened(
    *memories: Memory,
    recipe: Pipeline | str = "memorist",
    vectors: Mapping[str, Sequence[float]] | None = None,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    links: Sequence[Link] = (),
    store: Any = None,
    clock: FakeClock | None = None,
) -> Iterator[Engine]:
    """An engine that recalls by one recipe from these memories; its clock stands still."""
    store = MemoryStore("test") if store is None else store
    embedder = ChosenEmbedder(vectors) if vectors is not None else embedder
    keep(store, memories, embedder, links)
    used = RECIPES[recipe] if isinstance(recipe, str) else recipe
    recipes = {**RECIPES, used.name: used}
    clock = clock or FakeClock(NOW)
    with Engine(store, embedder=embedder, reranker=reranker, recipe=used.name, recipes=recipes, clock=clock) as engine:
        yield engine


def tuned(name: str, **settings: Any) -> Pipeline:
    """A recipe with parameters changed, `stage__parameter=value`."""
    return with_settings(RECIPES[name], {path.replace("__", "."): value for path, value in settings.items()})


def node(id: str, kind: Kind = Kind.SEMANTIC, text: str | None = None, **fields: object) -> Memory:
    """A memory without usage, so that mnemosyne-graph scores it by its relevance alone."""
    return memory(id, text or f"{kind} {id}.", kind=kind, **{"usage": None, **fields})


def ids(recall: Recall) -> list[str]:
    return [item.memory.id for item in recall.items]


def scores(recall: Recall) -> dict[str, float]:
    return {item.memory.id: item.score for item in recall.items}


def notes(recall: Recall, stage: str) -> tuple[str, ...]:
    """The remarks of a stage in the trace."""
    return next(step.notes for step in recall.trace.steps if step.stage == stage)


def skipped(recall: Recall, stage: str) -> str | None:
    """Why a stage or signal did not run."""
    return next(step.skipped for step in recall.trace.steps if step.stage == stage)
