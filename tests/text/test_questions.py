"""What a question asks for besides its words."""

from __future__ import annotations

import pytest

from memorist.text.chatter import asks_about_the_past, asks_for_several


@pytest.mark.parametrize(
    "question",
    [
        "Where did we live before the move?",
        "What was her old number?",
        "Who used to teach him?",
        "What has he ever said about it?",
        "她以前住在哪里？",
        "你去过北京吗？",
    ],
)
def test_some_questions_are_about_the_past(question: str) -> None:
    assert asks_about_the_past(question)


@pytest.mark.parametrize(
    "question", ["Where does she live?", "What is the wifi password?", "Who is our contact now?", "过敏的是谁？", ""]
)
def test_others_are_about_what_is_true_now(question: str) -> None:
    assert not asks_about_the_past(question)


@pytest.mark.parametrize(
    "question",
    [
        "List all the visits.",
        "Tell me the whole story.",
        "What happened, and how did it turn out?",
        "Compare the two offers.",
        "Which trips are planned?",
        "我们有哪些医生？",
    ],
)
def test_some_questions_ask_for_several_things(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize("question", ["Where does she live?", "Which address is hers?", "谁是班主任？", ""])
def test_others_have_one_answer(question: str) -> None:
    assert not asks_for_several(question)
