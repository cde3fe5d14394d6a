"""A question of one word, such as a name or the number of a ticket, finds the memories that have it."""

from __future__ import annotations

import random

import pytest

import memorist
from memorist.text.words import is_one_word

SENTENCES = (
    "{word}",
    "note {word}",
    "{word} likes rain.",
    "I keep {word} in the winter garden.",
    "My boat is called {word} and it is old.",
    "Today we paid for a {word} at the market with 23 coins.",
)


def made_up(dice: random.Random) -> str:
    return "".join(dice.choice("bdfgklmnprstv") + dice.choice("aeiou") for _ in range(4)) + dice.choice("dgklt")


def test_a_made_up_word_finds_the_text_that_has_it_among_others_that_look_alike() -> None:
    dice = random.Random(3)
    words = [made_up(dice) for _ in range(200)]
    texts = [dice.choice(SENTENCES).format(word=word) for word in words]
    with memorist.open(":memory:") as memory:
        memory.remember_many(texts)
        first = [memory.recall(word, track=False).items[0].memory.text for word in words]
    assert first == texts


@pytest.mark.parametrize("text", ["Kalomir", " Kalomir?", "XK-4417"])
def test_one_word(text: str) -> None:
    assert is_one_word(text)


@pytest.mark.parametrize("text", ["", "two words", "他住在哪里", "ที่ไหน"])
def test_several_words_or_none_that_can_be_told(text: str) -> None:
    assert not is_one_word(text)


@pytest.mark.parametrize(("word", "known"), [("dentist", True), ("Bergen", True), ("Tromsø", False), ("boats", False)])
def test_a_word_alone_is_refused_only_where_no_memory_has_it(word: str, known: bool) -> None:
    with memorist.open(":memory:") as engine:
        engine.remember("I see the dentist in Bergen.")
        assert engine.recall(word).abstained is not known
