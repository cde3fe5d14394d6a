"""Tests of a part of a view: the memories between two classifications, and no trace of any other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memorist.model import USUAL_CLASSIFICATION, Entity, Fact, Filter, Link, Memory, Worth, mark_name
from memorist.ports import Batch, Store, View
from memorist.testing.store_suite.base import EMBEDDER, SEARCHES, StoreCase
from memorist.testing.world import NOON, memory

EVERY = Filter(max_classification=3)
BOUNDS = [(0, 1), (0, 2), (2, 2), (3, 3)]
TEXTS = ("Alice keeps the brass key.", "Bob met Alice in Oslo.", "The brass lamp is in Oslo.", "Alice called Bob.")


def _entity(name: str, classification: int) -> str:
    return mark_name(f"e:{name.lower()}", classification)


def _rows(classification: int) -> list[Memory]:
    """The same texts for every classification, more often the more secret they are, with a fact."""
    texts = [*TEXTS * (classification + 1), f"Only {classification} knows the password."]
    worth = Worth(classification=classification)
    said = [
        memory(text, id=f"{classification}-{number:02}", at=NOON + timedelta(days=number), worth=worth)
        for number, text in enumerate(texts)
    ]
    fact = Fact("Alice", "met", "Bob" if classification == USUAL_CLASSIFICATION else "Carol")
    return [*said, memory("Alice met somebody.", id=f"{classification}-fact", fact=fact, worth=worth)]


def _written(classifications: range) -> Batch:
    """What each classification holds: memories, vectors, entities and links."""
    memories = [memory for number in classifications for memory in _rows(number)]
    names = [(name, number) for number in classifications for name in ("Alice", "Bob", "Carol")]
    links = [
        Link(memory.id, relation, _entity(name, memory.worth.classification))
        for memory in memories
        for relation, name in (
            (("subject", memory.fact.subject), ("object", memory.fact.object))
            if memory.fact
            else (("mentions", name) for name in ("Alice", "Bob") if name in memory.text)
        )
    ]
    rows = EMBEDDER.embed([memory.text for memory in memories], purpose="memory")
    return Batch(
        memories,
        {one.id: {"text": row} for one, row in zip(memories, rows, strict=True)},
        links=links,
        entities=[Entity(_entity(name, number), name) for name, number in names],
    )


def _answers(view: View, ids: list[str]) -> dict[str, Any]:
    """Everything that a view can be asked."""
    probes = EMBEDDER.embed(["the brass key"], purpose="query")
    graph, admitted = view.graph(EVERY)
    names = {node: name for name, node in graph.nodes.items()}
    return {
        **{search.name: search.run(view, "Who has the bras key in Oslo?", EVERY, 9) for search in SEARCHES},
        "signature": view.search_signature("brass key", EVERY, 9),
        "time": view.search_time(NOON, NOON + timedelta(days=2), EVERY, 9, reach=timedelta(days=9)),
        "without facts": view.without_facts().search_text("Alice", EVERY, 99),
        "following": [hit.parts for id in ids for hit in view.following(id).search_text("Alice Bob", EVERY, 1)],
        "may hold": [view.may_hold([word]) for word in ("0", "1", "2", "3", "password", "carol")],
        "size": view.size,
        "embedding": view.embedding,
        "tally": view.tally(EVERY),
        "newest": view.newest(EVERY, 5),
        "edges": sorted(
            (graph.memories[edge], names[graph.source[edge]], names[graph.target[edge]])
            for edge in range(len(graph.memories))
        ),
        "admitted": int(admitted.sum()),
        "nodes": sorted(graph.nodes),
        "related": [
            (pair.source, pair.relation, pair.target, list(pair.memories))
            for pair in view.related(names.values(), EVERY, 9)
        ],
        "vectors": sorted(view.vectors(ids)),
        "cosines": view.cosines(probes, ids),
    }


class Capping(StoreCase):
    """A cap: what is outside a part changes no answer of it."""

    @pytest.fixture
    def other(self, tmp_path: Path) -> Iterator[Store]:
        """A second, empty store."""
        store = self.make_store(tmp_path, "other")
        yield store
        store.close()

    @pytest.mark.parametrize(("lowest", "highest"), BOUNDS)
    def test_a_part_answers_as_a_store_without_the_rest(
        self, store: Store, other: Store, lowest: int, highest: int
    ) -> None:
        """Every search, count and graph: to the last digit of a score."""
        for written, classifications in ((store, range(4)), (other, range(lowest, highest + 1))):
            written.adopt(EMBEDDER.generation, EMBEDDER.dim)
            written.put(_written(classifications))
        ids = [row.id for row in store.scan(EVERY, 999).items]
        part, alone = store.view().part(lowest, highest), other.view()
        answers, expected = _answers(part, ids), _answers(alone, ids)
        for question, answer in expected.items():
            assert answer, question
            assert answers[question] == answer, question
