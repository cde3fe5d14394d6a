"""The content of a message in parts: words, tool calls and results, and what is not text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from memorist.remember.ingest.values import Object, as_list, as_name, as_object, as_text

REASONING = "a model's reasoning is not kept"
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "function_call", "tool_call"})
_RESULTS = frozenset({"tool_result", "function_call_output", "mcp_tool_result", "web_search_tool_result"})
_REASONING = frozenset({"thinking", "redacted_thinking", "reasoning", "thoughts", "reasoning_recap"})
_IMAGES = frozenset({"image", "image_url", "input_image", "image_asset_pointer"})


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody said."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that was called, and with what."""

    id: str | None
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered; `call` is the id of its call."""

    call: str | None
    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class NotText:
    """A part that cannot be kept, and why."""

    reason: str


Part = Words | Call | Result | NotText


@dataclass(slots=True)
class Calls:
    """The calls of a conversation, so that a result can say what it answers."""

    known: dict[str, Call] = field(default_factory=dict[str, Call])

    def add(self, call: Call) -> None:
        """Remember a call by its id."""
        if call.id:
            self.known[call.id] = call


def parts(content: object) -> Iterator[Part]:
    """The parts of a message's content: a string, one block or a list of them."""
    if isinstance(content, str):
        yield Words(content)
        return
    blocks: list[Any] = as_list(content) or ([content] if as_object(content) else [])
    for block in blocks:
        yield Words(block) if isinstance(block, str) else _part(as_object(block))


def _part(block: Object) -> Part:
    kind = as_text(block.get("type")) or as_text(block.get("content_type"))
    if kind in _CALLS:
        return call_of(block)
    if kind in _RESULTS:
        return Result(as_name(block.get("tool_use_id") or block.get("call_id")), plain_text(_answer(block)))
    if kind in _REASONING:
        return NotText(REASONING)
    if text := _text_of(block):
        return Words(text)
    if kind in _IMAGES:
        return NotText("an image is not text")
    return NotText(f"{kind[:40].replace('_', ' ') or 'a block without a type'} is not text")


def _answer(block: Object) -> object:
    return block.get("content") if block.get("content") is not None else block.get("output")


def _text_of(block: Object) -> str:
    """The words of a block: its text, the transcript of its audio, a refusal, or a document given as text."""
    audio = as_object(block.get("audio")) or as_object(block.get("input_audio"))
    document = as_object(block.get("source"))
    candidates = (block.get("text"), block.get("refusal"), block.get("transcript"), audio.get("transcript"))
    words = next((text for one in candidates if (text := as_text(one))), "")
    return words or (as_text(document.get("data")) if document.get("type") == "text" else "")


def call_of(block: Object) -> Call:
    """A call in the words of OpenAI (function, arguments) or Anthropic (name, input)."""
    function = as_object(block.get("function")) or block
    arguments = function.get("arguments", function.get("input"))
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return Call(as_name(block.get("call_id") or block.get("id")), as_name(function.get("name")) or "a tool", text)


def plain_text(content: object) -> str:
    """All words of a content; a value that is neither text nor blocks is written as JSON."""
    found = list(parts(content))
    words = "\n\n".join(part.text for part in found if isinstance(part, Words) and part.text.strip())
    if words or content is None or any(isinstance(part, NotText) and "image" in part.reason for part in found):
        return words
    return "" if content in ([], {}, "") else json.dumps(content, ensure_ascii=False, default=str)
