"""Shared by all groups of tests: a new store per test, and helpers to fill and query it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from memorist.model import Filter, Hit, Memory
from memorist.ports import Batch, Store, View
from memorist.testing.fakes import FakeEmbedder

ALL = Filter()
EMBEDDER = FakeEmbedder()


class StoreCase(ABC):
    """A group of tests over the store that `make_store` returns."""

    shared: ClassVar[bool] = True
    """Whether two handles with the same folder and name share one store."""

    @abstractmethod
    def make_store(self, folder: Path, name: str = "space") -> Store:
        """A store named `name` that keeps its files below `folder`."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """An empty store."""
        store = self.make_store(tmp_path)
        yield store
        store.close()


def put(store: Store, *memories: Memory) -> list[Memory]:
    """Write memories without vectors."""
    return store.put(Batch(memories))


def put_embedded(store: Store, *memories: Memory) -> list[Memory]:
    """Write memories with the fake embedder's vectors."""
    store.adopt(EMBEDDER.generation, EMBEDDER.dim)
    rows = EMBEDDER.embed([memory.text for memory in memories], purpose="memory")
    vectors = {one.id: {"text": row} for one, row in zip(memories, rows, strict=True)}
    return store.put(Batch(memories, vectors))


def ids(found: Iterable[Hit | Memory]) -> list[str]:
    """The ids, in order."""
    return [hit.id for hit in found]


def everything(store: Store) -> list[Memory]:
    """All memories of a listing, including versions."""
    return list(store.scan(ALL, 10_000).items)


@dataclass(frozen=True, slots=True)
class SearchMethod:
    """One way to search a view for a text."""

    name: str
    run: Callable[[View, str, Filter, int], Sequence[Hit]]


def _by_vector(view: View, text: str, where: Filter, limit: int) -> Sequence[Hit]:
    return view.search_vector(EMBEDDER.embed([text], purpose="query"), where, limit)


WORD_SEARCHES = (
    SearchMethod("text", lambda view, text, where, limit: view.search_text(text, where, limit)),
    SearchMethod("trigram", lambda view, text, where, limit: view.search_trigram(text, where, limit)),
    SearchMethod("substring", lambda view, text, where, limit: view.search_substring(text, where, limit)),
)
SEARCHES = (*WORD_SEARCHES, SearchMethod("vector", _by_vector))
every_search = pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
every_word_search = pytest.mark.parametrize("search", WORD_SEARCHES, ids=lambda search: search.name)
