"""The subjects of statements."""

from __future__ import annotations

import pytest

from memorist.remember.extract import statements
from tests.remember.extract.helpers import AT, said


def test_a_name_before_the_text_is_its_speaker() -> None:
    assert said("Alice: I live in Oslo.", speaker=None) == ["Alice lives_in Oslo"]
    assert said("Alice: I live in Oslo.", speaker="Alice") == ["Alice lives_in Oslo"]
    assert said("Note: I live in Oslo.", speaker="Alice") == ["Alice lives_in Oslo"]


def test_each_line_of_a_conversation_has_its_own_speaker() -> None:
    talk = "Alice: I live in Oslo.\nBob: I live in Bergen."
    assert said(talk, speaker=None) == ["Alice lives_in Oslo", "Bob lives_in Bergen"]
    assert said(talk, speaker="Alice", addressee="Bob") == ["Alice lives_in Oslo", "Bob lives_in Bergen"]


def test_words_of_others_are_not_attributed_to_the_speaker() -> None:
    assert said("Carol: I live in Oslo.", speaker="Alice") == []


def test_without_a_speaker_i_states_nothing() -> None:
    assert said("I live in Oslo.", speaker=None) == []
    assert said("Alice lives in Oslo.", speaker=None) == ["Alice lives_in Oslo"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My husband Tom is a chef. He works at Noma.",
         ["Me married_to Tom", "Tom works_as chef"]),
        ("Alice moved to Oslo. She works at Spotify.", ["Alice lives_in Oslo"]),
        ("Alice is here. Her birthday is on May 3.", []),
        ("My sister Anna and my brother Tom are here. She works at Noma.",
         ["Me sister Anna", "Me brother Tom"]),
        ("Alice met Emma. She works at Spotify.", []),
        ("My sister Anna is here. He works at Noma.", ["Me sister Anna"]),
        ("Anna's brother Tom lives in Oslo.", ["Anna brother Tom", "Tom lives_in Oslo"]),
    ],
)  # fmt: skip
def test_people_are_subjects_by_name_but_not_by_he_or_she(text: str, expected: list[str]) -> None:
    assert said(text) == expected


def test_the_person_addressed_is_not_a_relative() -> None:
    assert said("I went with my sister, Anna!") == []
    assert said("I like my dog Anna", addressee="Anna") == []


def test_confidence_depends_on_how_the_subject_is_named() -> None:
    def sure(text: str) -> float:
        return statements(text, speaker="Me", at=AT)[-1].confidence

    assert sure("I live in Oslo.") == 1.0
    assert sure("Alice lives in Oslo.") == 0.9
