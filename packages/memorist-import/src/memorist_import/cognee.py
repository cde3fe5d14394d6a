"""Graphs of Cognee: its JSON export, its snapshot, the graph its API returns, and the records of a COGX archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from memorist.model import Fact, Kind
from memorist.remember.ingest.model import Found, Skipped
from memorist.remember.ingest.values import Object, as_list, as_name, as_object, as_text, first_name, with_places
from memorist.text.patterns import lazy
from memorist_import.archives import Tree
from memorist_import.carry import carry_document, carry_fact, carry_memory, names_in
from memorist_import.graphs import relation_name

COPY = "a copy of a chunk of the graph"
BETWEEN_TEXTS = "an edge of a text, such as a chunk and its document"
NAME_ALONE = "a node without a text; facts name it"
NO_PART = "neither a node nor an edge"
COGX_FILES = ("entities.jsonl", "nodes.jsonl", "documents.jsonl", "facts.jsonl")
"""The files of an archive that are read, those with names before the facts that need them."""
_MANIFEST = "manifest.json"
_OWN = frozenset({"Entity", "EntityType", "DocumentChunk", "TextSummary", "TextDocument", "NodeSet"})
_MARKS = ("topological_rank", "ontology_valid", "belongs_to_set", "source_pipeline")
"""Fields that every node has, beside its id and type."""
_RECORDS = ("entity", "document", "fact", "episode", "memory", "memory_block")
_ENDS = (("source", "source_id", "subject_ref"), ("target", "target_id", "object_ref"))
_RELATION = ("relationship_name", "relationship", "predicate", "label")
"""The last two only in a record, and in the graph that the API returns."""
_NODE = {"created_at": "at", "valid_to": "expires_at", "importance_weight": "importance", "chunk_index": "position"}
_WORDS = ("belongs_to_set", "source_node_set", "aliases")
_FACT = {"valid_at": "valid_from", "invalid_at": "valid_to", "created_at": "ingested_at", "updated_at": "ingested_at"}
_USUAL = {
    **{"ontology_valid": False, "version": 1, "topological_rank": 0, "importance_weight": 0.5, "feedback_weight": 0.5},
    **{"external_system": "cognee", "importance": 0.5},
}
_ID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def cogx_root(names: Sequence[str]) -> str | None:
    """The folder of an archive among these files, as a prefix such as `work/`; None if there is none."""
    held = set(names)
    roots = [name.removesuffix(_MANIFEST) for name in names if name.rpartition("/")[2] == _MANIFEST]
    return min((root for root in roots if any(root + file in held for file in COGX_FILES)), key=len, default=None)


def cogx_files(tree: Tree) -> list[str]:
    """The files of an archive that are read, in order."""
    names = tree.names()
    root, held = cogx_root(names), set(names)
    return [] if root is None else [root + file for file in COGX_FILES if root + file in held]


def is_cognee(given: Object) -> bool:
    """Whether an object is a graph of Cognee, or a node, edge or record of one."""
    firsts = (as_object(part) for name in ("nodes", "edges") for part in as_list(given.get(name))[:1])
    return _is_part(given) or any(map(_is_part, firsts))


def _is_part(given: Object) -> bool:
    return _is_record(given) or _is_edge(given) or _is_node(given)


def _is_record(given: Object) -> bool:
    return given.get("kind") in _RECORDS and isinstance(given.get("external_id"), str)


def _is_edge(given: Object) -> bool:
    return "text" not in given and bool(first_name(given, *_RELATION[:2])) and _has_ends(given)


def _has_ends(given: Object) -> bool:
    return all(first_name(given, *names) for names in _ENDS)


def _is_node(given: Object) -> bool:
    type = given.get("type")
    typed = isinstance(type, str) and isinstance(given.get("id"), str)
    shown = "label" in given and isinstance(given.get("properties"), dict)
    return typed and (type in _OWN or shown or any(mark in given for mark in _MARKS))


class CogneeReader:
    """Reads graphs and records, and remembers the names of nodes for the edges between them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._texts = set[str]()

    def drafts(self, given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        """The texts and facts of a graph, or the one of a part of it."""
        if _is_part(given):
            yield from self._part(given, where)
            return
        for place, value in with_places(as_list(given.get("nodes")), where, "node"):
            yield from self._part(as_object(value), place)
        for place, value in with_places(as_list(given.get("edges")), where, "edge"):
            edge = as_object(value)
            yield from self._edge(edge, place) if _has_ends(edge) else [Skipped(place, NO_PART)]

    def _part(self, given: Object, where: str) -> Iterator[Found]:
        kind = as_text(given.get("kind")) if _is_record(given) else ""
        if kind == "document":
            yield from self._document(given, where)
        elif kind == "entity":
            type = as_name(given.get("entity_type")) or "Entity"
            row = {key: value for key, value in given.items() if key not in ("kind", "external_id", "entity_type")}
            yield from self._node({**row, "id": given["external_id"], "type": type}, where)
        elif kind not in ("", "fact"):
            yield Skipped(where, f"a record of the kind {kind}, which Cognee itself does not export")
        elif _has_ends(given):
            yield from self._edge(given, where)
        elif _is_node(given):
            yield from self._node({**given, **as_object(given.get("properties"))}, where)
        else:
            yield Skipped(where, NO_PART)

    def _node(self, given: Object, where: str) -> Iterator[Found]:
        """A chunk or a summary; an entity by its description. Chunks are in the session of their document."""
        id, type, text = (as_text(given.get(key)) for key in ("id", "type", "text"))
        name = as_name(given.get("name")) if text else first_name(given, "name", "label")
        if text:
            self._texts.add(id)
        elif name:
            self._names[id] = name
        text = text or as_text(given.get("description"))
        if not text.strip() or text.strip() == name:
            yield Skipped(where, NAME_ALONE)
            return
        words = [name for key in _WORDS for name in names_in(given.get(key))]
        session = first_name(given, "document_name", "document_id") if type == "DocumentChunk" else None
        ours = {
            "key": f"cognee:{id}",
            "kind": Kind.SEMANTIC,
            "topic": "summary" if type == "TextSummary" else name,
            "source": session,
            "keywords": list(dict.fromkeys([*words, *([] if type in _OWN else [type])])),
        }
        used = (
            *("id", "type", "name", "label", "text", "description", "metadata", "properties", *_WORDS),
            *(("document_name",) if session else ()),
        )
        usual = {**_USUAL, "updated_at": given.get("created_at"), "document_id": session}
        yield from carry_memory(text, given, _NODE, where, ours=ours, used=used, usual=usual, session=session)

    def _document(self, given: Object, where: str) -> Iterator[Found]:
        id = as_text(given["external_id"])
        if id in self._texts:
            yield Skipped(where, COPY)
            return
        self._texts.add(id)
        name = as_name(given.get("title")) or id
        ours = {"topic": as_name(given.get("title")), "source": name}
        used = ("kind", "external_id", "title", "content")
        table = {"created_at": "at"}
        text, key = as_text(given.get("content")), f"cognee:{id}"
        yield from carry_document(text, given, table, key, ours=ours, used=used, usual=_USUAL, session=name)

    def _edge(self, given: Object, where: str) -> Iterator[Found]:
        """A fact between two named nodes; its words alone if a node is not known."""
        given = {**given, **as_object(given.get("properties"))}
        ids = [first_name(given, *end) or "" for end in _ENDS]
        if any(id in self._texts for id in ids):
            yield Skipped(where, BETWEEN_TEXTS)
            return
        names = [self._names.get(id) or ("" if _ID.fullmatch(id) else id) for id in ids]
        relation = relation_name(first_name(given, *_RELATION) or "") or "is_related_to"
        text = (as_text(given.get("edge_text")) or as_text(given.get("fact_text"))).strip()
        used: tuple[Any, ...] = ("kind", "external_id", "edge_text", "fact_text", "properties")
        used = (*used, *_RELATION, *_ENDS[0], *_ENDS[1])
        if all(names):
            fact, ours = Fact(names[0], relation, names[1]), {"source": "cognee"}
            yield from carry_fact(fact, given, _FACT, where, text=text or None, ours=ours, used=used, usual=_USUAL)
        elif text:
            ours = {"kind": Kind.SEMANTIC, "metadata": {"relation": relation}}
            table = {"valid_at": "at", "invalid_at": "expires_at", "created_at": "ingested_at"}
            yield from carry_memory(text, given, table, where, ours=ours, used=used, usual=_USUAL)
        else:
            yield Skipped(where, BETWEEN_TEXTS)
