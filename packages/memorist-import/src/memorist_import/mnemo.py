"""Mnemo: the rows of its LanceDB table as JSON, and the results of its recall."""

from __future__ import annotations

from collections.abc import Iterator

from memorist.model import Kind
from memorist.remember.ingest.model import Found
from memorist.remember.ingest.values import Object, as_name, as_object, as_text
from memorist_import.carry import carry_memory, object_in

_CATEGORIES = frozenset({"preference", "fact", "decision", "entity", "other", "reflection"})
_ROW = {"category": "topic", "scope": "scope", "importance": "importance", "timestamp": "at"}
_METADATA = {"tier": "tier", "confidence": "confidence", "emotional_salience": "salience", "expired_at": "expires_at"}
"""Fields of ours that Mnemo keeps in its metadata."""


def is_mnemo(given: Object) -> bool:
    """Whether an object is a row of Mnemo, or a result of its recall."""
    row = as_object(given.get("entry")) or given
    category = isinstance(row.get("text"), str) and as_text(row.get("category")) in _CATEGORIES
    return category and "importance" in row and "timestamp" in row


def mnemo_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """A row as a memory: what its metadata calls tier, confidence and salience are fields of ours."""
    row = {**given, **as_object(given.get("entry"))}
    text, inner = as_text(row.get("text")), object_in(row.get("metadata"))
    # Levels of detail that only repeat the text, as Mnemo writes them without a language model.
    repeated = {"l0_abstract": text, "l1_overview": f"- {text}", "l2_content": text}
    told = (*_METADATA, "source_session")
    rest = {key: value for key, value in inner.items() if key not in told and repeated.get(key) != value}
    ours = {
        "key": f"mnemo:{id}" if (id := as_name(row.get("id"))) else None,
        "kind": Kind.SEMANTIC,
        "ingested_at": row.get("timestamp"),
        "metadata": rest,
    }
    given = {**row, **{key: inner[key] for key in _METADATA if key in inner}}
    used = ("text", "id", "entry", "metadata")
    session = as_name(inner.get("source_session"))
    table = {**_METADATA, **_ROW}
    yield from carry_memory(
        text, given, table, where, ours=ours, used=used, usual={"category": "other"}, session=session
    )
