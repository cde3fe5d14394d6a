"""Memoria: edges, entities, episodes and playbooks as its API returns them."""

from __future__ import annotations

from collections.abc import Iterator

from memorist.model import Fact, Kind
from memorist.remember.ingest.model import Found, Skipped
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
from memorist_import.carry import carry_fact, carry_memory
from memorist_import.graphs import NO_SUMMARY, relation_name

_LISTS = ("entities", "episodes", "edges", "facts", "related", "playbooks")
_FROM = ("subject", "from", "fromEntity")
_TO = ("object", "to", "toEntity")
_RELATION = ("relationType", "relation", "predicate")
_FACT = {"tValid": "valid_from", "tInvalid": "valid_to", "tIngested": "ingested_at"}
_EDGE = {"tValid": "at", "tIngested": "ingested_at", "confidence": "confidence"}
_SPEAKERS = {"agent": "assistant", "user": "user"}


def is_memoria(given: Object) -> bool:
    """Whether an object is an answer of Memoria, or an edge, entity, episode or playbook of it."""
    lists = (as_object(part) for name in _LISTS for part in as_list(given.get(name))[:1])
    return _is_part(given) or any(map(_is_part, lists))


def _is_part(given: Object) -> bool:
    return bool(_edge_in(given)) or _is_episode(given) or _is_entity(given) or _is_playbook(given)


def _edge_in(given: Object) -> Object:
    """The edge that an object is, or that is in it beside its score."""
    found = as_object(given.get("edge")) or given
    return found if isinstance(found.get("factText"), str) else {}


def _is_episode(given: Object) -> bool:
    return isinstance(given.get("content"), str) and "producedEdgeIds" in given


def _is_entity(given: Object) -> bool:
    return isinstance(given.get("name"), str) and "communityId" in given


def _is_playbook(given: Object) -> bool:
    return isinstance(given.get("title"), str) and "sourceEdgeIds" in given


class MemoriaReader:
    """Reads answers and lines, and remembers the names of entities for the edges between them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def drafts(self, given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        """The episodes, summaries, facts and playbooks of an answer, or the one of a part of it."""
        if _is_part(given):
            yield from self._part(given, where)
            return
        for entity in (given.get("entity"), *as_list(given.get("entities"))):
            self._know(as_object(entity))
        for name in _LISTS:
            for place, value in with_places(as_list(given.get(name)), where, name):
                yield from self._part(as_object(value), place)

    def _know(self, entity: Object) -> None:
        if (id := as_name(entity.get("id"))) and (name := as_name(entity.get("name"))):
            self._names[id] = name

    def _part(self, given: Object, where: str) -> Iterator[Found]:
        if edge := _edge_in(given):
            yield from self._edge(edge, where)
        elif _is_episode(given):
            yield from _episode(given, where)
        elif _is_entity(given):
            self._know(given)
            yield from _entity(given, where)
        elif _is_playbook(given):
            text = f"{as_text(given.get('title'))}\n\n{as_text(given.get('content'))}"
            ours = {"key": _key(given), "kind": Kind.PROCEDURAL, "topic": as_name(given.get("title"))}
            table = {"updatedAt": "at", "generatedAt": "ingested_at"}
            yield from carry_memory(text, given, table, where, ours=ours, used=("id", "title", "content"))
        else:
            yield Skipped(where, "neither an edge, an entity, an episode nor a playbook")

    def _edge(self, edge: Object, where: str) -> Iterator[Found]:
        """A fact between two named entities; its words alone if an entity has no name in the file."""
        ends = [self._name(edge, keys, id) for keys, id in ((_FROM, "fromEntityId"), (_TO, "toEntityId"))]
        relation = relation_name(first_name(edge, *_RELATION) or "") or "is_related_to"
        text = as_text(edge.get("factText")).strip()
        names = (*_FROM, *_TO, *_RELATION, "id", "factText", "fromEntityId", "toEntityId")
        until = moment(edge.get("tInvalid")) or moment(edge.get("tExpired"))
        if ends[0] and ends[1]:
            ours = {"source": _key(edge) or "memoria", "valid_to": until}
            used = (*names, "tInvalid", "tExpired")
            fact = Fact(ends[0], relation, ends[1])
            yield from carry_fact(fact, edge, _FACT, where, text=text or None, ours=ours, used=used)
            return
        ours = {"key": _key(edge), "kind": Kind.SEMANTIC, "expires_at": until, "metadata": {"relation": relation}}
        used = (*_RELATION, "id", "factText", "tInvalid", "tExpired")
        yield from carry_memory(text, edge, _EDGE, where, ours=ours, used=used)

    def _name(self, edge: Object, keys: tuple[str, ...], id: str) -> str | None:
        """The name of an end: written out, in an object, or known by its id."""
        objects = (as_object(edge.get(key)) for key in keys)
        written = first_name(edge, *keys) or next((name for end in objects if (name := as_name(end.get("name")))), None)
        return written or self._names.get(as_text(edge.get(id)))


def _episode(given: Object, where: str) -> Iterator[Found]:
    speaker = _SPEAKERS.get(as_text(given.get("source")))
    ours = {"key": _key(given), "speaker": speaker, "metadata": as_object(given.get("metadata"))}
    used = ("id", "content", "sessionId", "metadata", *(["source"] if speaker else []))
    usual = {"extractionStatus": "extracted"}
    text, session = as_text(given["content"]), as_name(given.get("sessionId"))
    table = {"createdAt": "at"}
    yield from carry_memory(text, given, table, where, ours=ours, used=used, usual=usual, session=session)


def _entity(given: Object, where: str) -> Iterator[Found]:
    summary = as_text(given.get("summary")).strip()
    if not summary:
        yield Skipped(where, NO_SUMMARY)
        return
    ours = {
        "key": _key(given),
        "kind": Kind.SEMANTIC,
        "topic": as_name(given["name"]),
        "keywords": [name for label in (*as_list(given.get("aliases")), given.get("type")) if (name := as_name(label))],
    }
    used = ("id", "name", "summary", "aliases", "type")
    table = {"updatedAt": "at", "createdAt": "ingested_at"}
    yield from carry_memory(summary, given, table, where, ours=ours, used=used)


def _key(given: Object) -> str | None:
    return f"memoria:{id}" if (id := as_name(given.get("id"))) else None
