"""Small worlds for tests of recall."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime

from memorist.model import Candidate, Filter, Found, Hit, Memory, Query, RecallRequest, Times
from memorist.models.embedding_text import generation_of
from memorist.ports import Batch, Embedder
from memorist.recall.stage import Draft, Env
from memorist.stores.memory import MemoryStore

NOW = datetime(2024, 7, 1, tzinfo=UTC)


def memory(id: str, text: str = "something", at: datetime = NOW, **fields: object) -> Memory:
    return Memory(id=id, text=text, times=Times(valid_from=at, ingested_at=at), **fields)  # pyright: ignore[reportArgumentType]


def request(query: str = "a question", **fields: object) -> RecallRequest:
    return RecallRequest(query, NOW, **fields)  # pyright: ignore[reportArgumentType]


def draft(
    candidates: Sequence[Candidate] = (),
    found: Mapping[str, Sequence[tuple[str, float]]] | None = None,
    **fields: object,
) -> Draft:
    asked = request(**fields)
    results = {name: Found(tuple(Hit(*hit) for hit in hits)) for name, hits in (found or {}).items()}
    return Draft(asked, Query(asked.query), found=results, candidates=tuple(candidates))


@contextmanager
def world(*memories: Memory, embedder: Embedder | None = None) -> Iterator[Env]:
    """An environment over a store with these memories."""
    store = MemoryStore("test")
    vectors = {}
    if embedder is not None and memories:
        store.adopt(generation_of(embedder), embedder.dim)
        rows = embedder.embed([memory.text for memory in memories], purpose="memory")
        vectors = {one.id: {"text": row} for one, row in zip(memories, rows, strict=True)}
    store.put(Batch(memories=memories, vectors=vectors))
    with ThreadPoolExecutor() as pool:
        yield Env(store=store, view=store.view(), pool=pool, embedder=embedder)


EVERYTHING = Filter()
