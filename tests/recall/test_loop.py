"""The loop of docs/first-memory.md with the packaged models: nothing is answered worse when it is asked again."""

from __future__ import annotations

from pathlib import Path

import pytest

import memorist

TOLD = {
    "seats": "I always take a window seat.",
    "tripod": "I left my tripod at Ingrid's.",
    "invoice": "The plumber sent invoice INV-2024-0117 over 4,300 kroner.",
    "nuts": "My son is allergic to nuts.",
    "dentist": "Our dentist is Dr Haug on Storgata.",
    "key": "The key of the bicycle shed hangs behind the mirror.",
    "home": "We moved to Stockholm in June.",
    "car": "I sold the Volvo and bought a grey Skoda.",
    "choir": "Choir practice is on Wednesdays at seven.",
    "mother": "My mother's birthday is on 9 March.",
    "cat": "Our cat is called Pixel.",
    "work": "I started as a nurse at Ullevål hospital.",
}
QUESTIONS = {
    "seats": "Which seat do I like on a plane?",
    "tripod": "Where is my tripod?",
    "invoice": "How much did the plumber charge?",
    "nuts": "Is there anything my boy cannot eat?",
    "dentist": "Who is our dentist?",
    "key": "How do I get into the bicycle shed?",
    "home": "Which city do we live in?",
    "car": "What car do I drive?",
    "choir": "When is choir practice?",
    "mother": "When was my mother born?",
    "cat": "What is the name of our cat?",
    "work": "Where do I work?",
}


def chat(memory: memorist.Engine, message: str, session: str, recipe: str) -> list[str]:
    """One turn of the loop; the answer repeats what came first."""
    found = [item.memory.text for item in memory.recall(message, speaker="user", recipe=recipe).items]
    memory.remember(message, speaker="user", session=session)
    memory.remember(f"You told me: {found[0]}", speaker="assistant", trust=2, session=session)
    return found


@pytest.mark.parametrize("recipe", ["memorist", "nearest"])
def test_twelve_questions_are_answered_as_well_when_asked_again(tmp_path: Path, recipe: str) -> None:
    with memorist.open(tmp_path / "agent.db") as memory:
        for text in TOLD.values():
            memory.remember(text, speaker="user", session="told")
        first = {name: chat(memory, text, "monday", recipe) for name, text in QUESTIONS.items()}
        again = {name: chat(memory, text, "tuesday", recipe) for name, text in QUESTIONS.items()}
    place = {name: (first[name].index(text), again[name].index(text)) for name, text in TOLD.items()}
    assert [name for name, (before, after) in place.items() if after > before] == []
    assert [name for name, found in again.items() if found[0] not in TOLD.values()] == []
    assert [name for name, text in TOLD.items() if sum(text in said for said in again[name]) > 1] == []


def test_what_was_asked_is_found_by_asking_for_it(tmp_path: Path) -> None:
    with memorist.open(tmp_path / "agent.db") as memory:
        for text in TOLD.values():
            memory.remember(text, speaker="user", session="told")
        chat(memory, QUESTIONS["nuts"], "monday", "memorist")
        found = memory.recall("What did I ask you about my boy?", speaker="user")
    assert found.items[0].memory.text == QUESTIONS["nuts"]


@pytest.mark.parametrize("question", ["When did I ask about the key?", "Did I ask about the bicycle shed?"])
def test_a_prompt_shows_what_was_asked_if_asked_for_it(question: str) -> None:
    with memorist.open(":memory:") as memory:
        for text in (*TOLD.values(), QUESTIONS["key"], "Where did I put the key?"):
            memory.remember(text, speaker="user")
        found = memory.recall(question, speaker="user")
    assert not found.abstained
    assert found.items[0].memory.text in (QUESTIONS["key"], "Where did I put the key?")
    assert found.items[0].memory.text in found.context


OTHERS = {"Elif": "I'm allergic to sesame.", "Aiko": "I'm allergic to shrimps.", "Nell": "I'm allergic to penicillin."}


@pytest.mark.parametrize("own", ["I'm allergic to bee stings.", "Bee stings make my throat swell."])
@pytest.mark.parametrize("many", [4, 6, 16])
def test_what_the_asker_said_and_what_is_said_about_the_asker_come_before_what_others_say_of_themselves(
    tmp_path: Path, own: str, many: int
) -> None:
    about = "Mara must not be stung by a bee."
    with memorist.open(tmp_path / "agent.db") as memory:
        for name, text in OTHERS.items():
            memory.remember(text, speaker=name)
        memory.remember(own, speaker="Mara")
        for text in ([about, *TOLD.values()] if many > len(OTHERS) + 1 else [])[: many - len(OTHERS) - 1]:
            memory.remember(text, speaker="Nell" if text == about else "Mara")
        found = [item.memory.text for item in memory.recall("What am I allergic to?", speaker="Mara").items]
    wanted = [own, about] if many > len(OTHERS) + 1 else [own]
    first = [text for text in found if text in (*wanted, *OTHERS.values())]
    assert found[0] in (*wanted, TOLD["nuts"])
    assert set(first[: len(wanted)]) == set(wanted) and set(first) >= set(OTHERS.values())


@pytest.mark.parametrize(
    ("question", "own", "other"),
    [
        ("What am I allergic to?", "I'm allergic to celery.", "I'm allergic to peanuts."),
        ("Where do I live?", "I live in Ghent.", "I live in Brussels now."),
        ("What is my favourite colour?", "My favourite colour is green.", "My favourite colour is blue."),
    ],
)
def test_what_somebody_else_says_later_of_themselves_outdates_nothing(question: str, own: str, other: str) -> None:
    with memorist.open(":memory:") as memory:
        memory.remember(own, speaker="Mara", at="2026-01-05")
        memory.remember(other, speaker="Elif", at="2026-02-05")
        first, *_ = found = memory.recall(question, speaker="Mara").items
    assert first.memory.text == own
    assert [note for item in found for note in item.notes] == []


def test_a_promotion_does_not_outdate_the_employer() -> None:
    with memorist.open(":memory:") as memory:
        memory.remember("Alice works at Acme.", speaker="Mara", at="2026-02-01")
        memory.remember("I got promoted to team lead at Acme.", speaker="Alice", at="2026-10-01")
        found = memory.recall("Where does Alice work?").items
    assert len(found) == 2 and [note for item in found for note in item.notes] == []


def test_a_denial_is_shown_above_what_it_denies() -> None:
    with memorist.open(":memory:") as memory:
        memory.remember("I work at Volvo.", speaker="Alice", at="2022-01-01")
        memory.remember("I no longer work at Volvo.", speaker="Alice", at="2023-03-01")
        notes = {item.memory.text: item.notes for item in memory.recall("Where does Alice work, at Volvo?").items}
    assert notes == {"I no longer work at Volvo.": (), "I work at Volvo.": ("earlier: 2023-03-01 says otherwise",)}
    assert next(iter(notes)) == "I no longer work at Volvo."


def test_a_session_sees_everything_again_unless_it_asks_for_fresh_memories(tmp_path: Path) -> None:
    with memorist.open(tmp_path / "agent.db") as memory:
        memory.remember(TOLD["nuts"], speaker="user")
        first = memory.recall(QUESTIONS["nuts"], session="s")
        again = memory.recall(QUESTIONS["nuts"], session="s")
        fresh = memory.recall(QUESTIONS["nuts"], session="s", fresh=True)
    assert again.context == first.context and again.shown_before == ()
    assert fresh.items == () and fresh.shown_before == (first.items[0].memory.id,) and not fresh.confidence


def test_the_earlier_name_of_fresh_is_refused_with_the_new_one() -> None:
    with (
        memorist.open(":memory:", embedder="none") as memory,
        pytest.raises(memorist.InvalidInput, match="Use `fresh`"),
    ):
        memory.recall("What now?", repeat=False)  # pyright: ignore[reportCallIssue]
