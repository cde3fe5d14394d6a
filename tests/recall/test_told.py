"""What was stated ranks above what was asked, and an assistant's echo is one line with its source."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memorist.model import Candidate, Origin
from memorist.recall.told import Told
from memorist.text.chatter import knows_nothing, only_asks
from tests.recall.worlds import NOW, draft, memory, world

NUTS = "My son is allergic to nuts."
CAKE = "Which cake can my boy eat?"


def said(id: str, text: str, score: float, speaker: str | None = "user", later: int = 0) -> Candidate:
    return Candidate(memory(id, text, NOW + timedelta(minutes=later), origin=Origin(speaker=speaker)), score)


def told(query: str, *candidates: Candidate) -> list[tuple[str, float]]:
    with world() as env:
        after = Told(share=0.5)(draft(candidates, query=query), env)
    return [(candidate.memory.id, round(candidate.score, 3)) for candidate in after.candidates]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        (CAKE, True),
        ("what am i allergic to", True),
        ("Hi! Where is my key?", True),
        ("List the doctors our family goes to.", True),
        ("我妈妈住在哪里？", True),
        ("I'm allergic to nuts, which cake can I eat?", False),
        ("Tom is vegan, what should I cook?", False),
        ("A pipe burst! How do I turn off the water?", False),
        ("我对坚果过敏，能吃哪种蛋糕？", False),
        ("Remind me to call mum on Friday", False),
        ("What I did was run.", False),
        (NUTS, False),
        ("", False),
    ],
)
def test_a_text_only_asks_if_no_part_of_it_states_something(text: str, asks: bool) -> None:
    assert only_asks(text) is asks


def test_a_question_ranks_below_the_best_statement() -> None:
    found = told("What may he eat?", said("q", CAKE, 0.9), said("s", NUTS, 0.6), said("t", "He eats rice.", 0.2))
    assert found == [("s", 0.6), ("q", 0.3), ("t", 0.2)]


def test_the_request_itself_ranks_below_a_statement_and_a_statement_in_the_same_words_does_not() -> None:
    playlist = "Put together a playlist for a long drive."
    found = told(playlist, said("q", playlist, 0.9), said("s", "In the car: no musicals.", 0.6))
    assert found == [("s", 0.6), ("q", 0.3)]
    assert told(NUTS, said("s", NUTS, 0.9), said("t", "He eats rice.", 0.6)) == [("s", 0.9), ("t", 0.6)]


def test_scores_below_zero_fall_too() -> None:
    found = told("What may he eat?", said("q", CAKE, 0.9), said("s", NUTS, -0.1), said("t", "He eats rice.", -0.3))
    assert found == [("s", -0.1), ("q", -0.15), ("t", -0.3)]


@pytest.mark.parametrize("query", ["When did I ask about cake?", "What did I ask you about my boy?", "我问过什么？"])
def test_a_question_about_what_was_asked_finds_questions(query: str) -> None:
    assert told(query, said("q", CAKE, 0.9), said("s", NUTS, 0.6)) == [("q", 0.9), ("s", 0.6)]


def test_a_question_of_nobody_in_particular_is_one_too() -> None:
    found = told("What may he eat?", said("q", CAKE, 0.9, speaker=None), said("s", NUTS, 0.6))
    assert found == [("s", 0.6), ("q", 0.3)]


@pytest.mark.parametrize(
    "echo", [NUTS, "You told me: my son is allergic to nuts.", "As far as I remember, your son is allergic to nuts."]
)
def test_an_echo_is_one_line_with_its_source(echo: str) -> None:
    assert told(CAKE, said("e", echo, 0.9, "assistant", 5), said("s", NUTS, 0.6)) == [("s", 0.9)]


@pytest.mark.parametrize(
    ("source", "reply"),
    [
        (NUTS, "Your son is not allergic to nuts."),
        ("The gate code is 4471.", "The gate code is 9032."),
        (NUTS, "Carrot cake without almonds suits your boy."),
    ],
)
def test_a_reply_that_says_something_else_is_no_echo(source: str, reply: str) -> None:
    found = told("And now?", said("e", reply, 0.9, "assistant", 5), said("s", source, 0.6))
    assert found == [("e", 0.9), ("s", 0.6)]


def test_nothing_echoes_what_was_said_later() -> None:
    found = told("And now?", said("e", NUTS, 0.9, "assistant"), said("s", NUTS, 0.6, "user", 5))
    assert found == [("e", 0.9), ("s", 0.6)]


@pytest.mark.parametrize(
    ("answer", "nothing"),
    [
        ("I do not know.", True),
        ("I don't have any information about the president of France in our conversations.", True),
        ("I'm sorry, but I don’t know how high it is. Let me know if you find out!", True),
        ("Unfortunately, there is no record of that.", True),
        ("I don't know the hour, but your dentist is Dr Haug.", False),
        ("I don't know the hour. Your dentist is Dr Haug.", False),
        ("Noted.", False),
        (NUTS, False),
    ],
)
def test_an_answer_of_ignorance_tells_nothing_else(answer: str, nothing: bool) -> None:
    assert knows_nothing(answer) is nothing


def test_ignorance_and_the_query_itself_rank_below_a_statement() -> None:
    unknown = said("unknown", "I don't know how big the invoice is.", 0.9, "assistant")
    assert told(
        "invoice", said("asked", "invoice", 1.0), unknown, said("told", "The invoice is 4,300 kroner.", 0.4)
    ) == [
        ("told", 0.4),
        ("asked", 0.2),
        ("unknown", 0.2),
    ]
    assert (
        told("How big is it?", said("mine", "I don't know how big it is.", 0.9), said("other", NUTS, 0.5))[0][0]
        == "mine"
    )
