"""The export and the database of Mnemosyne for Python, whose pipeline is the recipe mnemosyne-hybrid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from memorist.model import Fact, Kind, Tier
from memorist.remember.ingest.model import Found, Skipped
from memorist.remember.ingest.values import Object, as_list, as_name, as_object, as_text, first_name, with_places
from memorist_import.carry import Tables, carry_fact, carry_memory, object_in, unread
from memorist_import.graphs import relation_name

SYSTEM = "mnemosyne-hybrid"
HYBRID_TABLES = {"working_memory": ("id", "content", "session_id"), "episodic_memory": ("id", "content", "summary_of")}
COPY = "a copy of a working or episodic memory"
ORPHAN = "annotations of a memory that is not there"
_NAMES = {"memories": "legacy_memories", "memory_events": "sync_events"}
"""Tables that the export calls otherwise."""
_MEMORIES = ("working_memory", "episodic_memory", "legacy_memories")
_READ = (*_MEMORIES, "annotations", "scratchpad", "canonical_facts", "triples", "facts")
_LOGS = ("consolidation_log", "sync_events", "memory_validations")
_VECTORS = ("episodic_embeddings", "legacy_embeddings", "memory_embeddings")
_DERIVED = (
    *("memoria_facts", "memoria_timelines", "memoria_instructions", "memoria_preferences", "memoria_kg"),
    *("memoria_persona", "gists", "graph_edges", "consolidated_facts", "conflicts"),
)
_NOT_READ = {
    **dict.fromkeys(_LOGS, "a log entry"),
    **dict.fromkeys(_VECTORS, "a vector; it is computed again"),
    **dict.fromkeys(_DERIVED, "derived from memories; Memorist derives its own"),
}
_MEMORY = {
    "timestamp": "at",
    "created_at": "ingested_at",
    "importance": "importance",
    "source": "topic",
    "valid_until": "expires_at",
    "author_id": "speaker",
}
_FACT = {"valid_from": "valid_from", "valid_until": "valid_to", "created_at": "ingested_at", "timestamp": "valid_from"}
_USUAL = {
    **dict.fromkeys(("recall_count", "pinned", "validation_count"), 0),
    **dict.fromkeys(("veracity", "memory_type", "event_date_precision"), "unknown"),
    **{"scope": "session", "tier": 1, "temporal_tags": "[]", "trust_tier": "STATED"},
}


def is_hybrid(given: Object) -> bool:
    """Whether an object is an export of Mnemosyne for Python."""
    return isinstance(given.get("mnemosyne_export"), dict)


def hybrid_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The memories and facts in an export."""
    tables = {name: [as_object(row) for row in as_list(rows)] for name, rows in given.items()}
    tables.pop("mnemosyne_export", None)
    yield from hybrid_rows(tables, where)


def hybrid_rows(tables: Tables, where: str) -> Iterator[Found]:
    """The memories and facts in the tables of an export or a database."""
    tables = {_NAMES.get(name, name): rows for name, rows in tables.items()}
    notes = _annotations(tables.get("annotations", ()))
    seen = set[str]()
    for table in _MEMORIES:
        for place, row in with_places(tables.get(table, ()), where, table):
            id = as_text(row.get("id"))
            if table == "legacy_memories" and id in seen:
                yield Skipped(place, COPY)
                continue
            seen.add(id)
            yield from _memory(row, notes.pop(id, {}), place)
    yield from (Skipped(f"{where}, annotations of {id}", ORPHAN) for id in notes)
    for place, row in with_places(tables.get("scratchpad", ()), where, "scratchpad"):
        yield from _scratch(row, place)
    yield from _canonical(tables.get("canonical_facts", ()), where)
    for table in ("triples", "facts"):
        for place, row in with_places(tables.get(table, ()), where, table):
            yield from _triple(row, table, place)
    yield from unread(tables, _READ, _NOT_READ, where)


def _memory(row: Object, notes: Mapping[str, list[str]], where: str) -> Iterator[Found]:
    """A memory, with the names that it mentions as keywords. No file may pin what it says, so a pinned one is core."""
    ours = {
        "key": _key(row),
        "kind": Kind.SEMANTIC if row.get("summary_of") else None,
        "tier": Tier.CORE if row.get("pinned") else None,
        "keywords": notes.get("mentions"),
        "metadata": object_in(row.get("metadata_json")),
    }
    said = {f"annotations.{kind}": values for kind, values in notes.items() if not _is_known(kind, values, row)}
    used = ("id", "rowid", "content", "session_id", "metadata_json")
    usual = {**_USUAL, "channel_id": row.get("session_id")}
    if row.get("scope") == "global":  # for every session, as every memory is here
        usual["scope"] = "global"
    text = as_text(row.get("content"))
    yield from carry_memory(
        text, {**row, **said}, _MEMORY, where, ours=ours, used=used, usual=usual, session=_session(row)
    )


def _is_known(kind: str, values: list[str], row: Object) -> bool:
    """Whether annotations repeat what the row says."""
    told = {"has_source": as_text(row.get("source")), "occurred_on": as_text(row.get("timestamp"))[:10]}
    return kind == "mentions" or values == [told.get(kind)]


def _annotations(rows: Iterable[Object]) -> dict[str, dict[str, list[str]]]:
    """The annotations of each memory, by kind."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[as_text(row.get("memory_id"))][as_text(row.get("kind"))].append(as_text(row.get("value")))
    return found


def _session(row: Object) -> str | None:
    name = as_name(row.get("session_id"))
    return None if name == "default" else name


def _key(row: Object) -> str | None:
    return f"{SYSTEM}:{id}" if (id := as_name(row.get("id"))) else None


def _scratch(row: Object, where: str) -> Iterator[Found]:
    ours = {"key": _key(row), "topic": "scratchpad"}
    table = {"updated_at": "at", "created_at": "ingested_at"}
    used = ("id", "content", "session_id")
    yield from carry_memory(as_text(row.get("content")), row, table, where, ours=ours, used=used, session=_session(row))


def _canonical(rows: Iterable[Object], where: str) -> Iterator[Found]:
    """The current value of each slot under its name as key, and each earlier one, which has ended, under its own."""
    table = {
        **{"category": "topic", "confidence": "confidence"},
        **{"valid_from": "at", "valid_until": "expires_at", "created_at": "ingested_at"},
    }
    for place, row in with_places(rows, where, "canonical_facts"):
        slot = ":".join(as_text(row.get(part)) for part in ("owner_id", "category", "name"))
        version = f":v{row.get('version')}" if row.get("valid_until") else ""
        body = as_text(row.get("body"))
        ours = {"key": f"{SYSTEM}:{slot}{version}", "kind": Kind.SEMANTIC, "original": body}
        text = f"{as_text(row.get('name'))}: {body}" if body else ""
        yield from carry_memory(text, row, table, place, ours=ours, used=("id", "body"), usual={"version": 1})


def _triple(row: Object, table: str, where: str) -> Iterator[Found]:
    relation = relation_name(as_text(row.get("predicate"))) or "is_related_to"
    fact = Fact(as_text(row.get("subject")), relation, as_text(row.get("object")))
    ours = {"source": f"{SYSTEM}:{table}:{first_name(row, 'id', 'fact_id')}"}
    used = ("id", "fact_id", "subject", "predicate", "object")
    usual = {"confidence": 1.0, "source": "inferred"}
    yield from carry_fact(fact, row, _FACT, where, ours=ours, used=used, usual=usual)
