"""Small memories in the schemas of the systems whose pipelines are recipes, made up by hand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

ID = "d3fb0533731deb75"
Rows = Mapping[str, Iterable[Mapping[str, Any]]]


def database(path: Path, tables: Rows, *more: str) -> Path:
    """A SQLite file with these rows; the columns are the keys of each table's first row."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, given in tables.items():
            rows = list(given)
            connection.execute(f"CREATE TABLE {name} ({', '.join(rows[0])})")
            for row in rows:
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {name} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
        for statement in more:
            connection.execute(statement)
    return path


def _working(id: str, content: str, **more: Any) -> dict[str, Any]:
    row = {
        **{"id": id, "content": content, "source": "conversation", "timestamp": "2026-01-15T10:00:00+02:00"},
        **{"session_id": "s1", "importance": 0.5, "metadata_json": "{}", "valid_until": None, "superseded_by": None},
        **{"scope": "session", "recall_count": 0, "last_recalled": None, "created_at": "2026-01-15 08:00:01"},
        **{"veracity": "unknown", "consolidated_at": None},
    }
    return {**row, **more}


def hybrid() -> dict[str, list[dict[str, Any]]]:
    """The tables of Mnemosyne for Python: memories, a summary, a scratchpad, facts and what it derives."""
    triple = {"subject": "Maya", "predicate": "assigned_to", "source": "inferred", "confidence": 1.0,
              "created_at": "2026-03-01 08:00:00"}  # fmt: skip
    slot = {"owner_id": "maya", "category": "identity", "name": "home_city", "source": "user", "confidence": 0.75,
            "created_at": "2026-01-15 08:00:00"}  # fmt: skip
    annotation = {"memory_id": ID, "source": "", "confidence": 1.0, "created_at": "2026-01-15 08:00:00"}
    return {
        "working_memory": [
            _working(ID, "Maya prefers Neovim.", source="preference", importance=0.9, scope="global",
                     metadata_json='{"project": "atlas"}', veracity="stated", recall_count=3),
            _working("48eb7ccc651d902f", "The weir opens at noon.", session_id="default", valid_until="2030-01-01"),
        ],
        "episodic_memory": [
            {"rowid": 1, **_working("e1", "Maya set up her editor.", summary_of=ID)},
        ],
        "scratchpad": [
            {"id": "p1", "content": "Ask about the weir.", "session_id": "s1", "created_at": "2026-01-15 08:00:00",
             "updated_at": "2026-01-16 08:00:00"},
        ],
        "consolidation_log": [
            {"id": 1, "session_id": "s1", "items_consolidated": 1, "summary_preview": "Maya set", "created_at": "2026"},
        ],
        "legacy_memories": [
            {"id": ID, "content": "Maya prefers Neovim.", "source": "preference", "timestamp": "2026-01-15T10:00:00",
             "session_id": "s1", "importance": 0.9, "metadata_json": "{}", "created_at": "2026-01-15 08:00:01"},
            {"id": "old1", "content": "Maya rows.", "source": "user", "timestamp": "2025-01-15T10:00:00",
             "session_id": "s1", "importance": 0.5, "metadata_json": "{}", "created_at": "2025-01-15 08:00:01"},
        ],
        "legacy_embeddings": [{"memory_id": ID, "embedding_json": "[0.1]", "model": "m", "created_at": "2026"}],
        "triples": [
            {"id": 1, **triple, "object": "auth", "valid_from": "2026-01-15", "valid_until": "2026-03-01"},
            {"id": 2, **triple, "object": "billing", "valid_from": "2026-03-01", "valid_until": None,
             "confidence": 0.8},
        ],
        "annotations": [
            {"id": 1, **annotation, "kind": "mentions", "value": "Maya"},
            {"id": 2, **annotation, "kind": "mentions", "value": "Neovim"},
            {"id": 3, **annotation, "kind": "has_source", "value": "preference"},
            {"id": 4, **annotation, "kind": "occurred_on", "value": "2026-01-14"},
        ],
        "canonical_facts": [
            {"id": 1, **slot, "body": "Oslo", "version": 1, "valid_from": "2026-01-15", "valid_until": "2026-02-01"},
            {"id": 2, **slot, "body": "Bergen", "version": 2, "valid_from": "2026-02-01", "valid_until": None},
        ],
    }  # fmt: skip


def hybrid_export() -> dict[str, Any]:
    return {"mnemosyne_export": {"version": "1.3", "source_db": "/home/maya/mnemosyne.db"}, **hybrid()}


def hybrid_database(path: Path) -> Path:
    """The same as a database, with a vector, derived rows and a search index."""
    tables = hybrid()
    tables["memories"] = tables.pop("legacy_memories")
    tables["memory_embeddings"] = tables.pop("legacy_embeddings")
    tables["working_memory"] = [{**row, "pinned": 0, "binary_vector": b"\1\2"} for row in tables["working_memory"]]
    tables["gists"] = [{"id": "g1", "text": "Maya prefers"}]
    tables["plugins"] = [{"name": "odd"}]
    index = "CREATE VIRTUAL TABLE fts_working USING fts5(id, content)"
    return database(path, tables, index, "INSERT INTO fts_working VALUES ('a', 'never read')")


def abmind_rows() -> dict[str, list[dict[str, Any]]]:
    """The tables of abmind: memories, one of them a secret, messages, a summary and an edge."""
    row = {
        **{"id": 1, "user_id": "alice", "content_original": "Sötét mód.", "content_en": "Prefers dark mode."},
        **{"memory_type": "preference", "source_timestamp": 1717408800000, "preserve_original": 1},
        **{"preserved_keyword": "mód", "created_at": 1717408860000, "emotion_score": 4, "recall_count": 2},
        **{"last_recalled_at": None, "relevance_score": 0, "confidence": 3, "source_message_ids": "7,8"},
        **{"classification": 2, "trust": 2, "integrity": 2, "credibility": 1, "embedding": b"\0\1", "edited_at": None},
        **{"emotion_tags": "joy,relief", "importance_flags": "DECISION", "signature": b"\0", "topic": "general"},
        **{"tier": "core", "valid_from": "2024-06-03", "valid_to": None, "encrypted": 0, "recall_timestamps": "[]"},
    }
    secret = {
        **{"id": 2, "content_en": "Router key", "content_original": "v1:c3VwZXI=", "classification": 3},
        **{"encrypted": 1, "memory_type": "fact", "topic": "work", "tier": "general", "emotion_tags": None},
        **{"importance_flags": None, "preserved_keyword": None, "valid_to": "2030-01-01", "recall_count": 0},
        **{"emotion_score": 0, "source_message_ids": None},
    }
    said = {"user_id": "alice", "session_id": "alice:telegram", "emotion_score": 0, "type_hint": None}
    return {
        "extracted_memories": [row, {**row, **secret}],
        "messages": [
            {"id": 7, **said, "role": "user", "content": "Dark mode, please.", "timestamp": 1717408800000},
            {"id": 8, **said, "role": "assistant", "content": "Done.", "timestamp": 1717408801000},
            {"id": 9, **said, "role": "system", "content": "Be kind.", "timestamp": 1717408802000},
        ],
        "context_summaries": [
            {"id": 1, "chat_id": "alice:telegram", "depth": 0, "content": "They chose colours.",
             "token_estimate": 12, "classification": 1, "archived": 0, "created_at": 1717412400000},
        ],
        "entity_graph": [
            {"id": 1, "entity_a": "alice", "entity_b": "bob", "relation": "works_with", "source_memory_id": 1,
             "created_at": 1717408800000, "last_seen_at": 1717408800000},
        ],
        "context_watermarks": [{"chat_id": "alice:telegram", "watermark_message_id": 9}],
    }  # fmt: skip


def abmind_recall() -> dict[str, Any]:
    """The answer of a recall by abmind."""
    return {
        "results": [
            {"id": 1, "content": "Prefers dark mode.", "date": "2024-06", "source": "Sf", "score": 0.8,
             "contentOriginal": "Sötét mód.", "memoryType": "preference", "trust": 2, "credibility": 1,
             "classification": 2, "topic": "ui", "emotionTags": "joy,relief", "emotionScore": 4,
             "importanceFlags": "DECISION", "createdAt": 1717408860000},
            {"content": "alice —[works_with]→ bob (score: 0.6)", "date": "", "source": "S8", "score": 0.6},
        ],
        "stages": {"Sf": {"hits": [], "ms": 3}},
        "shortCircuitAfter": None,
        "extractedIds": [1],
    }  # fmt: skip


def mnemo() -> list[dict[str, Any]]:
    """Rows of Mnemo's table: one with smart metadata, one that was contradicted, one bare."""
    text = "Ann prefers to row at dawn."
    smart = {
        **{"l0_abstract": text, "l1_overview": f"- {text}", "l2_content": "Ann rows at dawn, since the lake is calm."},
        **{"memory_category": "preferences", "tier": "core", "access_count": 4, "confidence": 0.8},
        **{"last_accessed_at": 1717495200000, "source_session": "s-1", "emotional_salience": 0.45},
    }
    old = {"tier": "peripheral", "confidence": 0.1, "expired_at": "2024-06-04T10:00:00.000Z"}
    row = {"vector": [0.1, 0.2], "scope": "agent:sam", "timestamp": 1717408800000}
    return [
        {"id": "m1", "text": text, **row, "category": "preference", "importance": 0.8, "metadata": json.dumps(smart)},
        {"id": "m2", "text": "Ann rows at noon.", **row, "category": "fact", "importance": 0.07,
         "metadata": json.dumps(old)},
        {"text": "Lake rules", "score": 0.7, "category": "other", "importance": 0.7, "timestamp": 1717408800000},
    ]  # fmt: skip


def memoria() -> dict[str, Any]:
    """An answer of Memoria: entities, episodes, edges of which one ended and one has unknown ends, and a playbook."""
    edge = {
        **{"fromEntityId": "n1", "relationType": "worksAt", "tInvalid": None, "tIngested": "2026-05-28T12:00:00+02:00"},
        **{"tExpired": None, "episodeIds": ["p1"], "supersededBy": None, "confidence": 0.9},
    }
    return {
        "context": "Stefan works at Premex.",
        "entities": [
            {"id": "n1", "name": "Stefan", "aliases": ["Steff"], "type": "Person", "summary": "Stefan builds memories.",
             "communityId": None, "createdAt": "2026-05-28T10:00:00Z", "updatedAt": "2026-05-29T10:00:00Z",
             "episodeIds": ["p1"]},
            {"id": "n2", "name": "Premex", "aliases": [], "type": "Organization", "summary": "", "communityId": None},
            {"id": "n3", "name": "Acme", "aliases": [], "type": "Organization", "summary": "", "communityId": None},
        ],
        "episodes": [
            {"id": "p1", "content": "I joined Premex.", "source": "user", "sessionId": "c1",
             "metadata": {"channel": "mail"}, "createdAt": "2026-05-28T10:00:00Z", "producedEntityIds": ["n1", "n2"],
             "producedEdgeIds": ["e1"], "extractionStatus": "extracted"},
        ],
        "edges": [
            {"id": "e1", **edge, "toEntityId": "n2", "factText": "Stefan works at Premex.",
             "tValid": "2023-01-01T00:00:00Z", "score": 0.9},
            {"id": "e0", **edge, "toEntityId": "n3", "factText": "Stefan worked at Acme.",
             "tValid": "2020-01-01T00:00:00Z", "tExpired": "2026-05-28T10:00:00Z", "supersededBy": "e1"},
            {"id": "e2", **edge, "toEntityId": "n9", "factText": "Stefan knows Bo.", "tValid": "2021-01-01T00:00:00Z"},
            {"subject": "Bo", "relation": "livesIn", "object": "Oslo", "factText": "Bo lives in Oslo.",
             "tValid": "2022-01-01", "tInvalid": "2021-01-01"},
        ],
        "playbooks": [
            {"id": "b1", "title": "Release", "scope": {"branch": "main"}, "content": "Tag, then publish.",
             "sourceEdgeIds": ["e1"], "generatedAt": "2026-05-28T10:00:00Z", "updatedAt": "2026-05-30T10:00:00Z",
             "generatedBy": "user"},
        ],
    }  # fmt: skip


def elixir() -> dict[str, Any]:
    """A graph of Mnemosyne for Elixir: a step with its provenance, what was learnt from it, and the routing nodes."""

    def node(type: str, links: dict[str, list[str]], **fields: Any) -> dict[str, Any]:
        linked = {"membership": [], "hierarchical": [], "provenance": [], "sibling": [], **links}
        return {"type": type, "embedding": [0.1], "links": linked, "created_at": "2026-05-01T10:00:00+02:00", **fields}

    return {
        "nodes": {
            "ep_1": node("episodic", {"hierarchical": ["sub_1"], "provenance": ["sem_1", "proc_1", "src_1"]},
                         observation="The disk is full.", action="Delete the old logs.", state="full", reward=1.0,
                         subgoal="Find what fills the disk", trajectory_id="traj_1"),
            "int_1": node("intent", {"hierarchical": ["proc_1"]}, description="free the disk"),
            "proc_1": node("procedural", {"hierarchical": ["int_1"], "provenance": ["ep_1"]},
                           instruction="Delete the old logs.", condition="The disk is full.",
                           expected_outcome="There is room.", return_score=0.8),
            "sem_1": node("semantic", {"membership": ["tag_1"], "provenance": ["ep_1"]},
                          proposition="Old logs fill the disk.", confidence=0.9),
            "src_1": node("source", {"provenance": ["ep_1"]}, episode_id="e-7", step_index=0,
                          plain_text="df -h says 100%"),
            "src_2": node("source", {}, episode_id="e-7", step_index=1, plain_text=None),
            "sub_1": node("subgoal", {"hierarchical": ["ep_1"]}, description="Find what fills the disk",
                          parent_goal="Free the disk"),
            "tag_1": node("tag", {"membership": ["sem_1"]}, label="disk"),
        },
        "metadata": {
            "sem_1": {"created_at": "2026-05-01T08:00:00Z", "access_count": 3, "reward_count": 0,
                      "last_accessed_at": "2026-05-02T08:00:00Z", "cumulative_reward": 0.0},
        },
    }  # fmt: skip
