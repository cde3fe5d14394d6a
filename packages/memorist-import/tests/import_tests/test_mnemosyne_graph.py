"""Graphs of Mnemosyne for Elixir: nodes by type, their links, tags and provenance."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import memorist
from import_tests import originals
from memorist.model import Kind, Memory
from memorist.remember.ingest import Item, detect
from memorist.testing import FakeClock
from memorist_import.nodes import INTENT, POINTER, TAG
from tests.remember.ingest.helpers import cleaned, items, memories, positions, skipped, written

JUNE = datetime(2026, 6, 1, tzinfo=UTC)


def by_kind(found: list[Item]) -> dict[Kind, Memory]:
    return {memory.kind: memory for memory in memories(found)}


def test_each_type_of_node_is_a_memory_of_its_kind(tmp_path: Path) -> None:
    path = written(tmp_path / "graph.json", originals.elixir())
    found = items(path)
    kinds = by_kind(found)
    assert detect(path) == "mnemosyne-graph"
    assert {kind: memory.text for kind, memory in kinds.items()} == {
        Kind.SEMANTIC: "Old logs fill the disk.",
        Kind.PROCEDURAL: "free the disk\nWhen: The disk is full.\nDo: Delete the old logs.\nThen: There is room.",
        Kind.EPISODIC: "The disk is full.\nAction: Delete the old logs.",
        Kind.SUBGOAL: "Find what fills the disk",
        Kind.SOURCE: "df -h says 100%",
    }
    semantic, step = kinds[Kind.SEMANTIC], kinds[Kind.EPISODIC]
    assert (semantic.worth.confidence, semantic.keywords, semantic.worth.trust) == (0.9, ("disk",), 2)
    assert semantic.times.valid_from == datetime(2026, 5, 1, 8, tzinfo=UTC)
    assert semantic.metadata == {
        "links": {"membership": ["tag_1"], "provenance": ["ep_1"]},
        "access_count": 3,
        "last_accessed_at": "2026-05-02T08:00:00Z",
    }
    assert (step.topic, step.origin.session, step.metadata["reward"]) == ("Find what fills the disk", "traj_1", 1.0)
    assert (step.metadata["observation"], step.metadata["sources"]) == ("The disk is full.", ["e-7, step 0"])
    assert positions(found) == {None: [None] * 4, "traj_1": [None]}


def test_tags_intents_and_pointers_are_counted(tmp_path: Path) -> None:
    found = items(written(tmp_path / "graph.json", originals.elixir()))
    assert [skip.reason for skip in skipped(found)] == [INTENT, POINTER, TAG]
    noted = Counter(note.reason for note in cleaned(found))
    assert (noted["links kept as metadata"], noted["sources kept as metadata"]) == (5, 1)
    assert noted["return_score kept as metadata"] == noted["parent_goal kept as metadata"] == 1


def test_nodes_in_a_list_in_lines_and_edges_beside_them_are_the_same_graph(tmp_path: Path) -> None:
    graph = originals.elixir()
    nodes: list[dict[str, Any]] = [{"id": id, **node} for id, node in graph["nodes"].items()]
    edges = [
        {"from": id, "to": target, "type": kind}
        for id, node in graph["nodes"].items()
        for kind, ids in node["links"].items()
        for target in ids
        if id < target
    ]
    bare = [{**node, "links": {}} for node in nodes]
    listed = items(written(tmp_path / "a.json", {"nodes": bare, "edges": edges, "metadata": graph["metadata"]}))
    lines = items(written(tmp_path / "b.jsonl", "\n".join(map(json.dumps, reversed(nodes)))))
    whole = {memory.id: memory for memory in memories(items(written(tmp_path / "c.json", graph)))}
    assert {memory.id: memory.text for memory in memories(listed)} == {id: memory.text for id, memory in whole.items()}
    assert by_kind(listed)[Kind.SEMANTIC].keywords == by_kind(lines)[Kind.SEMANTIC].keywords == ("disk",)


def test_a_second_import_adds_nothing_and_the_recipe_finds_the_procedure(tmp_path: Path) -> None:
    path = written(tmp_path / "graph.json", originals.elixir())
    with memorist.open(":memory:", embedder="none", clock=FakeClock(JUNE), config={"extract": "off"}) as memory:
        assert memory.ingest(path).kept == 5
        again = memory.ingest(path)
        assert (again.kept, again.merged, again.known) == (0, 0, 5)
        found = memory.recall("How do I free the disk?", kinds="procedural")
        assert found.items[0].memory.text.startswith("free the disk")


def test_a_tag_that_is_linked_again_and_again_is_one_keyword(tmp_path: Path) -> None:
    """Each link of a few characters would repeat a name of hundreds."""
    tag = {"id": "t", "label": "mill " * 40, "links": {}}
    above = {"id": "i", "description": "grind " * 40, "links": {}}
    links = {"membership": ["t"] * 1000, "hierarchical": ["i"] * 1000}
    node = {"id": "p", "instruction": "Pour the grain.", "condition": "at dawn", "links": links}
    (one,) = memories(items(written(tmp_path / "graph.json", {"nodes": [tag, above, node]})))
    assert len(one.keywords) == 1 and len(one.text) < 1000
