"""A filter leaves every recipe enough to find: what it hides takes no place of what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memorist.engine.engine import Engine
from memorist.stages import RECIPES
from memorist.stores import MemoryStore
from memorist.testing import FakeClock, FakeEmbedder

FEW = [f"The login page was slow in week {number}." for number in range(8)]
CROWD = [f"Why is the login page slow, asks report {number}." for number in range(60)]


def opened() -> Engine:
    engine = Engine(MemoryStore(), embedder=FakeEmbedder(), clock=FakeClock(), background=False)
    engine.remember_many([{"text": text, "metadata": {"project": "atlas"}, "scope": "team/a"} for text in FEW])
    return engine


@pytest.fixture(scope="module")
def engines() -> Iterator[tuple[Engine, Engine]]:
    """One with the few alone, and one in which a crowd answers better."""
    with opened() as alone, opened() as crowded:
        crowded.remember_many([{"text": text, "metadata": {"project": "borea"}, "scope": "team"} for text in CROWD])
        yield alone, crowded


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_filtered_recall_finds_as_many_as_one_without_the_others(engines: tuple[Engine, Engine], recipe: str) -> None:
    def found(engine: Engine, **filters: Any) -> list[str]:
        items = engine.recall("Why is the login page slow?", recipe=recipe, limit=5, **filters).items
        return [item.memory.scope for item in items]

    alone, crowded = engines
    assert found(crowded, where={"metadata.project": "atlas"}) == found(alone)
    assert found(crowded, scope="team/*") == found(alone)
