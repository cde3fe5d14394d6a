"""abmind's database, its rows as JSON, and the JSON of its recall."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memorist.model import Fact, Kind
from memorist.remember.ingest.messages import ROLES, SYSTEM
from memorist.remember.ingest.model import Cleaned, Found, Skipped
from memorist.remember.ingest.values import (
    Object,
    as_list,
    as_name,
    as_object,
    as_text,
    first_name,
    moment,
    with_places,
)
from memorist.text.patterns import lazy
from memorist_import.carry import Tables, carry_fact, carry_memory, names_in, unread
from memorist_import.graphs import relation_name, snake_case

ABMIND_TABLES = {"extracted_memories": ("content_en", "content_original", "memory_type", "created_at")}
ENCRYPTED = "its value is encrypted; only its description is kept"
_EDGES = ("entity_graph", "entity_edges")
_READ = ("extracted_memories", "messages", "context_summaries", *_EDGES)
_LOGS = ("ingested_documents", "extraction_watermarks", "context_watermarks")
_NOT_READ: Mapping[str, str] = {name: "a log entry" for name in _LOGS}
_MEMORY = {
    **{name: name for name in ("trust", "credibility", "classification", "tier")},
    **{"emotion_score": "emotion", "valid_to": "expires_at"},
}
_NAMES = {"emotion_tags": "emotion_tags", "importance_flags": "flags", "preserved_keyword": "keywords"}
"""Lists of words, which abmind writes in one text."""
_USUAL = {
    **dict.fromkeys(("recall_count", "relevance_score", "encrypted", "cited_count", "rejected_count"), 0),
    **{"topic": "general", "tier": "general", "memory_type": "fact", "integrity": 2, "source_type": "conversation"},
    **{"recall_timestamps": "[]", "created_by": "unknown", "semantic_revision": 1},
}
_USED = (
    *("id", "content", "content_en", "content_original", "user_id", "topic", "source_timestamp", "created_at"),
    *("preserve_original", *_NAMES),
)
_HIT = frozenset({"memory_type", "emotion_tags", "importance_flags", "emotion_score", "content_original"})
_EDGE = lazy(r"(?P<subject>(?:(?! —\[).)++) —\[(?P<relation>[^\]]++)\]→ (?P<object>.+?)(?: \(score: [\d.]++\))?")


def is_abmind(given: Object) -> bool:
    """Whether an object is the answer of a recall by abmind, one of its hits, or a row of its memories."""
    if isinstance(given.get("results"), list):
        return isinstance(given.get("stages"), dict)
    names = {snake_case(key) for key in given}
    hit = isinstance(given.get("content"), str) and "role" not in given and bool(_HIT & names)
    return hit or (isinstance(given.get("content_en"), str) and "memory_type" in given)


def abmind_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The memories and edges of an answer, or of one hit."""
    if "results" not in given:
        yield from _memory({snake_case(key): value for key, value in given.items()}, where)
        return
    for place, result in with_places(as_list(given.get("results")), where, "result"):
        hit = {snake_case(key): value for key, value in as_object(result).items()}
        if edge := _EDGE.fullmatch(as_text(hit.get("content"))):
            yield from _edge({**edge.groupdict(), "created_at": hit.get("created_at")}, place)
        else:
            yield from _memory(hit, place)


def abmind_rows(tables: Tables, where: str) -> Iterator[Found]:
    """The memories, messages, summaries and edges in a database."""
    for place, row in with_places(tables["extracted_memories"], where, "memory"):
        yield from _memory(row, place)
    for place, row in with_places(tables.get("messages", ()), where, "message"):
        yield from _message(row, place)
    for place, row in with_places(tables.get("context_summaries", ()), where, "summary"):
        ours = {"key": _key("summary", row), "kind": Kind.SEMANTIC, "topic": "summary", "at": row.get("created_at")}
        table = {"classification": "classification"}
        usual = {"archived": 0, "depth": 0}
        used = ("id", "content", "created_at", "chat_id")
        text, session = as_text(row.get("content")), as_name(row.get("chat_id"))
        yield from carry_memory(text, row, table, place, ours=ours, used=used, usual=usual, session=session)
    for name in _EDGES:
        for place, row in with_places(tables.get(name, ()), where, "edge"):
            edge = {"subject": row.get("entity_a"), "object": row.get("entity_b")}
            yield from _edge({**{k: v for k, v in row.items() if k not in ("entity_a", "entity_b")}, **edge}, place)
    yield from unread(tables, _READ, _NOT_READ, where)


def _memory(row: Object, where: str) -> Iterator[Found]:
    """A memory: its English text, and beside it the original. Without a topic of its own its type is the topic."""
    text = as_text(row.get("content_en") or row.get("content"))
    original = as_text(row.get("content_original"))
    said = moment(row.get("source_timestamp")) or moment(row.get("created_at"))
    own_topic = row.get("topic") not in (None, "", "general")
    typed = row.get("memory_type") not in (None, "", "fact") and not own_topic
    if encrypted := bool(row.get("encrypted")):
        yield Cleaned(where, ENCRYPTED)
    ours: Mapping[str, object] = {
        **{name: names_in(row.get(theirs)) for theirs, name in _NAMES.items()},
        "at": said,
        "ingested_at": row.get("created_at"),
        "kind": Kind.SEMANTIC,
        "key": _key("", row),
        "original": original if original != text and not encrypted else None,
        "scope": _scope(row),
        "topic": row.get("topic") if own_topic else row.get("memory_type") if typed else None,
    }
    used = (*_USED, *(["memory_type"] if typed else []))
    usual = {**_USUAL, "valid_from": said.date().isoformat() if said else None}
    yield from carry_memory(text, row, _MEMORY, where, ours=ours, used=used, usual=usual)


def _message(row: Object, where: str) -> Iterator[Found]:
    role = as_text(row.get("role")).lower()
    if role == "system":
        yield Skipped(where, SYSTEM)
        return
    ours = {"at": row.get("timestamp"), "key": _key("message", row), "scope": _scope(row)}
    ours["speaker"] = ROLES.get(role, role)
    used = ("id", "user_id", "session_id", "role", "content", "timestamp")
    text, session = as_text(row.get("content")), as_name(row.get("session_id"))
    table = {"emotion_score": "emotion"}
    yield from carry_memory(text, row, table, where, ours=ours, used=used, session=session, turn=True)


def _edge(row: Object, where: str) -> Iterator[Found]:
    fact = Fact(
        as_text(row.get("subject")),
        relation_name(as_text(row.get("relation"))) or "is_related_to",
        as_text(row.get("object")),
    )
    ours = {"valid_from": row.get("created_at"), "ingested_at": row.get("created_at"), "source": "abmind"}
    yield from carry_fact(fact, row, {}, where, ours=ours, used=("id", "subject", "relation", "object", "created_at"))


def _scope(row: Object) -> str | None:
    return f"user:{name}" if (name := as_name(row.get("user_id"))) else None


def _key(what: str, row: Object) -> str | None:
    """The id with its time, since every database counts from 1."""
    id, time = as_name(row.get("id")), first_name(row, "timestamp", "created_at")
    return ":".join(filter(None, ("abmind", what, id, time))) if id else None
