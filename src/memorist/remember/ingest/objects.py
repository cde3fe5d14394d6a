"""JSON and JSON Lines: conversations, messages and memories as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import IO, Any, cast

from memorist.errors import InvalidInput
from memorist.model.arguments import MOST_NESTED, nests_deeper
from memorist.remember.ingest.abmind import abmind_drafts, is_abmind
from memorist.remember.ingest.agents import is_langgraph, is_letta, langgraph_drafts, letta_drafts
from memorist.remember.ingest.claude_code import is_claude_code, transcript_drafts
from memorist.remember.ingest.cognee import CogneeReader, is_cognee
from memorist.remember.ingest.datasets import is_locomo, is_longmemeval, locomo_drafts, longmemeval_drafts
from memorist.remember.ingest.exports import chatgpt_turns, claude_turns, is_chatgpt, is_claude, is_mem0, mem0_memories
from memorist.remember.ingest.formats import lines
from memorist.remember.ingest.graphs import (
    GraphReader,
    is_graphiti,
    is_mcp_memory,
    is_zep,
    mcp_memory_drafts,
    zep_drafts,
)
from memorist.remember.ingest.hindsight import hindsight_drafts, is_hindsight
from memorist.remember.ingest.honcho import honcho_drafts, is_honcho
from memorist.remember.ingest.hybrid import hybrid_drafts, is_hybrid
from memorist.remember.ingest.memoria import MemoriaReader, is_memoria
from memorist.remember.ingest.messages import Calls, is_message, turns
from memorist.remember.ingest.mnemo import is_mnemo, mnemo_drafts
from memorist.remember.ingest.model import Cleaned, DraftMemory, Found, Skipped
from memorist.remember.ingest.nodes import NodeReader, is_nodes
from memorist.remember.ingest.slack import Channel, is_slack
from memorist.remember.ingest.supermemory import is_supermemory, supermemory_drafts
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
_WRAPPERS = ("results", "memories", "conversations", "items", "sessions", "threads", "passages")
_FORMATS = {"conversation": "messages", "message": "messages", "memory": "json", "text": "json"}
_TESTS: Mapping[str, Callable[[Object], bool]] = {
    "mnemosyne-hybrid": is_hybrid,
    "mnemosyne-graph": is_nodes,
    "abmind": is_abmind,
    "mnemo": is_mnemo,
    "memoria": is_memoria,
    "hindsight": is_hindsight,
    "honcho": is_honcho,
    "cognee": is_cognee,
    "supermemory": is_supermemory,
    "chatgpt": is_chatgpt,
    "claude": is_claude,
    "locomo": is_locomo,
    "longmemeval": is_longmemeval,
    "letta": is_letta,
    "graphiti": is_graphiti,
    "zep": is_zep,
    "langgraph": is_langgraph,
    "mcp-memory": is_mcp_memory,
    "claude-code": is_claude_code,
    "slack": is_slack,
    "conversation": lambda given: isinstance(given.get("messages"), list),
    "mem0": is_mem0,
    "message": is_message,
    "memory": is_memory,
}
"""Tests for each kind of object, the most specific first."""
Read = Callable[[Object, str, str | None], Iterator[Found]]
_READERS: Mapping[str, Read] = {
    "mnemosyne-hybrid": hybrid_drafts,
    "abmind": abmind_drafts,
    "mnemo": mnemo_drafts,
    "hindsight": hindsight_drafts,
    "honcho": honcho_drafts,
    "supermemory": supermemory_drafts,
    "chatgpt": chatgpt_turns,
    "claude": claude_turns,
    "locomo": locomo_drafts,
    "longmemeval": longmemeval_drafts,
    "letta": letta_drafts,
    "zep": zep_drafts,
    "langgraph": langgraph_drafts,
    "mcp-memory": mcp_memory_drafts,
    "claude-code": transcript_drafts,
    "mem0": lambda given, where, unnamed: mem0_memories(given, where),
}
"""Readers of the exports of products; each takes an object, its place, and a name for a conversation without one."""


def kind_of_value(value: object) -> str | None:
    """The kind of a value: a conversation, a message, a memory, a text or None."""
    if isinstance(value, str):
        return "text"
    given = as_object(value)
    return next((kind for kind, test in _TESTS.items() if test(given)), None)


def format_of(document: object) -> str:
    """The format of a JSON document, from the first value of a known kind."""
    for one in unwrapped(document):
        if found := kind_of_value(one):
            return _FORMATS.get(found, found)
    return "json"


def unwrapped(document: object) -> list[Any]:
    """The values of a document: the items of a list or of a list in a wrapper object, or the single value."""
    if isinstance(document, list):
        return as_list(cast("object", document))
    given = as_object(document)
    wrapper = next((key for key in _WRAPPERS if isinstance(given.get(key), list)), None)
    if wrapper and kind_of_value(given) is None:
        return [*as_list(given[wrapper]), *(given[key] for key in ("relations",) if given.get(key))]
    return [document]


class ObjectReader:
    """Reads the values of one file in order and remembers the tool calls and nodes in them."""

    def __init__(self, format: str | None = None) -> None:
        self._only = format if format in _TESTS or format == "messages" else None
        self._calls: Calls = {}
        channel = Channel()
        self._read: Mapping[str, Read] = {
            **_READERS,
            "graphiti": GraphReader().drafts,
            "memoria": MemoriaReader().drafts,
            "cognee": CogneeReader().drafts,
            "mnemosyne-graph": NodeReader().drafts,
            "slack": lambda given, where, unnamed: channel.drafts(given, where),
            "conversation": _conversation,
            "message": lambda given, where, unnamed: _message_drafts(given, where, self._calls, None),
            "memory": lambda given, where, unnamed: _message_drafts(given, where, self._calls, None),
        }

    def drafts(self, value: object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        """The drafts in one value; `unnamed` is the name for a conversation without one."""
        if nests_deeper(value, DEEPEST):
            yield Skipped(where, f"nested more than {DEEPEST} levels deep")
            return
        kind = self._kind(value)
        if kind is None or (self._only and _FORMATS.get(kind, kind) != self._only):
            yield Skipped(where, f"not in the format {self._only}" if kind and self._only else UNKNOWN)
        elif kind == "text":
            yield DraftMemory(str(value), where, turn=False)
        else:
            yield from self._read[kind](as_object(value), where, unnamed)

    def _kind(self, value: object) -> str | None:
        """The kind of a value; as messages, the log of a product is read whole."""
        return "message" if self._only == "messages" and is_message(as_object(value)) else kind_of_value(value)


def _conversation(given: Object, where: str, unnamed: str | None) -> Iterator[Found]:
    name = first_name(given, *SESSION, "id", "uuid") or unnamed
    calls: Calls = {}
    for place, one in with_places(as_list(given.get("messages")), where, "message"):
        yield from _message_drafts(as_object(one), place, calls, name)


def _message_drafts(given: Object, where: str, calls: Calls, conversation: str | None) -> Iterator[Found]:
    """The drafts in a message or memory."""
    if is_message(given):
        yield from turns(given, where, calls, conversation)
    elif is_memory(given):
        yield from memories(given, where, conversation)
    else:
        yield Skipped(where, UNKNOWN)


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
