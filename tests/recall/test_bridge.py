"""The bridge from what was found to what it names, with numbers worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.model import Candidate, Fact, Filter, Kind, Origin
from memorist.recall.bridge import Bridge, NameMentions, opening
from tests.recall.worlds import draft, memory, world

LEAD = memory("lead", "The shop in Leland sells Blue Harvest by Ida Moss, a baker.")
ABOUT = memory("about", "Ida Moss was born in Tromsø.")
OTHER = memory("other", "Bread is baked at night.")
QUESTION = "Where was the baker of the shop in Leland born?"


def scores(candidates: Sequence[Candidate]) -> dict[str, float]:
    return {candidate.memory.id: candidate.score for candidate in candidates}


def found(*scored: tuple[object, float]) -> list[Candidate]:
    return [Candidate(one, score) for one, score in scored]  # pyright: ignore[reportArgumentType]


def test_a_text_about_what_the_best_find_mentions_gains_by_its_score() -> None:
    """lead 1.0 stands 0.9 above the least; `about` 0.2 gains 0.5 · 0.9 / log₂ 2."""
    candidates = found((LEAD, 1.0), (OTHER, 0.4), (ABOUT, 0.2), (memory("least", "Nothing of it."), 0.1))
    with world() as env:
        after = Bridge(weight=0.5)(draft(candidates, query=QUESTION), env)
    assert [candidate.memory.id for candidate in after.candidates] == ["lead", "about", "other", "least"]
    assert scores(after.candidates)["about"] == pytest.approx(0.2 + 0.5 * 0.9)
    assert after.candidates[1].parts == pytest.approx({"before": 0.2, "named": 0.45})
    assert scores(after.candidates)["other"] == 0.4


def test_a_text_about_what_the_question_names_gains_by_the_best_score_and_may_then_lead() -> None:
    """`leland` 0.2 gains 0.5 · (1.0 − 0.0) and so comes second; it leads to `moss`, which gains 0.5 · 0.7."""
    leland = memory("leland", "Leland has one shop, of Ida Moss.")
    candidates = found((OTHER, 1.0), (memory("x", "Shops close early."), 0.5), (leland, 0.2), (ABOUT, 0.0))
    with world() as env:
        after = Bridge(weight=0.5, leads=2)(draft(candidates, query=QUESTION), env)
    assert scores(after.candidates) == pytest.approx({"other": 1.0, "leland": 0.7, "x": 0.5, "about": 0.35})


def test_what_the_question_and_a_lead_both_lead_to_is_explained_by_both() -> None:
    """The question names Leland, the lead Leland Mill; `mill` gains 0.5 · 1.0 by each."""
    lead = memory("lead", "We went to Leland, Mill of the North, by bus.")
    mill = memory("mill", "Leland, Mill of the North, is old.")
    with world() as env:
        after = Bridge(weight=0.5, leads=1)(draft(found((lead, 1.0), (mill, 0.0)), query=QUESTION), env)
    assert after.candidates[1].parts == pytest.approx({"before": 0.0, "asked": 0.5, "named": 0.5})


def test_a_name_that_many_texts_open_with_tells_little() -> None:
    """Three open with Ida Moss: 0.4 · 1.0 / log₂ 4 for each."""
    moss = [memory(f"m{n}", f"Ida Moss, part {n}.") for n in range(3)]
    with world() as env:
        after = Bridge(weight=0.4)(draft(found((LEAD, 1.0), *((memory, 0.0) for memory in moss)), query=QUESTION), env)
    assert scores(after.candidates) == pytest.approx({"lead": 1.0} | {memory.id: 0.4 / log2(4) for memory in moss})


def test_texts_that_no_signal_found_join_where_a_lead_leads_to_them() -> None:
    """They start from the least score: 0.3 + 0.4 · (1.0 − 0.3). What only shares words does not join."""
    shares = memory("shares", "Somebody met Ida Moss once.")
    with world(LEAD, ABOUT, shares, OTHER) as env:
        after = Bridge(weight=0.4)(draft(found((LEAD, 1.0), (OTHER, 0.3)), query=QUESTION), env)
    assert scores(after.candidates) == pytest.approx({"lead": 1.0, "about": 0.3 + 0.4 * 0.7, "other": 0.3})
    joined = next(candidate for candidate in after.candidates if candidate.memory.id == "about")
    assert (joined.phase, joined.hop) == ("multi_hop", 1)


def test_a_text_that_may_not_be_seen_does_not_join() -> None:
    hidden = replace(ABOUT, scope="user:b")
    with world(LEAD, hidden, OTHER) as env:
        asked = draft(found((LEAD, 1.0), (OTHER, 0.3)), query=QUESTION, where=Filter(scopes=("global",)))
        assert set(scores(Bridge()(asked, env).candidates)) == {"lead", "other"}


def test_talk_and_facts_are_left_as_they_are() -> None:
    said = replace(ABOUT, kind=Kind.EPISODIC, origin=Origin(speaker="Ben"))
    fact = replace(ABOUT, id="fact", fact=Fact("Ida Moss", "born in", "Tromsø"))
    talk = draft(found((said, 1.0)), query="Who is Ida Moss?")
    mixed = draft(found((LEAD, 1.0), (said, 0.2), (fact, 0.1)), query=QUESTION)
    with world() as env:
        assert Bridge()(talk, env) is talk
        assert Bridge()(mixed, env).candidates == mixed.candidates
        assert Bridge()(draft(), env).candidates == ()


@pytest.mark.parametrize(
    "lead",
    [
        "Ida Moss and nobody else bakes here.",  # its own opening: another text about the same
        "They went to the Ida Moss Bakery.",  # a longer name
        "Shops of old Ida Moss",  # asked below: the question says it
    ],
)
def test_some_names_lead_nowhere(lead: str) -> None:
    question = "Was Ida Moss there?" if lead.startswith("Shops") else QUESTION
    first = memory("lead", lead)
    with world() as env:
        after = Bridge()(draft(found((first, 1.0), (ABOUT, 0.0)), query=question), env)
    assert "named" not in after.candidates[-1].parts


@pytest.mark.parametrize(
    ("text", "begins", "shared"),
    [
        ("It stars Pat Hingle.", "Pat Hingle Patterson Hingle was an actor.", "Pat Hingle"),
        ("She was born in Young, New South Wales.", "Young, New South Wales Young is a town.", "Young New South Wales"),
        ("A cast of the Jetsons.", "The Jetsons is a series.", "Jetsons"),
        ("On Lifetime's Army Wives.", "Army Wives is a drama.", "Army Wives"),
        ("On Lifetime's Army Wives.", "Lifetime is a network.", "Lifetime"),
        ("He wrote War of the Worlds.", "War of the Worlds is a book.", "War of the Worlds"),
        ("We watched Charmed again.", "Charmed Charmed is a series.", "Charmed"),  # a title, and the text begins anew
        ("We watched Charmed again.", "# Charmed\nAn American series.", "Charmed"),
        ("We watched Charmed again.", "Charmed", "Charmed"),
        ("It binds DNA there.", "DNA repair in yeast.", ""),  # the subject is longer
        ("It binds DNA there.", "DNA Repair in Yeast.", ""),
        ("In 1986 it rained.", "1986 was wet.", ""),  # a number alone is no name
        ("Remember to call her.", "Remember to buy milk.", ""),  # the capital of a sentence is no name
        ("Call Ben. Remember it.", "Remember to buy milk.", ""),
        ("We met in New York City.", "New York is a state.", ""),
        ("He flew the Heinkel HD 23.", "Heinkel HD 26 was a plane.", ""),
        ("we saw pat hingle", "Pat Hingle was an actor.", ""),
        ("Then The end.", "The end of it.", ""),
        ("", "Pat Hingle", ""),
        ("Pat Hingle", "", ""),
        ("李雷住在北京。", "北京是首都。", ""),
    ],
)
def test_the_name_that_a_text_mentions_and_another_opens_with(text: str, begins: str, shared: str) -> None:
    assert NameMentions(text).shared(opening(begins)) == shared


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    begins = opening(other)
    name = NameMentions(one).shared(begins)
    assert begins.begins_with(name)
    assert not name or NameMentions(one).contains(name)
