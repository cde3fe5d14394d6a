"""Recall within a session, worked by hand: its probes, what each part reads of them, and steps that are no answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memorist.model import Kind, Recall, Surroundings
from memorist.ports import Store
from memorist.recall.prepare import probes, whole
from memorist.recall.recipes import SHIPPED
from memorist.testing import FakeEmbedder
from memorist.text.tokens import count_tokens
from tests.asking.fakes import FakeLLM, asker
from tests.recall.test_llm_stages import ANSWERS, GRAPH, WORLD, graph
from tests.recall.worlds import draft, request
from tests.recipes.worlds import TOLERANCE, ChosenEmbedder, ChosenReranker, ids, near, node, notes, opened

GOAL, STEP, QUESTION = "Free the disk.", "The disk is full.", "What now?"
WITH_GOAL, WITH_ACTION = "Free the disk. What now?", "The disk is full. Action: look for logs"
LONG = " ".join(f"The old log {number} of the host oslo-{number} takes {number} GB." for number in range(40))


def touched(recall: Recall) -> dict[str, float]:
    return {touch.id: touch.score for touch in recall.touched}


def test_a_node_is_as_relevant_as_its_closest_probe() -> None:
    """The cosines are 0.4 with the question, 0.9 with goal and question, and 0.7 with the step."""
    vectors = {
        QUESTION: near(1.0),
        WITH_GOAL: near(1.0, axis=2),
        WITH_ACTION: near(1.0, axis=4),
        "semantic a.": near(0.4),
        "semantic b.": near(0.9, axis=2),
        "semantic c.": (0, 0, 0, 0.714, 0.7, 0),  # away from the tags, which have the last axis
    }
    embedder = ChosenEmbedder(vectors)
    with opened(node("a"), node("b"), node("c"), recipe="mnemosyne-graph", embedder=embedder) as engine:
        engine.session(GOAL, "run").step(STEP, "look for logs")
        found = engine.recall_in_context("run", QUESTION)
    assert touched(found) == pytest.approx({"b": 0.9, "c": 0.7, "a": 0.4}, abs=TOLERANCE)
    assert embedder.calls[0] == (QUESTION, WITH_GOAL, WITH_ACTION, *found.trace.tags)
    assert notes(found, "query") == ("asked in a session: with its goal and 1 step",)
    assert found.query == QUESTION


def test_each_part_gives_a_tag_and_the_goal_helps_to_find_the_mode() -> None:
    with opened(recipe="mnemosyne-graph", embedder=FakeEmbedder()) as engine:
        session = engine.session("Find out how to roll back a release.", "run")
        session.step("Heron 7 fails.", "call Ann")
        plain, found = engine.recall("And for Pelican?"), engine.recall_in_context("run", "And for Pelican?")
    assert notes(plain, "mode") == ("mode mixed by rules",)
    assert notes(found, "mode") == ("mode procedural by rules",)
    assert plain.trace.tags == ("pelican",)
    assert found.trace.tags == ("pelican", "ann", "roll back", "heron 7 fails")


@pytest.mark.parametrize("recipe", SHIPPED)
def test_steps_become_answers_with_the_commit(recipe: str, store: Store) -> None:
    with opened(recipe=recipe, embedder=FakeEmbedder(), store=store) as engine:
        engine.remember("The host oslo-1 has a full disk.")
        session = engine.session("Free the disk of oslo-2.", "run")
        step = session.step("The host oslo-2 has a full disk.", "look for logs").id
        asked = "full disk of a host"
        assert step in ids(engine.recall(asked))
        found = engine.recall_in_context("run", asked, fresh=False)
        assert found.items and all(item.memory.origin.session != "run" for item in found.items)
        sources = engine.recall_in_context("run", asked, kinds="source")
        assert all(item.memory.text != "The host oslo-2 has a full disk." for item in sources.items)
        session.commit()
        assert step in ids(engine.recall_in_context("run", asked, fresh=False))
        later = session.step("The host oslo-3 has a full disk.").id
        known = ids(engine.recall_in_context("run", asked, fresh=False))
        assert step in known and later not in known


def test_a_long_step_is_probed_piece_by_piece() -> None:
    asked = replace(draft(query=QUESTION), request=request(QUESTION, surroundings=Surroundings(GOAL, (LONG,))))
    question, goal, *pieces = probes(asked)
    assert (question, goal) == (QUESTION, WITH_GOAL)
    assert len(pieces) > 3
    assert " ".join(pieces) == LONG
    assert max(map(count_tokens, pieces)) <= 128


def test_a_session_is_read_to_the_length_that_a_commit_reads() -> None:
    """1,500 characters of an observation, and as many of the action."""
    with opened(recipe="mnemosyne-graph", embedder=FakeEmbedder()) as engine:
        session = engine.session(GOAL, "run")
        for number in range(4):
            session.step(f"{number} {LONG}", LONG)
        found = engine.recall_in_context("run", QUESTION)
    side = f"{LONG[:1500]} …"
    around = found.request.surroundings
    assert around.goal == GOAL
    assert around.steps[2] == f"{f'3 {LONG}'[:1500]} … Action: {side}"
    assert [step[:2] for step in around.steps] == ["1 ", "2 ", "3 "]
    assert len(around.own) == 8  # four steps, each with its source


def test_a_language_model_reads_goal_steps_and_question_in_this_order() -> None:
    llm = FakeLLM(**ANSWERS)
    question = "What is the billing system?"
    around = Surroundings(GOAL, (LONG, WITH_ACTION))
    with graph(*WORLD, ask=asker(llm)) as env:
        GRAPH.run(request(question, surroundings=around), env)
    expected = f"Goal: {GOAL}\nRecent context:\n- {LONG}\n- {WITH_ACTION}\n\nQuery: {question}"
    assert {asked.step for asked in llm.asked} == {"mode", "tags", "bridge", "reason"}
    assert {question.data["question"] for question in llm.asked} == {expected}


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        (Surroundings(), QUESTION),
        (Surroundings(goal=GOAL), f"Goal: {GOAL}\nQuery: {QUESTION}"),
        (Surroundings(steps=(STEP,)), f"Recent context:\n- {STEP}\n\nQuery: {QUESTION}"),
    ],
)
def test_a_part_that_a_session_lacks_is_left_out(around: Surroundings, expected: str) -> None:
    assert whole(replace(draft(query=QUESTION), request=request(QUESTION, surroundings=around))) == expected


def test_memorist_compares_every_probe_and_rereads_the_question_with_its_goal() -> None:
    vectors = {
        QUESTION: near(1.0),
        WITH_GOAL: near(1.0, axis=2),
        STEP: near(1.0, axis=4),
        "Delete the old logs.": (0, 0, 0, 0.6, 0.8, 0),
        "Now is the time.": near(0.3),
    }
    reranker = ChosenReranker()
    logs, time = (node(id, Kind.EPISODIC, text) for id, text in zip("ab", list(vectors)[3:], strict=True))
    with opened(logs, time, vectors=vectors, reranker=reranker) as engine:
        engine.session(GOAL, "run").step(STEP)
        found = engine.recall_in_context("run", QUESTION)
    cosines = {item.memory.id: item.signals["vector"].score for item in found.items}
    assert cosines == pytest.approx({"a": 0.8, "b": 0.3}, abs=TOLERANCE)
    assert {query for query, _ in reranker.calls} == {WITH_GOAL}


def test_words_are_searched_for_in_the_question_alone() -> None:
    said = node("a", Kind.EPISODIC, "The disk of oslo-1 is full."), node("b", Kind.EPISODIC, "Now it rains.")
    with opened(*said, embedder=FakeEmbedder()) as engine:
        engine.session(GOAL, "run").step(STEP)
        found = engine.recall_in_context("run", "Does it rain?")
    assert [hit.id for hit in found.trace.found["keyword"].hits] == ["b"]
