from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.models.embedders.prefixes import PLAIN, Prefixes, prefixes_for
from memorist.models.embedders.remote import too_much
from memorist.models.embedders.vendors import PRESETS, OpenAIEmbedder
from memorist.models.http import RequestRefused
from tests.models.scripted_server import Answer, Request, ScriptedServer

KEY = "sk-secret-0123456789"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ScriptedServer() as server:
        server.default = vectors(lambda text: [float(len(text)), 1.0, 0.0])
        yield server


def vectors(of: Callable[[str], list[float]]) -> Callable[[Request], Answer]:
    """A service that computes a vector from each text."""

    def answer(request: Request) -> Answer:
        items = [{"object": "embedding", "index": i, "embedding": of(t)} for i, t in enumerate(request.json["input"])]
        return Answer({"object": "list", "data": items, "model": "m", "usage": {"total_tokens": 1}})

    return answer


def data(*items: tuple[int | None, object]) -> Answer:
    return Answer({"data": [{"index": index, "embedding": row} for index, row in items]})


def embedder(server: ScriptedServer, model: str = "text-embedding-3-small", **options: object) -> OpenAIEmbedder:
    options = {"url": server.url + "/v1", "sleep": lambda _: None, **options}
    return OpenAIEmbedder(model, **options)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("vendor", [name for name, preset in PRESETS.items() if preset.service.key_env])
def test_without_its_key_a_service_is_sent_nothing(
    vendor: str, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    preset = PRESETS[vendor]
    key_env = preset.service.key_env or ""
    monkeypatch.delenv(key_env, raising=False)
    here = replace(preset, service=replace(preset.service, url=server.url))
    for use in (lambda one: one.embed(["Anna likes tea"], purpose="memory"), lambda one: one.generation):
        with pytest.raises(ModelUnavailable, match=f"No key for some-model on 127.*{key_env}"):
            use(OpenAIEmbedder("some-model", here))
    assert server.requests == []


def test_the_request_is_what_openai_documents(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedder(server).embed(["Anna likes tea", "安娜喜欢茶 🍵"], purpose="memory")
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/embeddings")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.json == {
        "model": "text-embedding-3-small",
        "input": ["Anna likes tea", "安娜喜欢茶 🍵"],
        "encoding_format": "float",
    }


def test_a_local_server_gets_no_authorization_header(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedder(server, key_env=None).embed(["x"], purpose="query")
    assert "authorization" not in server.requests[0].headers


def test_rows_are_of_length_one_and_float32(server: ScriptedServer) -> None:
    server.default = data((0, [3, 4, 0]), (1, [0.0, -2.0, 0.0]))
    found = embedder(server).embed(["a", "b"], purpose="memory")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [[0.6, 0.8, 0.0], [0.0, -1.0, 0.0]], atol=1e-7)


def test_answers_out_of_order_are_sorted_by_index(server: ScriptedServer) -> None:
    server.default = data((2, [0, 0, 1]), (0, [1, 0, 0]), (1, [0, 1, 0]))
    assert embedder(server).embed(["a", "b", "c"], purpose="memory").tolist() == np.eye(3).tolist()


def test_a_server_that_leaves_the_index_out_answers_in_order(server: ScriptedServer) -> None:
    server.default = data((None, [1, 0]), (None, [0, 1]))
    assert embedder(server).embed(["a", "b"], purpose="memory").tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("places", [(0, 0), (1, 2), (0, None), (0, "1")])
def test_indexes_that_fit_no_order_are_refused(server: ScriptedServer, places: tuple[int, int]) -> None:
    server.default = data((places[0], [1, 0]), (places[1], [0, 1]))
    with pytest.raises(ModelUnavailable, match="sent wrong vector indexes"):
        embedder(server).embed(["a", "b"], purpose="memory")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_number_of_vectors_is_refused(server: ScriptedServer, count: int) -> None:
    server.default = data(*((i, [1.0, 0.0]) for i in range(count)))
    with pytest.raises(ModelUnavailable, match=f"sent {count} vectors for 2 texts"):
        embedder(server).embed(["a", "b"], purpose="memory")


@pytest.mark.parametrize("answer", [{}, [], {"data": None}, {"data": {"0": [1]}}, "text", None, 7])
def test_an_answer_of_another_shape_is_refused(server: ScriptedServer, answer: object) -> None:
    server.default = Answer(answer)
    with pytest.raises(ModelUnavailable, match="sent no embeddings"):
        embedder(server).embed(["a"], purpose="memory")


@pytest.mark.parametrize(
    "row",
    [
        None,
        [],
        "AAAAAA==",
        [1.0, None],
        ["x", "y"],
        [[1.0]],
        {"0": 1.0},
        [math.nan, 1.0],
        [math.inf, 1.0],
        [0.0, 0.0],
    ],
)
def test_a_row_that_is_no_direction_is_refused(server: ScriptedServer, row: object) -> None:
    server.default = data((0, row))
    with pytest.raises(ModelUnavailable, match="something other than vectors"):
        embedder(server).embed(["a"], purpose="memory")


def test_ragged_rows_are_refused(server: ScriptedServer) -> None:
    server.default = data((0, [1.0, 0.0]), (1, [1.0]))
    with pytest.raises(ModelUnavailable, match="something other than vectors"):
        embedder(server).embed(["a", "b"], purpose="memory")


def test_a_dimension_asked_for_is_sent_and_needs_no_probe(server: ScriptedServer) -> None:
    model = embedder(server, dim=3)
    assert model.dim == 3
    assert model.generation == "text-embedding-3-small:remote:3"
    assert server.requests == []
    model.embed(["a"], purpose="memory")
    assert server.bodies[0]["dimensions"] == 3


def test_a_dimension_that_the_server_ignores_is_refused(server: ScriptedServer) -> None:
    with pytest.raises(ModelUnavailable, match="vectors of length 3 instead of 256") as caught:
        embedder(server, dim=256).embed(["a"], purpose="memory")
    assert "`dim`" in caught.value.remedy


def test_a_dimension_that_changes_between_calls_is_refused(server: ScriptedServer) -> None:
    model = embedder(server)
    model.embed(["a"], purpose="memory")
    server.default = data((0, [1.0, 0.0]))
    with pytest.raises(ModelUnavailable, match="vectors of length 2 instead of 3"):
        model.embed(["a"], purpose="memory")


def test_the_dimension_is_found_with_one_probe_and_kept(server: ScriptedServer) -> None:
    model = embedder(server)
    assert [model.dim, model.dim] == [3, 3]
    assert model.generation == "text-embedding-3-small:remote:3"
    assert len(server.requests) == 1
    assert "dimensions" not in server.bodies[0]


def test_the_first_call_also_tells_the_dimension(server: ScriptedServer) -> None:
    model = embedder(server)
    model.embed(["a"], purpose="query")
    assert model.dim == 3
    assert len(server.requests) == 1


def test_the_generation_does_not_depend_on_the_host(server: ScriptedServer) -> None:
    here = embedder(server, dim=3).generation
    assert here == OpenAIEmbedder("text-embedding-3-small", dim=3, key=KEY).generation


def test_texts_go_in_batches_and_progress_hears_of_each(server: ScriptedServer) -> None:
    texts = ["a" * n for n in range(1, 8)]
    heard: list[int] = []
    found = embedder(server, batch=3).embed(texts, purpose="memory", progress=heard.append)
    assert [body["input"] for body in server.bodies] == [texts[:3], texts[3:6], texts[6:]]
    assert heard == [3, 3, 1]
    expected = np.array([[n, 1.0, 0.0] for n in range(1, 8)])
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)


def test_no_texts_give_no_rows(server: ScriptedServer) -> None:
    assert embedder(server, dim=3).embed([], purpose="memory").shape == (0, 3)
    assert server.requests == []


def test_an_empty_text_is_sent_as_a_space(server: ScriptedServer) -> None:
    assert embedder(server).embed(["", "a"], purpose="memory").shape == (2, 3)
    assert server.bodies[0]["input"] == [" ", "a"]


TOO_LONG = {"error": {"message": "This model's maximum context length is 8192 tokens", "code": None}}


def limited(most_texts: int, most_characters: int) -> Callable[[Request], Answer]:
    """A service that refuses many texts or a long one, as real ones do."""
    plain = vectors(lambda text: [float(len(text)), 1.0])

    def answer(request: Request) -> Answer:
        texts = request.json["input"]
        if len(texts) > most_texts or max(map(len, texts)) > most_characters:
            return Answer(TOO_LONG, status=400)
        return plain(request)

    return answer


def test_a_text_too_long_counts_by_its_beginning_and_spares_its_neighbours(server: ScriptedServer) -> None:
    server.default = limited(most_texts=100, most_characters=1000)
    found = embedder(server).embed(["short", "x" * 3000, "also short"], purpose="memory")
    lengths = found[:, 0] / found[:, 1]
    np.testing.assert_allclose(lengths, [5, 750, 10], rtol=1e-4)


def test_a_batch_too_large_is_divided_in_order(server: ScriptedServer) -> None:
    server.default = limited(most_texts=2, most_characters=1000)
    found = embedder(server).embed(["x" * n for n in range(1, 8)], purpose="memory")
    np.testing.assert_allclose(found[:, 0] / found[:, 1], range(1, 8), rtol=1e-4)


def test_a_server_that_finds_every_text_too_long_is_given_up(server: ScriptedServer) -> None:
    server.default = Answer(TOO_LONG, status=400)
    with pytest.raises(RequestRefused, match="answered 400"):
        embedder(server).embed(["x" * 1000], purpose="memory")
    assert [len(body["input"][0]) for body in server.bodies] == [1000, 500, 250, 125, 62]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=300), max_size=12), most=st.integers(1, 5))
def test_every_text_keeps_its_row_whatever_the_server_takes(
    server: ScriptedServer, texts: list[str], most: int
) -> None:
    server.default = limited(most_texts=most, most_characters=100)
    found = embedder(server, batch=5, dim=2).embed(texts, purpose="memory")
    assert found.shape == (len(texts), 2)
    for row, text in zip(found, texts, strict=True):
        length = row[0] / row[1]
        assert length == pytest.approx(max(1, len(text)), rel=1e-3) if len(text) <= 100 else 50 <= length <= 100


def test_a_rate_limit_is_not_taken_for_a_text_too_long(server: ScriptedServer) -> None:
    server.default = Answer({"error": {"message": "Request too large: tokens per request"}}, status=429)
    with pytest.raises(RequestRefused, match="answered 429"):
        embedder(server).embed(["a", "b"], purpose="memory")
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens, however you requested 10738 tokens",
        "Requested 309209 tokens, max 300000 tokens per request",
        '{"error": {"code": "max_tokens_per_request"}}',
        "input is too large to process. increase the physical batch size",
        '{"error": {"type": "exceed_context_size_error"}}',
        "the input length exceeds the context length",
        "input batch size 473 > maximum allowed batch size 64",
        "Value error, batch size is invalid, it should not be larger than 10",
        "length of prompt_tokens must be less than 512 tokens",
        "The max allowed tokens per submitted batch is 120000",
    ],
)
def test_the_words_of_real_services_for_too_much_are_known(words: str) -> None:
    assert too_much(words)


@pytest.mark.parametrize("words", ["The model `x` does not exist", "invalid dimensions", "Too many requests", ""])
def test_other_words_are_not_taken_for_too_much(words: str) -> None:
    assert not too_much(words)


def test_a_refused_key_names_its_variable_but_not_itself(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.default = Answer({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status=401)
    with pytest.raises(ModelUnavailable, match="OPENAI_API_KEY") as caught:
        embedder(server).embed(["private"], purpose="memory")
    assert KEY not in str(caught.value)
    assert "private" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "name", "query", "memory"),
    [
        ("nomic-embed-text", "nomic", "search_query: q", "search_document: q"),
        ("text-embedding-nomic-embed-text-v1.5", "nomic", "search_query: q", "search_document: q"),
        ("intfloat/multilingual-e5-large", "e5", "query: q", "passage: q"),
        ("BAAI/bge-large-zh-v1.5", "bge-zh", "为这个句子生成表示以用于检索相关文章：q", "q"),
        (
            "BAAI/bge-small-en-v1.5",
            "bge-en",
            "Represent this sentence for searching relevant passages: q",
            "q",
        ),
        ("bge-large:335m", "bge-en", "Represent this sentence for searching relevant passages: q", "q"),
        ("mxbai-embed-large", "mxbai", "Represent this sentence for searching relevant passages: q", "q"),
        ("snowflake-arctic-embed2:568m", "arctic2", "query: q", "q"),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "arctic2", "query: q", "q"),
        (
            "snowflake-arctic-embed:335m",
            "arctic",
            "Represent this sentence for searching relevant passages: q",
            "q",
        ),
        ("embeddinggemma:300m", "gemma", "task: search result | query: q", "title: none | text: q"),
        (
            "Qwen/Qwen3-Embedding-0.6B",
            "qwen3",
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:q",
            "q",
        ),
        (
            "intfloat/multilingual-e5-large-instruct",
            "e5-instruct",
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: q",
            "q",
        ),
        ("BAAI/bge-m3", "", "q", "q"),
        ("text-embedding-3-small", "", "q", "q"),
        ("all-minilm", "", "q", "q"),
    ],
)
def test_known_families_read_their_prefixes(model: str, name: str, query: str, memory: str) -> None:
    found = prefixes_for(model)
    assert found.name == name
    assert found.apply("q", "query") == query
    assert found.apply("q", "memory") == memory


def test_prefixes_are_sent_by_purpose_and_are_part_of_the_generation(server: ScriptedServer) -> None:
    model = embedder(server, "nomic-embed-text-v1.5", dim=3)
    model.embed(["where?"], purpose="query")
    model.embed(["there", ""], purpose="memory")
    assert server.bodies[0]["input"] == ["search_query: where?"]
    assert server.bodies[1]["input"] == ["search_document: there", "search_document: "]
    assert model.generation == "nomic-embed-text-v1.5:remote:3:nomic"


def test_prefixes_given_win_over_the_table(server: ScriptedServer) -> None:
    own = embedder(server, "nomic-embed-text", dim=3, prefixes=Prefixes("own", "? ", "! "))
    own.embed(["a"], purpose="query")
    assert server.bodies[0]["input"] == ["? a"]
    assert own.generation == "nomic-embed-text:remote:3:own"
    assert embedder(server, "nomic-embed-text", dim=3, prefixes=PLAIN).generation == "nomic-embed-text:remote:3"


@pytest.mark.parametrize("wrong", [{"model": " "}, {"batch": 0}, {"dim": 0}])
def test_nonsense_is_refused_before_anything_is_sent(server: ScriptedServer, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        embedder(server, **wrong)  # pyright: ignore[reportArgumentType]


def test_every_hosted_preset_names_the_variable_of_its_key() -> None:
    for name, preset in PRESETS.items():
        assert (preset.service.key_env is not None) == preset.service.url.startswith("https://"), name
