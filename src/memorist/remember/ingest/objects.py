"""JSON objects of any kind we know, each read as what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from memorist.remember.ingest.chatgpt import chatgpt_turns, is_chatgpt
from memorist.remember.ingest.claude import claude_turns, is_claude
from memorist.remember.ingest.draft import Draft, Found
from memorist.remember.ingest.fields import SESSION
from memorist.remember.ingest.mem0 import is_mem0, mem0_memories
from memorist.remember.ingest.memories import is_memory, memories
from memorist.remember.ingest.messages import is_message, turns
from memorist.remember.ingest.model import Skipped
from memorist.remember.ingest.parts import Calls
from memorist.remember.ingest.values import Object, as_list, as_object, first_name, numbered

UNKNOWN = "neither a message nor a memory"
_WRAPPERS = ("results", "memories", "conversations", "items")
_CONVERSATION = "conversation"
_FORMATS = {_CONVERSATION: "messages", "message": "messages", "memory": "json", "text": "json"}


def shape(value: object) -> str | None:
    """What one value is: a conversation of one of the kinds, a message, a memory, a text, or unknown."""
    if isinstance(value, str):
        return "text"
    given = as_object(value)
    tests = (("chatgpt", is_chatgpt), ("claude", is_claude), (_CONVERSATION, _is_conversation), ("mem0", is_mem0))
    tests = (*tests, ("message", is_message), ("memory", is_memory))
    return next((name for name, test in tests if test(given)), None)


def format_of(document: object) -> str:
    """The format of a whole JSON document, by the first value in it that we know."""
    for one in unwrapped(document):
        if found := shape(one):
            return _FORMATS.get(found, found)
    return "json"


def unwrapped(document: object) -> list[Any]:
    """The values of a document: a list's, those of an object that wraps a list, or the one value."""
    if isinstance(document, list):
        return as_list(cast("object", document))
    given = as_object(document)
    wrapper = next((key for key in _WRAPPERS if isinstance(given.get(key), list)), None)
    if wrapper and shape(given) is None:
        return [*as_list(given[wrapper]), *(given[key] for key in ("relations",) if given.get(key))]
    return [document]


class Reader:
    """Reads the values of one file in order, knowing the calls its messages made."""

    def __init__(self, format: str | None = None) -> None:
        self._only = format if format in ("chatgpt", "claude", "mem0", "messages") else None
        self._calls = Calls()

    def drafts(self, value: object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        """The drafts of one value; `unnamed` names a conversation that has no name of its own."""
        kind = shape(value)
        given = as_object(value)
        if kind is None or (self._only and _FORMATS.get(kind, kind) != self._only):
            yield Skipped(where, f"not of the format {self._only}" if kind and self._only else UNKNOWN)
        elif kind == "chatgpt":
            yield from chatgpt_turns(given, where, unnamed)
        elif kind == "claude":
            yield from claude_turns(given, where, unnamed)
        elif kind == "mem0":
            yield from mem0_memories(given, where)
        elif kind == _CONVERSATION:
            yield from self._conversation(given, where, unnamed)
        elif kind == "message":
            yield from turns(given, where, self._calls)
        elif kind == "memory":
            yield from memories(given, where)
        else:
            yield Draft(str(value), where, turn=False)

    def _conversation(self, given: Object, where: str, unnamed: str | None) -> Iterator[Found]:
        name = first_name(given, *SESSION, "id", "uuid") or unnamed
        calls = Calls()
        for place, one in numbered(as_list(given.get("messages")), where, "message"):
            message = as_object(one)
            if is_message(message):
                yield from turns(message, place, calls, name)
            elif is_memory(message):
                yield from memories(message, place, name)
            else:
                yield Skipped(place, UNKNOWN)


def _is_conversation(given: Object) -> bool:
    return isinstance(given.get("messages"), list)
