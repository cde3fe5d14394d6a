"""mnemosyne-graph over sessions: the provenance of a step is its own observation, not the rest of its session."""

from __future__ import annotations

import pytest

from memorist.model import Kind
from tests.recipes.worlds import TOLERANCE, near, opened

QUESTION = "What happened with the importer last night?"
STEPS = [f"Step {number} of the night." for number in range(1, 36)]
"""Five more than the episodes that the recipe keeps."""
COSINES = [0.95 - 0.02 * place for place in range(len(STEPS))]
VECTORS = {QUESTION: near(1.0)} | {text: near(cosine) for text, cosine in zip(STEPS, COSINES, strict=True)}


def test_each_episode_brings_its_own_source_at_half_its_score_and_no_other_step() -> None:
    with opened(recipe="mnemosyne-graph", vectors=VECTORS) as engine:
        run = engine.session("Watch the importer.", "night")
        for text in STEPS:
            run.step(text)
        found = engine.recall(QUESTION, recipe="mnemosyne-graph", limit=100, track=False)
    assert found.trace.mode == "episodic"
    steps = {item.memory.text: item for item in found.items if item.memory.kind is Kind.EPISODIC}
    sources = {item.memory.text: item for item in found.items if item.phase == "provenance"}
    assert [text for text, item in steps.items() if item.phase == "initial"] == STEPS[:30]  # top_k of episodes
    assert {item.memory.kind for item in sources.values()} == {Kind.SOURCE}
    assert sources.keys() == steps.keys()  # the goal of the session is no source of its steps
    for text, source in sources.items():
        assert source.score == pytest.approx(0.5 * steps[text].score, abs=TOLERANCE)


def test_the_context_tells_a_step_and_its_source_once() -> None:
    with opened(recipe="mnemosyne-graph", vectors=VECTORS) as engine:
        run = engine.session("Watch the importer.", "night")
        for text in STEPS[:3]:
            run.step(text)
        found = engine.recall(QUESTION, track=False)
    assert [item.memory.kind for item in found.items] == [Kind.EPISODIC] * 3 + [Kind.SOURCE] * 3
    assert [found.context.count(text) for text in STEPS[:3]] == [1, 1, 1]
    assert not any("left out" in note for step in found.trace.steps for note in step.notes)
