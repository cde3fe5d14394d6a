"""Embeddings of recent queries, kept in memory; and the key under which any cache keeps an embedding."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from memorist.errors import InvalidInput
from memorist.ports import Embedder, Progress, Purpose

if TYPE_CHECKING:
    from memorist.ports import Vector


def embedding_key(text: str, purpose: Purpose) -> bytes:
    """The key of a text's embedding: a digest, so that a cache does not hold long texts."""
    return sha256(f"{purpose}\0{text}".encode("utf-8", "surrogatepass")).digest()


class CachedEmbedder:
    """Any embedder, with a cache of the most recent queries' vectors. Safe to share between threads."""

    def __init__(self, embedder: Embedder, size: int = 256) -> None:
        if size < 1:
            raise InvalidInput(
                "The size of a query cache must be at least 1", remedy="Use the embedder without a cache."
            )
        self.embedder = embedder
        self._size = size
        self._lock = Lock()
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()

    @property
    def generation(self) -> str:
        """The generation of the embedder inside."""
        return self.embedder.generation

    @property
    def dim(self) -> int:
        """The length of its vectors."""
        return self.embedder.dim

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """Like the embedder inside; only single queries are cached."""
        if purpose != "query" or len(texts) != 1:
            return self.embedder.embed(texts, purpose=purpose, progress=progress)
        key = embedding_key(texts[0], purpose)
        known = self._cached(key)
        if known is None:
            known = self.embedder.embed(texts, purpose=purpose)
            self._keep(key, known)
        if progress is not None:
            progress(1)
        return known.copy()  # the caller may change its rows

    def _cached(self, key: bytes) -> Vector | None:
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
            return self._vectors.get(key)

    def _keep(self, key: bytes, vector: Vector) -> None:
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            if len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
