"""Embedders over HTTP: the part that all vendors share, and the prefixes that models were trained with."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.models.http import Endpoint, RequestRefused
from memorist.ports import Progress, Purpose
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    from memorist.ports import Vector


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The prefixes of a model family. `name` is part of the embedding generation: new prefixes need a new name."""

    name: str
    query: str = ""
    memory: str = ""

    def apply(self, text: str, purpose: Purpose) -> str:
        """The text with its prefix; never empty, because most services refuse empty texts."""
        return ((self.query if purpose == "query" else self.memory) + text) or " "


PLAIN = Prefixes("")

_ENGLISH_SEARCH = "Represent this sentence for searching relevant passages: "
_WEB_SEARCH = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

# The first row whose pattern matches the lower-case model name applies. Sources: the model cards of
# nomic-ai/nomic-embed-text-v1.5, google/embeddinggemma-300m, Qwen/Qwen3-Embedding-0.6B,
# intfloat/multilingual-e5-large(-instruct), BAAI/bge-large-{en,zh}-v1.5,
# mixedbread-ai/mxbai-embed-large-v1 and Snowflake/snowflake-arctic-embed-{l,l-v2.0}.
_FAMILIES: tuple[tuple[str, Prefixes], ...] = (
    (r"nomic-embed-text", Prefixes("nomic", "search_query: ", "search_document: ")),
    (r"embeddinggemma", Prefixes("gemma", "task: search result | query: ", "title: none | text: ")),
    (r"qwen3-embedding", Prefixes("qwen3", _WEB_SEARCH)),
    (r"\be5-.*instruct", Prefixes("e5-instruct", _WEB_SEARCH + " ")),
    (r"\be5-(small|base|large)", Prefixes("e5", "query: ", "passage: ")),
    (r"bge-(small|base|large)-zh", Prefixes("bge-zh", "为这个句子生成表示以用于检索相关文章：")),
    (r"bge-(small|base|large)", Prefixes("bge-en", _ENGLISH_SEARCH)),
    (r"mxbai-embed", Prefixes("mxbai", _ENGLISH_SEARCH)),
    (r"arctic-embed2|arctic-embed-.*v2", Prefixes("arctic2", "query: ")),
    (r"arctic-embed", Prefixes("arctic", _ENGLISH_SEARCH)),
)


def prefixes_for(model: str) -> Prefixes:
    """The prefixes of a model's family; none for a family that needs none or is unknown."""
    name = model.lower()
    return next((found for pattern, found in _FAMILIES if re.search(pattern, name)), PLAIN)


_SHORTEST = 64
_TOO_MUCH_STATUS = (400, 413, 422, 500)
# OpenAI, vLLM, llama.cpp, Ollama, SiliconFlow, DashScope and Voyage each word it differently.
_TOO_MUCH = lazy(
    r"context[ _](length|size|window)|n_ctx|model length|tokens[ _]per[ _](request|submitted batch)"
    r"|too (long|large)|less than \d+ tokens|batch size",
    re.IGNORECASE,
)


def too_much(detail: str) -> bool:
    """Whether a server's error says that a request had too much text or too many texts."""
    return _TOO_MUCH.search(detail) is not None


class RemoteEmbedder(ABC):
    """An embedder over HTTP; a vendor's adapter sends the request and finds the model's revision.

    The generation is `model:revision:dim`, followed by `:prefixes` for a model that uses them. It does not name
    the host: moving a model to another machine keeps a store's vectors valid.
    """

    def __init__(
        self, model: str, endpoint: Endpoint, *, dim: int | None, batch: int, prefixes: Prefixes | None
    ) -> None:
        if not model.strip():
            raise InvalidInput("An embedder needs the name of a model", remedy="Name one, such as nomic-embed-text.")
        if batch < 1 or (dim is not None and dim < 1):
            raise InvalidInput("`batch` and `dim` must be at least 1", remedy="Leave them out for the defaults.")
        self.model = model
        self.prefixes = prefixes_for(model) if prefixes is None else prefixes
        self._endpoint = endpoint
        self._asked_dim = dim
        self._dim = dim
        self._batch = batch

    @property
    def generation(self) -> str:
        """Model, revision, dimension and prefixes; asks the server once for what is unknown."""
        parts = [self.model, self._revision(), str(self.dim), self.prefixes.name]
        return ":".join(part for part in parts if part)

    @property
    def dim(self) -> int:
        """The length of its vectors; determined by embedding one word if it was not given."""
        if self._dim is None:
            self._dim = self.embed(["dimension"], purpose="memory").shape[1]
        return self._dim

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """One row per text, each of length 1; of a text that is too long, only the beginning is embedded."""
        import numpy as np

        ready = [self.prefixes.apply(text, purpose) for text in texts]
        if not ready:
            return np.zeros((0, self.dim), dtype=np.float32)
        parts: list[Vector] = []
        for start in range(0, len(ready), self._batch):
            part = self._fitted(ready[start : start + self._batch])
            parts.append(part)
            if progress is not None:
                progress(len(part))
        return np.concatenate(parts)

    @abstractmethod
    def _revision(self) -> str:
        """A word that distinguishes versions of the model with this name."""

    @abstractmethod
    def _rows(self, texts: list[str]) -> list[object]:
        """The vectors of the answer, in the order of the texts, as decoded from JSON."""

    def _fitted(self, texts: list[str]) -> Vector:
        """Embed the batch; if it is too large, embed its halves, and of a single text its first half."""
        import numpy as np

        try:
            return self._checked(self._rows(texts), len(texts))
        except RequestRefused as refused:
            divisible = len(texts) > 1 or len(texts[0]) >= _SHORTEST
            if refused.status not in _TOO_MUCH_STATUS or not too_much(refused.detail) or not divisible:
                raise
        if len(texts) == 1:
            return self._fitted([texts[0][: len(texts[0]) // 2]])
        middle = len(texts) // 2
        return np.concatenate([self._fitted(texts[:middle]), self._fitted(texts[middle:])])

    def _checked(self, rows: list[object], expected: int) -> Vector:
        if len(rows) != expected:
            raise self._endpoint.invalid(f"sent {len(rows)} vectors for {expected} texts")
        vectors = _unit_rows(rows)
        if vectors is None:
            raise self._endpoint.invalid("sent something other than vectors of numbers")
        if self._dim is None:
            self._dim = vectors.shape[1]
        if vectors.shape[1] != self._dim:
            raise ModelUnavailable(
                f"{self.model} returned vectors of length {vectors.shape[1]} instead of {self._dim}",
                remedy="Leave `dim` out, or choose a length that the model supports.",
            )
        return vectors


def _unit_rows(rows: list[object]) -> Vector | None:
    """The rows divided by their lengths; None if one is not a finite vector or is zero."""
    import numpy as np

    try:
        raw = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if raw.ndim != 2 or raw.shape[1] == 0 or not np.isfinite(raw).all():
        return None
    largest = np.abs(raw).max(axis=1, keepdims=True)
    if not largest.all():
        return None
    scaled = raw / largest  # before squaring, so that no length overflows
    return (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
