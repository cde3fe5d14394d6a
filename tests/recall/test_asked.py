"""What a question asks beyond its words: a wish to respect, and the places of turns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import memorist
from memorist.model import Candidate, instant
from memorist.recall.stage import Draft, Env
from memorist.recall.standing import Wishes
from memorist.testing.fakes import FakeEmbedder
from tests.recall.worlds import draft, memory, world

OLD = memory("old", "Our office is in Canal Street now, third floor.", instant("2024-01-10"))
NEW = memory("new", "Our office is now in Mill Lane, third floor.", instant("2024-05-02"))
EMBEDDER = FakeEmbedder()


def found(env: Env, query: str, *scored: tuple[object, float]) -> Draft:
    given = draft([Candidate(one, score) for one, score in scored], query=query)  # pyright: ignore[reportArgumentType]
    return replace(given, query=replace(given.query, vector=EMBEDDER.embed([query], purpose="query")[0]))


def order(after: Draft) -> list[str]:
    return [candidate.memory.id for candidate in after.candidates]


def test_a_wish_gains_if_something_is_to_be_done() -> None:
    wish, told = memory("wish", "Never use emojis with Tom."), memory("told", "Tom replied on Monday.")
    with world() as env:
        asked = draft([Candidate(told, 0.5), Candidate(wish, 0.4)], query="Draft a reply to Tom.")
        after = Wishes(weight=0.2)(asked, env)
        assert [(candidate.memory.id, pytest.approx(candidate.score)) for candidate in after.candidates] == [
            ("wish", 0.6),
            ("told", 0.5),
        ]
        assert order(
            Wishes(weight=0.2)(replace(asked, query=replace(asked.query, text="When did Tom reply?")), env)
        ) == [
            "told",
            "wish",
        ]


def test_turns_of_a_session_get_their_places_as_they_come() -> None:
    with memorist.open(":memory:") as memory:
        asked = memory.remember("Is it permanent?", session="s", speaker="Ben", at="2025-03-16T19:07:00Z")
        told = memory.remember("A year, then we'll see.", session="s", speaker="Ann", at="2025-03-16T19:08:00Z")
        note = memory.remember("Contracts are in the blue folder.", session="s")
        again = memory.remember("Is it permanent?", session="s", speaker="Ben", at="2025-03-16T19:07:00Z")
        many = memory.remember_many(
            [{"text": f"And another thing, number {n}.", "session": "s", "speaker": "Ann"} for n in range(2)]
        )
    assert [kept.origin.position for kept in (asked, told, note, again, *many)] == [0, 1, None, 0, 2, 3]
    assert again.id == asked.id


def test_a_session_whose_last_place_is_taken_goes_on(tmp_path: Path) -> None:
    with memorist.open(tmp_path / "agent.db") as memory:
        memory.remember("The end.", session="s", speaker="Ann", position=2**63 - 1)
        after = memory.remember("And after it another one.", session="s", speaker="Ben")
    assert after.origin.position == 2**63 - 1
