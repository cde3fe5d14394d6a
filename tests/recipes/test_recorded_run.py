"""A recorded agent run, learnt from and asked about by mnemosyne-graph: the procedure, the fact and the episode."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import memorist
from memorist import Engine
from memorist.model import Kind, Recall
from memorist.testing import FakeClock
from memorist.testing.llm_server import Answer, AnthropicServer, Fault, LLMRequest, OpenAIServer, ScriptedLLM
from tests.recorded_run import FAILURE, FIND, GOAL, STEPS, answer

HOW = "How do I raise the sync timeout?"
WHERE = "Where is the sync log of Heron?"
WHAT = "What happened when the deployment failed?"
WHY = "Why did the nightly sync stop?"


def scripted(request: LLMRequest) -> Answer:
    """Knows the run; refuses whatever a recall asks, which is then done by rules."""
    asked = next(iter((request.schema or {})["properties"]))
    if asked not in ("steps", "propositions", "instructions"):
        return Fault.REFUSAL
    question = request.messages[-1]["content"].removeprefix("<data>").removesuffix("</data>")
    return answer(json.loads(question), asked)


def lived(**options: Any) -> Engine:
    """A memory whose agent has just lived through the run."""
    memory = memorist.open(":memory:", clock=FakeClock(), recipe="mnemosyne-graph", **options)
    with memory.session(GOAL, "run") as session:
        for step in STEPS:
            session.step(step.observation, step.action, step.reward)
    return memory


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedLLM]:
    with OpenAIServer(scripted) as running:
        yield running


@pytest.fixture(scope="module", params=["rules", "model"])
def memory(request: pytest.FixtureRequest, server: ScriptedLLM) -> Iterator[Engine]:
    """With the real embedder: thresholds mean something only to a model that knows what words mean."""
    llm = {"llm": "openai-compatible:run", "config": {"llm_options": {"url": server.url, "retries": 0}}}
    with lived(**(llm if request.param == "model" else {})) as engine:
        yield engine


def places(memory: Engine, found: Recall) -> dict[str, tuple[str, int]]:
    """Phase and hop of everything touched, by the first line of its text."""
    kept = {touch.id: memory.get(touch.id) for touch in found.touched}
    return {
        kept[touch.id].text.splitlines()[0]: (touch.phase, touch.hop)  # pyright: ignore[reportOptionalMemberAccess]
        for touch in found.touched
    }


def test_the_procedure_is_found_in_procedural_mode(memory: Engine) -> None:
    found = memory.recall(HOW, track=False)
    assert found.trace.mode == "procedural"
    assert {touch.kind for touch in found.touched} == {"procedural"}
    best = found.items[0]
    assert (best.phase, best.hop) == ("initial", 0)
    assert best.memory.text.startswith("raise the sync timeout")
    assert "heron check" in best.memory.text
    assert found.reasoned.procedural is not None and found.reasoned.semantic is None


def test_the_fact_is_found_in_semantic_mode(memory: Engine) -> None:
    found = memory.recall(WHERE, track=False)
    assert found.trace.mode == "semantic"
    assert {touch.kind for touch in found.touched} == {"semantic"}
    assert found.items[0].memory.text.endswith("Heron writes its sync log to /var/log/heron/sync.log.")
    assert (found.items[0].phase, found.items[0].hop) == ("initial", 0)


def test_the_episode_is_found_in_episodic_mode_with_its_source(memory: Engine) -> None:
    found = memory.recall(WHAT, track=False, limit=40)
    assert found.trace.mode == "episodic"
    best = found.items[0]
    assert best.memory.origin.position == FAILURE + 1
    assert (best.memory.kind, best.phase) == (Kind.EPISODIC, "initial")
    sources = [item for item in found.items if item.phase == "provenance"]
    assert {item.memory.kind for item in sources} == {Kind.SOURCE}
    assert sources[0].memory.text == STEPS[FAILURE].observation
    assert sources[0].score == pytest.approx(0.5 * best.score)


def test_the_subgoal_is_found_in_episodic_mode(memory: Engine) -> None:
    found = memory.recall(WHY, track=False)
    assert (found.items[0].memory.kind, found.items[0].memory.text) == (Kind.SUBGOAL, FIND)


def test_a_reward_moves_what_is_otherwise_alike(memory: Engine) -> None:
    """The step that failed counts 1/(1+e^−0.1) = 0.525 or less, one that worked 1/(1+e^−0.9) = 0.711."""
    steps = {row.origin.position: row for row in memory.list(limit=200, kinds="episodic").items}
    failed, worked = steps[FAILURE].usage, steps[19].usage
    assert failed is not None and worked is not None
    assert failed.mean_reward is not None and failed.mean_reward <= 0.1
    assert worked.mean_reward == 0.9


@pytest.mark.parametrize("kind", [OpenAIServer, AnthropicServer])
def test_hops_lead_through_tags_and_intents(kind: type[ScriptedLLM]) -> None:
    """Both facts about Heron share its tag; both ways to raise the timeout share one intent."""
    strict = {"semantic": {"top_k": 1}, "procedural": {"top_k": 1, "threshold": 0.5}}
    recipes = {"strict": {"base": "mnemosyne-graph", "set": {"nodes.params": strict}}}
    with kind(scripted) as server:
        vendor = "anthropic" if kind is AnthropicServer else "openai-compatible"
        options = {"url": server.url, "retries": 0}
        with lived(llm=f"{vendor}:run", config={"llm_options": options, "recipes": recipes}) as memory:
            semantic = places(memory, memory.recall(WHERE, recipe="strict", track=False))
            procedural = places(memory, memory.recall(HOW, recipe="strict", track=False))
    assert semantic == {
        "Heron writes its sync log to /var/log/heron/sync.log.": ("initial", 0),
        "The branch main of Heron is protected: a deployment needs a review.": ("multi_hop", 1),
    }
    assert procedural == {"raise the sync timeout": ("initial", 0), "raise the sync timeout safely": ("multi_hop", 1)}
