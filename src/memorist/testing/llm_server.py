"""Scripted language models behind real HTTP servers on the loopback interface, with the faults of real ones.

with OpenAIServer([Fault.RATE_LIMIT, {"tags": ["travel"]}]) as server:
    llm = build("openai-compatible:any", options={"url": server.url})
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

HUGE_ANSWER = 1_000_000
_HANG_LIMIT = 30.0


class Fault(Enum):
    """A fault that replaces an answer."""

    RATE_LIMIT = "429 with retry-after"
    SERVER_ERROR = "500"
    HANG = "no answer until the server closes"
    CUT = "a connection that is closed in the middle of the answer"
    HTML = "a page of HTML"
    BAD_JSON = "an answer that is not JSON"
    WRONG_SCHEMA = "JSON of another schema"
    HUGE = "an answer of 1 MB"
    REFUSAL = "a refusal"
    TRUNCATED = "cut off by the token limit"
    EMPTY = "an empty answer"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with its token counts."""

    text: str
    tokens_in: int = 7
    tokens_out: int = 3


@dataclass(frozen=True, slots=True)
class Status:
    """A plain HTTP response: an error, or a custom body."""

    code: int
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class LLMRequest:
    """A request to the server; for every vendor, `messages` starts with the system text."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any] | None

    @property
    def prompt(self) -> str:
        """The texts of all messages, separated by empty lines."""
        return "\n\n".join(message["content"] for message in self.messages)


Answer = str | Mapping[str, object] | Reply | Status | Fault
"""A text; a mapping, which is sent as JSON; a text with token counts; a plain HTTP response; or a fault."""
Script = Sequence[Answer] | Callable[[LLMRequest], Answer]


class ScriptedLLM(ABC):
    """A server that answers by its script and records the requests; use it in a `with` block.

    A list is played in order, and its last answer repeats. `most_at_once` is the maximum of simultaneous requests.
    """

    path: str

    def __init__(self, script: Script = ("{}",)) -> None:
        self.script = script
        self.requests: list[LLMRequest] = []
        self.most_at_once = 0
        self._at_once = self._place = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL, for the option `url` of an adapter."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @abstractmethod
    def parse(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> LLMRequest:
        """The request in a form that is the same for all vendors."""

    @abstractmethod
    def wrap(self, request: LLMRequest, reply: Reply, fault: Fault | None) -> dict[str, object]:
        """The vendor's response for a text, or for a fault that is a response."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Status | Fault:
        """The response to a request: a status, or a fault without a complete response."""
        if path != self.path:
            return Status(404, {"error": {"type": "not_found_error", "message": "Unknown path."}})
        request = self.parse(path, headers, body)
        with self._lock:
            self.requests.append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return self._played(request)
        finally:
            with self._lock:  # before the response is sent, so the next request is not counted together with this one
                self._at_once -= 1

    def _played(self, request: LLMRequest) -> Status | Fault:
        answer = self.script(request) if callable(self.script) else self._next(self.script)
        if isinstance(answer, Fault):
            return self._faulty(request, answer)
        return answer if isinstance(answer, Status) else Status(200, self.wrap(request, _reply(answer), None))

    def _faulty(self, request: LLMRequest, fault: Fault) -> Status | Fault:
        if fault is Fault.HANG:
            self._over.wait(_HANG_LIMIT)
        if fault in (Fault.HANG, Fault.CUT):
            return fault
        if fault in _STATUSES:
            return _STATUSES[fault]
        return Status(200, self.wrap(request, Reply(_TEXTS.get(fault, "")), fault))

    def _next(self, script: Sequence[Answer]) -> Answer:
        with self._lock:
            place = min(self._place, len(script) - 1)
            self._place += 1
        return script[place]


class OpenAIServer(ScriptedLLM):
    """OpenAI's chat completions API, which Ollama, vLLM, LM Studio, llama.cpp and OpenRouter also use."""

    path = "/v1/chat/completions"

    def parse(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> LLMRequest:
        """The schema comes from `response_format`."""
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        return LLMRequest(path, headers, body, tuple(body["messages"]), schema)

    def wrap(self, request: LLMRequest, reply: Reply, fault: Fault | None) -> dict[str, object]:
        """A chat completion; a refusal is in `refusal`, without content."""
        refused = fault is Fault.REFUSAL
        message = {
            "role": "assistant",
            "content": None if refused else reply.text,
            "refusal": "I cannot help with that." if refused else None,
        }
        reason = "length" if fault is Fault.TRUNCATED else "stop"
        return {
            "object": "chat.completion",
            "model": request.body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": reply.tokens_in, "completion_tokens": reply.tokens_out},
        }


class AnthropicServer(ScriptedLLM):
    """Anthropic's Messages API; a forced tool is called with the answer if it is a JSON object."""

    path = "/v1/messages"

    def parse(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> LLMRequest:
        """The system text becomes a message; the schema comes from the first tool."""
        system = [{"role": "system", "content": body["system"]}] if "system" in body else []
        schema = next((tool["input_schema"] for tool in body.get("tools", [])), None)
        return LLMRequest(path, headers, body, (*system, *body["messages"]), schema)

    def wrap(self, request: LLMRequest, reply: Reply, fault: Fault | None) -> dict[str, object]:
        """A message with one block: a call of the forced tool, or a text; a refusal has no block."""
        choice = request.body.get("tool_choice", {})
        called = _json_object(reply.text) if choice.get("type") == "tool" and fault is not Fault.TRUNCATED else None
        block: dict[str, object] = {"type": "text", "text": reply.text}
        if called is not None:
            block = {"type": "tool_use", "id": "toolu_01", "name": choice["name"], "input": called}
        reasons = {Fault.REFUSAL: "refusal", Fault.TRUNCATED: "max_tokens"}
        ended = "end_turn" if called is None else "tool_use"
        return {
            "type": "message",
            "role": "assistant",
            "model": request.body.get("model"),
            "content": [] if fault in (Fault.REFUSAL, Fault.EMPTY) else [block],
            "stop_reason": ended if fault is None else reasons.get(fault, ended),
            "usage": {"input_tokens": reply.tokens_in, "output_tokens": reply.tokens_out},
        }


_STATUSES: Mapping[Fault, Status] = {
    Fault.RATE_LIMIT: Status(429, {"error": {"type": "rate_limit_error"}}, {"retry-after": "1"}),
    Fault.SERVER_ERROR: Status(500, {"error": {"type": "api_error"}}),
    Fault.HTML: Status(200, b"<html><body>Bad gateway</body></html>"),
}
_TEXTS: Mapping[Fault, str] = {
    Fault.BAD_JSON: 'Certainly! {"unfinished": [',
    Fault.WRONG_SCHEMA: '{"something_else": 1}',
    Fault.HUGE: json.dumps({"filler": "x" * HUGE_ANSWER}),
    Fault.TRUNCATED: '{"half": "an ans',
}


def _reply(answer: str | Mapping[str, object] | Reply) -> Reply:
    if isinstance(answer, Reply):
        return answer
    return Reply(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


def _json_object(text: str) -> object | None:
    with suppress(ValueError):
        found: object = json.loads(text)
        return cast("object", found) if isinstance(found, dict) else None
    return None


def _raw(body: object) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()


def _handler(owner: ScriptedLLM) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = owner.answer(self.path, headers, body)
            if answer is Fault.HANG:
                return
            with suppress(ConnectionError):  # the client may have closed the connection
                self._send(Status(200, b"{" * 100) if isinstance(answer, Fault) else answer, cut=answer is Fault.CUT)

        def _send(self, answer: Status, *, cut: bool) -> None:
            raw = _raw(answer.body)
            self.send_response(answer.code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw[: len(raw) // 2] if cut else raw)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
