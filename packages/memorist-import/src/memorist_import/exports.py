"""Exports of ChatGPT, Claude and mem0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memorist.model import Kind
from memorist.remember.ingest.messages import LEFT, REASONING, SYSTEM, WORDLESS_CALL, Calls, branch_to, last_leaf, turns
from memorist.remember.ingest.model import Cleaned, DraftMemory, Found, Skipped
from memorist.remember.ingest.values import (
    Object,
    as_list,
    as_name,
    as_object,
    as_text,
    fields_of,
    first_name,
    moment,
    with_places,
)

_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})
_REASONING = frozenset({"thoughts", "reasoning_recap"})


def is_chatgpt(given: Object) -> bool:
    """Whether an object is a conversation exported by ChatGPT."""
    return isinstance(given.get("mapping"), dict)


def chatgpt_turns(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The turns on the current branch of a conversation."""
    name = first_name(given, "conversation_id", "id")
    nodes = {id: as_object(node) for id, node in as_object(given.get("mapping")).items()}
    parents = {id: as_name(node.get("parent")) for id, node in nodes.items()}
    current = as_name(given.get("current_node"))
    path = branch_to(current if current in parents else last_leaf(parents), parents)
    calls: Calls = {}
    for id in path:
        message = as_object(nodes[id].get("message"))
        place = f"{where}, message {id}"
        if reason := _unwanted(message):
            yield Skipped(place, reason)
        elif message:
            # The id as key, so that a later export adds only new turns.
            key = f"chatgpt:{name}:{id}" if name else None
            plain = {**_plain(message), "key": key, "topic": as_name(given.get("title"))}
            yield from turns(plain, place, calls, name or unnamed)
    followed = set(path)
    for id, node in nodes.items():
        if id not in followed and as_object(node.get("message")):
            yield Skipped(f"{where}, message {id}", LEFT)


def _unwanted(message: Object) -> str | None:
    """The reason why a message is not a turn, if any."""
    content = as_object(message.get("content"))
    kind = as_text(content.get("content_type"))
    role = as_object(message.get("author")).get("role")
    hidden = as_object(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    if message and (role == "system" or kind in _INSTRUCTIONS or hidden):
        return SYSTEM
    if kind in _REASONING:
        return REASONING
    if role == "assistant" and as_text(message.get("recipient")) not in ("", "all"):
        return WORDLESS_CALL
    return None


def _plain(message: Object) -> Object:
    """A message in the format of OpenAI's API."""
    author = as_object(message.get("author"))
    content = as_object(message.get("content"))
    blocks: list[Any] = as_list(content.get("parts")) or [as_text(content.get("text") or content.get("result"))]
    model = as_name(as_object(message.get("metadata")).get("model_slug"))
    plain: dict[str, Any] = {"role": author.get("role"), "content": blocks, "at": message.get("create_time")}
    if name := as_name(author.get("name")):
        plain["name"] = name
    return {**plain, "model": model} if model else plain


NO_TEXT = "attachment without text"


def is_claude(given: Object) -> bool:
    """Whether an object is a conversation exported by Claude."""
    return isinstance(given.get("chat_messages"), list)


def claude_turns(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The turns of a conversation; attachments follow their message."""
    name = first_name(given, "uuid", "id")
    messages = [
        (place, as_object(value)) for place, value in with_places(as_list(given.get("chat_messages")), where, "message")
    ]
    current = _current(given, [message for _, message in messages])
    calls: Calls = {}
    seen = set[str]()
    for place, message in messages:
        id = first_name(message, "uuid", "id")
        if current and id not in current:
            yield Skipped(place, LEFT)
            continue
        key = f"claude:{name}:{id}" if name and id and id not in seen else None
        seen.add(id or "")
        shared = {"key": key, "topic": as_name(given.get("name")), "at": message.get("created_at")}
        yield from _message(message, shared, place, calls, name or unnamed)


def _current(given: Object, messages: list[Object]) -> set[str]:
    """The ids of the current branch, if the export gives it."""
    parents = {
        id: as_name(message.get("parent_message_uuid")) for message in messages if (id := as_name(message.get("uuid")))
    }
    return set(branch_to(as_name(given.get("current_leaf_message_uuid")), parents))


def _message(message: Object, shared: Object, where: str, calls: Calls, name: str | None) -> Iterator[Found]:
    """The turns of a message and its attachments, which are numbered after them."""
    role = as_name(message.get("sender")) or "human"
    content = as_list(message.get("content")) or as_text(message.get("text"))
    found = list(turns({**shared, "role": role, "content": content}, where, calls, name))
    yield from found
    number = sum(isinstance(piece, DraftMemory) for piece in found)
    for value in (*as_list(message.get("attachments")), *as_list(message.get("files"))):
        attached = as_object(value)
        text = as_text(attached.get("extracted_content"))
        if not text.strip():
            yield Skipped(where, NO_TEXT)
            continue
        number += 1
        key = f"{shared['key']}:{number}" if shared["key"] and number > 1 else shared["key"]
        fields, _ = fields_of({**shared, "key": key, "speaker": "user", "file": as_name(attached.get("file_name"))})
        yield DraftMemory(text, where, fields, name)


_OWNERS = ("user", "agent", "app")
_USED = ("memory", "id", "updated_at", "expiration_date", "categories", "run_id", "score", "event", "role", "kind")


def is_mem0(given: Object) -> bool:
    """Whether an object is a memory exported by mem0."""
    return isinstance(given.get("memory"), str) and not isinstance(given.get("messages"), list)


def mem0_memories(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The memory, in the scope of its owner and with mem0's id as key; an updated one has the time of the update."""
    fields, notes = fields_of(given, *_USED, *(f"{owner}_id" for owner in _OWNERS))
    yield from (Cleaned(where, note) for note in notes)
    metadata = dict(fields.get("metadata") or {})
    owners = {owner: name for owner in _OWNERS if (name := as_name(given.get(f"{owner}_id")))}
    for number, (owner, name) in enumerate(owners.items()):
        if number == 0:
            fields["scope"] = f"{owner}:{name}"
        else:
            metadata[f"{owner}_id"] = name
    if (created := fields.get("at")) and (updated := moment(given.get("updated_at"))) and updated != created:
        metadata["created_at"] = str(given.get("created_at"))
        fields["at"] = updated
    if expires := moment(given.get("expiration_date")):
        fields["expires_at"] = expires
    if categories := [name for category in as_list(given.get("categories")) if (name := as_name(category))]:
        fields["keywords"] = categories
    if id := as_name(given.get("id")):
        fields["key"] = f"mem0:{id}"
    fields["kind"] = Kind.SEMANTIC
    if metadata:
        fields["metadata"] = metadata
    yield DraftMemory(as_text(given["memory"]), where, fields, as_name(given.get("run_id")), turn=False)
