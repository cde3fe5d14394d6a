"""A memory with something of every sort in it, and the answers of every recipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memorist.engine.engine import Engine
from memorist.model import Item
from memorist.models.embedding_text import generation_of
from memorist.ports import Batch, Embedder, Entry, Job, Store
from memorist.recall.recipes import RECIPES
from memorist.testing.fakes import START, FakeClock, FakeEmbedder
from memorist.testing.world import sample_world

QUESTIONS = (
    "Where does Alice live?",
    "What is Bo allergic to?",
    "How do I roll back a release of Heron?",
    "importer error E_TIMEOUT",
    "東京",
    "the half marathon in May",
)


def opened(store: Store, embedder: Embedder | None = None) -> Engine:
    return Engine(store, embedder=embedder or FakeEmbedder(), clock=FakeClock(), background=False)


def fill(engine: Engine) -> None:
    """The sample world, texts with versions and facts with a history, and all that hangs on them."""
    world, store = sample_world(), engine.store
    rows = FakeEmbedder().embed([memory.text for memory in world], purpose="memory")
    store.adopt(generation_of(FakeEmbedder()), FakeEmbedder().dim)
    store.put(Batch(world, {one.id: {"text": row} for one, row in zip(world, rows, strict=True)}))
    for text in ("The key is under the mat.", "The key is in the shed.", "The key is with Bo."):
        engine.remember(text, key="door", metadata={"secret": [1, {"deep": "ö"}]})
    engine.remember("Cleo lives in Paris.", at="2024-01-01")
    engine.remember("Cleo moved to Lyon.", at="2024-03-01")
    engine.relate("Cleo", "likes", "chess")
    store.put(
        Batch(
            jobs=[Job("read", world[0].id, START), Job("consolidate", "2024-06", START, 2, "busy")],
            journal=[Entry("e1", START, "hide", (world[1].id,), {"why": "old"}), Entry("e2", START, "merge")],
            rewards={world[2].id: [0.25, 1.0]},
        )
    )
    store.show("talk", [world[3].id, world[4].id], START)
    store.learn_noise(["hm", "ok then"], keep=10)
    engine.recall("Alice")


def answers(engine: Engine, questions: Sequence[str] = QUESTIONS) -> dict[tuple[str, str], Any]:
    """What every recipe answers, down to the last bit of its scores; PageRank itself is exact to about 1e-7."""
    found: dict[tuple[str, str], Any] = {}
    for recipe in RECIPES:
        for question in questions:
            recall = engine.recall(question, recipe=recipe, track=False)
            items = [(item.memory, item.score, _signals(item), item.hop) for item in recall.items]
            found[recipe, question] = (items, recall.context, recall.abstained)
    return found


def _signals(item: Item) -> dict[str, tuple[int | None, Near]]:
    return {name: (one.rank, Near(one.score)) for name, one in item.signals.items()}


class Near(float):
    """A number that equals every number within a millionth of it."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(self - other) < 1e-6

    def __ne__(self, other: object) -> bool:
        return not self == other
