"""Whom a question asks about, and what is somebody else's: nothing but the names of speakers decides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memorist.model import Candidate, Evidence, Origin
from memorist.recall.persons import asked_about, of_others
from memorist.recall.select import Judge
from memorist.recall.stage import Env
from memorist.testing.fakes import FakeEmbedder
from tests.recall.worlds import draft, memory, world

JUDGE = Judge(bias=0.0, weights={"answers": 0.5}, fall=0.0, person=1.0, lead=3.0, far=0.0)
SUNSET = "I painted a sunset last weekend!"


def said(speaker: str | None, text: str, answers: float = 0.0, cosine: float = 0.1) -> Candidate:
    evidence = {"vector": Evidence(1, cosine, cosine), "answers": Evidence(1, answers, 0.5)}
    return Candidate(memory(f"{speaker}: {text}", text, origin=Origin(speaker=speaker)), 0.5, evidence)


@pytest.fixture
def env() -> Iterator[Env]:
    with world(embedder=FakeEmbedder()) as made:
        yield made


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What did Melanie paint?", ("Melanie",)),
        ("what was melanie's last painting", ("Melanie",)),
        ("Did Melanie and Caroline paint together?", ("Melanie", "Caroline")),
        ("What did Dana order?", ("Dana Whitlock",)),
        ("what did dana whitlock order?", ("Dana Whitlock",)),
        ("小明喜欢什么？", ("小明",)),
        ("What did I paint?", ()),
        ("What does the user like?", ()),
        ("Will it rain?", ()),
        ("How big is the van, and what is in the box of Mel?", ()),
        ("Remind Melanie of the paint.", ()),
    ],
)
def test_a_question_names_speakers(question: str, named: tuple[str, ...]) -> None:
    speakers = ("Melanie", "Caroline", None, "user", "Dana Whitlock", "Will", "Big Joe", "小明", "Melanie")
    assert asked_about(question, speakers) == named


@pytest.mark.parametrize(
    ("speaker", "text", "other"),
    [
        ("Caroline", SUNSET, True),
        ("Caroline", f"Caroline: {SUNSET}", True),
        ("Melanie", SUNSET, False),
        ("Caroline", "Melanie's sunset is on the wall.", False),
        ("Caroline", "Ms Brooks has painted a sunset.", False),
        ("Anton Brooks", "Anton Brooks: I painted a sunset.", True),
        ("user", SUNSET, False),
        ("assistant", "You painted a sunset.", False),
        (None, "A sunset, oil on canvas.", False),
        ("Caroline", "", True),
    ],
)
def test_what_a_named_speaker_says_without_the_person_is_somebody_elses(speaker: str, text: str, other: bool) -> None:
    assert of_others([said(speaker, text)], ("Melanie Brooks", "Melanie")) == [other]
    assert of_others([said(speaker, text)], ()) == [False]


def test_the_probabilities_fall_where_somebody_else_is_asked_about(env: Env) -> None:
    """Evidence 3 of Caroline and 0 of Melanie: 3 + 3 − 0 missing, of which 3 count: σ(0) and σ(−3); else σ(3), σ(0)."""
    told = [said("Caroline", SUNSET, 6.0), said("Melanie", "The kids are fine.", 0.0)]
    wrong = JUDGE(draft(told, query="What did Melanie paint?"), env)
    assert [candidate.probability for candidate in wrong.candidates] == [0.5, 0.0474]
    assert wrong.notes == ("asked about Melanie, but what others said fits too: -3.0",)
    for asked in ("What did Caroline paint?", "Who painted?", "Did Melanie see what Caroline painted?"):
        right = JUDGE(draft(told, query=asked), env)
        assert ([candidate.probability for candidate in right.candidates], right.notes) == ([0.9526, 0.5], ())


def test_a_small_lead_lowers_the_probabilities_a_little(env: Env) -> None:
    """Evidence 2 and 1: a lead of 1, so 2 are missing: σ(2 − 2) and σ(1 − 2)."""
    told = [said("Melanie", "Sunsets are hard.", 4.0), said("Caroline", SUNSET, 2.0)]
    after = JUDGE(draft(told, query="What did Melanie paint?"), env)
    assert [candidate.probability for candidate in after.candidates] == [0.5, 0.2689]
