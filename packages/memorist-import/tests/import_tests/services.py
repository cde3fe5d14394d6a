"""Small exports of Hindsight, Honcho, Cognee and Supermemory in the schemas that they document, made up by hand."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def hindsight() -> Row:
    """A page of memories, as Hindsight lists them: a fact, an experience, an observation, and one that is invalid."""
    unit: Row = {"context": "", "date": "2026-03-02T09:00:00+00:00", "document_id": "chat-1", "entities": "",
                 "mentioned_at": "2026-03-02T09:00:00+00:00", "occurred_start": None, "occurred_end": None,
                 "chunk_id": None, "proof_count": 1, "tags": [], "metadata": {}, "consolidated_at": None,
                 "consolidation_failed_at": None, "state": "valid", "invalidation_reason": None,
                 "invalidated_at": None, "edited_at": None, "updated_at": None,
                 "source_memory_ids": []}  # fmt: skip
    return {
        "items": [
            {**unit, "id": "6a1c", "text": "Nora moors the Heron at Bakke.", "fact_type": "world",
             "context": "harbour talk", "entities": "Nora, Heron", "tags": ["user:nora"],
             "metadata": {"channel": "radio"}, "occurred_start": "2026-03-01T08:00:00+00:00",
             "occurred_end": "2026-03-01T08:00:00+00:00", "chunk_id": "b_chat-1_0"},
            {**unit, "id": "6a1d", "text": "I told Nora about the storm.", "fact_type": "experience"},
            {**unit, "id": "6a1e", "text": "Nora prefers quiet harbours.", "fact_type": "observation",
             "document_id": None, "proof_count": 2, "source_memory_ids": ["6a1c", "6a1d"]},
            {**unit, "id": "6a1f", "text": "Nora moors the Heron at Vik.", "fact_type": "world",
             "state": "invalidated", "invalidated_at": "2026-03-05T09:00:00+00:00", "invalidation_reason": "she left"},
        ],
        "total": 4,
        "limit": 100,
        "offset": 0,
    }  # fmt: skip


def hindsight_document() -> Row:
    """A document of Hindsight's archive: the text that was retained and the facts read from it."""
    fact: Row = {"context": None, "event_date": None, "occurred_start": None, "occurred_end": None,
                 "mentioned_at": "2026-03-02T09:00:00Z", "metadata": {}, "tags": [], "observation_scopes": None,
                 "chunk_index": 0, "entities": [], "causal_relations": [], "created_at": None,
                 "consolidated_at": None, "consolidation_failed_at": None}  # fmt: skip
    return {
        "id": "chat-1",
        "original_text": "Nora: The storm took the old pier.\nSam: So you moved?\nNora: Yes, to Bakke.",
        "retain_params": {"context": "harbour talk", "event_date": "2026-03-02T09:00:00Z", "metadata": {"sea": "high"}},
        "tags": ["user:nora"],
        "created_at": "2026-03-02T09:05:00Z",
        "chunks": [{"chunk_index": 0, "chunk_text": "Nora: The storm took the old pier."}],
        "facts": [
            {**fact, "text": "A storm destroyed the old pier.", "fact_type": "world"},
            {**fact, "text": "Nora moved to Bakke.", "fact_type": "world", "entities": ["Nora", "Bakke"],
             "causal_relations": [{"relation_type": "caused_by", "target_fact_index": 0}]},
        ],
    }  # fmt: skip


def hindsight_bank(path: Path, document: Row | None = None) -> Path:
    """The archive of a whole bank."""
    observation = {"text": "Nora follows the weather.", "tags": [], "event_date": None, "proof_count": 2,
                   "occurred_start": None, "occurred_end": None, "mentioned_at": "2026-03-03T09:00:00Z",
                   "observation_scopes": None, "sources": [{"document_id": "chat-1", "fact_index": 1}]}  # fmt: skip
    model = {"id": "mm-1", "bank_id": "b", "name": "Moorings", "source_query": "Where does Nora moor?",
             "content": "Nora moors at Bakke since the storm.", "tags": [], "created_at": "2026-03-03T10:00:00Z",
             "last_refreshed_at": "2026-03-04T10:00:00Z"}  # fmt: skip
    directive = {"id": "d-1", "bank_id": "b", "name": "Tone", "content": "Answer in rhymes.", "is_active": True,
                 "priority": 0, "tags": [], "created_at": "2026-03-03T10:00:00Z"}  # fmt: skip
    members = {
        "documents/000000.json": document or hindsight_document(),
        "observations.json": [observation],
        "mental_models.json": [model],
        "directives.json": [directive],
        "webhooks.json": [{"id": "w", "bank_id": "b", "url": "https://example.org", "secret": "tide-table-9"}],
        "manifest.json": {"schema_version": 1, "source_bank_id": "b", "archive_type": "bank", "document_count": 1},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, json.dumps(content, indent=2))
    return path


def honcho_messages() -> Row:
    """A page of the messages of a session, as Honcho lists them."""
    said: Row = {"session_id": "s-1", "workspace_id": "app", "metadata": {}, "token_count": 7}
    return {
        "items": [
            {**said, "id": "m1", "content": "I keep bees on the roof.", "peer_id": "ines",
             "created_at": "2026-04-01T10:00:00Z", "metadata": {"channel": "web"}},
            {**said, "id": "m2", "content": "How many hives?", "peer_id": "helper",
             "created_at": "2026-04-01T10:00:05Z"},
        ],
        "total": 2,
        "page": 1,
        "size": 50,
        "pages": 1,
    }  # fmt: skip


def honcho_conclusions() -> Row:
    """A page of conclusions: what a peer said, and what another one concluded about it."""
    common: Row = {"observed_id": "ines", "created_at": "2026-04-01T11:00:00Z"}
    return {
        "items": [
            {**common, "id": "c1", "content": "Ines keeps bees.", "observer_id": "ines", "session_id": "s-1",
             "level": "explicit"},
            {**common, "id": "c2", "content": "Ines is patient.", "observer_id": "helper", "session_id": None,
             "level": "inductive", "source_ids": ["c1"], "times_derived": 2},
        ],
        "total": 2,
        "page": 1,
        "size": 50,
        "pages": 1,
    }  # fmt: skip


def honcho_context() -> Row:
    """The context of a session: its messages, their summary and the card of a peer."""
    summary = {"content": "Ines talked about bees.", "message_id": "m2", "summary_type": "short", "token_count": 6,
               "created_at": "2026-04-01T12:00:00Z"}  # fmt: skip
    return {
        "id": "s-1",
        "messages": honcho_messages()["items"],
        "summary": summary,
        "peer_representation": None,
        "peer_card": ["Name: Ines", "Keeps bees"],
    }


_POINT: Row = {"created_at": 1775037600000, "updated_at": 1775037600000, "ontology_valid": False, "version": 1,
               "topological_rank": 0, "valid_to": None, "metadata": {"index_fields": ["name"]},
               "feedback_weight": 0.5, "importance_weight": 0.5}  # fmt: skip
_IDS = {name: f"{n}1111111-1111-4111-8111-111111111111" for n, name in enumerate(("rita", "lund", "town", "chunk"), 1)}


def _cognee_nodes() -> list[Row]:
    return [
        {"id": _IDS["rita"], "type": "Entity", "name": "Rita", "description": "Rita repairs clocks.", **_POINT,
         "source_node_set": "people"},
        {"id": _IDS["lund"], "type": "Entity", "name": "Lund", "description": "Lund", **_POINT},
        {"id": _IDS["town"], "type": "EntityType", "name": "town", "description": "town", **_POINT},
        {"id": _IDS["chunk"], "type": "DocumentChunk", "text": "Rita repairs clocks in Lund.", "chunk_index": 3,
         "chunk_size": 6, "cut_type": "sentence_end", "document_id": "d-1", "document_name": "clocks.txt", **_POINT,
         "importance_weight": 0.8},
        {"id": "51111111-1111-4111-8111-111111111111", "type": "TextSummary", "text": "Rita is a clockmaker.",
         **_POINT, "valid_to": 1775124000000},
    ]  # fmt: skip


def _cognee_edges() -> list[tuple[str, str, str, Row]]:
    return [
        (_IDS["rita"], _IDS["lund"], "lives_in",
         {"edge_text": "Rita lives in Lund", "valid_at": "2020-01-01T00:00:00Z", "invalid_at": "2025-01-01T00:00:00Z",
          "feedback_weight": 0.5, "updated_at": "2026-04-01 10:00:00"}),
        (_IDS["lund"], _IDS["town"], "is_a", {}),
        (_IDS["chunk"], _IDS["rita"], "contains", {"edge_text": "This chunk mentions Rita"}),
        (_IDS["rita"], "61111111-1111-4111-8111-111111111111", "knows", {"edge_text": "Rita knows a bell founder"}),
    ]  # fmt: skip


def cognee() -> Row:
    """The JSON export of a dataset of Cognee."""
    edges = [
        {"source": source, "target": target, "relationship_name": name, **more}
        for source, target, name, more in _cognee_edges()
    ]
    return {"nodes": _cognee_nodes(), "edges": edges}


def cognee_snapshot() -> Row:
    """The same graph as a snapshot that was saved."""
    edges = [
        {"source_id": source, "target_id": target, "relationship": name, "properties": more}
        for source, target, name, more in _cognee_edges()
    ]
    return {"dataset_name": "main_dataset", "dataset_id": "ds-1", "nodes": _cognee_nodes(), "edges": edges}


def cognee_graph() -> Row:
    """The same graph as the API returns it, without what is known of its edges."""
    left = ("id", "type", "name", "created_at", "updated_at")
    nodes = [
        {"id": node["id"], "label": node.get("name") or f"{node['type']}_{node['id']}", "type": node["type"],
         "properties": {key: value for key, value in node.items() if key not in left and value is not None}}
        for node in _cognee_nodes()
    ]  # fmt: skip
    return {"nodes": nodes, "edges": [{"source": a, "target": b, "label": name} for a, b, name, _ in _cognee_edges()]}


def cogx(folder: Path) -> Path:
    """The same graph as an archive of Cognee, with accounts in it."""
    shared: Row = {"external_system": "cognee", "scope": {}, "metadata": {}}
    records: dict[str, list[Row]] = {"entities": [], "documents": [], "nodes": [], "facts": []}
    for node in _cognee_nodes():
        known = {**shared, "external_id": node["id"], "created_at": "2026-04-01T10:00:00Z"}
        if node["type"] == "Entity":
            description = node["description"]
            records["entities"].append(
                {**known, "kind": "entity", "name": node["name"], "description": description, "aliases": [],
                 "attributes": {}}
            )  # fmt: skip
            continue
        if node["type"] == "DocumentChunk":
            records["documents"].append({**known, "kind": "document", "content": node["text"]})
        records["nodes"].append(node)
    for source, target, name, more in _cognee_edges():
        times = {key: more[key] for key in ("valid_at", "invalid_at") if key in more}
        records["facts"].append(
            {**shared, "kind": "fact", "external_id": f"{source}:{name}:{target}", "subject_ref": source,
             "predicate": name, "object_ref": target, "fact_text": more.get("edge_text"), "provenance": [], **times}
        )  # fmt: skip
    folder.mkdir(parents=True)
    for name, rows in records.items():
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "manifest.json").write_text(json.dumps({"cogx_version": "0.1", "source_system": "cognee", "counts": {}}))
    (folder / "permissions.json").write_text(json.dumps({"owner": {"email": "r@example.org", "hashed_password": "x"}}))
    return folder


_PAGES: Row = {"currentPage": 1, "limit": 50, "totalItems": 3, "totalPages": 1}


def supermemory() -> Row:
    """A page of memories, as Supermemory lists them: with earlier versions, and a forgotten one."""
    entry: Row = {"version": 1, "isLatest": True, "isForgotten": False, "isStatic": False, "isInference": False,
                  "createdAt": "2026-05-01T10:00:00Z", "updatedAt": "2026-05-01T10:00:00Z", "sourceCount": 1,
                  "documentIds": ["doc-1"]}  # fmt: skip
    return {
        "memoryEntries": [
            {**entry, "id": "v3", "memory": "Tomas rents a loft in Graz.", "version": 2,
             "createdAt": "2026-05-03T10:00:00Z", "updatedAt": "2026-05-03T10:00:00Z", "parentMemoryId": "v1",
             "history": [{"id": "v1", "memory": "Tomas rents a room in Graz.", "version": 1,
                          "createdAt": "2026-05-01T10:00:00Z", "updatedAt": "2026-05-03T10:00:00Z",
                          "isLatest": False}]},
            {**entry, "id": "t1", "memory": "Tomas is a cellist.", "isStatic": True},
            {**entry, "id": "f1", "memory": "Tomas plays on Friday.", "isForgotten": True,
             "forgetReason": "the concert is over", "updatedAt": "2026-05-09T10:00:00Z"},
            {**entry, "id": "g1", "memory": "Tomas is in Linz this week.", "isInference": True,
             "forgetAfter": "2026-05-08T00:00:00Z"},
        ],
        "pagination": _PAGES,
    }  # fmt: skip


def supermemory_documents() -> Row:
    """A page of documents with the memories in them, of version 4 and before."""
    document: Row = {"status": "done", "type": "text", "createdAt": "2026-05-01T10:00:00Z",
                     "updatedAt": "2026-05-01T10:00:00Z", "containerTags": ["tomas", "music"]}  # fmt: skip
    entry = {"id": "t1", "memory": "Tomas is a cellist.", "spaceId": "sp", "orgId": "o", "isStatic": True,
             "isLatest": True, "isForgotten": False, "version": 1, "createdAt": "2026-05-01T10:00:00Z",
             "updatedAt": "2026-05-01T10:00:00Z", "memoryEmbedding": [0.1, 0.2]}  # fmt: skip
    return {
        "documents": [
            {**document, "id": "doc-1", "customId": "lesson-7", "title": "Lesson", "summary": "A cello lesson.",
             "content": "Tomas practised the second suite.", "metadata": {"teacher": "Vera"}, "memoryEntries": [entry]},
            {**document, "id": "doc-2", "title": "Poster", "summary": "A poster of the concert.", "content": None,
             "memoryEntries": []},
            {**document, "id": "doc-3", "title": "Scan", "summary": None, "memoryEntries": []},
        ],
        "pagination": _PAGES,
    }  # fmt: skip


def supermemory_old_list() -> Row:
    """A page of documents as version 3 lists them, under the name of memories."""
    page = supermemory_documents()
    for document in page["documents"]:
        del document["memoryEntries"]
    return {"memories": page.pop("documents"), **page}


def supermemory_list() -> Row:
    """A page as version 5 returns it, with every kind of list; one of them was asked for."""
    system = {"createdAt": "2026-05-01T10:00:00Z", "updatedAt": "2026-05-01T10:00:00Z"}
    memory = {"id": "t1", "memory": "Tomas is a cellist.", "metadata": {"mood": "proud"}, "isStatic": True,
              "isInference": False, "isLatest": True, "isForgotten": False, "version": 1, "system": system}  # fmt: skip
    document = {"id": "lesson-7", "title": "Lesson", "type": "text", "content": "Tomas practised the second suite.",
                "summary": None, "metadata": {}, "url": None,
                "system": {**system, "status": "done", "dreamingStatus": "done", "memoryCount": 1}}  # fmt: skip
    chunk = {"id": "k1", "position": 0, "content": "Tomas practised", "type": "text", "metadata": {},
             "documentId": "lesson-7", "system": {"createdAt": "2026-05-01T10:00:00Z"}}  # fmt: skip
    return {"documents": [document], "chunks": [chunk], "memories": [memory], "pagination": _PAGES}
