"""nearest: the score is the cosine, whatever else is known about a memory."""

from __future__ import annotations

import pytest

from memorist.errors import MissingService
from memorist.model import Worth
from tests.recall.worlds import memory
from tests.recipes.worlds import TOLERANCE, near, opened, scores

QUERY = "Which ledger?"
COSINES = {"The blue one.": 0.8, "The red ledger.": 0.4, "Receipts.": -0.5}


def test_every_memory_has_its_cosine_and_nothing_else_counts() -> None:
    vectors = {QUERY: near(1.0), **{text: near(cosine) for text, cosine in COSINES.items()}}
    world = [memory(text, text, worth=Worth(importance=(1 - cosine) / 2)) for text, cosine in COSINES.items()]
    with opened(*world, recipe="nearest", vectors=vectors) as engine:
        found = engine.recall(QUERY)
        assert [item.memory.text for item in found.items] == list(COSINES)
        assert scores(found) == pytest.approx(COSINES, abs=TOLERANCE)
        assert len(engine.recall(QUERY, limit=2).items) == 2
        assert not found.abstained


def test_without_an_embedder_it_does_not_run() -> None:
    with (
        opened(memory("a", "The red ledger."), recipe="nearest") as engine,
        pytest.raises(MissingService, match="'nearest' needs a service for its stage 'vector': embedder"),
    ):
        engine.recall(QUERY)
