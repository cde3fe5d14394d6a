from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.text.phrases import LONGEST_SEGMENT, MOST_WORDS, Phrase, phrases, stems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The red bicycle of my uncle", ["red bicycle", "uncle"]),
        ("a live concert ticket price list", ["live concert ticket", "price list"]),
        ("red, green and blue paint", ["red", "green", "blue paint"]),
        ("I'm glad you've seen it", []),
        ("low-impact exercises", ["low-impact exercises"]),
        ("on 2023-08-30 at 5", []),
    ],
)
def test_phrases_are_runs_of_content_words(text: str, expected: list[str]) -> None:
    assert [phrase.text for phrase in phrases(text)] == expected


def test_names_are_recognised_by_capitals_inside_a_sentence() -> None:
    found = phrases("Painting with Alice Smith. Sunsets in SQLite. Cyberpunk 2077")
    assert found == [
        Phrase(("painting",)),
        Phrase(("alice", "smith"), name=True),
        Phrase(("sunsets",)),
        Phrase(("sqlite",), name=True),
        Phrase(("cyberpunk", "2077")),
    ]


def test_a_possessive_ends_a_phrase() -> None:
    assert phrases("call Alice's dentist") == [
        Phrase(("call",)),
        Phrase(("alice",), name=True),
        Phrase(("dentist",)),
    ]


def test_scripts_without_spaces_are_split_at_function_words() -> None:
    assert [phrase.text for phrase in phrases("汽轮机的入口温度是多少")] == ["汽轮机", "入口温度"]
    assert [phrase.text for phrase in phrases("用Python写爬虫")] == ["python", "写爬虫"]


def test_stems_join_the_forms_of_a_word() -> None:
    assert stems("support groups") == stems("Support group")


@given(st.text(max_size=200))
def test_phrases_never_fail_and_stay_short(text: str) -> None:
    for phrase in phrases(text):
        assert 1 <= len(phrase.words) <= MOST_WORDS
        assert all(word and word == word.lower() for word in phrase.words)
        assert stems(phrase.text)
    assert phrases(text) == phrases(text)


def test_a_long_run_is_cut() -> None:
    assert [len(phrase.text) for phrase in phrases("山" * 30)] == [LONGEST_SEGMENT, LONGEST_SEGMENT, 6]
