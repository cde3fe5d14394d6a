"""A repeat says nothing new; an update always does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.text.chatter import says_nothing
from memorist.text.gist import copies, denials, gist, pieces_of, repeats

KNOWN = "Alice has been at Google for 5 years."


@pytest.mark.parametrize(
    ("new", "known"),
    [
        (KNOWN, KNOWN),
        ("alice has been at google for 5 years", KNOWN),
        ("Well, Alice has really been at Google for 5 years!!", KNOWN),
        ("I'm allergic to peanuts.", "I am allergic to peanuts"),
        ("She doesn't eat meat.", "She does not eat meat."),
        ("我住在东京。", "我住在东京"),
        ("Bob adopted a grey cat from the shelter in town.", "Bob adopted a lovely grey cat from the shelter in town."),
    ],
)
def test_the_same_statement_in_other_words_is_a_repeat(new: str, known: str) -> None:
    assert repeats(gist(new), gist(known))


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("Alice has been at Google for 6 years.", KNOWN),
        ("Alice has been at Google for six years.", "Alice has been at Google for five years."),
        ("Alice has been at Apple for 5 years.", KNOWN),
        ("Alice has not been at Google for 5 years.", KNOWN),
        ("I eat meat every single day at home.", "I don't eat meat every single day at home."),
        ("I live in Paris.", "I lived in Paris."),
        ("I'll go to Paris.", "I go to Paris."),
        ("Bob owes Ann ten pounds.", "Ann owes Bob ten pounds."),
        ("The meeting is on Friday at the office.", "The meeting is on Monday at the office."),
        ("We meet at the station after work today.", "We meet Carol at the station after work today."),
        ("I like tea.", "I like tea with milk and honey from the farm."),
        ("我有五年经验。", "我有六年经验。"),
        ("!!!", "???"),
    ],
)
def test_a_number_name_tense_day_or_negation_makes_another_statement(new: str, known: str) -> None:
    assert not repeats(gist(new), gist(known))


@given(st.text(), st.text())
def test_a_text_repeats_itself_and_never_a_text_that_lacks_one_of_its_words(text: str, other: str) -> None:
    own = gist(text)
    assert repeats(own, own) == bool(own.words)
    assert not repeats(gist(f"{text} xyzzy"), own)


def test_two_statements_contradict_each_other_if_only_one_is_negated() -> None:
    (likes, yes), (dislikes, no) = *denials("Alice likes strong coffee."), *denials("Alice doesn't like strong coffee.")
    assert likes == dislikes
    assert (yes, no) == (False, True)


@pytest.mark.parametrize(
    "text",
    ["Does Alice like strong coffee?", "If Alice likes strong coffee, good.", "I know.", "Would Bo like tea too?"],
)
def test_questions_suppositions_and_fragments_state_nothing(text: str) -> None:
    assert denials(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Hi there!",
        "Thanks! Take care, bye!",
        "Sorry, I don't know.",
        "Do you remember me?",
        "你好！",
        "好的，明白了。",
        "👍 ok",
    ],
)
def test_courtesy_says_nothing(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hi, I'm Ann and I live in Oslo.",
        "I don't know anyone in Berlin.",
        "Thanks for the 40 euros!",
        "See you on Friday at nine.",
        "Do you remember the name of my dog Rex?",
        "你好，我叫王伟。",
        "...",
    ],
)
def test_courtesy_with_a_fact_is_not_small_talk(text: str) -> None:
    assert not says_nothing(text)


def test_a_sentence_is_the_same_piece_in_a_recalled_line_and_in_its_memory() -> None:
    memory = "Alice: We moved to the yellow house in June. The garden is twice as big."
    cited = ("chat, s4", "said; 2024-06-03 to now; s4, id 0f3a9c1e", "fact; 2024-06-03 to now; [1], id 0f3a9c1e")
    lines = [f"{start} {memory} ({end})" for start, end in zip(("[3] 2024-06-03", "[3]", "-"), cited, strict=True)]
    pieces = ["alice: we moved to the yellow house in june", "the garden is twice as big"]
    assert [pieces_of(line) for line in (*lines, memory)] == [pieces] * 4


def test_copies_are_counted_by_sentence_source_and_letters() -> None:
    found = copies(["a" * 30, "b" * 30, "c" * 40], {"a" * 30: ["one"], "b" * 30: ["two"]})
    assert (found.sentences, found.sources, found.share) == (2, ("one", "two"), 0.6)


def test_a_text_copied_whole_from_one_memory_has_one_source() -> None:
    holders = {"a" * 30: ["one", "whole"], "b" * 30: ["two", "whole"], "c" * 40: ["three", "whole"]}
    assert copies(["a" * 30, "b" * 30, "c" * 40], holders).sources == ("whole",)
