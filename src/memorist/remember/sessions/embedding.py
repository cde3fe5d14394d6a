"""Vectors of what a session leaves, where there is an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memorist.ports import Embedded, Embedder, Store, Vectors

if TYPE_CHECKING:
    from memorist.ports import Vector


class Embedding:
    """An embedder and the store that keeps its vectors; without an embedder it gives none."""

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self._store = store
        self._embedder = embedder

    def rows(self, texts: Sequence[str]) -> Vector | None:
        """A row per text; the store then knows what made them."""
        if self._embedder is None or not texts:
            return None
        rows = self._embedder.embed(texts, purpose="memory")
        self._store.adopt(self._embedder.generation, self._embedder.dim)
        return rows

    def views(self, text: str) -> Vectors:
        """The vectors of one text."""
        rows = self.rows([text])
        return {} if rows is None else self.made({"text": rows[0]})

    def made(self, views: Vectors) -> Vectors:
        """Vectors that tell who made them, so that a store re-embedded meanwhile refuses them."""
        return views if self._embedder is None else Embedded(self._embedder.generation, views)

    def missing(self, ids: Sequence[str]) -> list[str]:
        """Which of these memories have no vector though there is an embedder."""
        if self._embedder is None:
            return []
        having = self._store.embedded(ids)
        return [id for id in ids if id not in having]
