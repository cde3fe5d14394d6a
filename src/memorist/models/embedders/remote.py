"""Embedders behind HTTP: the code that the vendors share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Unpack

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.models.embedders.prefixes import Prefixes, prefixes_for
from memorist.models.http import Connection, Endpoint, RequestRefused, Service, list_member
from memorist.ports import Progress, Purpose
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    from memorist.ports import Vector


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


@dataclass(frozen=True, slots=True)
class EmbeddingService:
    """A service, how many texts it accepts at once, its time-out in seconds, and the name of a model."""

    service: Service
    batch: int = 128
    example: str = "nomic-embed-text-v1.5"
    timeout: float = 60.0


class RemoteEmbedder(ABC):
    """An embedder over HTTP; a vendor's adapter names the path, its parameters and the array of rows.

    The generation is `model:revision:dim`, followed by `:prefixes` for a model that uses them. It does not name
    the host: moving a model to another machine keeps a store's vectors valid.
    """

    default: ClassVar[EmbeddingService]
    path: ClassVar[str]
    parameters: ClassVar[Mapping[str, object]]
    rows: ClassVar[str]

    def __init__(
        self,
        model: str,
        preset: EmbeddingService | None = None,
        *,
        dim: int | None = None,
        batch: int | None = None,
        prefixes: Prefixes | None = None,
        **connection: Unpack[Connection],
    ) -> None:
        """`dim` requests shorter vectors, which not every model supports; None means the model's own length."""
        if not model.strip():
            raise InvalidInput("An embedder needs the name of a model", remedy="Name one, such as nomic-embed-text.")
        preset = preset or self.default
        self._batch = preset.batch if batch is None else batch
        if self._batch < 1 or (dim is not None and dim < 1):
            raise InvalidInput("`batch` and `dim` must be at least 1", remedy="Leave them out for the defaults.")
        connection.setdefault("timeout", preset.timeout)
        self.model = model
        self.prefixes = prefixes_for(model) if prefixes is None else prefixes
        self._endpoint = Endpoint(preset.service, model, permanent=too_much, **connection)
        self._asked_dim = self._dim = dim

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

    def _in_order(self, data: list[object]) -> list[object]:
        """The vectors of an answer in the order of the texts."""
        return data

    def _ask(self, texts: list[str]) -> Vector:
        body: dict[str, object] = {"model": self.model, "input": texts, **self.parameters}
        if self._asked_dim is not None:
            body["dimensions"] = self._asked_dim
        found = list_member(self._endpoint.post(self.path, body), self.rows)
        if found is None:
            raise self._endpoint.unusable("sent no embeddings")
        return self._checked(self._in_order(found), len(texts))

    def _fitted(self, texts: list[str]) -> Vector:
        """Embed the batch; if it is too large, embed its halves, and of a single text its first half."""
        import numpy as np

        try:
            return self._ask(texts)
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
            raise self._endpoint.unusable(f"sent {len(rows)} vectors for {expected} texts")
        vectors = _unit_rows(rows)
        if vectors is None:
            raise self._endpoint.unusable("sent something other than vectors of numbers")
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
