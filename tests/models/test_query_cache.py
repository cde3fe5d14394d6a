from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memorist.errors import InvalidInput
from memorist.models.embedders.cache import CachedEmbedder
from memorist.ports import Progress, Purpose

if TYPE_CHECKING:
    from memorist.ports import Vector


class Counting:
    """Gives each text its length as a vector, and remembers what it was asked."""

    generation = "counting:0:1"
    dim = 1

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        self.asked.append(tuple(texts))
        if progress is not None:
            progress(len(texts))
        return np.array([[len(text)] for text in texts], dtype=np.float32)


def test_a_query_is_embedded_once() -> None:
    within = Counting()
    cached = CachedEmbedder(within)
    done: list[int] = []
    first = cached.embed(["tea"], purpose="query", progress=done.append)
    first[:] = -1  # a caller may spoil its own rows
    again = cached.embed(["tea"], purpose="query", progress=done.append)
    assert again.tolist() == [[3]]
    assert within.asked == [("tea",)]
    assert done == [1, 1]


def test_memories_and_several_queries_pass_through() -> None:
    within = Counting()
    cached = CachedEmbedder(within)
    for _ in range(2):
        cached.embed(["tea"], purpose="memory")
        cached.embed(["tea", "milk"], purpose="query")
    assert within.asked == [("tea",), ("tea", "milk")] * 2


def test_the_query_unused_longest_is_dropped() -> None:
    within = Counting()
    cached = CachedEmbedder(within, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed([text], purpose="query")
    assert within.asked == [("a",), ("b",), ("c",), ("b",)]


def test_threads_share_it() -> None:
    cached = CachedEmbedder(Counting(), size=3)
    texts = ["x" * (number % 7) for number in range(400)]
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda text: cached.embed([text], purpose="query"), texts))
    assert [int(row[0, 0]) for row in rows] == [len(text) for text in texts]


def test_it_speaks_for_the_embedder_within() -> None:
    cached = CachedEmbedder(Counting())
    assert (cached.generation, cached.dim) == ("counting:0:1", 1)


def test_a_cache_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="less than 1"):
        CachedEmbedder(Counting(), size=0)
