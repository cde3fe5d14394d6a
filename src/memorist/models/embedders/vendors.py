"""Embedders of OpenAI-compatible servers and of Ollama."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from memorist.errors import ModelUnavailable
from memorist.models.embedders.remote import Prefixes, RemoteEmbedder, too_much
from memorist.models.http import Endpoint, bearer, find_key, listed, member


@dataclass(frozen=True, slots=True)
class Preset:
    """A service: its address, the variable with its key, and how many texts it accepts at once."""

    url: str
    key_env: str | None = None
    batch: int = 128
    example: str = "nomic-embed-text-v1.5"


PRESETS = {
    "openai": Preset("https://api.openai.com/v1", "OPENAI_API_KEY", example="text-embedding-3-small"),
    "siliconflow": Preset("https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY", 32, "BAAI/bge-m3"),
    "lmstudio": Preset("http://localhost:1234/v1"),
    "vllm": Preset("http://localhost:8000/v1", example="BAAI/bge-m3"),
    "llamacpp": Preset("http://localhost:8080/v1"),
}


class OpenAIEmbedder(RemoteEmbedder):
    """`POST /embeddings` as in OpenAI's API reference, page "Create embeddings".

    A remote model shows no checksum, so its revision is the word `remote`: if a service changes a model
    under the same name, we cannot notice it.
    """

    def __init__(
        self,
        model: str,
        *,
        url: str = PRESETS["openai"].url,
        key: str | None = None,
        key_env: str | None = "OPENAI_API_KEY",
        dim: int | None = None,
        batch: int = 128,
        timeout: float = 60.0,
        prefixes: Prefixes | None = None,
        extra: str = "openai",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`dim` requests shorter vectors, which not every model supports; None means the model's own length."""
        endpoint = Endpoint(
            url,
            extra=extra,
            headers=bearer(find_key(key, key_env)),
            key_env=key_env,
            timeout=timeout,
            permanent=too_much,
            sleep=sleep,
        )
        super().__init__(model, endpoint, dim=dim, batch=batch, prefixes=prefixes)

    def _revision(self) -> str:
        return "remote"

    def _rows(self, texts: list[str]) -> list[object]:
        body: dict[str, object] = {"model": self.model, "input": texts, "encoding_format": "float"}
        if self._asked_dim is not None:
            body["dimensions"] = self._asked_dim
        data = listed(self._endpoint.post("/embeddings", body), "data")
        if data is None:
            raise self._endpoint.invalid("sent no embeddings")
        return self._in_order(data)

    def _in_order(self, data: list[object]) -> list[object]:
        """The vectors sorted by `index`; a server that leaves all of them out answers in order."""
        places = [member(item, "index") for item in data]
        rows = [member(item, "embedding") for item in data]
        if all(place is None for place in places):
            return rows
        by_place = dict(zip(places, rows, strict=True))
        if set(by_place) != set(range(len(data))):
            raise self._endpoint.invalid("sent wrong vector indexes")
        return [by_place[place] for place in range(len(data))]


URL = "http://localhost:11434"
UNREACHABLE = "Start it with `ollama serve`, or check the address."


def pull(model: str) -> str:
    """The remedy for a model that Ollama does not have."""
    return f"Fetch it with `ollama pull {model}`."


class OllamaEmbedder(RemoteEmbedder):
    """`POST /api/embed` as in Ollama's API reference, page "Generate embeddings".

    The revision is the start of the model's digest, from page "List models", so that a `pull` that
    changes the model also changes the generation.
    """

    def __init__(
        self,
        model: str = "nomic-embed-text",
        *,
        url: str = URL,
        key: str | None = None,
        key_env: str | None = None,
        dim: int | None = None,
        batch: int = 64,
        timeout: float = 120.0,
        prefixes: Prefixes | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """A key is for an Ollama behind a proxy. The time-out leaves time to load the model."""
        endpoint = Endpoint(
            url,
            extra="ollama",
            headers=bearer(find_key(key, key_env)),
            key_env=key_env,
            timeout=timeout,
            remedies={404: pull(model)},
            unreachable=UNREACHABLE,
            permanent=too_much,
            sleep=sleep,
        )
        super().__init__(model.removesuffix(":latest"), endpoint, dim=dim, batch=batch, prefixes=prefixes)
        self._digest: str | None = None

    def _revision(self) -> str:
        if self._digest is None:
            self._digest = self._find_digest()
        return self._digest

    def _find_digest(self) -> str:
        for model in listed(self._endpoint.get("/api/tags"), "models") or []:
            name, digest = member(model, "name"), member(model, "digest")
            if isinstance(name, str) and isinstance(digest, str) and _same(name, self.model):
                return digest.removeprefix("sha256:")[:12]
        raise ModelUnavailable(f"Ollama has no model {self.model}", remedy=pull(self.model))

    def _rows(self, texts: list[str]) -> list[object]:
        body: dict[str, object] = {"model": self.model, "input": texts, "truncate": True}
        if self._asked_dim is not None:
            body["dimensions"] = self._asked_dim
        rows = listed(self._endpoint.post("/api/embed", body), "embeddings")
        if rows is None:
            raise self._endpoint.invalid("sent no embeddings")
        return rows


def _same(listed_name: str, asked: str) -> bool:
    return listed_name.removesuffix(":latest").lower() == asked.lower()
