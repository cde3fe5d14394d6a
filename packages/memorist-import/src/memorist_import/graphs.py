"""Exports of knowledge graphs: Graphiti, Zep, and the file of the MCP reference memory server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from memorist.model import Fact, FactFields, Kind, fingerprint
from memorist.remember.ingest.messages import Calls, turns
from memorist.remember.ingest.model import DraftFact, DraftMemory, Found, Skipped
from memorist.remember.ingest.values import (
    Object,
    as_list,
    as_name,
    as_object,
    as_text,
    fields_of,
    first_name,
    moment,
    with_places,
)
from memorist.text.patterns import lazy

NO_SUMMARY = "an entity without a summary; facts and episodes name it"
NO_OBSERVATIONS = "an entity without observations"
_CAMEL = lazy(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHER = lazy(r"\W+")
_SPEAKER = lazy(r"([^:\n]{1,40}?)(?: \((?:user|assistant|system|tool)\))?: +(?=\S)")


def relation_name(written: str) -> str:
    """The name of a relation as `relate` writes it: `lives_in` for LIVES_IN, livesIn and "lives in"."""
    return _OTHER.sub("_", snake_case(written)).strip("_")


def snake_case(written: str) -> str:
    """A name in snake case: `created_at` for createdAt."""
    return _CAMEL.sub("_", written).lower()


_NODES = ("nodes", "entity_nodes", "entities")
_EDGES = ("edges", "entity_edges", "facts", "relevant_facts")
_EPISODES = ("episodes", "episodic_nodes")


def is_graphiti(given: Object) -> bool:
    """Whether an object is a graph of Graphiti or Zep, or one of its edges, nodes or episodes."""
    if isinstance(given.get("messages"), list):
        return False
    lists = [as_object(part) for key in (*_NODES, *_EDGES, *_EPISODES) for part in as_list(given.get(key))[:1]]
    return _is_part(given) or any(map(_is_part, lists))


def _is_part(given: Object) -> bool:
    return isinstance(given.get("uuid"), str) and (_is_edge(given) or _is_episode(given) or _is_node(given))


def _is_edge(given: Object) -> bool:
    return isinstance(given.get("fact"), str)


def _is_episode(given: Object) -> bool:
    return isinstance(given.get("content"), str) and ("source" in given or "source_description" in given)


def _is_node(given: Object) -> bool:
    return isinstance(given.get("name"), str) and ("labels" in given or "summary" in given) and "content" not in given


class GraphReader:
    """Reads graphs of Graphiti and Zep, and remembers the names of nodes for the edges between them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def drafts(self, given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        """The episodes, summaries and facts of a graph, or the one of a part of it."""
        if _is_part(given):
            yield from self._part(given, where)
            return
        nodes, edges, episodes = ([part for key in keys for part in as_list(given.get(key))] for keys in _PARTS)
        for node in map(as_object, nodes):
            self._know(node)
        for what, found in (("episode", episodes), ("node", nodes), ("edge", edges)):
            for place, value in with_places(found, where, what):
                yield from self._part(as_object(value), place)

    def _know(self, node: Object) -> None:
        if (id := as_name(node.get("uuid"))) and (name := as_name(node.get("name"))):
            self._names[id] = name

    def _part(self, given: Object, where: str) -> Iterator[Found]:
        if _is_edge(given):
            yield self._edge(given, where)
        elif _is_episode(given):
            yield _episode(given, where)
        elif _is_node(given):
            self._know(given)
            yield _node(given, where)
        else:
            yield Skipped(where, "neither an episode, an entity nor a fact")

    def _edge(self, given: Object, where: str) -> Found:
        """A fact between two known nodes; its words alone if a node is not known."""
        ends = [
            self._names.get(as_text(given.get(f"{end}_node_uuid"))) or as_name(given.get(f"{end}_node_name"))
            for end in ("source", "target")
        ]
        relation = relation_name(as_text(given.get("name"))) or "is_related_to"
        text, id = as_text(given["fact"]), as_text(given.get("uuid"))
        created = moment(given.get("created_at"))
        since = moment(given.get("valid_at")) or created
        until = moment(given.get("invalid_at")) or moment(given.get("expired_at"))
        ends_after = until if until and (since is None or until > since) else None
        if not (ends[0] and ends[1]):
            said = {"key": f"graphiti:{id}", "at": since, "kind": Kind.SEMANTIC, "relation": relation}
            return DraftMemory(text, where, fields_of({**said, "scope": _scope(given)})[0], turn=False)
        times = {"valid_from": since, "valid_to": ends_after, "ingested_at": created, "source": f"graphiti:{id}"}
        known: dict[str, Any] = {key: value for key, value in {**times, "scope": _scope(given)}.items() if value}
        return DraftFact(Fact(ends[0], relation, ends[1]), where, text or None, cast("FactFields", known))


_PARTS = (_NODES, _EDGES, _EPISODES)


def _scope(given: Object) -> str | None:
    """The partition of a graph as the scope of its memories."""
    group = (as_name(given.get("group_id")) or "").strip("_\\")
    return f"group:{group}" if group else None


def _episode(given: Object, where: str) -> DraftMemory:
    """What was told to the graph; a message begins with its speaker."""
    text = as_text(given["content"])
    speaker = as_name(given.get("role")) or as_name(given.get("role_type"))
    said = _SPEAKER.match(text) if given.get("source") == "message" and not speaker else None
    fields, _ = fields_of(
        {
            "key": f"graphiti:{as_text(given.get('uuid'))}",
            "at": given.get("valid_at") or given.get("created_at"),
            "speaker": said[1] if said else speaker,
            "topic": as_name(given.get("source_description")),
            "scope": _scope(given),
        }
    )
    conversation = first_name(given, "session_id", "thread_id")
    turn = bool(conversation or fields.get("speaker"))
    words = text[said.end() :] if said else text
    return DraftMemory(words, where, fields, conversation, turn=turn)


def _node(given: Object, where: str) -> Found:
    summary, name = as_text(given.get("summary")).strip(), as_text(given.get("name"))
    if not summary:
        return Skipped(where, NO_SUMMARY)
    fields, _ = fields_of(
        {
            "key": f"graphiti:{as_text(given.get('uuid'))}",
            "at": given.get("created_at"),
            "topic": as_name(name),
            "scope": _scope(given),
            "kind": Kind.SEMANTIC,
            "keywords": [
                label for value in as_list(given.get("labels")) if (label := as_name(value)) and label != "Entity"
            ],
        }
    )
    return DraftMemory(summary, where, fields, turn=False)


_THREAD = ("session_id", "thread_id", "uuid")


def is_zep(given: Object) -> bool:
    """Whether an object is a session or thread of Zep: messages with their facts, or with roles of its kind."""
    messages = [as_object(message) for message in as_list(given.get("messages"))]
    facts = [fact for key in ("facts", "relevant_facts") for fact in as_list(given.get(key))]
    return isinstance(given.get("messages"), list) and bool(
        facts or any("role_type" in message for message in messages[:1])
    )


def zep_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The messages of a session, and the facts that Zep found in them."""
    name = first_name(given, *_THREAD) or unnamed
    calls: Calls = {}
    for place, item in with_places(as_list(given.get("messages")), where, "message"):
        message = as_object(item)
        # With `role_type`, `role` is the name of the speaker.
        named = {"role": message["role_type"], "name": message.get("role")} if "role_type" in message else {}
        id = as_name(message.get("uuid"))
        kept = {key: value for key, value in message.items() if key not in ("role_type", "uuid", "processed")}
        yield from turns({**kept, **named, "key": f"zep:{id}" if id else None}, place, calls, name)
    graph = GraphReader()
    facts = [fact for key in ("facts", "relevant_facts") for fact in as_list(given.get(key))]
    for place, item in with_places(facts, where, "fact"):
        fact = {"fact": item} if isinstance(item, str) else as_object(item)
        text = as_text(fact.get("fact") or fact.get("content"))
        id = as_name(fact.get("uuid")) or fingerprint(text)
        yield from graph.drafts({**fact, "fact": text, "uuid": id}, place)


_TYPES = ("entity", "relation")


def is_mcp_memory(given: Object) -> bool:
    """Whether an object is a line of the MCP memory server's file, or its whole graph."""
    if isinstance(given.get("entities"), list) and isinstance(given.get("relations"), list):
        return not is_graphiti(given)
    entity = isinstance(given.get("observations"), list) and isinstance(given.get("name"), str)
    return entity or all(isinstance(given.get(key), str) for key in ("from", "to", "relationType"))


def mcp_memory_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """Each observation as a memory under the name of its entity, each type and each relation as a fact."""
    if "entities" in given:
        for kind in ("entities", "relations"):
            for place, value in with_places(as_list(given.get(kind)), where, kind):
                if is_mcp_memory(part := as_object(value)):
                    yield from mcp_memory_drafts(part, place)
                else:
                    yield Skipped(place, "neither an entity nor a relation")
        return
    if "relationType" in given:
        ends = as_text(given.get("from")), as_text(given.get("to"))
        fact = Fact(ends[0], relation_name(as_text(given.get("relationType"))) or "is_related_to", ends[1])
        yield DraftFact(fact, where, fields={"source": "mcp-memory"})
        return
    name, kind = as_name(given.get("name")) or "", as_text(given.get("entityType")).strip()
    if kind and name:
        yield DraftFact(Fact(name, "is_a", kind), where, fields={"source": "mcp-memory"})
    observations = as_list(given.get("observations"))
    if not observations:
        yield Skipped(where, NO_OBSERVATIONS)
    for place, observation in with_places(observations, where, "observation"):
        yield _observation(name, as_text(observation).strip(), place)


def _observation(name: str, text: str, where: str) -> DraftMemory:
    """An observation that says whom it is about."""
    fields, _ = fields_of({"kind": Kind.SEMANTIC, "topic": name, "key": f"mcp-memory:{name}:{fingerprint(text)}"})
    if not text or name.casefold() in text.casefold():
        return DraftMemory(text, where, fields, turn=False)
    fields["original"] = text
    return DraftMemory(f"{name}: {text}", where, fields, turn=False)
