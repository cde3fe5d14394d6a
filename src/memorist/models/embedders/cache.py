"""Queries that are asked again need no second embedding."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from memorist.errors import InvalidInput
from memorist.ports import Embedder, Progress, Purpose

if TYPE_CHECKING:
    from memorist.ports import Vector


class CachedEmbedder:
    """Any embedder, remembering the vectors of the queries asked last; safe to share between threads."""

    def __init__(self, embedder: Embedder, size: int = 256) -> None:
        if size < 1:
            raise InvalidInput("A cache of queries holds at least 1", remedy="Use the embedder without a cache.")
        self.embedder = embedder
        self._size = size
        self._lock = Lock()
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    @property
    def generation(self) -> str:
        """That of the embedder within."""
        return self.embedder.generation

    @property
    def dim(self) -> int:
        """The length of its vectors."""
        return self.embedder.dim

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """As the embedder within; only a single query is looked up and kept."""
        if purpose != "query" or len(texts) != 1:
            return self.embedder.embed(texts, purpose=purpose, progress=progress)
        known = self._recall(texts[0])
        if known is None:
            known = self.embedder.embed(texts, purpose=purpose)
            self._keep(texts[0], known)
        if progress is not None:
            progress(1)
        return known.copy()  # the caller may change its rows

    def _recall(self, text: str) -> Vector | None:
        with self._lock:
            if text in self._vectors:
                self._vectors.move_to_end(text)
            return self._vectors.get(text)

    def _keep(self, text: str, vector: Vector) -> None:
        with self._lock:
            self._vectors[text] = vector
            self._vectors.move_to_end(text)
            if len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
