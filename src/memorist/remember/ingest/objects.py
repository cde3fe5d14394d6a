"""JSON and JSON Lines: objects with a text, and our own memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, cast

from memorist.errors import InvalidInput
from memorist.remember.ingest.exports import chatgpt_turns, claude_turns, is_chatgpt, is_claude, is_mem0, mem0_memories
from memorist.remember.ingest.formats import lines
from memorist.remember.ingest.messages import Calls, is_message, turns
from memorist.remember.ingest.model import Cleaned, DraftMemory, Found, Skipped
from memorist.remember.ingest.values import (
    AT,
    SESSION,
    SPEAKER,
    Object,
    as_list,
    as_object,
    as_text,
    fields_of,
    first_name,
    numbered,
    parsed,
)

TEXT = ("text", "content")


def is_memory(given: Object) -> bool:
    """Whether an object has a text and is no chat message."""
    return any(isinstance(given.get(key), str) for key in TEXT)


def memories(given: Object, where: str, conversation: str | None = None) -> Iterator[Found]:
    """The memory an object states; with a speaker it is a turn among others, without one it stands alone."""
    text = next(key for key in TEXT if isinstance(given.get(key), str))
    given = {**_said_in_metadata(given), **given}
    # Beside `content` a name is who said it; beside `text` it may be the name of anything.
    who = SPEAKER if text == "content" else SPEAKER[:1]
    fields, notes = fields_of(given, text, *who, *SESSION)
    yield from (Cleaned(where, note) for note in notes)
    speaker = first_name(given, *who)
    if speaker:
        fields["speaker"] = speaker
    session = first_name(given, *SESSION) or conversation
    turn = speaker is not None or session is not None
    yield DraftMemory(as_text(given[text]), where, fields, session, turn=turn)


def _said_in_metadata(given: Object) -> Object:
    """Who said it, when and in which talk, as corpora and document stores keep it: among the metadata."""
    metadata = as_object(given.get("metadata"))
    return {key: metadata[key] for key in (*AT, *SESSION, "speaker") if key in metadata}


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


class ObjectReader:
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
            yield DraftMemory(str(value), where, turn=False)

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


BAD_LINE = "not JSON"


def jsonl_drafts(stream: IO[bytes], name: str, format: str | None = None) -> Iterator[Found]:
    """The drafts of every line; a line that cannot be read is skipped, and the next one read."""
    reader = ObjectReader(format)
    for line in lines(stream, name):
        if not isinstance(line, tuple):
            yield line
            continue
        where, text = line
        try:
            document = parsed(text)
        except InvalidInput:
            yield Skipped(where, BAD_LINE)
            continue
        for value in unwrapped(document):
            yield from reader.drafts(value, where, unnamed=where)
