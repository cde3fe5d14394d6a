"""Exports of agent frameworks: Letta's agent files and passages, and the items of LangGraph stores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from memorist.errors import InvalidInput
from memorist.model import Kind, fingerprint
from memorist.remember.ingest.messages import Calls, call_of, plain_text, turns
from memorist.remember.ingest.model import DraftMemory, Found, Skipped
from memorist.remember.ingest.values import (
    Object,
    as_list,
    as_name,
    as_object,
    as_text,
    fields_of,
    first_name,
    moment,
    parse_json,
    with_places,
)

LOOP_EVENT = "an event of the agent's loop"
NO_VALUE = "item without a text"
_PASSAGE = "passage-"
_EVENTS = frozenset({"heartbeat", "login", "system_alert", "bootup"})
_SPEAKS = "send_message"


def is_letta(given: Object) -> bool:
    """Whether an object is an agent file of Letta, or a passage of its archival memory."""
    new = isinstance(given.get("agents"), list) and isinstance(given.get("blocks"), list)
    old = isinstance(given.get("core_memory"), list) and isinstance(given.get("messages"), list)
    return new or old or (as_text(given.get("id")).startswith(_PASSAGE) and isinstance(given.get("text"), str))


def letta_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The memory blocks, files and messages of an agent file, or the text of a passage."""
    if isinstance(given.get("text"), str):
        yield from _passage(given, where)
        return
    agents = [as_object(agent) for agent in as_list(given.get("agents"))] or [given]
    names = [first_name(agent, "name", "id") or f"agent {number}" for number, agent in enumerate(agents, 1)]
    owners = {
        as_name(id): name for agent, name in zip(agents, names, strict=True) for id in as_list(agent.get("block_ids"))
    }
    blocks = as_list(given.get("blocks") if "agents" in given else given.get("core_memory"))
    for place, value in with_places(blocks, where, "block"):
        block = as_object(value)
        yield _block(block, place, owners.get(as_name(block.get("id")), names[0] if names else where))
    for place, value in with_places(as_list(given.get("files")), where, "file"):
        file = as_object(value)
        name, text = first_name(file, "original_file_name", "file_name"), as_text(file.get("content"))
        key = f"letta:{name}:{fingerprint(text)}"
        yield DraftMemory(text, place, fields_of({"file": name, "kind": Kind.SEMANTIC, "key": key})[0], turn=False)
    for agent, name in zip(agents, names, strict=True):
        reader = _Letta(name)
        for place, value in with_places(as_list(agent.get("messages")), f"{where}, {name}", "message"):
            yield from reader.message(as_object(value), place)


def _block(block: Object, where: str, agent: str) -> DraftMemory:
    """A block of core memory, under its label; a later export replaces its text."""
    label = first_name(block, "label", "id") or "block"
    fields, _ = fields_of({"kind": Kind.SEMANTIC, "topic": label, "key": f"letta:{agent}:{label}", "agent": agent})
    return DraftMemory(as_text(block.get("value")).strip(), where, fields, turn=False)


def _passage(given: Object, where: str) -> Iterator[Found]:
    fields, _ = fields_of(
        {
            "kind": Kind.SEMANTIC,
            "key": f"letta:{as_text(given.get('id'))}",
            "at": given.get("created_at"),
            "keywords": as_list(given.get("tags")),
            "file": as_name(given.get("file_name")),
            "metadata": as_object(given.get("metadata") or given.get("metadata_")),
        }
    )
    yield DraftMemory(as_text(given.get("text")), where, fields, turn=False)


class _Letta:
    """Reads the messages of one agent, without the envelopes in which Letta keeps what was said."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._calls: Calls = {}
        self._spoken = set[str | None]()

    def message(self, message: Object, where: str) -> Iterator[Found]:
        """The turns of a message; what the agent says through a tool is said by the agent."""
        said: dict[str, Any] = {key: message.get(key) for key in ("role", "name", "tool_call_id")}
        said |= {"content": message.get("content") or message.get("text"), "at": message.get("created_at")}
        calls = [call_of(as_object(call)) for call in as_list(message.get("tool_calls"))]
        if words := [_envelope(call.arguments).get("message") for call in calls if call.name == _SPEAKS]:
            said["content"] = "\n\n".join(map(as_text, words))
            self._spoken |= {call.id for call in calls if call.name == _SPEAKS}
        else:
            said["tool_calls"] = as_list(message.get("tool_calls"))
        told = plain_text(said["content"]) if message.get("role") in ("user", "system") else ""
        envelope = _envelope(told)
        if envelope.get("type") in _EVENTS or (as_name(said["tool_call_id"]) or "") in self._spoken:
            yield Skipped(where, LOOP_EVENT)
            return
        if isinstance(envelope.get("message"), str):
            said["content"] = envelope["message"]
        yield from map(self._keyed, turns(said, where, self._calls, self._agent))

    def _keyed(self, found: Found) -> Found:
        """A turn keyed by its content: every export numbers the messages of a file anew."""
        if not isinstance(found, DraftMemory):
            return found
        fields = found.fields.copy()
        at = fields.get("at")
        fields["key"] = f"letta:{self._agent}:{fingerprint(fields.get('speaker'), str(at), found.text)}"
        return replace(found, fields=fields)


def _envelope(text: str) -> Object:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        return as_object(parse_json(text))
    except InvalidInput:
        return {}


_TEXTS = ("text", "content", "memory", "data", "fact", "summary", "value")
"""Where the value of a LangGraph item keeps its text, most usual first."""


def is_langgraph(given: Object) -> bool:
    """Whether an object is an item of a LangGraph store."""
    named = isinstance(given.get("namespace"), list | tuple) or isinstance(given.get("prefix"), str)
    return named and isinstance(given.get("key"), str) and isinstance(given.get("value"), dict)


def langgraph_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The text of an item, in the scope of its namespace and with its key; it has the time of its last update."""
    parts = as_list(given.get("namespace")) or as_text(given.get("prefix")).split(".")
    namespace = "/".join(name for part in parts if (name := as_name(part)))
    value = as_object(given.get("value"))
    text, rest = _value_text(value)
    if not text.strip():
        yield Skipped(where, NO_VALUE)
        return
    created = next((given[key] for key in ("created_at", "createdAt") if given.get(key)), None)
    updated = next((given[key] for key in ("updated_at", "updatedAt") if moment(given.get(key))), created)
    fields, _ = fields_of({"at": updated, "metadata": {key: field for key, field in rest.items() if field is not None}})
    fields["kind"] = Kind.SEMANTIC
    fields["key"] = f"langgraph:{namespace}:{as_text(given.get('key'))}"
    if namespace:
        fields["scope"] = namespace
    yield DraftMemory(text, where, fields, turn=False)


def _value_text(value: Object) -> tuple[str, Object]:
    """The text of a value, and what else it holds; without a field for text, all of it is the text."""
    for key in _TEXTS:
        held = value.get(key)
        if isinstance(held, str) and held.strip():
            return held, {name: field for name, field in value.items() if name != key}
        if as_object(held):
            text, inner = _value_text(as_object(held))
            return text, {**{name: field for name, field in value.items() if name != key}, **inner}
    lines = [
        f"{key}: {field if isinstance(field, str) else json.dumps(field, ensure_ascii=False)}"
        for key, field in value.items()
    ]
    return "\n".join(lines), {}
