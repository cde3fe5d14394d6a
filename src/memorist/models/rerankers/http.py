"""Rerankers over HTTP: one adapter, and a row per service."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Unpack

from memorist.errors import InvalidInput
from memorist.models.http import OLLAMA, SILICONFLOW, Connection, Endpoint, Service, list_member, member

Body = Callable[[str, str, Sequence[str]], dict[str, object]]
"""The request for a model, a query and texts."""
Scores = Callable[[object, int], list[float | None]]
"""The logit of each of n texts in an answer; None for a text that it leaves out."""

_CLIP = 1e-9
_AT_ONCE = 4
_QUERY_LIMIT, _TEXT_LIMIT = 1500, 6000


@dataclass(frozen=True, slots=True)
class Provider:
    """How to send requests to a service and read its answers; a new service is a new row in `PROVIDERS`."""

    service: Service
    path: str
    default_model: str
    body: Body
    scores: Scores
    batch: int = 1000
    timeout: float = 15.0
    no_scores: str = "Check the address and the model's name."


class HttpReranker:
    """A reranking service. Scores are logits: a service's probability p becomes log(p / (1 − p)).

    The recipe applies the logistic function and so recovers p; p is clipped to [10⁻⁹, 1 − 10⁻⁹].
    """

    def __init__(
        self, name: str, model: str | None = None, *, retries: int = 1, **connection: Unpack[Connection]
    ) -> None:
        """`name` is a row of `PROVIDERS`. There are few retries, because a recall waits for the answer."""
        if name not in PROVIDERS:
            raise InvalidInput(f"Unknown reranker {name!r}", remedy=f"Choose one of {', '.join(PROVIDERS)}.")
        self._provider = provider = PROVIDERS[name]
        self.model = model or provider.default_model
        connection.setdefault("timeout", provider.timeout)
        self._endpoint = Endpoint(provider.service, self.model, retries=retries, **connection)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """A logit per text; a text that the service leaves out gets the lowest logit of the others."""
        batch = self._provider.batch
        parts = [texts[start : start + batch] for start in range(0, len(texts), batch)]
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            answers = list(pool.map(partial(self._ask, query), parts))
        found = [score for answer in answers for score in answer]
        given = [score for score in found if score is not None]
        if texts and not given:
            raise self._endpoint.unusable("sent no relevance scores", remedy=self._provider.no_scores)
        return [min(given) if score is None else score for score in found]

    def _ask(self, query: str, texts: Sequence[str]) -> list[float | None]:
        written = [text or " " for text in texts]  # services refuse an empty document
        body = self._provider.body(self.model, query or " ", written)
        return self._provider.scores(self._endpoint.post(self._provider.path, body), len(texts))


def logit(probability: float) -> float:
    """log(p / (1 − p)), with p clipped to stay finite."""
    clipped = min(max(probability, _CLIP), 1.0 - _CLIP)
    return math.log(clipped / (1.0 - clipped))


def _results(array: str, score: str) -> Scores:
    """Scores from an array of results, each with the `index` of its text and a probability."""

    def read(answer: object, n: int) -> list[float | None]:
        scores: list[float | None] = [None] * n
        for result in list_member(answer, array) or []:
            place, value = member(result, "index"), member(result, score)
            if isinstance(place, int) and 0 <= place < n and isinstance(value, int | float):
                scores[place] = logit(value) if math.isfinite(value) else None
        return scores

    return read


def _documents(model: str, query: str, texts: Sequence[str]) -> dict[str, object]:
    return {
        "model": model,
        "query": query,
        "documents": list(texts),
        "top_n": len(texts),
        "return_documents": False,
    }


def _voyage(model: str, query: str, texts: Sequence[str]) -> dict[str, object]:
    body = _documents(model, query, texts)
    most = body.pop("top_n")
    return {**body, "top_k": most, "truncation": True}


def _pinecone(model: str, query: str, texts: Sequence[str]) -> dict[str, object]:
    body = {**_documents(model, query, texts), "documents": [{"text": text} for text in texts]}
    # Cohere's model truncates by itself and refuses the parameter.
    return body if model.startswith("cohere") else {**body, "parameters": {"truncate": "END"}}


def _pinecone_headers(key: str | None) -> dict[str, str]:
    return {"x-pinecone-api-version": "2025-10", **({"api-key": key} if key else {})}


def _judgement(model: str, query: str, texts: Sequence[str]) -> dict[str, object]:
    """Qwen3-Reranker's own prompt, up to the point where the next word is "yes" or "no"."""
    # "<|" would let a text end the prompt and answer for the model.
    query, text = query[-_QUERY_LIMIT:].replace("<|", "< |"), texts[0][:_TEXT_LIMIT].replace("<|", "< |")
    prompt = (
        "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the "
        'Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
        "<Instruct>: Given a web search query, retrieve relevant passages that answer the query\n"
        f"<Query>: {query}\n<Document>: {text}<|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )
    return {
        "model": model,
        "prompt": prompt,
        "raw": True,
        "stream": False,
        "logprobs": True,
        "top_logprobs": 20,
        "options": {"num_predict": 1, "num_ctx": 8192, "temperature": 0},
    }


def _yes_or_no(answer: object, n: int) -> list[float | None]:
    """log P(yes) − log P(no) of the next word: the logit that Qwen3-Reranker's model card defines.

    A word that is not among the most likely ones gets the lowest probability among them, an upper bound.
    """
    first = next(iter(list_member(answer, "logprobs") or []), None)
    chances: dict[str, float] = {}
    least = math.inf
    for choice in list_member(first, "top_logprobs") or []:
        token, value = member(choice, "token"), member(choice, "logprob")
        if isinstance(token, str) and isinstance(value, int | float):
            word, chance = token.strip().lower(), math.exp(max(-700.0, min(value, 0.0)))
            chances[word] = chances.get(word, 0.0) + chance
            least = min(least, chance)
    if "yes" not in chances and "no" not in chances:
        return [None] * n
    return [logit(chances.get("yes", least) / (chances.get("yes", least) + chances.get("no", least)))]


_RESULTS = _results("results", "relevance_score")

PROVIDERS: Mapping[str, Provider] = {
    # Jina's API reference (api.jina.ai/redoc), tag "rerank".
    "jina": Provider(
        Service("https://api.jina.ai/v1", "JINA_API_KEY"),
        "/rerank",
        "jina-reranker-v2-base-multilingual",
        _documents,
        _RESULTS,
    ),
    # Voyage's API reference, page "Rerankers".
    "voyage": Provider(
        Service("https://api.voyageai.com/v1", "VOYAGE_API_KEY"),
        "/rerank",
        "rerank-2.5",
        _voyage,
        _results("data", "relevance_score"),
    ),
    # SiliconFlow's API reference, page "Create rerank".
    "siliconflow": Provider(SILICONFLOW, "/rerank", "BAAI/bge-reranker-v2-m3", _documents, _RESULTS),
    # Pinecone's API reference 2025-10, page "Rerank results"; its models take 100 texts.
    "pinecone": Provider(
        Service("https://api.pinecone.io", "PINECONE_API_KEY", _pinecone_headers),
        "/rerank",
        "bge-reranker-v2-m3",
        _pinecone,
        _results("data", "score"),
        batch=100,
    ),
    # Ollama has no reranking endpoint (its issue 3368 is open). Since 0.12.11 "Generate a response" gives
    # log-probabilities, which is all that Qwen3-Reranker needs; one request per text.
    "ollama": Provider(
        OLLAMA,
        "/api/generate",
        "dengcao/Qwen3-Reranker-0.6B:Q8_0",
        _judgement,
        _yes_or_no,
        batch=1,
        timeout=60.0,
        no_scores="Update Ollama to 0.12.11 or newer, and use a model of the Qwen3-Reranker family.",
    ),
}
