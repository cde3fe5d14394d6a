"""Who asks: `I` is the request's speaker, or else whoever says `I` in clearly the most candidates."""

from __future__ import annotations

import pytest

from memorist.model import Candidate, Origin
from memorist.recall.persons import Asker
from tests.recall.worlds import draft, memory, world

SEEDS, BEES = "I'm allergic to sesame.", "I'm allergic to bee stings."
ALLERGIC = "What am I allergic to?"


def said(id: str, speaker: str | None, text: str, score: float = 0.5) -> Candidate:
    return Candidate(memory(id, text, origin=Origin(speaker=speaker)), score)


def asked(query: str, *candidates: Candidate, speaker: str | None = None, depth: int = 10) -> dict[str, float]:
    with world() as env:
        after = Asker(depth)(draft(candidates, query=query, speaker=speaker), env)
    return {candidate.memory.id: candidate.score for candidate in after.candidates}


def test_the_askers_own_those_about_the_asker_and_those_of_others_exchange_their_scores() -> None:
    known = (
        said("elif", "Elif", SEEDS, 0.9),
        said("note", None, "I'm allergic to nothing.", 0.8),
        said("about", "Elif", "Mara can't have bees near her.", 0.7),
        said("nell", "Nell", "I'm allergic to shrimps.", 0.6),
        said("mara", "Mara", BEES, 0.5),
        said("other", "Nell", "I like the sea.", 0.4),
    )
    found = asked(ALLERGIC, *known, speaker="Mara")
    assert found == {"mara": 0.9, "note": 0.8, "about": 0.7, "elif": 0.6, "nell": 0.5, "other": 0.4}
    assert next(iter(asked(ALLERGIC, *known, speaker="elif"))) == "elif"


def test_only_the_first_candidates_exchange_scores() -> None:
    known = (said("elif", "Elif", SEEDS, 0.9), said("nell", "Nell", SEEDS, 0.8), said("mara", "Mara", BEES, 0.7))
    assert asked(ALLERGIC, *known, speaker="Mara", depth=2) == {"elif": 0.9, "nell": 0.8, "mara": 0.7}


@pytest.mark.parametrize("text", ["I put your key in the drawer.", "I saw it.", "Mara, I have the key."])
def test_what_is_said_to_the_asker_or_about_something_else_is_nobody_elses(text: str) -> None:
    found = asked(
        "Where is my key?", said("a", "Elif", text, 0.9), said("b", "Mara", "I like tea.", 0.5), speaker="Mara"
    )
    assert found["a"] == (0.5 if text.startswith("Mara") else 0.9)


@pytest.mark.parametrize(
    "query", ["What is Elif allergic to?", "Tell me who is allergic.", "Where do we live?", "Can I bring nuts?"]
)
def test_a_question_that_is_not_about_oneself_changes_nothing(query: str) -> None:
    known = (said("elif", "Elif", "I'm allergic and live here. I bring nuts.", 0.6), said("mara", "Mara", BEES))
    assert asked(query, *known, speaker="Mara") == {"elif": 0.6, "mara": 0.5}


def test_chinese_has_a_first_person_too() -> None:
    known = (said("a", "林悦", "我对花粉过敏。", 0.6), said("b", "思远", "我对虾过敏。"))
    assert asked("我对什么过敏？", *known, speaker="思远") == {"b": 0.6, "a": 0.5}


def test_without_a_speaker_the_one_who_says_i_most_asks() -> None:
    own = [said(f"m{number}", "Mara", f"I like number {number}.", 0.1) for number in range(3)]
    found = asked(ALLERGIC, said("elif", "Elif", SEEDS, 0.6), said("mara", "Mara", BEES), *own)
    assert next(iter(found)) == "mara"
    few = (said("elif", "Elif", SEEDS, 0.6), said("mara", "Mara", BEES), *own[:1])
    assert next(iter(asked(ALLERGIC, *few))) == "elif"


def test_an_assistant_never_asks() -> None:
    own = [said(f"m{number}", "assistant", f"I like number {number}.") for number in range(4)]
    assert set(asked("What do I like?", said("e", "Elif", "I like tea."), *own).values()) == {0.5}
