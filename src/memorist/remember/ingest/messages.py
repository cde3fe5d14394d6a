"""Chat messages in the shapes of OpenAI and Anthropic, as turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from memorist.remember.ingest.draft import Draft, Found
from memorist.remember.ingest.fields import SESSION, fields_of
from memorist.remember.ingest.model import Cleaned, Skipped
from memorist.remember.ingest.parts import Call, Calls, NotText, Part, Result, Words, call_of, parts, plain_text
from memorist.remember.ingest.values import Object, as_list, as_name, as_object, as_text, first_name

if TYPE_CHECKING:
    from memorist.remember.record import Fields

TOOL_CHARACTERS = 2_000
"""What is kept of a tool's answer; agents read far more than is worth remembering."""
SYSTEM = "a system prompt is an instruction, not a memory"
WORDLESS_CALL = "a tool call without words; its result tells of it"
ROLES = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant", "function": "tool"}
_ROLES = {**ROLES, **{role: role for role in ("user", "assistant", "tool", "system", "developer")}}
_USED = (
    *("role", "sender", "type", "content", "parts", "text", "message", "data", "name", "tool_calls", "function_call"),
    *("tool_call_id", "call_id", "output", "arguments", "audio", "refusal", "usage", "logprobs", "annotations"),
    *(
        "stop_reason",
        "stop_sequence",
        "finish_reason",
        "additional_kwargs",
        "response_metadata",
        "attachments",
        "files",
    ),
    *SESSION,
)
_TYPES = frozenset({"human", "ai", "user", "assistant", "system", "tool"})
_ITEMS = frozenset({"function_call", "function_call_output"})


def is_message(given: Object) -> bool:
    """Whether an object is a chat message, or an item of a log that wraps one."""
    inner = as_object(given.get("message")) or as_object(given.get("data"))
    if role_of(given) and any(key in given for key in ("content", "parts", "text", "tool_calls", "function_call")):
        return True
    return as_text(given.get("type")) in _ITEMS or bool(
        inner and "content" in inner and (role_of(inner) or role_of(given))
    )


def role_of(given: Object) -> str | None:
    """Who a message says it is from, in the words of OpenAI: user, assistant, system or tool."""
    role = first_name(given, "role", "sender")
    if role is None and as_text(given.get("type")) in _TYPES:
        role = as_text(given.get("type"))
    return _ROLES.get(role.lower(), role) if role else None


def turns(given: Object, where: str, calls: Calls, conversation: str | None = None) -> Iterator[Found]:
    """The turns of one message: the words together, each tool result on its own."""
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
        if not isinstance(found, Draft):
            yield found
            continue
        number += 1
        yield Draft(found.text, where, _merged(fields, found.fields, speaker, number), conversation)


def _unwrapped(given: Object) -> Object:
    """A message without the log entry around it, whose time and ids stay."""
    inner = as_object(given.get("message")) or as_object(given.get("data"))
    return {**given, **inner} if "content" in inner else given


def _parts(message: Object, role: str) -> Iterator[Part]:
    if message.get("type") == "function_call":
        yield call_of(message)
        return
    content = next((message[key] for key in ("content", "parts", "text") if message.get(key) is not None), None)
    if role == "tool" or message.get("type") == "function_call_output":
        answer = content if content is not None else message.get("output")
        yield Result(first_name(message, "tool_call_id", "call_id"), plain_text(answer), as_name(message.get("name")))
        return
    yield from parts(content)
    spoken = as_text(message.get("refusal")) or as_text(as_object(message.get("audio")).get("transcript"))
    if spoken:
        yield Words(spoken)
    calls = [*as_list(message.get("tool_calls")), message.get("function_call")]
    yield from (call_of(as_object(call)) for call in calls if as_object(call))


def _from_parts(found: list[Part], where: str, calls: Calls) -> Iterator[Found]:
    """Words as drafts without fields, results as drafts with the fields of a tool's turn."""
    words = "\n\n".join(part.text for part in found if isinstance(part, Words) and part.text.strip())
    results = [part for part in found if isinstance(part, Result)]
    for part in found:
        if isinstance(part, NotText):
            yield Skipped(where, part.reason)
        elif isinstance(part, Call):
            calls.add(part)
            if not words:
                yield Skipped(where, WORDLESS_CALL)
    for result in results:
        yield from _result(result, where, calls)
    if words or not found or all(isinstance(part, Words) for part in found):
        yield Draft(words, where)


def _result(result: Result, where: str, calls: Calls) -> Iterator[Found]:
    call = calls.known.get(result.call or "")
    name = result.name or (call.name if call else None)
    metadata: dict[str, object] = {"tool": name} if name else {}
    if call and call.arguments not in ("", "null"):
        metadata["arguments"] = call.arguments[:TOOL_CHARACTERS]
    text = result.text
    if len(text) > TOOL_CHARACTERS:
        yield Cleaned(where, f"a tool's answer cut to {TOOL_CHARACTERS:,} characters")
        metadata["cut_from"] = len(text)
        text = text[:TOOL_CHARACTERS]
    yield Draft(text, where, cast("Fields", {"speaker": "tool", "metadata": metadata}))


def _merged(fields: Fields, own: Fields, speaker: str, number: int) -> Fields:
    """The fields of a message's n-th turn: only the first has the message's key and position as they are."""
    made = fields.copy()
    made["speaker"] = own.get("speaker") or speaker
    if metadata := {**(fields.get("metadata") or {}), **(own.get("metadata") or {})}:
        made["metadata"] = metadata
    if number > 1:
        made.pop("position", None)
        if key := fields.get("key"):
            made["key"] = f"{key}:{number}"
    return made
