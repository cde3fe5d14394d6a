"""An embedder as one store uses it: never mixing vectors of two models."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from recollect.errors import EmbeddingMismatch
from recollect.model import Memory
from recollect.ports import Embedder, Progress, Purpose, Store, Vectors

if TYPE_CHECKING:
    from recollect.ports import Vector

logger = logging.getLogger("recollect")


class StoreEmbedder:
    """The embedder that made a store's vectors, or the given one for a store that has none."""

    def __init__(self, given: Embedder, store: Store) -> None:
        self._given = given
        self._store = store

    @cached_property
    def _embedder(self) -> Embedder:
        """Decided at the first use, because a remote model must be asked for its dimension."""
        stored = self._store.embedding
        if stored is None or stored == self._given.generation:
            return self._given
        from recollect.models.embedders import installed

        found = installed(stored)
        if found is None:
            raise EmbeddingMismatch(
                f"Space {self._store.space!r} has vectors of {stored!r}, not of {self._given.generation!r}",
                remedy="Open it with that embedder or with embedder='none', or run `recollect reembed`.",
            )
        logger.warning("space %r keeps its own embedder %s", self._store.space, stored)
        return found

    @property
    def generation(self) -> str:
        """The generation of the embedder in use."""
        return self._embedder.generation

    @property
    def dim(self) -> int:
        """The length of its vectors."""
        return self._embedder.dim

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """One row per text."""
        return self._embedder.embed(texts, purpose=purpose, progress=progress)

    def vectors(self, memories: Sequence[Memory]) -> dict[str, Vectors]:
        """Vectors of the memories that need them, by id and view; known ones cost nothing."""
        ids = [memory.id for memory in memories]
        known, embedded = self._store.get(ids), self._store.embedded(ids)
        new = [one for one in memories if one.id not in embedded or known[one.id].text != one.text]
        if not new:
            return {}
        rows = self.embed([memory.text for memory in new], purpose="memory")
        self._store.adopt(self.generation, self.dim)
        return {memory.id: {"text": row} for memory, row in zip(new, rows, strict=True)}
