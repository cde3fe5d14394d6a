"""Names are resolved to known entities."""

from __future__ import annotations

import pytest

from memorist.model import Entity
from memorist.remember.extract import Dictionary
from memorist.remember.extract.dictionary import similarity

ALICE = Entity("1", "Alice Berg", kind="person", aliases=("Ali",))
BOB_ROSS, BOB_DYLAN = Entity("2", "Bob Ross"), Entity("3", "Bob Dylan")
KATHERINE = Entity("4", "Katherine Jones")
MARIE, HERON = Entity("5", "Marie"), Entity("6", "Heronix")
KNOWN = Dictionary([ALICE, BOB_ROSS, BOB_DYLAN, KATHERINE, MARIE, HERON, Entity("7", "GPT-3 Turbo")])


@pytest.mark.parametrize(
    ("name", "entity"),
    [
        ("Alice Berg", ALICE),
        ("alice  berg", ALICE),
        ("Ali", ALICE),
        ("Alice", ALICE),
        ("Bob", None),
        ("Bob Ross", BOB_ROSS),
        ("Katharine Jones", KATHERINE),
        ("Katherine Jonnes", KATHERINE),
        ("Heronnix", HERON),
        ("Zeronix", None),
        ("Maria", None),
        ("Mariee", MARIE),
        ("GPT-4 Turbo", None),
        ("Anna Jones", None),
        ("", None),
    ],
)
def test_exact_names_come_first_then_first_names_then_misspellings(name: str, entity: Entity | None) -> None:
    assert KNOWN.find(name) == entity


def test_a_tie_between_similar_names_is_not_resolved() -> None:
    near = Dictionary([Entity("1", "Marstonx"), Entity("2", "Marstony")])
    assert similarity("marston", "marstonx") == similarity("marston", "marstony") >= 0.9
    assert near.find("Marston") is None


def test_a_name_shared_by_two_entities_is_not_resolved() -> None:
    twins = Dictionary([Entity("1", "Kim Lee"), Entity("2", "Kim Lee")])
    assert twins.find("Kim Lee") is None


def test_a_common_first_name_is_never_a_misspelling() -> None:
    assert Dictionary([Entity("1", "Christina Berg")]).find("Christine Berg") is None
    assert Dictionary([Entity("1", "Stephanie")]).find("Stephane") is not None


def test_similarity_is_twice_the_common_letters_over_all_letters() -> None:
    assert similarity("jones", "jonnes") == 2 * 5 / 11
    assert similarity("flat 12", "flat 13") == 0.0


def test_a_dictionary_can_replace_a_store() -> None:
    assert KNOWN(["Alice", "Ali", "nobody"]) == [ALICE]
