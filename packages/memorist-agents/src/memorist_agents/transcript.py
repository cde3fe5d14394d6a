"""Reading the transcript of a session: who said what, which commands ran, and how they ended.

A transcript is a file that anybody may have written to. Its end is read, up to a limit, each line for itself, and a
line that is not understood is skipped. No client promises the format, so this reads the shapes that Claude Code, Codex,
Cursor and Windsurf write as lines, and the list of messages of Gemini CLI.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, cast

from memorist.text.patterns import lazy

LARGEST = 4 * 1024 * 1024
"""Bytes that are read of a transcript, from its end."""
LONGEST_TEXT = 20_000
_EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
Data = Mapping[str, Any]
_EXIT = lazy(r"(?im)^(?:process )?exit(?:ed with)?(?: code| status)[:= ]{1,3}(\d{1,3})\b")
_NOT_RUN = ("<tool_use_error>", "The user doesn't want", "[Request interrupted", "Claude requested permission")
"""How the result of a call begins that the client or the user stopped: it shows nothing about the command."""


@dataclass(frozen=True, slots=True)
class Said:
    """Something that the user or the agent said, where in the transcript, and when, if known."""

    role: Literal["user", "assistant"]
    text: str
    place: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AgentAction:
    """A command that the agent ran, or a file that it changed."""

    id: str
    command: str
    shell: bool = True


@dataclass(frozen=True, slots=True)
class ActionResult:
    """How a call ended; `ok` is None if the transcript does not tell."""

    id: str
    ok: bool | None
    output: str = ""


Event = Said | AgentAction | ActionResult


def read(path: str) -> list[Event]:
    """What happened according to a transcript; nothing if it is not a plain file of this user."""
    content, start = _tail(path)
    if start == 0 and content.lstrip()[:1] == b"{" and b'"messages"' in content[:4096]:
        return list(_whole(content))
    events: list[Event] = []
    for line in content.split(b"\n"):
        events += _events(_parsed(line), start)
        start += len(line) + 1
    return events


def _tail(path: str) -> tuple[bytes, int]:
    """The end of a file from the beginning of a line, and where it starts."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b"", 0
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.getuid():
            return b"", 0
        start = max(0, state.st_size - LARGEST)
        content = os.pread(descriptor, LARGEST, start)
    finally:
        os.close(descriptor)
    if not start:
        return content, 0
    cut, _, rest = content.partition(b"\n")
    return rest, start + len(cut) + 1


def _parsed(line: bytes) -> Data:
    try:
        return _object(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def _whole(content: bytes) -> Iterator[Event]:
    """The events of a transcript that is one object with a list of messages, as Gemini CLI writes it."""
    for place, message in enumerate(_objects(_parsed(content).get("messages"))):
        role = {"user": "user", "gemini": "assistant", "model": "assistant"}.get(str(message.get("type")))
        text = _text(message.get("content"))
        if role is not None and text:
            yield Said(cast("Any", role), text, place, _time(message))
        for number, call in enumerate(_objects(message.get("toolCalls"))):
            id = f"{place}.{number}"
            yield from _call(id, call.get("args"))
            ok = {"success": True, "error": False}.get(str(call.get("status")))
            yield ActionResult(id, ok, _text(call.get("resultDisplay")))


def _events(line: Data, place: int) -> Iterator[Event]:
    """The events of one line. Subagents and notes of the client are left out."""
    if line.get("isSidechain") or line.get("isMeta") or line.get("isCompactSummary"):
        return
    if line.get("type") == "response_item":
        yield from _of_codex(_object(line.get("payload")), place, _time(line))
    elif line.get("type") in ("user_input", "planner_response"):
        yield from _of_windsurf(line, place)
    else:
        message = _object(line.get("message"))
        role = line.get("role") or message.get("role")
        if role in ("user", "assistant"):
            yield from _blocks(cast("Any", role), message.get("content"), place, _time(line))


def _blocks(role: Literal["user", "assistant"], content: object, place: int, at: datetime | None) -> Iterator[Event]:
    """A message of Claude Code or Cursor: a text, or blocks of text, calls and results."""
    blocks = _objects(content)
    if text := _text(content):
        yield Said(role, text, place, at)
    for block in blocks:
        if block.get("type") == "tool_use":
            yield from _call(str(block.get("id")), block.get("input"))
        elif block.get("type") == "tool_result":
            told = _text(block.get("content"))
            ok = None if told.startswith(_NOT_RUN) else not block.get("is_error")
            yield ActionResult(str(block.get("tool_use_id")), ok, told)


def _of_codex(item: Data, place: int, at: datetime | None) -> Iterator[Event]:
    kind, role = item.get("type"), item.get("role")
    if kind == "message" and role in ("user", "assistant"):
        if text := _text(item.get("content")):
            yield Said(cast("Any", role), text, place, at)
    elif kind in ("function_call", "local_shell_call"):
        given = item.get("arguments") if kind == "function_call" else _object(item.get("action"))
        yield from _call(str(item.get("call_id")), _parsed(given.encode()) if isinstance(given, str) else given)
    elif kind == "function_call_output":
        given = item.get("output")
        output = given if isinstance(given, str) else _text(given)
        inner = _parsed(output.encode("utf-8", "replace"))
        code = _object(inner.get("metadata")).get("exit_code")
        text = str(inner.get("output") or output)
        found = _EXIT.search(text[:400])
        code = code if isinstance(code, int) else int(found[1]) if found else None
        yield ActionResult(str(item.get("call_id")), None if code is None else code == 0, _clean(text))


def _of_windsurf(line: Data, place: int) -> Iterator[Event]:
    asked = _text(_object(line.get("user_input")).get("user_response"))
    said = _text(_object(line.get("planner_response")).get("response"))
    if asked or said:
        yield Said("user" if asked else "assistant", asked or said, place, _time(line))


def _call(id: str, given: object) -> Iterator[AgentAction]:
    """A call by its arguments: the command of a shell, or the file that a tool works on."""
    arguments = _object(given)
    command = arguments.get("command") or arguments.get("cmd")
    if isinstance(command, list):
        words = [str(word) for word in cast("list[object]", command)]
        command = words[-1] if words[1:2] in (["-lc"], ["-c"]) else " ".join(words)
    if arguments.get("run_in_background"):  # its result says that it was started
        return
    if isinstance(command, str) and command.strip():
        yield AgentAction(id, _clean(command))
    elif isinstance(file := arguments.get("file_path"), str) and {"old_string", "content", "edits"} & arguments.keys():
        yield AgentAction(id, _clean(file), shell=False)


def _text(content: object) -> str:
    """The text of a message: itself, or its parts that are text."""
    if isinstance(content, str):
        return _clean(content)
    texts = [value.get("text") for value in _objects(content) if str(value.get("type", "text")).endswith("text")]
    return _clean("\n".join(text for text in texts if isinstance(text, str)))


def _clean(text: str) -> str:
    return re.sub("[\0\ud800-\udfff]", "", text[:LONGEST_TEXT]).strip()


def _time(line: Data) -> datetime | None:
    """When a line was written; None if it does not say, or names a time that cannot be."""
    try:
        at = datetime.fromisoformat(str(line.get("timestamp")))
        return at if _EARLIEST <= at <= datetime.now(UTC) else None
    except (ValueError, TypeError):  # a time without a zone cannot be compared
        return None


def _object(value: object) -> Data:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _objects(value: object) -> list[Data]:
    return [_object(member) for member in cast("list[object]", value)] if isinstance(value, list) else []
