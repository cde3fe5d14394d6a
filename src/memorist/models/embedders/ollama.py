"""Embedders of Ollama."""

from __future__ import annotations

import time
from collections.abc import Callable

from memorist.errors import ModelUnavailable
from memorist.models.embedders.prefixes import Prefixes
from memorist.models.embedders.remote import RemoteEmbedder, too_much
from memorist.models.http import Endpoint, bearer, find_key, listed, member

URL = "http://localhost:11434"
UNREACHABLE = "Start it with `ollama serve`, or check the address."


def pull(model: str) -> str:
    """What to do about a model that Ollama does not have."""
    return f"Fetch it with `ollama pull {model}`."


class OllamaEmbedder(RemoteEmbedder):
    """`POST /api/embed` as in Ollama's API reference, page "Generate embeddings".

    The revision is the start of the model's digest, from page "List models", so that a `pull` that
    changes the model changes the generation.
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
        """A key is for an Ollama behind a proxy; the time-out leaves room for loading the model."""
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
