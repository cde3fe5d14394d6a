"""JSON and JSON Lines: conversations, messages and memories as objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import IO, Any, cast

from memorist.errors import InvalidInput
from memorist.model.arguments import MOST_NESTED, nests_deeper
from memorist.remember.ingest.decoding import lines
from memorist.remember.ingest.formats import EXTRA, ObjectFormat, Read, installed
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
    parse_json,
    with_places,
)

TEXT = ("text", "content")


def is_memory(given: Object) -> bool:
    """Whether an object has a text field."""
    return any(isinstance(given.get(key), str) for key in TEXT)


def memories(given: Object, where: str, conversation: str | None = None) -> Iterator[Found]:
    """The memory in an object; with a speaker or session it is a turn, otherwise it stands alone."""
    text = next(key for key in TEXT if isinstance(given.get(key), str))
    given = {**_speech_metadata(given), **given}
    # Next to `content`, `name` is the speaker; next to `text` it may be the name of anything.
    who = SPEAKER if text == "content" else SPEAKER[:1]
    fields, notes = fields_of(given, text, *who, *SESSION)
    yield from (Cleaned(where, note) for note in notes)
    speaker = first_name(given, *who)
    if speaker:
        fields["speaker"] = speaker
    session = first_name(given, *SESSION) or conversation
    turn = speaker is not None or session is not None
    yield DraftMemory(as_text(given[text]), where, fields, session, turn=turn)


def _speech_metadata(given: Object) -> Object:
    """Speaker, time and session from the metadata, where corpora and document stores keep them."""
    metadata = as_object(given.get("metadata"))
    return {key: metadata[key] for key in (*AT, *SESSION, "speaker") if key in metadata}


DEEPEST = 2 * MOST_NESTED
"""How deep a conversation with its messages and their metadata may be nested."""
UNKNOWN = "neither a message nor a memory"
FOREIGN = f"exports of other products are read after: pip install 'memorist[{EXTRA}]'"
_WRAPPERS = ("results", "memories", "conversations", "items", "sessions", "threads", "passages")


def is_conversation(given: Object) -> bool:
    """Whether an object has a list of messages."""
    return isinstance(given.get("messages"), list)


def conversation_turns(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The turns of a conversation."""
    name = first_name(given, *SESSION, "id", "uuid") or unnamed
    calls: Calls = {}
    for place, value in with_places(as_list(given.get("messages")), where, "message"):
        message = as_object(value)
        if is_message(message):
            yield from turns(message, place, calls, name)
        elif is_memory(message):
            yield from memories(message, place, name)
        else:
            yield Skipped(place, UNKNOWN)


class MessageReader:
    """Reads the messages of one file, which may be about the same tool calls."""

    def __init__(self) -> None:
        self._calls: Calls = {}

    def drafts(self, given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        """The turns in a message."""
        return turns(given, where, self._calls)


MESSAGE = ObjectFormat("messages", is_message, MessageReader)
MEMORY = ObjectFormat("json", is_memory, lambda given, where, unnamed: memories(given, where))
OWN = (ObjectFormat("messages", is_conversation, conversation_turns), MESSAGE, MEMORY)
"""Memorist's own formats of objects, the most specific first."""


def object_formats() -> tuple[ObjectFormat, ...]:
    """All formats of objects, the most specific first."""
    return (*(format for format in installed() if isinstance(format, ObjectFormat)), *OWN)


def recognised(value: object) -> ObjectFormat | None:
    """The format of an object, if there is one."""
    given = as_object(value)
    return next((format for format in object_formats() if format.recognises(given)), None)


def format_of(document: object) -> str | None:
    """The format of a JSON document, from the first value of a known format; None if there is none."""
    for value in unwrapped(document):
        if isinstance(value, str):
            return MEMORY.name
        if found := recognised(value):
            return found.name
    return None


def unwrapped(document: object) -> list[Any]:
    """The values of a document: the items of a list or of a list in a wrapper object, or the single value."""
    if isinstance(document, list):
        return as_list(cast("object", document))
    given = as_object(document)
    wrapper = next((key for key in _WRAPPERS if isinstance(given.get(key), list)), None)
    if wrapper and recognised(given) is None:
        return [*as_list(given[wrapper]), *(given[key] for key in ("relations",) if given.get(key))]
    return [document]


class ObjectReader:
    """Reads the values of one file in order, each by the format that recognises it."""

    def __init__(self, format: str | None = None) -> None:
        self._only = (
            format if format in {object_format.name for object_format in object_formats()} - {MEMORY.name} else None
        )
        self._readers: dict[ObjectFormat, Read] = {}

    def drafts(self, value: object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        """The drafts in one value; `unnamed` is the name for a conversation without one."""
        if nests_deeper(value, DEEPEST):
            yield Skipped(where, f"nested more than {DEEPEST} levels deep")
            return
        format = self._format(value)
        name = MEMORY.name if isinstance(value, str) else format and format.name
        if name is None:
            yield Skipped(where, UNKNOWN if installed() else f"{UNKNOWN}; {FOREIGN}")
        elif self._only not in (None, name):
            yield Skipped(where, f"not in the format {self._only}")
        elif format is None:
            yield DraftMemory(str(value), where, turn=False)
        else:
            if format not in self._readers:
                self._readers[format] = format.reader()
            yield from self._readers[format](as_object(value), where, unnamed)

    def _format(self, value: object) -> ObjectFormat | None:
        """The format of a value; as messages, the log of a product is read whole."""
        return MESSAGE if self._only == "messages" and is_message(as_object(value)) else recognised(value)


def document_drafts(document: object, name: str, format: str | None = None) -> Iterator[Found]:
    """The drafts in the values of a document, in order."""
    return value_drafts(unwrapped(document), name, format)


def value_drafts(values: Iterable[object], name: str, format: str | None = None) -> Iterator[Found]:
    """The drafts in the values of a file, in order; a single value has the name of the file."""
    found = iter(values)
    first = list(islice(found, 2))
    if len(first) == 1:
        return ObjectReader(format).drafts(first[0], name)
    return object_drafts(chain(first, found), name, format)


def object_drafts(
    objects: Iterable[object] | Object, name: str | None = None, format: str | None = None
) -> Iterator[Found]:
    """The drafts in objects from a file or from Python, or in one object that wraps them, in order."""
    reader = ObjectReader(format)
    for number, value in enumerate(unwrapped(wrapper) if (wrapper := as_object(objects)) else objects, 1):
        where = f"{name}, item {number}" if name else f"item {number}"
        yield from reader.drafts(value, where, unnamed=f"{name or 'talk'}#{number}")


BAD_LINE = "not JSON"


def jsonl_drafts(stream: IO[bytes], name: str, reader: ObjectReader) -> Iterator[Found]:
    """The drafts in every line; a line that is not JSON is skipped."""
    for line in lines(stream, name):
        if not isinstance(line, tuple):
            yield line
            continue
        where, text = line
        try:
            document = parse_json(text)
        except InvalidInput:
            yield Skipped(where, BAD_LINE)
            continue
        for value in unwrapped(document):
            yield from reader.drafts(value, where, unnamed=where)
