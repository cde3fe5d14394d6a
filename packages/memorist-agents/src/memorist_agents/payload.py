"""What a client tells a hook: JSON on standard input, in names of its own, read into one shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from memorist.errors import InvalidInput
from memorist.text.patterns import lazy

LARGEST = 16 * 1024 * 1024
"""Bytes of standard input."""
LONGEST_NAME = 200
SHORTEST = 12
"""Characters of a prompt in English that says something."""
_COMMAND = lazy(r"/[\w:.-]++(?!/)(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Payload:
    """One call of a hook. What the client does not say is empty."""

    native: str = ""
    session: str = ""
    folder: str = ""
    prompt: str = ""
    reply: str = ""
    command: str = ""
    error: str = ""
    transcript: str = ""
    source: str = ""
    ignored: bool = False
    """Whether it comes from a subagent, or from a user who interrupted."""


def read(stream: BinaryIO) -> Payload:
    """The payload on a stream, which is read to its end, so that its writer does not fail."""
    content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        while stream.read(LARGEST):
            pass
        raise InvalidInput(f"The input has more than {LARGEST:,} bytes", remedy="Send less.")
    try:
        data: object = json.loads(content)
    except RecursionError:
        raise InvalidInput("The input is nested too deeply", remedy="Send a JSON object.") from None
    if not isinstance(data, dict):
        raise InvalidInput("The input is not a JSON object", remedy="Send what the client's documentation says.")
    return payload_of(cast("dict[str, Any]", data))


def payload_of(data: Mapping[str, Any]) -> Payload:
    """The payload of a JSON object.

    Claude Code, Codex and Gemini CLI share most names; Cursor has a conversation and its roots, Windsurf a trajectory
    and `tool_info`.
    """
    info, given = _object(data.get("tool_info")), _object(data.get("tool_input"))
    response = _object(data.get("tool_response"))
    roots = data.get("workspace_roots")
    root = cast("list[object]", roots)[0] if isinstance(roots, list) and roots else None
    of = _first_text
    return Payload(
        native=of(data.get("hook_event_name"), data.get("agent_action_name"))[:LONGEST_NAME],
        session=of(data.get("session_id"), data.get("conversation_id"), data.get("trajectory_id"))[:LONGEST_NAME],
        folder=of(root, data.get("cwd")),
        prompt=of(data.get("prompt"), info.get("user_prompt")),
        reply=of(data.get("last_assistant_message"), data.get("prompt_response")),
        command=of(given.get("command"), data.get("command")),
        error=of(data.get("error"), data.get("error_message"), response.get("error")),
        transcript=of(data.get("transcript_path"), info.get("transcript_path")),
        source=of(data.get("source")),
        ignored=bool(data.get("agent_id") or data.get("is_interrupt") or data.get("subagent_id")),
    )


def _first_text(*values: object) -> str:
    """The first text; of an object, as errors are, its message."""
    for value in values:
        if isinstance(value, str) and value:
            return _clean(value)
        if isinstance(value, dict) and isinstance(message := cast("dict[str, object]", value).get("message"), str):
            return _clean(message)
    return ""


def _clean(text: str) -> str:
    """A text that a store can keep."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _object(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def is_noise(prompt: str) -> bool:
    """Whether a prompt is not what a user said: a command of the client, a note of the system, or a word or two."""
    text = prompt.strip()
    if not text or text.startswith(("<", "[Request interrupted", "Caveat:")):
        return True
    return _COMMAND.match(text) is not None or (text.isascii() and len(text) < SHORTEST)
