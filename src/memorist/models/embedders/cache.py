"""A cache of query vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from memorist.errors import InvalidInput
from memorist.ports import Embedder, Progress, Purpose
from memorist.ports.models import load_ahead

if TYPE_CHECKING:
    from memorist.ports import Vector


class CachedEmbedder:
    """Any embedder with a cache of the last queries; thread-safe."""

    def __init__(self, embedder: Embedder, size: int = 256) -> None:
        if size < 1:
            raise InvalidInput("The size of the query cache is less than 1", remedy="Use the embedder without a cache.")
        self.embedder = embedder
        self._query = lru_cache(size)(self._embed_query)

    @property
    def generation(self) -> str:
        """The generation of the wrapped embedder."""
        return self.embedder.generation

    @property
    def dim(self) -> int:
        """The dimension of the vectors."""
        return self.embedder.dim

    def load(self) -> None:
        """Load the wrapped embedder."""
        load_ahead(self.embedder)

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """As the wrapped embedder; only single queries are cached."""
        if purpose != "query" or len(texts) != 1:
            return self.embedder.embed(texts, purpose=purpose, progress=progress)
        vector = self._query(texts[0])
        if progress is not None:
            progress(1)
        return vector.copy()  # the caller may modify the rows

    def _embed_query(self, text: str) -> Vector:
        return self.embedder.embed([text], purpose="query")
