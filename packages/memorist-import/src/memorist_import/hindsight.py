"""Hindsight: the archives of its banks and documents, and lists of its memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from memorist.model import Kind
from memorist.remember.ingest.model import Found, Skipped
from memorist.remember.ingest.values import (
    Object,
    as_list,
    as_name,
    as_object,
    as_text,
    first_name,
    first_time,
    moment,
    with_places,
)
from memorist_import.carry import carry_document, carry_memory, names_in, object_in

NO_CONTENT = "a document without its text"
DIRECTIVE = "a directive is an instruction, not a memory"
NO_FACT = "a fact without a text"
_TYPES: Mapping[object, Kind] = {"world": Kind.SEMANTIC, "experience": Kind.EPISODIC, "observation": Kind.SEMANTIC}
_WHEN = ("occurred_start", "mentioned_at", "event_date", "date")
"""When it happened, or else when it was said."""


def is_hindsight(given: Object) -> bool:
    """Whether an object is a memory, a document, a mental model or a directive of Hindsight."""
    return _is_unit(given) or _is_document(given) or _is_model(given) or _is_directive(given)


def _is_unit(given: Object) -> bool:
    typed = first_name(given, "fact_type", "type") in _TYPES or "proof_count" in given
    return isinstance(given.get("text"), str) and typed and any(name in given for name in _WHEN)


def _is_document(given: Object) -> bool:
    return "original_text" in given and as_name(given.get("id")) is not None


def _is_model(given: Object) -> bool:
    return "source_query" in given and "content" in given


def _is_directive(given: Object) -> bool:
    return "bank_id" in given and "is_active" in given and isinstance(given.get("content"), str)


def hindsight_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """A memory, the text of a document with the facts read from it, or a mental model."""
    if _is_document(given):
        yield from _document(given, where)
    elif _is_model(given):
        table = {"last_refreshed_at": "at", "created_at": "ingested_at"}
        ours = {"key": _key(given), "kind": Kind.SEMANTIC, "topic": as_name(given.get("name"))}
        used = ("id", "name", "content")
        yield from carry_memory(as_text(given.get("content")), given, table, where, ours=ours, used=used)
    elif _is_directive(given):
        yield Skipped(where, DIRECTIVE)
    else:
        yield from _unit(given, where)


def _unit(given: Object, where: str) -> Iterator[Found]:
    """A memory, at the time when it happened, and known since it was said. An invalidated one has ended."""
    at, known = first_time(given, *_WHEN), first_time(given, "mentioned_at", "created_at")
    type = first_name(given, "fact_type", "type")
    ended = first_time(given, "invalidated_at", "updated_at") or at if given.get("state") == "invalidated" else None
    ours: Mapping[str, object] = {
        "key": _key(given),
        "kind": _TYPES.get(type),
        "at": at,
        "ingested_at": known,
        "expires_at": ended,
        "topic": as_name(given.get("context")),
        "source": as_name(given.get("document_id")),
        "keywords": names_in(given.get("entities")),
        "metadata": object_in(given.get("metadata")),
    }
    times = {time for time in (at, known, ended) if time}
    used = (
        *("id", "text", "context", "document_id", "entities", "metadata"),
        *(("state",) if ended else ()),
        *(name for name in given if moment(given[name]) in times),
        *(("fact_type", "type") if type in ("world", "experience") else ()),
    )
    usual = {"proof_count": 1, "state": "valid"}
    yield from carry_memory(as_text(given["text"]), given, {}, where, ours=ours, used=used, usual=usual)


def _document(given: Object, where: str) -> Iterator[Found]:
    """The text that was retained, in chunks of ours, and the facts in it, each with the texts of its causes."""
    name = as_name(given.get("id"))
    chunks = [as_text(as_object(chunk).get("chunk_text")) for chunk in as_list(given.get("chunks"))]
    text = as_text(given.get("original_text")) or "\n\n".join(chunks)
    retained = dict(object_in(given.get("retain_params")))
    ours = {
        "source": name,
        "topic": as_name(retained.pop("context", None)),
        "at": retained.pop("event_date", None) or given.get("created_at"),
        "ingested_at": given.get("created_at"),
    }
    used = ("id", "original_text", "chunks", "facts", "created_at")
    document = {**given, "retain_params": retained}
    facts = [as_object(fact) for fact in as_list(given.get("facts"))]
    if text.strip():
        yield from carry_document(text, document, {}, f"hindsight:{name}", ours=ours, used=used, session=name)
    elif not facts:
        yield Skipped(where, NO_CONTENT)
    for place, fact in with_places(facts, where, "fact"):
        if isinstance(fact.get("text"), str):
            yield from _unit({**fact, "document_id": name, "causal_relations": _causes(fact, facts)}, place)
        else:
            yield Skipped(place, NO_FACT)


def _causes(fact: Object, facts: list[Object]) -> list[dict[str, str]]:
    """The causal relations of a fact, with the beginnings of the facts to which they lead instead of their numbers."""
    found: list[dict[str, str]] = []
    for cause in map(as_object, as_list(fact.get("causal_relations"))):
        number = cause.get("target_fact_index")
        known = isinstance(number, int) and 0 <= number < len(facts)
        target = as_text(facts[cast("int", number)].get("text"))[:_SHOWN] if known else str(number)
        found.append({"relation": as_text(cause.get("relation_type")), "to": target})
    return found


_SHOWN = 200


def _key(given: Object) -> str | None:
    return f"hindsight:{id}" if (id := as_name(given.get("id"))) else None
