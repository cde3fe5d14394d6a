from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memorist.recall.understand import Mode, bridge_phrases, expand_query, extractive_summary, key_phrases, query_mode
from memorist.text.labels import plain
from memorist.text.words import query_words, stem
from tests.recall import questions

SAID = """
    Alice Stockholm did when how to do I the a moved project deadline's what kids job buy [2023] Bob:
    爱丽丝 什么时候 搬到 工作 東京 で C++ 2023 ? . 。 😀
"""
WORDS = st.sampled_from(SAID.split())
TEXT = st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=15).map(" ".join))


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        ("semantic", questions.SEMANTIC),
        ("procedural", questions.PROCEDURAL),
        ("episodic", questions.EPISODIC),
        ("mixed", questions.MIXED),
    ],
)
def test_the_mode_of_a_question_shows_in_how_it_is_asked(mode: Mode, asked: tuple[str, ...]) -> None:
    assert len(asked) >= 60
    wrong = [question for question in asked if query_mode(question) != mode]
    assert len(wrong) <= 0.05 * len(asked), wrong


@pytest.mark.parametrize(
    ("question", "mode"),
    [
        ("What's the deadline?", "semantic"),
        ("what’s the deadline", "semantic"),
        ("HOW DO I   RESET\nIT", "procedural"),
        ("How did Alice do it?", "episodic"),
        ("I need help", "mixed"),  # "need" ends in -ed, and is no past
        ("How do I fix what broke last week?", "mixed"),
        ("他是什么时候搬家的？", "episodic"),
        ("他的生日是什么时候？", "semantic"),
        ("他怎么了？", "episodic"),
        ("", "mixed"),
    ],
)
def test_the_mode_in_close_cases(question: str, mode: Mode) -> None:
    assert query_mode(question) == mode


@given(TEXT)
def test_every_text_has_a_mode(text: str) -> None:
    assert query_mode(text) in {"semantic", "procedural", "episodic", "mixed"}
    assert query_mode(text) == query_mode(text)


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ("When did Melanie paint a sunrise in May 2023?", ("melanie", "may 2023")),
        ("What is Alice's favourite colour?", ("alice", "favourite colour")),
        ("Which stress relief did Sam suggest to Evan?", ("sam", "evan", "stress relief")),
        ("sqlite performance", ("sqlite performance", "sqlite")),
        ("How do I reset my password?", ("reset", "password")),
        ("Does C++ build in GitHub Actions?", ("c++", "github actions")),
        ("Bob", ("bob",)),
        ("Where is it?", ("where", "is", "it")),
        ("爱丽丝什么时候搬到斯德哥尔摩的？", ("爱丽丝", "搬到斯德哥尔摩")),
        ("東京でラーメンを食べたのはいつですか？", ("東京", "ラーメン")),
        ("", ()),
    ],
)
def test_key_phrases_name_what_a_question_is_about(question: str, phrases: tuple[str, ...]) -> None:
    assert key_phrases(question) == phrases


def test_key_phrases_stop_at_five_and_keep_the_names() -> None:
    question = "the old garden, the red kitchen, the flat roof, the dark cellar, the dusty attic and Bob"
    assert key_phrases(question) == ("bob", "old garden", "red kitchen", "flat roof", "dark cellar")
    assert key_phrases(question, most=2) == ("bob", "old garden")


@given(TEXT, st.integers(0, 3), st.integers(0, 6))
def test_key_phrases_keep_their_bounds(text: str, least: int, most: int) -> None:
    found = key_phrases(text, least=least, most=most)
    assert len(found) <= most
    assert len(set(found)) == len(found)
    assert all(phrase == phrase.lower().strip() != "" for phrase in found)
    assert found == key_phrases(text, least=least, most=most)
    if most and query_words(text):
        assert found


@pytest.mark.parametrize(
    ("question", "added"),
    [
        ("Where did Alice buy it?", {"bought"}),
        ("What is Bob's job?", {"work", "employer"}),
        ("How many kids does she have?", {"child", "children", "son", "daughter"}),
        ("Who is his wife?", {"wives", "husband", "married"}),
        ("favourite color", {"favorite", "colour"}),
        ("他的工作是什么", {"上班", "公司", "职位", "任职"}),
        ("他住在哪里", {"搬到", "家住"}),
        ("sqlite", set()),
        ("", set()),
    ],
)
def test_expansion_adds_what_an_answer_may_say(question: str, added: set[str]) -> None:
    assert set(expand_query(question)) == added


def test_the_past_is_found_from_the_present_only() -> None:
    assert expand_query("He bought a car") == ()


@given(TEXT)
def test_expansion_adds_new_words_only_and_each_once(text: str) -> None:
    added = expand_query(text)
    assert len(set(added)) == len(added)
    asked = {stem(word, "en") for word in query_words(text)}
    assert not asked & {stem(word, "en") for word in added}


def test_bridge_phrases_are_what_the_texts_share_and_the_question_lacks() -> None:
    texts = [
        "Caroline: I went to a support group and met a pottery teacher.",
        "Caroline: The support group meets near the river.",
        "Melanie: Your pottery teacher came to our support group by the river!",
    ]
    # Times words: support group 3·2, pottery teacher 2·2, river 2·1; the rest is in one text only.
    assert bridge_phrases("When did Caroline start?", texts) == ("support group", "pottery teacher", "river")
    assert bridge_phrases("Who is in the support group?", texts, least=2) == ("pottery teacher", "river")


def test_bridge_phrases_of_single_texts_fill_up_to_the_least() -> None:
    found = bridge_phrases("question", ["a red bicycle, the old harbour, my violin, our garden"])
    assert found == ("red bicycle", "old harbour", "violin")


@example("A000E ก", ["A000E"], 1, 1)
@given(TEXT, st.lists(TEXT, max_size=5), st.integers(0, 4), st.integers(0, 6))
def test_bridge_phrases_keep_their_bounds(query: str, texts: list[str], least: int, most: int) -> None:
    found = bridge_phrases(query, texts, least=least, most=most)
    assert len(found) <= most
    assert len(set(found)) == len(found)
    assert not set(found) & set(query.lower().split())
    assert found == bridge_phrases(query, texts, least=least, most=most)


def test_a_summary_takes_the_nearest_sentences_in_their_order() -> None:
    texts = [
        "Bob called. The lamp is green. The harbour office closed in March.",
        "Alice sails. She keeps her boat in the harbour.",
    ]
    assert extractive_summary("Where is the harbour office?", texts, sentences=2) == (
        "The harbour office closed in March. She keeps her boat in the harbour."
    )
    assert (
        extractive_summary("Where is the harbour office?", texts, sentences=1) == "The harbour office closed in March."
    )


def test_a_summary_weighs_rare_words_more() -> None:
    # boat is in all three texts: ln(1 + 3/3) = 0.69; green in one: ln(1 + 3/1) = 1.39.
    texts = ["The boat leaks.", "A boat is slow.", "My boat waits. The paint is green."]
    assert extractive_summary("green boat", texts, sentences=1) == "The paint is green."


def test_a_summary_keeps_date_and_speaker_once_per_text() -> None:
    text = "[2023-05-08] Caroline: Hey! I joined a support group. The group meets on Mondays."
    assert extractive_summary("Which group?", [text]) == (
        "[2023-05-08] Caroline: I joined a support group. The group meets on Mondays."
    )


def test_a_summary_prefers_statements_to_questions() -> None:
    texts = ["Which headphones did you choose?", "I would choose the small headphones."]
    assert extractive_summary("Which headphones does John choose?", texts, sentences=1) == texts[1]


def test_a_summary_says_nothing_twice() -> None:
    assert extractive_summary("boat", ["My boat leaks.", "My boat leaks."]) == "My boat leaks."


def test_a_summary_without_anything_shared_takes_first_sentences() -> None:
    texts = ["First of one. Second of one.", "First of two. Second of two."]
    assert extractive_summary("boat", texts, sentences=2) == "First of one. First of two."


@pytest.mark.parametrize("texts", [[], [""], ["  \n"]])
def test_nothing_has_no_summary(texts: list[str]) -> None:
    assert extractive_summary("boat", texts) is None


@given(TEXT, st.lists(TEXT, max_size=5), st.integers(0, 4))
@example("", ["\x1b", "0"], 1)  # a sentence of characters that do not show takes no place
def test_a_summary_is_made_of_the_texts(query: str, texts: list[str], sentences: int) -> None:
    found = extractive_summary(query, texts, sentences=sentences)
    assert found == extractive_summary(query, texts, sentences=sentences)
    assert (found is None) == (sentences == 0 or not any(plain(text).strip() for text in texts))
    if found is not None:
        assert set(found) - {" "} <= set("".join(texts))
