"""Embedders of OpenAI-compatible servers and of Ollama."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from memorist.errors import ModelUnavailable
from memorist.models.embedders.remote import EmbeddingService, RemoteEmbedder
from memorist.models.http import LLAMACPP, LMSTUDIO, OLLAMA, OPENAI, SILICONFLOW, VLLM, list_member, member

PRESETS = {
    "openai": EmbeddingService(OPENAI, example="text-embedding-3-small"),
    "siliconflow": EmbeddingService(SILICONFLOW, 32, "BAAI/bge-m3"),
    "lmstudio": EmbeddingService(LMSTUDIO),
    "vllm": EmbeddingService(VLLM, example="BAAI/bge-m3"),
    "llamacpp": EmbeddingService(LLAMACPP),
}


class OpenAIEmbedder(RemoteEmbedder):
    """`POST /embeddings` as in OpenAI's API reference, page "Create embeddings".

    A remote model shows no checksum, so its revision is the word `remote`: if a service changes a model
    under the same name, we cannot notice it.
    """

    default = PRESETS["openai"]
    path = "/embeddings"
    parameters: ClassVar[Mapping[str, object]] = {"encoding_format": "float"}
    rows = "data"

    def _revision(self) -> str:
        return "remote"

    def _in_order(self, data: list[object]) -> list[object]:
        """The vectors sorted by `index`; a server that leaves all of them out answers in order."""
        places = [member(item, "index") for item in data]
        rows = [member(item, "embedding") for item in data]
        if all(place is None for place in places):
            return rows
        by_place = dict(zip(places, rows, strict=True))
        if set(by_place) != set(range(len(data))):
            raise self._endpoint.unusable("sent wrong vector indexes")
        return [by_place[place] for place in range(len(data))]


class OllamaEmbedder(RemoteEmbedder):
    """`POST /api/embed` as in Ollama's API reference, page "Generate embeddings".

    The revision is the start of the model's digest, from page "List models", so that a `pull` that
    changes the model also changes the generation.
    """

    path = "/api/embed"
    parameters: ClassVar[Mapping[str, object]] = {"truncate": True}
    rows = "embeddings"
    default = EmbeddingService(OLLAMA, batch=64, timeout=120.0)  # leaves time to load the model

    def __init__(self, model: str = "nomic-embed-text", **options: Any) -> None:
        """The options of `RemoteEmbedder`; a key is for an Ollama behind a proxy."""
        super().__init__(model.removesuffix(":latest"), **options)

    def _revision(self) -> str:
        return self._digest

    @cached_property
    def _digest(self) -> str:
        for model in list_member(self._endpoint.get("/api/tags"), "models") or []:
            name, digest = member(model, "name"), member(model, "digest")
            if isinstance(name, str) and isinstance(digest, str) and _same(name, self.model):
                return digest.removeprefix("sha256:")[:12]
        raise ModelUnavailable(f"Ollama has no model {self.model}", remedy=OLLAMA.not_found.format(model=self.model))


def _same(listed_name: str, asked: str) -> bool:
    return listed_name.removesuffix(":latest").lower() == asked.lower()
