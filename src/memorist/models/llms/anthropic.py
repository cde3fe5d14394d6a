"""Anthropic's language models, through its Messages API."""

from __future__ import annotations

import json
from collections.abc import Iterable

from memorist.models.http import Service, list_member, member
from memorist.models.llms.remote import LlmDialect, LlmService, Messages, RemoteLLM, Schema, with_schema
from memorist.ports import Completion

_TOOL = "answer"
_CUT_SHORT = ("max_tokens", "model_context_window_exceeded")


def _headers(key: str | None) -> dict[str, str]:
    return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}


SERVICE = LlmService(
    "anthropic",
    Service("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", _headers),
    "claude-haiku-4-5",
    # A model that always thinks cannot be forced to call a tool, so the prompt contains the schema.
    LlmDialect(forms=("schema", "words")),
)


class AnthropicLLM(RemoteLLM):
    """`POST /v1/messages`, as documented in Anthropic's API reference under "Create a Message".

    A schema becomes the input schema of a tool that the model must call (see "Forcing tool use" under "Tool use").
    """

    path = "/messages"

    def _body(self, dialect: LlmDialect, messages: Messages, schema: Schema | None) -> dict[str, object]:
        as_tool = schema is not None and dialect.forms[0] == "schema"
        spoken = messages if schema is None or as_tool else with_schema(messages, schema)
        system = "\n\n".join(message["content"] for message in spoken if message["role"] == "system")
        body: dict[str, object] = {
            "model": self._model,
            "max_tokens": self._max_tokens,
            "messages": [
                {"role": message["role"], "content": message["content"]}
                for message in spoken
                if message["role"] != "system"
            ],
        }
        if system:
            body["system"] = system
        if dialect.temperature:
            body["temperature"] = min(self._temperature, 1.0)  # the maximum of this API
        if as_tool:
            body["tools"] = [{"name": _TOOL, "description": "Gives the answer.", "input_schema": schema}]
            body["tool_choice"] = {"type": "tool", "name": _TOOL}
        return body

    def _read(self, answer: object) -> Completion:
        blocks = list_member(answer, "content")
        if blocks is None:
            raise self._endpoint.unusable("sent no answer of the model")
        reason = member(answer, "stop_reason")
        if reason == "refusal":
            raise self._declined()
        if reason in _CUT_SHORT:
            raise self._cut_short()
        return self._completion(_text(blocks), answer, "input_tokens", "output_tokens")


def _text(blocks: Iterable[object]) -> str:
    """The input of the tool that was called, else the text, without thoughts."""
    said: list[str] = []
    for block in blocks:
        if member(block, "type") == "tool_use":
            return json.dumps(member(block, "input"), ensure_ascii=False)
        text = member(block, "text")
        if member(block, "type") == "text" and isinstance(text, str):
            said.append(text)
    return "".join(said)
