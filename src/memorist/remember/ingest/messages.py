"""Chat messages: roles, content parts, tool calls and branches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from memorist.remember.ingest.model import Cleaned, DraftMemory, Found, Skipped
from memorist.remember.ingest.values import SESSION, Object, as_list, as_name, as_object, as_text, fields_of, first_name

if TYPE_CHECKING:
    from memorist.remember.record import Fields


REASONING = "model reasoning is not kept"
IMAGE = "image without text"
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "function_call", "tool_call"})
_RESULTS = frozenset({"tool_result", "function_call_output", "mcp_tool_result", "web_search_tool_result"})
_REASONING = frozenset({"thinking", "redacted_thinking", "reasoning", "thoughts", "reasoning_recap"})
_IMAGES = frozenset({"image", "image_url", "input_image", "image_asset_pointer"})


@dataclass(frozen=True, slots=True)
class Words:
    """Text in a message."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call and its arguments."""

    id: str | None
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool; `call` is the id of the call."""

    call: str | None
    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class NotText:
    """A part that cannot be kept, and the reason."""

    reason: str


Part = Words | ToolCall | ToolResult | NotText
Calls = dict[str, ToolCall]
"""The tool calls of a conversation by id, to name the tool of each result."""


def parts(content: object) -> Iterator[Part]:
    """The parts of a message's content: a string, a block or a list of both."""
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
        return ToolResult(as_name(block.get("tool_use_id") or block.get("call_id")), plain_text(_answer(block)))
    if kind in _REASONING:
        return NotText(REASONING)
    if text := _text_of(block):
        return Words(text)
    if kind in _IMAGES:
        return NotText(IMAGE)
    return NotText(f"{kind[:40].replace('_', ' ') or 'block of unknown type'} without text")


def _answer(block: Object) -> object:
    return block.get("content") if block.get("content") is not None else block.get("output")


def _text_of(block: Object) -> str:
    """The text of a block: its text, a refusal, the transcript of its audio, or a plain-text document."""
    audio = as_object(block.get("audio")) or as_object(block.get("input_audio"))
    document = as_object(block.get("source"))
    candidates = (block.get("text"), block.get("refusal"), block.get("transcript"), audio.get("transcript"))
    words = next((text for value in candidates if (text := as_text(value))), "")
    return words or (as_text(document.get("data")) if document.get("type") == "text" else "")


def call_of(block: Object) -> ToolCall:
    """A tool call in the format of OpenAI (function, arguments) or Anthropic (name, input)."""
    function = as_object(block.get("function")) or block
    arguments = function.get("arguments", function.get("input"))
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return ToolCall(
        as_name(block.get("call_id") or block.get("id")), as_name(function.get("name")) or "unnamed tool", text
    )


def plain_text(content: object) -> str:
    """All text of a content; a value that is neither text nor blocks is written as JSON."""
    found = list(parts(content))
    words = "\n\n".join(part.text for part in found if isinstance(part, Words) and part.text.strip())
    if words or content is None or NotText(IMAGE) in found:
        return words
    return "" if content in ([], {}, "") else json.dumps(content, ensure_ascii=False, default=str)


LEFT = "on an abandoned branch of the conversation"


def branch_to(leaf: str | None, parents: Mapping[str, str | None]) -> list[str]:
    """The nodes from the root to a leaf; stops at a cycle or a missing parent."""
    path: dict[str, None] = {}
    while leaf is not None and leaf in parents and leaf not in path:
        path[leaf] = None
        leaf = parents[leaf]
    return list(reversed(path))


def last_leaf(parents: Mapping[str, str | None]) -> str | None:
    """The last node without children."""
    followed = {parent for parent in parents.values() if parent}
    leaves = [node for node in parents if node not in followed]
    return leaves[-1] if leaves else None


TOOL_CHARACTERS = 2_000
"""The longest tool result that is kept whole; agents read far more than is worth remembering."""
SYSTEM = "a system prompt is an instruction, not a memory"
WORDLESS_CALL = "tool call without text; its result is kept"
ROLES = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant", "function": "tool"}
_ROLES = {**ROLES, **{role: role for role in ("user", "assistant", "tool", "system", "developer")}}
_USED = (
    *("role", "sender", "type", "content", "parts", "text", "message", "data", "name", "tool_calls", "function_call"),
    *("tool_call_id", "call_id", "output", "arguments", "audio", "refusal", "usage", "logprobs", "annotations"),
    *("stop_reason", "stop_sequence", "finish_reason", "additional_kwargs", "response_metadata"),
    *("attachments", "files"),
    *SESSION,
)
_TYPES = frozenset({"human", "ai", "user", "assistant", "system", "tool"})
_ITEMS = frozenset({"function_call", "function_call_output"})


def is_message(given: Object) -> bool:
    """Whether an object is a chat message or a log entry that wraps one."""
    inner = as_object(given.get("message")) or as_object(given.get("data"))
    if role_of(given) and any(key in given for key in ("content", "parts", "text", "tool_calls", "function_call")):
        return True
    return as_text(given.get("type")) in _ITEMS or bool(
        inner and "content" in inner and (role_of(inner) or role_of(given))
    )


def role_of(given: Object) -> str | None:
    """The role of a message, as OpenAI names it: user, assistant, system or tool."""
    role = first_name(given, "role", "sender")
    if role is None and as_text(given.get("type")) in _TYPES:
        role = as_text(given.get("type"))
    return _ROLES.get(role.lower(), role) if role else None


def turns(given: Object, where: str, calls: Calls, conversation: str | None = None) -> Iterator[Found]:
    """The turns of one message: its text as one turn, each tool result as another."""
    message = _unwrapped(given)
    role = role_of(message) or "user"
    conversation = first_name(message, *SESSION) or conversation
    if role in ("system", "developer"):
        yield Skipped(where, SYSTEM)
        return
    fields, notes = fields_of(message, *_USED)
    yield from (Cleaned(where, note) for note in notes)
    speaker = fields.get("speaker") or as_name(message.get("name")) or role
    number = 0
    for found in _from_parts(list(_parts(message, role)), where, calls):
        if not isinstance(found, DraftMemory):
            yield found
            continue
        number += 1
        yield DraftMemory(found.text, where, _merged(fields, found.fields, speaker, number), conversation)


def _unwrapped(given: Object) -> Object:
    """A message merged with the log entry around it, which has the time and ids."""
    inner = as_object(given.get("message")) or as_object(given.get("data"))
    return {**given, **inner} if "content" in inner else given


def _parts(message: Object, role: str) -> Iterator[Part]:
    if message.get("type") == "function_call":
        yield call_of(message)
        return
    content = next((message[key] for key in ("content", "parts", "text") if message.get(key) is not None), None)
    if role == "tool" or message.get("type") == "function_call_output":
        answer = content if content is not None else message.get("output")
        yield ToolResult(
            first_name(message, "tool_call_id", "call_id"), plain_text(answer), as_name(message.get("name"))
        )
        return
    yield from parts(content)
    spoken = as_text(message.get("refusal")) or as_text(as_object(message.get("audio")).get("transcript"))
    if spoken:
        yield Words(spoken)
    calls = [*as_list(message.get("tool_calls")), message.get("function_call")]
    yield from (call_of(as_object(call)) for call in calls if as_object(call))


def _from_parts(found: list[Part], where: str, calls: Calls) -> Iterator[Found]:
    """Text as a draft without fields, results as drafts with the fields of a tool turn."""
    words = "\n\n".join(part.text for part in found if isinstance(part, Words) and part.text.strip())
    results = [part for part in found if isinstance(part, ToolResult)]
    for part in found:
        if isinstance(part, NotText):
            yield Skipped(where, part.reason)
        elif isinstance(part, ToolCall):
            if part.id:
                calls[part.id] = part
            if not words:
                yield Skipped(where, WORDLESS_CALL)
    for result in results:
        yield from _result(result, where, calls)
    if words or not found or all(isinstance(part, Words) for part in found):
        yield DraftMemory(words, where)


def _result(result: ToolResult, where: str, calls: Calls) -> Iterator[Found]:
    call = calls.get(result.call or "")
    name = result.name or (call.name if call else None)
    metadata: dict[str, object] = {"tool": name} if name else {}
    if call and call.arguments not in ("", "null"):
        metadata["arguments"] = call.arguments[:TOOL_CHARACTERS]
    text = result.text
    if len(text) > TOOL_CHARACTERS:
        yield Cleaned(where, f"tool result cut to {TOOL_CHARACTERS:,} characters")
        metadata["cut_from"] = len(text)
        text = text[:TOOL_CHARACTERS]
    yield DraftMemory(text, where, cast("Fields", {"speaker": "tool", "metadata": metadata}))


def _merged(fields: Fields, own: Fields, speaker: str, number: int) -> Fields:
    """The fields of the n-th turn of a message; only the first has the key and position of the message."""
    made = fields.copy()
    made["speaker"] = own.get("speaker") or speaker
    if metadata := {**(fields.get("metadata") or {}), **(own.get("metadata") or {})}:
        made["metadata"] = metadata
    if number > 1:
        made.pop("position", None)
        if key := fields.get("key"):
            made["key"] = f"{key}:{number}"
    return made
