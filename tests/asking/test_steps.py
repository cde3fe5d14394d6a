"""What each step is shown and what is made of its answer."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from memorist.asking import STEPS, Source, query
from memorist.asking.facts import Extracted, NamedAnswer, Note, StatementAnswer, facts, note
from memorist.asking.sessions import (
    AgentStep,
    Annotation,
    Instruction,
    Proposition,
    annotate,
    instructions,
    propositions,
)
from memorist.asking.wording import prompt
from memorist.errors import ModelUnavailable
from tests.asking.fakes import Asked, FakeLLM, asker

JULY = datetime(2024, 7, 1, 12, tzinfo=UTC)


def test_every_step_has_a_prompt_file_of_its_own() -> None:
    assert len({prompt(step) for step in STEPS}) == len(STEPS)


# The question


@pytest.mark.parametrize("mode", query.MODES)
def test_mode(mode: str) -> None:
    llm = FakeLLM(mode={"mode": mode})
    assert query.mode(asker(llm), "What is it?") == mode
    assert llm.asked[0].data == {"question": "What is it?"}


def test_tags_are_two_to_five_short_phrases_in_lower_case() -> None:
    assert query.tags(asker(tags={"tags": ["Build  Server", "build server", " Kiwi "]}), "q") == (
        "build server",
        "kiwi",
    )
    for tags in (["one"], ["a", "b", "c", "d", "e", "f"], ["x" * 81, "b"], [" ", ""]):
        with pytest.raises(ModelUnavailable, match="gave no usable answer"):
            query.tags(asker(tags={"tags": tags}), "q")


def test_expansion_leaves_out_what_the_question_says() -> None:
    words = {"words": ["Dog", "pet", "cat", "dog"]}
    assert query.expansion(asker(expand=words), "Which Pet has Ann?") == ("dog", "cat")
    assert query.expansion(asker(expand={"words": []}), "Which?") == ()


def test_bridge_tags_are_made_from_the_question_and_what_was_found() -> None:
    llm = FakeLLM(bridge={"tags": ["disk space", "build server", "clean-up"]})
    assert query.bridge_tags(asker(llm), "Why late?", ["Disk full."]) == ("disk space", "build server", "clean-up")
    assert llm.asked[0].data == {"question": "Why late?", "found": ["Disk full."]}


def test_a_summary_need_not_cite_but_cites_nothing_else_than_its_candidates() -> None:
    sources = [Source(2, "Kiwi builds.", JULY, "Ann"), Source(5, "Kiwi is full.")]
    llm = FakeLLM(reason=[{"summary": "Kiwi builds [2, 5]."}])
    assert query.reason(asker(llm), "What builds?", "semantic", sources) == "Kiwi builds [2, 5]."
    assert llm.asked[0].data == {
        "question": "What builds?",
        "type": "semantic",
        "memories": [
            {"number": 2, "date": "2024-07-01", "speaker": "Ann", "text": "Kiwi builds."},
            {"number": 5, "text": "Kiwi is full."},
        ],
    }
    plain = FakeLLM(reason=[{"summary": "Kiwi builds."}])
    assert query.reason(asker(plain), "What builds?", "semantic", sources) == "Kiwi builds."
    with pytest.raises(ModelUnavailable, match="cites a number that is not"):
        query.reason(asker(reason={"summary": "Kiwi [3]."}), "What builds?", "semantic", sources)


# Sessions


def annotated(asked: Asked) -> dict[str, Any]:
    steps = asked.data["steps"]
    last = asked.data["next_observation"] is None
    return {
        "steps": [
            {"state": f"at {step['step']}", "subgoal": "count", "reward": None if last and step is steps[-1] else 0.5}
            for step in steps
        ]
    }


def test_steps_are_annotated_ten_a_call_each_seeing_what_came_before_and_after() -> None:
    llm = FakeLLM(annotate=annotated)
    turns = [AgentStep(f"saw {place}", f"did {place}") for place in range(1, 24)]
    done = annotate(asker(llm), "count to 23", turns)
    assert done == [Annotation(f"at {place}", "count", None if place == 23 else 0.5) for place in range(1, 24)]
    assert [len(question.data["steps"]) for question in llm.asked] == [10, 10, 3]
    second = llm.asked[1].data
    assert [step["step"] for step in second["previous"]] == [8, 9, 10]
    assert second["previous"][0] == {"step": 8, "observation": "saw 8", "action": "did 8", "subgoal": "count"}
    assert [question.data["next_observation"] for question in llm.asked] == ["saw 11", "saw 21", None]
    assert annotate(asker(llm), "nothing", []) == []


def test_an_answer_that_stops_early_is_gone_on_from() -> None:
    llm = FakeLLM(annotate=lambda asked: {"steps": annotated(asked)["steps"][:4]})
    done = annotate(asker(llm), "count to 10", [AgentStep(f"saw {place}", "") for place in range(1, 11)])
    assert [annotation.state for annotation in done] == [f"at {place}" for place in range(1, 11)]
    assert [question.data["steps"][0]["step"] for question in llm.asked] == [1, 5, 9]


def test_no_annotation_one_too_many_or_a_reward_out_of_range_is_no_answer() -> None:
    step = {"state": "s", "subgoal": "g", "reward": 0.5}
    for steps in ([], [step, step], [{**step, "reward": 1.5}], [{**step, "reward": "high"}]):
        with pytest.raises(ModelUnavailable, match="gave no usable answer to 'annotate'"):
            annotate(asker(annotate={"steps": steps}), "g", [AgentStep("o", "a")])


# Trajectories


def test_propositions_have_concepts_and_confidence() -> None:
    found = {"text": " Kiwi builds. ", "concepts": ["Kiwi", "kiwi", "Build Server"], "confidence": 1}
    llm = FakeLLM(propositions={"propositions": [found, found, {**found, "text": " "}]})
    learnt = propositions(asker(llm), "ship", "build", [AgentStep("o", "a", "ready", 0.8)])
    assert learnt == (Proposition("Kiwi builds.", ("kiwi", "build server"), 1.0),)
    step = {"step": 1, "observation": "o", "action": "a", "state": "ready", "reward": 0.8}
    assert llm.asked[0].data == {"goal": "ship", "subgoal": "build", "steps": [step]}


def test_instructions_have_intent_condition_and_outcome_and_long_trajectories_are_read_in_parts() -> None:
    found = {"intent": "roll back", "condition": "", "instruction": "Run heron.", "outcome": "It is back."}
    llm = FakeLLM(instructions={"instructions": [found, {**found, "instruction": ""}]})
    learnt = instructions(asker(llm), "ship", "undo", [AgentStep("o", "a")] * 31)
    assert learnt == (Instruction("roll back", "", "Run heron.", "It is back."),)
    assert [question.data["steps"][0]["step"] for question in llm.asked] == [1, 31]


# Facts


STATED = {
    "number": 1,
    "subject": "Ann",
    "relation": "Lives in",
    "object": "Oslo",
    "quote": "moved to  Oslo",
    "negated": False,
    "since": "2024-06-30",
    "until": "soon",
    "confidence": 0.9,
}


def test_facts_are_kept_where_their_quote_stands_in_the_text() -> None:
    made_up = {**STATED, "quote": "moved to Paris", "object": "Paris"}
    elsewhere = {**STATED, "number": 2}
    blank = {**STATED, "quote": " "}
    answer = {
        "entities": [{"name": "Ann", "kind": "Person", "aliases": ["Annie", "Ann", ""]}],
        "statements": [STATED, made_up, elsewhere, blank],
    }
    texts = [Source(1, "Yesterday I moved to\nOslo.", JULY, "Ann"), Source(2, "Nice!")]
    assert facts(asker(facts=answer), texts) == Extracted(
        (NamedAnswer("Ann", "person", ("Annie",)),),
        (StatementAnswer(1, "Ann", "lives_in", "Oslo", "moved to  Oslo", False, date(2024, 6, 30), None, 0.9),),
    )


def test_facts_are_read_eight_texts_a_call_and_entities_of_one_name_are_one() -> None:
    def answer(asked: Asked) -> dict[str, Any]:
        first = asked.data["texts"][0]["number"]
        return {"entities": [{"name": "Ann", "kind": "person", "aliases": [f"A{first}"]}], "statements": []}

    llm = FakeLLM(facts=answer)
    found = facts(asker(llm), [Source(number, "Ann.") for number in range(1, 18)])
    assert [len(question.data["texts"]) for question in llm.asked] == [8, 8, 1]
    assert found.entities == (NamedAnswer("Ann", "person", ("A1", "A9", "A17")),)


# Notes


def test_a_note_cites_the_texts_it_was_made_from() -> None:
    texts = [Source(1, "Tea at four.", JULY), Source(2, "Tea at five.", JULY)]
    written = "# Tea\n\n- At five, formerly four. [1, 2]"
    assert note(asker(note={"note": written}), "tea", texts) == Note(written, (1, 2))
    with pytest.raises(ModelUnavailable, match="cites a number that is not"):
        note(asker(note={"note": "# Tea [7]"}), "tea", texts)
