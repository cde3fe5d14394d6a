"""The place of a memory by a signal, found without the hits before it, is its place among all hits."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from memorist.engine.engine import Engine
from memorist.errors import MissingService
from memorist.model import Filter, instant
from memorist.recall.signals import Keyword, Trigram, Vector
from memorist.recall.stage import Signal
from memorist.stores.memory import MemoryStore
from memorist.testing import FakeClock, FakeEmbedder

WORDS = ["alpine", "lantern", "harbour", "lanterns", "kettle", "blue", "broken", "station", "piano"]
QUESTIONS = ("Where is the blue lantern?", "lanturn", "kettle and piano in 2024", "nothing of it")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    dice = random.Random(5)
    with Engine(
        MemoryStore(), embedder=FakeEmbedder(), clock=FakeClock(instant("2024-09-01")), background=False
    ) as made:
        made.remember_many(
            {"text": f"The {' '.join(dice.choices(WORDS, k=3))} number {number % 7}.", "key": f"m{number}"}
            for number in range(150)
        )
        yield made


def test_why_not_says_the_same_as_a_search_without_limits(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(recipe: str) -> list[object]:
        some = engine.list(1000).items[::40]
        return [
            engine.why_not(question, memory.id, recipe=recipe, limit=2, max_tokens=50)
            for question in QUESTIONS
            for memory in some
        ]

    def of_all() -> dict[str, list[object]]:
        found: dict[str, list[object]] = {}
        for recipe in engine.recipes:
            try:
                found[recipe] = told(recipe)
            except MissingService:
                continue
        return found

    quick = of_all()
    assert len(quick) > 3 and any("ranks it" in str(member) for some in quick.values() for member in some)
    for signal in (Keyword, Vector, Trigram):
        monkeypatch.setattr(signal, "place", Signal.place)
    assert of_all() == quick


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_view_that_follows_a_memory_tells_its_rank(engine: Engine, question: str) -> None:
    view, probe = engine.store.view(), FakeEmbedder().embed([question], purpose="query")
    for memory in engine.list(1000).items[::19]:
        own = view.following(memory.id)
        for every, alone in (
            (view.search_text(question, Filter(), 500), own.search_text(question, Filter(), 1)),
            (view.search_trigram(question, Filter(), 500), own.search_trigram(question, Filter(), 1)),
            (view.search_vector(probe, Filter(), 500), own.search_vector(probe, Filter(), 500)),
        ):
            ranks = [(rank, hit.score) for rank, hit in enumerate(every, 1) if hit.id == memory.id]
            assert [(dict(hit.parts)["rank"], hit.score) for hit in alone] == ranks
