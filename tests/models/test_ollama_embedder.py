from __future__ import annotations

import socket
from collections.abc import Iterator

import numpy as np
import pytest

from memorist.errors import ModelUnavailable
from memorist.models.embedders.vendors import OllamaEmbedder
from tests.models.scripted_server import Answer, Request, ScriptedServer

DIGEST = "0a109f422b47e3a30ba2b10eca18548e944e8a23073ee3f3e947efcf3c45e59f"
TAGS = {
    "models": [
        {"name": "llama3.2:latest", "model": "llama3.2:latest", "digest": "f" * 64, "size": 1},
        {"name": "nomic-embed-text:latest", "model": "nomic-embed-text:latest", "digest": DIGEST, "size": 2},
        {"name": "qwen3-embedding:0.6b", "model": "qwen3-embedding:0.6b", "digest": "sha256:" + "a" * 64},
    ]
}


def ollama(request: Request) -> Answer:
    if request.method == "GET" and request.path == "/api/tags":
        return Answer(TAGS)
    rows = [[float(len(text)), 1.0] for text in request.json["input"]]
    return Answer({"model": request.json["model"], "embeddings": rows, "prompt_eval_count": 8})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ScriptedServer() as server:
        server.default = ollama
        yield server


def embedder(server: ScriptedServer, model: str = "nomic-embed-text", **options: object) -> OllamaEmbedder:
    options = {"url": server.url, "sleep": lambda _: None, **options}
    return OllamaEmbedder(model, **options)  # pyright: ignore[reportArgumentType]


def test_the_request_is_what_ollama_documents(server: ScriptedServer) -> None:
    found = embedder(server).embed(["Why is the sky blue?", "天空为什么是蓝色的"], purpose="memory")
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/api/embed")
    assert "authorization" not in request.headers
    assert request.json == {
        "model": "nomic-embed-text",
        "input": ["search_document: Why is the sky blue?", "search_document: 天空为什么是蓝色的"],
        "truncate": True,
    }
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(found[:, 0] / found[:, 1], [37, 26], rtol=1e-4)


def test_a_query_reads_the_query_prefix(server: ScriptedServer) -> None:
    embedder(server).embed(["blue?"], purpose="query")
    assert server.bodies[0]["input"] == ["search_query: blue?"]


def test_the_generation_holds_the_digest_of_the_model(server: ScriptedServer) -> None:
    model = embedder(server)
    assert model.generation == "nomic-embed-text:0a109f422b47:2:nomic"
    assert model.generation == model.generation
    assert [request.path for request in server.requests] == ["/api/tags", "/api/embed"]


@pytest.mark.parametrize(
    ("model", "generation"),
    [
        ("nomic-embed-text:latest", "nomic-embed-text:0a109f422b47:2:nomic"),
        ("qwen3-embedding:0.6b", "qwen3-embedding:0.6b:aaaaaaaaaaaa:2:qwen3"),
    ],
)
def test_a_tag_is_part_of_the_name_unless_it_is_latest(server: ScriptedServer, model: str, generation: str) -> None:
    assert embedder(server, model).generation == generation


def test_a_pull_that_changes_the_model_changes_the_generation(server: ScriptedServer) -> None:
    before = embedder(server, dim=2).generation
    server.script = [Answer({"models": [{"name": "nomic-embed-text:latest", "digest": "b" * 64}]})]
    assert embedder(server, dim=2).generation != before


def test_a_model_that_is_not_listed_says_how_to_fetch_it(server: ScriptedServer) -> None:
    with pytest.raises(ModelUnavailable, match="no model bge-m3") as caught:
        _ = embedder(server, "bge-m3", dim=2).generation
    assert caught.value.remedy == "Fetch it with `ollama pull bge-m3`."


def test_a_model_not_found_says_how_to_fetch_it(server: ScriptedServer) -> None:
    words = {"error": 'model "nomic-embed-text" not found, try pulling it first'}
    server.default = Answer(words, status=404)
    with pytest.raises(ModelUnavailable, match="ollama pull nomic-embed-text"):
        embedder(server).embed(["a"], purpose="memory")
    assert len(server.requests) == 1


def test_a_server_that_is_not_running_says_how_to_start_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ModelUnavailable, match="ollama serve"):
            OllamaEmbedder(url=url, sleep=lambda _: None).embed(["a"], purpose="memory")


def test_a_length_asked_for_is_sent(server: ScriptedServer) -> None:
    embedder(server, dim=2).embed(["a"], purpose="memory")
    assert server.bodies[0]["dimensions"] == 2


def test_a_text_too_long_counts_by_its_beginning(server: ScriptedServer) -> None:
    def strict(request: Request) -> Answer:
        if any(len(text) > 200 for text in request.json["input"]):
            return Answer({"error": "the input length exceeds the context length"}, status=400)
        return ollama(request)

    server.default = strict
    found = embedder(server, "all-minilm").embed(["x" * 700, "short"], purpose="memory")
    np.testing.assert_allclose(found[:, 0] / found[:, 1], [175, 5], rtol=1e-4)


@pytest.mark.parametrize("answer", [{}, {"embeddings": None}, {"embedding": [1.0, 2.0]}, []])
def test_an_answer_without_embeddings_is_refused(server: ScriptedServer, answer: object) -> None:
    server.default = Answer(answer)
    with pytest.raises(ModelUnavailable, match="sent no embeddings"):
        embedder(server).embed(["a"], purpose="memory")


def test_a_wrong_number_of_vectors_is_refused(server: ScriptedServer) -> None:
    server.default = Answer({"embeddings": [[1.0, 0.0]]})
    with pytest.raises(ModelUnavailable, match="sent 1 vectors for 2 texts"):
        embedder(server).embed(["a", "b"], purpose="memory")


def test_an_ollama_behind_a_proxy_gets_the_key(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY_KEY", "abc")
    embedder(server, key_env="PROXY_KEY").embed(["a"], purpose="memory")
    assert server.requests[0].headers["authorization"] == "Bearer abc"
