from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from memorist.errors import ModelUnavailable
from memorist.models.llms.openai import SERVICES, OpenAILLM
from memorist.testing.llm_server import LLMRequest, OpenAIServer, Status

USER = {"role": "user", "content": "Which tags?"}
SYSTEM = {"role": "system", "content": "Be brief."}
CLOSED = {
    "type": "object",
    "properties": {"tag": {"type": "string"}},
    "required": ["tag"],
    "additionalProperties": False,
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with OpenAIServer() as server:
        yield server


def model(server: OpenAIServer, vendor: str = "vllm") -> OpenAILLM:
    return OpenAILLM(SERVICES[vendor], "qwen", url=server.url, key="sk-1")


def test_the_whole_request(server: OpenAIServer) -> None:
    model(server).complete([SYSTEM, USER], schema=CLOSED)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-1"
    assert request.body == {
        "model": "qwen",
        "messages": [SYSTEM, USER],
        "max_tokens": 4096,
        "temperature": 0.0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": CLOSED, "strict": True},
        },
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {**CLOSED, "required": []},
        {**CLOSED, "additionalProperties": True},
        {**CLOSED, "properties": {"tag": {"type": "array", "items": [{"type": "object"}]}}},
    ],
)
def test_an_open_schema_is_not_asked_for_strictly(server: OpenAIServer, schema: dict[str, Any]) -> None:
    model(server).complete([USER], schema=schema)
    assert server.requests[0].body["response_format"]["json_schema"]["strict"] is False


def test_openai_itself_is_told_the_limit_by_its_newer_name(server: OpenAIServer) -> None:
    model(server, "openai").complete([USER])
    assert "max_tokens" not in server.requests[0].body
    assert server.requests[0].body["max_completion_tokens"] == 4096


def test_a_proxy_to_a_reasoning_model_gets_the_newer_name_once_it_asks(server: OpenAIServer) -> None:
    def proxy(request: LLMRequest) -> Status | str:
        words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return Status(400, {"error": {"message": words}}) if "max_tokens" in request.body else "yes"

    server.script = proxy
    llm = model(server, "openai-compatible")
    assert [llm.complete([USER]).text for _ in range(2)] == ["yes", "yes"]
    assert ["max_tokens" in request.body for request in server.requests] == [True, False, False]


def knows(*types: str) -> Any:
    """A server that takes these response formats, None for none at all."""

    def answer(request: LLMRequest) -> Status | str:
        asked = request.body.get("response_format", {}).get("type", "none")
        refusal = {"error": f"'response_format.type' must be one of {types}"}
        return '{"tag": "x"}' if asked in (*types, "none") else Status(400, refusal)

    return answer


@pytest.mark.parametrize(
    ("types", "asked"),
    [
        (("json_schema",), ["json_schema", "json_schema"]),
        (("json_object",), ["json_schema", "json_object", "json_object"]),
        ((), ["json_schema", "json_object", None, None]),
    ],
)
def test_a_server_without_schemas_is_told_in_words_and_that_is_remembered(
    server: OpenAIServer, types: tuple[str, ...], asked: list[str | None]
) -> None:
    server.script = knows(*types)
    llm = model(server)
    for _ in range(2):
        assert llm.complete([SYSTEM, USER], schema=CLOSED).text == '{"tag": "x"}'
    assert [request.body.get("response_format", {}).get("type") for request in server.requests] == asked
    told = ["JSON Schema" in request.prompt for request in server.requests]
    assert told == [form != "json_schema" for form in asked]


def test_the_schema_in_words_joins_the_system_text(server: OpenAIServer) -> None:
    server.script = knows()
    llm = model(server)
    llm.complete([SYSTEM, USER], schema=CLOSED)
    llm.complete([USER], schema=CLOSED)
    joined, added = server.requests[-2].messages, server.requests[-1].messages
    assert [message["role"] for message in joined] == ["system", "user"]
    assert joined[0]["content"].startswith("Be brief.\n\nAnswer with one JSON object")
    assert json.loads(joined[0]["content"].splitlines()[-1]) == CLOSED
    assert [message["role"] for message in added] == ["system", "user"]


def test_a_plain_question_to_such_a_server_stays_plain(server: OpenAIServer) -> None:
    server.script = knows()
    llm = model(server)
    llm.complete([USER], schema=CLOSED)
    llm.complete([USER])
    assert [dict(message) for message in server.requests[-1].messages] == [USER]


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"tag": "x"}\n```',
        'Here it is: {"tag": "x"} I hope it helps.',
        '<think>Perhaps {"tag": "y"}?</think>\n\n{"tag": "x"}',
    ],
)
def test_json_is_found_in_what_a_chatty_model_says(server: OpenAIServer, text: str) -> None:
    server.script = [text]
    assert model(server).complete([USER], schema=CLOSED).text == '{"tag": "x"}'


def test_a_content_filter_is_a_refusal(server: OpenAIServer) -> None:
    choice = {"message": {"content": "half of"}, "finish_reason": "content_filter"}
    server.script = [Status(200, {"choices": [choice]})]
    with pytest.raises(ModelUnavailable, match="vllm:qwen declined to answer"):
        model(server).complete([USER])


def test_an_unknown_model_of_ollama_tells_how_to_fetch_it(server: OpenAIServer) -> None:
    server.script = [Status(404, {"error": {"message": "model 'qwen' not found", "type": "not_found_error"}})]
    with pytest.raises(ModelUnavailable, match="Fetch it with `ollama pull qwen`"):
        model(server, "ollama").complete([USER])
