from __future__ import annotations

from collections.abc import Iterator

import pytest

from memorist.errors import ModelUnavailable
from memorist.models.llms.anthropic import SERVICE, AnthropicLLM
from memorist.ports import Completion
from memorist.testing.llm_server import AnthropicServer, LLMRequest, Status

MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Which tag?"},
    {"role": "assistant", "content": "Travel."},
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Another?"},
]
SCHEMA = {"type": "object", "properties": {"tag": {"type": "string"}}}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with AnthropicServer() as server:
        yield server


def model(server: AnthropicServer, temperature: float = 0.0) -> AnthropicLLM:
    return AnthropicLLM(SERVICE, "claude", url=server.url, key="sk-ant-1", temperature=temperature)


def test_the_whole_request(server: AnthropicServer) -> None:
    model(server).complete(MESSAGES, schema=SCHEMA)
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == "sk-ant-1"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request.headers
    assert request.body == {
        "model": "claude",
        "max_tokens": 4096,
        "system": "Be brief.\n\nBe kind.",
        "messages": [MESSAGES[1], MESSAGES[2], MESSAGES[4]],
        "temperature": 0.0,
        "tools": [{"name": "answer", "description": "Gives the answer.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": "answer"},
    }


def test_without_system_text_or_schema_neither_is_sent(server: AnthropicServer) -> None:
    model(server).complete([MESSAGES[1]])
    assert not {"system", "tools", "tool_choice"} & server.requests[0].body.keys()


def test_the_temperature_stays_on_its_scale(server: AnthropicServer) -> None:
    model(server, temperature=1.5).complete([MESSAGES[1]])
    assert server.requests[0].body["temperature"] == 1.0


def test_a_model_that_cannot_be_made_to_call_a_tool_is_told_in_words(server: AnthropicServer) -> None:
    def thinks_unasked(request: LLMRequest) -> Status | str:
        words = "Thinking may not be enabled when tool_choice forces tool use."
        refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
        return Status(400, refusal) if "tool_choice" in request.body else '```json\n{"tag": "x"}\n```'

    server.script = thinks_unasked
    llm = model(server)
    assert [llm.complete(MESSAGES, schema=SCHEMA).text for _ in range(2)] == ['{"tag": "x"}'] * 2
    assert ["tools" in request.body for request in server.requests] == [True, False, False]
    assert "JSON Schema" in server.requests[-1].body["system"]


def test_thoughts_are_not_part_of_the_answer(server: AnthropicServer) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    blocks = [thought, {"type": "text", "text": "At "}, {"type": "text", "text": "dawn."}]
    server.script = [Status(200, {"content": blocks, "stop_reason": "end_turn", "usage": {"input_tokens": 4}})]
    assert model(server).complete(MESSAGES) == Completion("At dawn.", 4, 0)


def test_a_tool_call_is_read_past_a_preamble(server: AnthropicServer) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "answer", "input": {"tag": "é"}}
    server.script = [Status(200, {"content": [{"type": "text", "text": "Let me see."}, call]})]
    assert model(server).complete(MESSAGES, schema=SCHEMA).text == '{"tag": "é"}'


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_an_answer_cut_short_is_no_answer(server: AnthropicServer, reason: str) -> None:
    server.script = [Status(200, {"content": [{"type": "text", "text": "half"}], "stop_reason": reason})]
    with pytest.raises(ModelUnavailable, match="anthropic:claude used up its tokens"):
        model(server).complete(MESSAGES)


def test_an_overloaded_service_is_tried_again(server: AnthropicServer) -> None:
    overloaded = Status(529, {"type": "error", "error": {"type": "overloaded_error"}}, {"retry-after": "0"})
    server.script = [overloaded, "yes"]
    assert model(server).complete(MESSAGES).text == "yes"
