"""Graphs of Mnemosyne for Elixir as JSON, whose pipeline is the recipe mnemosyne-graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memorist.model import AGENT_TRUST
from memorist.remember.ingest.model import Found, Skipped
from memorist.remember.ingest.values import Object, as_list, as_name, as_object, as_text, first_name, with_places
from memorist.remember.sessions.lessons import procedure_text
from memorist.remember.sessions.run import step_text
from memorist_import.carry import carry_memory

SYSTEM = "mnemosyne-graph"
TAG = "a tag; it is a keyword of the memories that it links"
INTENT = "an intent; it begins the procedures that it links"
POINTER = "a pointer to a step, without a text of its own"
NO_TYPE = "a node of no known type"
_TYPES = ("semantic", "procedural", "episodic", "source", "subgoal", "intent", "tag")
_MARKS: Mapping[str, tuple[str, ...]] = {
    "semantic": ("proposition",),
    "procedural": ("instruction", "condition"),
    "episodic": ("observation", "action", "trajectory_id"),
    "source": ("episode_id", "step_index"),
    "subgoal": ("description", "parent_goal"),
    "intent": ("description",),
    "tag": ("label",),
}
"""The fields that only nodes of a type have."""
_FIELDS = {"confidence": "confidence", "created_at": "at"}
_USUAL = {"access_count": 0, "cumulative_reward": 0.0, "reward_count": 0}
_COMMON = ("id", "type", "node_type", "__struct__", "links", "embedding")


def is_nodes(given: Object) -> bool:
    """Whether an object is a graph of Mnemosyne for Elixir, or one of its nodes."""
    nodes = _nodes_of(given)
    return bool(_type_of(given)) or bool(nodes and _type_of(nodes[0]))


def _nodes_of(given: Object) -> list[Object]:
    """The nodes of a graph, which may be under their ids."""
    nodes = given.get("nodes")
    found = as_object(nodes)
    listed = [{"id": id, **as_object(node)} for id, node in found.items()] if found else as_list(nodes)
    return [as_object(node) for node in listed]


def _type_of(node: Object) -> str | None:
    """The type of a node: written out, or known by its fields, if it has the links of this graph."""
    if not isinstance(node.get("links"), dict):
        return None
    written = as_text(node.get("type") or node.get("node_type") or node.get("__struct__")).lower().split(".")[-1]
    kinds = [name for name, marks in _MARKS.items() if all(mark in node for mark in marks)]
    return written if written in kinds else kinds[0] if kinds else None


def _ids(node: Object, kind: str) -> list[str]:
    return [as_text(id) for id in as_list(as_object(node.get("links")).get(kind))]


class NodeReader:
    """Reads a graph, and remembers the names of tags and intents and the steps of sources for the nodes they link."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def drafts(self, given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        """The memories of a graph, or the one of a node; links between them become metadata."""
        if _type_of(given):
            self._know(given)
            yield from self._node(given, where)
            return
        nodes, usage = _nodes_of(given), as_object(given.get("metadata"))
        beside = _links_beside([*as_list(given.get("edges")), *as_list(given.get("links"))])
        for node in nodes:
            self._know(node)
        for place, node in with_places(nodes, where, "node"):
            id = as_text(node.get("id"))
            more = {kind: [*_ids(node, kind), *ids] for kind, ids in beside[id].items()}
            links = {**as_object(node.get("links")), **more}
            yield from self._node({**as_object(usage.get(id)), **node, "links": links}, place)

    def _know(self, node: Object) -> None:
        step = f"{node.get('episode_id')}, step {node.get('step_index')}"
        name = first_name(node, "label", "description") or (step if "episode_id" in node else None)
        if (id := as_name(node.get("id"))) and name:
            self._names[id] = name

    def _linked(self, node: Object, kind: str) -> list[str]:
        """The names of the tags, intents or sources that a kind of link leads to."""
        return list(dict.fromkeys(self._names[id] for id in _ids(node, kind) if id in self._names))

    def _node(self, node: Object, where: str) -> Iterator[Found]:
        type = _type_of(node)
        if type is None:
            yield Skipped(where, NO_TYPE)
            return
        text, used, ours = _READERS[type](node, self._linked(node, "hierarchical"))
        if not text.strip() or type in ("tag", "intent"):
            yield Skipped(where, {"tag": TAG, "intent": INTENT, "source": POINTER}.get(type, "a node without a text"))
            return
        links = {kind: ids for kind, ids in as_object(node.get("links")).items() if ids}
        known = {
            "key": f"{SYSTEM}:{id}" if (id := as_name(node.get("id"))) else None,
            "kind": type,
            "trust": AGENT_TRUST,
            "keywords": self._linked(node, "membership"),
            **ours,
        }
        given = {**node, "links": links, "sources": self._linked(node, "provenance")}
        used = (*used, *(name for name in _COMMON if name != "links"))
        session = as_name(node.get("trajectory_id"))
        yield from carry_memory(text, given, _FIELDS, where, ours=known, used=used, usual=_USUAL, session=session)


Parts = tuple[str, tuple[str, ...], dict[str, Any]]
"""The text of a node, the fields that are part of it, and fields of ours."""


def _links_beside(edges: list[Any]) -> dict[str, dict[str, list[str]]]:
    """The links of each node by kind, of edges that a dump lists beside its nodes."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for edge in map(as_object, edges):
        ends = [first_name(edge, *names) for names in (("from", "source", "id_a"), ("to", "target", "id_b"))]
        kind = first_name(edge, "type", "edge_type", "kind") or "sibling"
        if ends[0] and ends[1]:
            found[ends[0]][kind].append(ends[1])
            found[ends[1]][kind].append(ends[0])
    return found


def _procedure(node: Object, above: list[str]) -> Parts:
    names = ("condition", "instruction", "expected_outcome")
    condition, instruction, outcome = (as_text(node.get(name)) for name in names)
    return procedure_text("; ".join(above), condition, instruction, outcome), names, {}


def _step(node: Object, above: list[str]) -> Parts:
    """An observation and its action; both stay apart in the metadata, where Memorist's own steps have them."""
    names = ("observation", "action", "reward")
    metadata = {name: node.get(name) for name in names}
    text = step_text(as_text(node.get("observation")), as_text(node.get("action")))
    return text, (*names, "trajectory_id"), {"metadata": metadata, "topic": as_name(node.get("subgoal"))}


def _plain(name: str) -> Callable[[Object, list[str]], Parts]:
    return lambda node, above: (as_text(node.get(name)), (name,), {})


_READERS: Mapping[str, Callable[[Object, list[str]], Parts]] = {
    "semantic": _plain("proposition"),
    "procedural": _procedure,
    "episodic": _step,
    "source": _plain("plain_text"),
    "subgoal": _plain("description"),
    "intent": _plain("description"),
    "tag": _plain("label"),
}
