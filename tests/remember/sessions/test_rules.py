"""Reading a session without a model: how each step went, what it was for, what it shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.asking.sessions import AgentStep
from memorist.remember.sessions.rules import FAILED, MOST, REPORTED, STATED, WORKED, SessionRules, outcome, statements
from memorist.remember.sessions.run import as_phrase, subgoals
from tests.recorded_run import FIND, FIRST_OF_RAISE, GOAL, RAISE, REWARDS_BY_RULES, STEPS

RULES = SessionRules()
TURNS = [AgentStep(step.observation, step.action or "", reward=step.reward) for step in STEPS]
any_turn = st.builds(AgentStep, st.text(), st.text(), reward=st.none() | st.floats(0, 1))


# How it went


@pytest.mark.parametrize(
    "observed",
    [
        "Traceback (most recent call last):",
        "ValueError: no such column",
        "3 passed, 1 failed",
        "The process exited with code 2.",
        "HTTP 503 from the gateway",
        "Permission denied",
        "bash: heron: command not found",
        "连接超时",
    ],
)
def test_words_of_failure_give_a_low_reward(observed: str) -> None:
    assert outcome(observed) == FAILED


@pytest.mark.parametrize(
    "observed",
    [
        "12 passed in 0.3 s",
        "Build finished with no errors.",
        "status 200",
        "0 failed",
        "exited with code 0",
        "Deployment succeeded",
        "没有错误",
        "测试通过",
    ],
)
def test_words_of_success_give_a_high_reward(observed: str) -> None:
    assert outcome(observed) == WORKED


@pytest.mark.parametrize("observed", ["", "The door is red.", "It is not done yet? not yet done.", "Rows: 2000"])
def test_anything_else_tells_nothing(observed: str) -> None:
    assert outcome(observed) is None


def test_a_step_is_judged_by_what_is_observed_next() -> None:
    turns = [AgentStep("ready", "run it"), AgentStep("it failed", "run it again"), AgentStep("it worked", "go home")]
    assert [annotation.reward for annotation in RULES.annotate("", turns)] == [FAILED, WORKED, None]


def test_a_last_look_without_an_action_tells_how_it_ended() -> None:
    assert RULES.annotate("", [AgentStep("All tests passed.", "")])[0].reward == WORKED


def test_a_given_reward_stands() -> None:
    turns = [AgentStep("ready", "run it", reward=0.3), AgentStep("it failed", "")]
    assert RULES.annotate("", turns)[0].reward == 0.3


# What it was for


def test_the_recorded_run_has_two_subgoals_and_its_rewards() -> None:
    read = RULES.annotate(GOAL, TURNS)
    assert [annotation.subgoal for annotation in read] == [FIND] * (FIRST_OF_RAISE - 1) + [RAISE] * (
        21 - FIRST_OF_RAISE
    )
    assert tuple(0.5 if annotation.reward is None else annotation.reward for annotation in read) == REWARDS_BY_RULES
    assert read[0].state == "A message from Bo: the nightly sync stopped again."


@pytest.mark.parametrize(
    ("action", "phrase"),
    [
        ("Subgoal: book a table", "book a table"),
        ("thinking…\nTODO: book a table.", "book a table"),
        ("Next, I will book a table. Then we eat.", "book a table"),
        ("Now let me book a table", "book a table"),
        ("接下来，订一张桌子。", "订一张桌子"),
    ],
)
def test_a_subgoal_that_is_named_opens_a_new_one(action: str, phrase: str) -> None:
    turns = [AgentStep("The cake is in the oven.", "wait for the cake"), AgentStep("The cake is done.", action)]
    assert subgoals("", turns) == ["wait for the cake", phrase]


def test_without_a_goal_or_an_action_what_is_seen_names_the_subgoal() -> None:
    assert subgoals("", [AgentStep("The red lantern hangs above the bakery.", "")]) == ["red lantern hangs bakery"]
    assert subgoals("Bake a cake.", [AgentStep("An oven.", "switch it on")]) == ["Bake a cake"]


def test_one_odd_step_changes_nothing_but_two_do() -> None:
    oven, phone = AgentStep("The oven is cold.", "heat the oven"), AgentStep("A phone rings.", "answer the phone")
    assert len(set(subgoals("", [oven, oven, phone, oven]))) == 1
    assert subgoals("", [oven, oven, phone, phone])[2:] == ["answer the phone"] * 2


def test_a_new_wording_of_the_same_subgoal_keeps_the_old_words() -> None:
    turns = [AgentStep("", "Now book the table"), AgentStep("", "Now book a table")]
    assert subgoals("", turns) == ["book the table"] * 2


def test_a_phrase_is_a_sentence_without_its_opening_and_at_most_twelve_words() -> None:
    assert as_phrase("I need to restart the server. It hangs.") == "restart the server"
    assert len(as_phrase("word " * 50).split()) == 12


# What it shows


def test_statements_name_something_and_are_neither_questions_nor_guesses() -> None:
    seen = (
        "The port of Heron is 8080. Is Heron running? Maybe Heron is down. I think port 80 is free. "
        "It is nice here. Bo restarted Heron at noon. Running: 3 4 5 6 7 8"
    )
    found = statements([AgentStep(seen, "The action 5 is ignored.")])
    assert [(proposition.text, proposition.confidence) for proposition in found] == [
        ("The port of Heron is 8080.", STATED),
        ("Bo restarted Heron at noon.", REPORTED),
    ]
    assert found[0].concepts == ("heron", "port")


def test_the_surest_statements_are_kept_in_their_order() -> None:
    told = [AgentStep(f"Bo moved box {number} away.", "") for number in range(MOST)]
    stated = [AgentStep(f"Box {number} is in Oslo.", "") for number in range(3)]
    found = [statement.text for statement in statements([*told, *stated])]
    assert found == [turn.observation for turn in (*told[:2], *stated)]


def test_a_procedure_is_the_actions_that_did_not_fail() -> None:
    turns = [
        AgentStep("The server is down.", "Now restart the server", reward=0.5),
        AgentStep("A shell.", "restart", reward=0.1),
        AgentStep("Not allowed.", "sudo restart", reward=0.9),
        AgentStep("The server is up.", "", reward=0.9),
    ]
    (procedure,) = RULES.instructions("", "restart the server", turns)
    assert procedure.intent == "restart the server"
    assert procedure.condition == "The server is down."
    assert procedure.instruction == "sudo restart"
    assert procedure.outcome == "The server is up."


def test_a_failed_trajectory_teaches_no_procedure() -> None:
    assert RULES.instructions("", "restart", [AgentStep("down", "restart", reward=0.39)]) == ()
    assert len(RULES.instructions("", "restart", [AgentStep("down", "restart now", reward=0.5)])) == 1


@given(st.lists(any_turn, max_size=8), st.text())
def test_rules_read_anything_and_always_alike(turns: list[AgentStep], goal: str) -> None:
    read = RULES.annotate(goal, turns)
    assert len(read) == len(turns)
    assert read == RULES.annotate(goal, turns)
    assert all(annotation.reward is None or 0 <= annotation.reward <= 1 for annotation in read)
    assert len(RULES.propositions(goal, "", turns)) <= MOST
    if turns:
        assert len(RULES.instructions(goal, read[0].subgoal, turns)) <= 1
