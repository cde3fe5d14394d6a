"""Both vendors over scripted servers: what is asked, what is read, and every fault."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.models.llms.anthropic import SERVICE, AnthropicLLM
from memorist.models.llms.openai import SERVICES, OpenAILLM
from memorist.models.llms.remote import ANSWER_LIMIT, RemoteLLM
from memorist.ports import Completion
from memorist.testing.llm_server import (
    HUGE_ANSWER,
    AnthropicServer,
    Fault,
    LLMRequest,
    OpenAIServer,
    Reply,
    Script,
    ScriptedLLM,
    Status,
)

KEY = "sk-secret-0123456789"
TEXT = "the vault opens at dawn"
WORDS_OF_THE_SERVER = "your key sk-leak is wrong"
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TEXT}]
SCHEMA = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["tags"],
    "additionalProperties": False,
}


@pytest.fixture(params=[OpenAIServer, AnthropicServer], ids=["openai", "anthropic"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedLLM]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with request.param() as server:
        yield server


@pytest.fixture
def waits() -> list[float]:
    return []


def model(server: ScriptedLLM, waits: list[float], **options: Any) -> RemoteLLM:
    options = {"url": server.url, "key": KEY, "sleep": waits.append, **options}
    if isinstance(server, AnthropicServer):
        return AnthropicLLM(SERVICE, "claude", **options)
    return OpenAILLM(SERVICES["vllm"], "qwen", **options)


def failure(server: ScriptedLLM, waits: list[float], script: Script, **options: Any) -> ModelUnavailable:
    server.script = script
    with pytest.raises(ModelUnavailable) as caught:
        model(server, waits, **options).complete(MESSAGES, schema=SCHEMA)
    message = str(caught.value)
    assert KEY not in message and TEXT not in message and WORDS_OF_THE_SERVER not in message
    assert caught.value.remedy
    return caught.value


def test_an_answer_in_words_comes_with_its_usage(server: ScriptedLLM, waits: list[float]) -> None:
    server.script = [Reply("At dawn, {as it is}.", tokens_in=21, tokens_out=5)]
    assert model(server, waits).complete(MESSAGES) == Completion("At dawn, {as it is}.", 21, 5)
    (request,) = server.requests
    assert [dict(message) for message in request.messages] == MESSAGES
    assert request.schema is None


def test_an_answer_of_a_schema_is_its_json(server: ScriptedLLM, waits: list[float]) -> None:
    server.script = [{"tags": ["旅行"]}]
    assert model(server, waits).complete(MESSAGES, schema=SCHEMA) == Completion('{"tags": ["旅行"]}', 7, 3)
    assert server.requests[0].schema == SCHEMA


def test_usage_that_is_missing_or_nonsense_counts_as_none(server: ScriptedLLM, waits: list[float]) -> None:
    def without(request: LLMRequest) -> Status:
        usage = {"prompt_tokens": True, "completion_tokens": -1, "input_tokens": "7"}
        return Status(200, {**server.wrap(request, Reply("yes"), None), "usage": usage})

    server.script = without
    assert model(server, waits).complete(MESSAGES) == Completion("yes", 0, 0)


def test_the_options_reach_the_server(server: ScriptedLLM, waits: list[float]) -> None:
    model(server, waits, max_tokens=99, temperature=0.5).complete(MESSAGES)
    body = server.requests[0].body
    assert (body["max_tokens"], body["temperature"]) == (99, 0.5)


@pytest.mark.parametrize("fault", [Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.CUT])
def test_a_passing_fault_is_tried_again(server: ScriptedLLM, waits: list[float], fault: Fault) -> None:
    server.script = [fault, fault, {"tags": []}]
    assert model(server, waits).complete(MESSAGES, schema=SCHEMA).text == '{"tags": []}'
    assert len(server.requests) == 3
    assert waits == [1.0, 1.0] if fault is Fault.RATE_LIMIT else len(waits) == 2


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault.RATE_LIMIT, "answered 429 (rate_limit_error)"),
        (Fault.SERVER_ERROR, "answered 500 (api_error)"),
        (Fault.CUT, "cannot be reached"),
        (Fault.HTML, "not JSON"),
        (Fault.REFUSAL, "declined to answer"),
        (Fault.TRUNCATED, "used up its tokens"),
        (Fault.EMPTY, "empty answer"),
    ],
)
def test_a_lasting_fault_is_told_plainly(server: ScriptedLLM, waits: list[float], fault: Fault, says: str) -> None:
    error = failure(server, waits, [fault], retries=1)
    assert says in str(error)
    retried = fault in (Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.CUT)
    assert len(server.requests) == (2 if retried else 1)


def test_a_server_that_hangs_is_given_up_once(server: ScriptedLLM, waits: list[float]) -> None:
    error = failure(server, waits, [Fault.HANG], timeout=0.2)
    assert "did not answer within 0.2 seconds" in str(error)
    assert len(server.requests) == 1 and waits == []


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault.BAD_JSON, 'Certainly! {"unfinished": ['),
        (Fault.WRONG_SCHEMA, '{"something_else": 1}'),
    ],
)
def test_an_answer_against_the_schema_is_for_the_caller_to_judge(
    server: ScriptedLLM, waits: list[float], fault: Fault, text: str
) -> None:
    server.script = [fault]
    assert model(server, waits).complete(MESSAGES, schema=SCHEMA).text == text


def test_an_answer_of_a_megabyte_comes_through(server: ScriptedLLM, waits: list[float]) -> None:
    server.script = [Fault.HUGE]
    assert len(model(server, waits).complete(MESSAGES, schema=SCHEMA).text) == HUGE_ANSWER + len('{"filler": ""}')


def test_an_answer_beyond_the_limit_fails_cleanly(server: ScriptedLLM, waits: list[float]) -> None:
    error = failure(server, waits, ["x" * ANSWER_LIMIT])
    assert "more than 4,194,304 bytes" in str(error)


@pytest.mark.parametrize("body", [None, [], {}, {"choices": [], "content": {}}, {"choices": ["x"], "content": "x"}])
def test_an_answer_of_another_shape_is_told(server: ScriptedLLM, waits: list[float], body: object) -> None:
    assert "sent no answer of the model" in str(failure(server, waits, [Status(200, body)]))


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_told_without_the_key(server: ScriptedLLM, waits: list[float], status: int) -> None:
    refusal = Status(status, {"error": {"type": "authentication_error", "message": WORDS_OF_THE_SERVER}})
    error = failure(server, waits, [refusal], key_env="MY_KEY")
    assert error.remedy == "Give a valid key in the environment variable MY_KEY."


def test_a_request_that_is_too_long_has_its_own_remedy(server: ScriptedLLM, waits: list[float]) -> None:
    words = "'max_tokens' or 'max_completion_tokens' is too large: 4096. Maximum context length is 2048 tokens."
    error = failure(server, waits, [Status(400, {"error": {"message": words}})])
    assert "does not accept a request of this length" in str(error)
    assert len(server.requests) == 1


def test_a_refused_temperature_is_left_out_from_then_on(server: ScriptedLLM, waits: list[float]) -> None:
    def newer_model(request: LLMRequest) -> Status | str:
        words = {"error": {"type": "invalid_request_error", "message": "`temperature` is deprecated for this model."}}
        return Status(400, words) if "temperature" in request.body else "yes"

    server.script = newer_model
    llm = model(server, waits)
    assert [llm.complete(MESSAGES).text for _ in range(2)] == ["yes", "yes"]
    assert ["temperature" in request.body for request in server.requests] == [True, False, False]


def test_a_refusal_that_no_concession_cures_is_raised_and_teaches_nothing(
    server: ScriptedLLM, waits: list[float]
) -> None:
    words = f"no: temperature, response_format, tool_choice. {WORDS_OF_THE_SERVER}"
    server.script = [Status(422, {"detail": words})]
    llm = model(server, waits)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="answered 422"):
            llm.complete(MESSAGES, schema=SCHEMA)
    half = len(server.requests) // 2
    assert [request.body for request in server.requests[:half]] == [request.body for request in server.requests[half:]]
    assert "temperature" in server.requests[half].body


def test_no_more_requests_are_under_way_than_allowed(server: ScriptedLLM, waits: list[float]) -> None:
    """The server answers three at a time, and the first three only once it has looked out for a fourth."""
    three, four = threading.Barrier(3), threading.Barrier(4)

    def together(_: LLMRequest) -> str:
        three.wait(timeout=20)
        with suppress(threading.BrokenBarrierError):
            four.wait(timeout=0.2)
        return "yes"

    def ask(_: int) -> str:
        return llm.complete(MESSAGES).text

    server.script = together
    llm = model(server, waits, concurrency=3)
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(ask, range(12)))
    assert answers == ["yes"] * 12
    assert server.most_at_once == 3


def test_a_failure_gives_its_place_back(server: ScriptedLLM, waits: list[float]) -> None:
    server.script = [Fault.HTML, Fault.HTML, "yes"]
    llm = model(server, waits, concurrency=1)
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            llm.complete(MESSAGES)
    assert llm.complete(MESSAGES).text == "yes"


def test_a_server_that_is_not_there_is_told(server: ScriptedLLM, waits: list[float]) -> None:
    with type(server)() as gone:
        url = gone.url
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        model(server, waits, url=url, retries=0).complete(MESSAGES)


@pytest.mark.parametrize(
    ("messages", "schema"),
    [
        ([], None),
        ([{"role": "system", "content": "x"}], None),
        ([{"role": "robot", "content": "x"}], None),
        ([{"role": "user"}], None),
        (MESSAGES, {"type": "array"}),
    ],
)
def test_what_no_vendor_takes_is_refused_before_it_is_sent(
    server: ScriptedLLM, waits: list[float], messages: list[dict[str, str]], schema: dict[str, str] | None
) -> None:
    with pytest.raises(InvalidInput):
        model(server, waits).complete(messages, schema=schema)
    assert server.requests == []
