"""Stages for what a question asks beyond its words: a wish to respect, and the newest truth."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import memorist
from memorist.model import Candidate, instant
from memorist.model.marks import Contradicted
from memorist.recall.stage import Draft, Env
from memorist.recall.standing import Wishes
from memorist.recall.superseded import PreferNewest
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


def test_the_newer_of_two_statements_comes_first_and_the_older_one_is_marked() -> None:
    with world(OLD, NEW, embedder=EMBEDDER) as env:
        after = PreferNewest()(found(env, "Where is our office?", (OLD, 0.9), (NEW, 0.4)), env)
    assert order(after) == ["new", "old"]
    assert after.candidates[1].marks == (Contradicted(date(2024, 5, 2)),)
    assert after.candidates[0].marks == ()


@pytest.mark.parametrize(
    "question",
    [
        "Where was our office before?",
        "List all addresses of our office, and when we moved.",
        "Write to the landlord of our office.",
    ],
)
def test_the_order_stays_for_the_past_for_lists_and_for_requests(question: str) -> None:
    with world(OLD, NEW, embedder=EMBEDDER) as env:
        assert order(PreferNewest()(found(env, question, (OLD, 0.9), (NEW, 0.4)), env)) == ["old", "new"]


def test_statements_about_different_things_do_not_replace_each_other() -> None:
    first = memory("first", "S-061: milled for 30 h, 1.58 mS/cm.", instant("2024-01-10"))
    other = memory("other", "S-062: milled for 30 h, 0.74 mS/cm.", instant("2024-02-10"))
    with world(first, other, embedder=EMBEDDER) as env:
        after = PreferNewest(similar=0.1)(
            found(env, "How well does the sample conduct?", (first, 0.9), (other, 0.4)), env
        )
    assert order(after) == ["first", "other"]
    assert not after.candidates[0].marks


@pytest.mark.parametrize(
    ("text", "otherwise"),
    [
        ("We had the lift of our office in Canal Street repaired, third floor.", False),
        ("Our office is not in Canal Street, third floor.", True),
        ("Our office is no longer in Canal Street, third floor.", True),
        ("Our office moved from Canal Street to Mill Lane, third floor.", True),
    ],
)
def test_a_later_statement_with_the_same_answer_does_not_say_otherwise(text: str, otherwise: bool) -> None:
    old = memory("old", "Our office is in Canal Street, third floor.", instant("2024-01-10"))
    new = memory("new", text, instant("2024-05-02"))
    with world(old, new, embedder=EMBEDDER) as env:
        after = PreferNewest(similar=0.1, changed=0.1)(found(env, "Where is our office?", (old, 0.9), (new, 0.4)), env)
    assert any(candidate.is_outdated for candidate in after.candidates) is otherwise


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


def test_the_last_hour_of_the_calendar_has_no_later_statement() -> None:
    last = instant("9999-12-31T23:59:00Z")
    old = memory("old", "Our office is in Canal Street now, third floor.", last)
    new = memory("new", "Our office is now in Mill Lane, third floor.", last)
    with world(old, new, embedder=EMBEDDER) as env:
        assert order(PreferNewest()(found(env, "Where is our office?", (old, 0.9), (new, 0.4)), env)) == ["old", "new"]
