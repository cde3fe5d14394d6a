"""ChatGPT's export: conversations whose messages form a tree, of which the current branch is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memorist.remember.ingest.branches import LEFT, branch_to, last_leaf
from memorist.remember.ingest.draft import Found
from memorist.remember.ingest.exports import keyed, titled
from memorist.remember.ingest.messages import SYSTEM, WORDLESS_CALL, turns
from memorist.remember.ingest.model import Skipped
from memorist.remember.ingest.parts import REASONING, Calls
from memorist.remember.ingest.values import Object, as_list, as_name, as_object, as_text, first_name

_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})
_REASONING = frozenset({"thoughts", "reasoning_recap"})


def is_chatgpt(given: Object) -> bool:
    """Whether an object is a conversation as ChatGPT exports it."""
    return isinstance(given.get("mapping"), dict)


def chatgpt_turns(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The turns of a conversation's current branch."""
    name = first_name(given, "conversation_id", "id")
    nodes = {id: as_object(node) for id, node in as_object(given.get("mapping")).items()}
    parents = {id: as_name(node.get("parent")) for id, node in nodes.items()}
    current = as_name(given.get("current_node"))
    path = branch_to(current if current in parents else last_leaf(parents), parents)
    calls = Calls()
    for id in path:
        message = as_object(nodes[id].get("message"))
        place = f"{where}, message {id}"
        if reason := _unwanted(message):
            yield Skipped(place, reason)
        elif message:
            found = turns(_plain(message), place, calls, name or unnamed)
            yield from titled(keyed(found, f"chatgpt:{name}:{id}" if name else None), as_name(given.get("title")))
    followed = set(path)
    for id, node in nodes.items():
        if id not in followed and as_object(node.get("message")):
            yield Skipped(f"{where}, message {id}", LEFT)


def _unwanted(message: Object) -> str | None:
    """Why a message is no turn of the talk."""
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
    """A message in the words of OpenAI's own interface."""
    author = as_object(message.get("author"))
    content = as_object(message.get("content"))
    blocks: list[Any] = as_list(content.get("parts")) or [as_text(content.get("text") or content.get("result"))]
    model = as_name(as_object(message.get("metadata")).get("model_slug"))
    plain: dict[str, Any] = {"role": author.get("role"), "content": blocks, "at": message.get("create_time")}
    if name := as_name(author.get("name")):
        plain["name"] = name
    return {**plain, "model": model} if model else plain
