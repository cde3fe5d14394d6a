"""Rows of other memories: a table says which of their fields is which of ours, and the rest becomes metadata, noted."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from memorist.errors import InvalidInput
from memorist.model import Fact, FactFields
from memorist.remember.ingest.documents import text_drafts
from memorist.remember.ingest.model import Cleaned, DraftFact, DraftMemory, Found, Skipped
from memorist.remember.ingest.values import (
    Object,
    as_object,
    as_text,
    fields_of,
    fits_metadata,
    moment,
    parse_json,
    with_places,
)

if TYPE_CHECKING:
    from memorist.remember.record import Fields

VECTORS = frozenset(
    {
        *("embedding", "embeddings", "vector", "vectors", "binary_vector", "signature"),
        *("memoryEmbedding", "memoryEmbeddingNew", "summaryEmbedding", "summaryEmbeddingNew"),
    }
)
"""Fields that are computed again from the text."""
NO_TEXT = "a row without a text"
UNKNOWN = "a table of no known kind"
Table = Mapping[str, str]
"""Names of their fields, and the names of ours."""
Tables = Mapping[str, Iterable[Object]]
"""The rows of a database or an export, by table."""


def carry_memory(
    text: str,
    given: Object,
    table: Table,
    where: str,
    *,
    ours: Mapping[str, object] | None = None,
    used: Container[str] = (),
    usual: Object | None = None,
    session: str | None = None,
    turn: bool = False,
) -> Iterator[Found]:
    """A memory with their fields by the table, and those in `ours`, which a reader worked out.

    Fields in `used` are part of the text or of `ours`, and values in `usual` say nothing.
    """
    if not text.strip():
        yield Skipped(where, NO_TEXT)
        return
    known: dict[str, Any] = {name: value for name, value in (ours or {}).items() if not _is_empty(value)}
    metadata = dict(as_object(known.pop("metadata", None)))
    for key, value in _said(given, used, usual or {}):
        if _is_vector(key, value):
            yield Cleaned(where, f"{key} left out; it is computed again")
        elif key in table and table[key] not in known:
            known[table[key]] = value
        else:
            yield Cleaned(where, _noted(metadata, key, value))
    fields, notes = fields_of({**known, "metadata": metadata})
    if "at" in known and "at" not in fields:
        notes.append("its time is ambiguous; kept as metadata")
    yield from (Cleaned(where, note) for note in notes)
    yield DraftMemory(text, where, fields, session, turn=turn)


def carry_document(
    text: str,
    given: Object,
    table: Table,
    key: str,
    *,
    ours: Mapping[str, object],
    used: Container[str] = (),
    usual: Object | None = None,
    session: str | None = None,
) -> Iterator[Found]:
    """A document in chunks of its paragraphs, or as the turns of a transcript, with keys that begin so.

    All of them have its fields; metadata that is too large to repeat is kept with the first.
    """
    *notes, shared = carry_memory(text, given, table, key, ours=ours, used=used, usual=usual, session=session)
    yield from notes
    if not isinstance(shared, DraftMemory):
        yield shared
        return
    fields = shared.fields
    for found in text_drafts(text, key):
        if not isinstance(found, DraftMemory):
            yield found
            continue
        yield replace(found, fields={**fields, **found.fields}, conversation=session)
        if not fits_metadata(fields.get("metadata")):
            fields = cast("Fields", {name: value for name, value in fields.items() if name != "metadata"})


def carry_fact(
    fact: Fact,
    given: Object,
    table: Table,
    where: str,
    *,
    text: str | None = None,
    ours: Mapping[str, object] | None = None,
    used: Container[str] = (),
    usual: Object | None = None,
) -> Iterator[Found]:
    """A fact with the keywords of `relate`; it has no metadata, so that the rest is left out, and noted."""
    known: dict[str, Any] = {name: value for name, value in (ours or {}).items() if not _is_empty(value)}
    for key, value in _said(given, used, usual or {}):
        if key in table and table[key] not in known:
            known[table[key]] = value
        else:
            yield Cleaned(where, f"{key} left out: a fact has no place for it")
    for name in ("valid_from", "valid_to", "ingested_at"):
        if name in known and (at := moment(known[name])):
            known[name] = at
        elif known.pop(name, None):
            yield Cleaned(where, f"{name} is not a time; left out")
    if "valid_to" in known and known["valid_to"] <= known.get("valid_from", known["valid_to"]):
        del known["valid_to"]
        yield Cleaned(where, "it ends before it begins; its end is left out")
    yield DraftFact(fact, where, text, cast("FactFields", known))


def unread(tables: Tables, read: Container[str], reasons: Mapping[str, str], where: str) -> Iterator[Skipped]:
    """The rows of tables that are not read, with the reason, and the tables of which nothing is known."""
    for table, rows in tables.items():
        if table in reasons:
            yield from (Skipped(place, reasons[table]) for place, _ in with_places(rows, where, table))
        elif table not in read and any(True for _ in rows):
            yield Skipped(f"{where}, {table}", UNKNOWN)


def object_in(value: object) -> Object:
    """The object in a value, which may be JSON in a string."""
    if not isinstance(value, str):
        return as_object(value)
    try:
        return as_object(parse_json(value))
    except InvalidInput:
        return {"metadata": value} if value.strip() else {}


def names_in(value: object) -> list[str]:
    """The names in a list, in JSON in a string, or between commas."""
    if isinstance(value, str):
        try:
            value = parse_json(value) if value.lstrip().startswith("[") else value.split(",")
        except InvalidInput:
            return [value]
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [name for part in found if (name := as_text(part).strip())]


def _said(given: Object, used: Container[str], usual: Object) -> Iterator[tuple[str, Any]]:
    for key, value in given.items():
        if key not in used and not _is_empty(value) and not (key in usual and usual[key] == value):
            yield key, value


def _noted(metadata: dict[str, Any], key: str, value: object) -> str:
    """Put a value into metadata, beside another of that name; what became of it."""
    if not fits_metadata(value):
        return f"{key} is too large for metadata; left out"
    while key in metadata and metadata[key] != value:
        key += "_"
    metadata[key] = value
    return f"{key} kept as metadata"


def _is_vector(key: str, value: object) -> bool:
    return isinstance(value, bytes) or (key in VECTORS and isinstance(value, list | str))


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {}, ())
