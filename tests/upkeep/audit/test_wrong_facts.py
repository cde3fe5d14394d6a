"""Facts that a person would call wrong, and facts that nobody would."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memorist.engine.engine import Engine
from memorist.model import Fact
from memorist.stores.memory import MemoryStore
from memorist.testing import FakeClock
from memorist.upkeep.audit.facts import object_problem

NOW = datetime(2024, 7, 1, 12, tzinfo=UTC)
WRONG = [
    ("Elif", "allergic_to", "please tell Johan's caterer", "Elif is allergic, please tell Johan's caterer."),
    ("Alice", "favourite_restaurant", "now", "Alice has a favourite restaurant now."),
    ("Frank", "boss", "Grace.", "Frank's boss is Grace."),
    ("Alice", "works_at", "Bob", "Alice works with Bob."),
    ("Alice", "lives_in", "Oslo", "Alice lives near Oslo."),
    ("Alice", "lives_in", "Oslo", "Does Alice live in Oslo?"),
    ("Alice", "lives_in", "Oslo", "Alice doesn't live in Oslo."),
    ("Alice", "works_at", "Acme", "Alice has never worked at Acme."),
    ("Alice", "allergic_to", "nuts", "Alice is not allergic to nuts."),
    ("何敏", "married_to", "牙医", "何敏约了牙医。"),
    ("Ann", "married_to", "dentist", "Ann is at the dentist."),
    ("Lupe", "age", "40", "Lupe will turn 40 on 2 May."),
    ("Mara", "works_at", "Cantabile", "Mara sings at Cantabile."),
    ("Alice", "works_as", "it is only part time", "As for the job, it is only part time."),
]
RIGHT = [
    ("Alice", "works_at", "Acme", "Alice works at Acme with Bob, not at Globex."),
    ("Alice", "works_at", "Acme Inc.", "Alice works at Acme Inc. in Oslo."),
    ("Alice", "lives_in", "Oslo", "I can't believe that Alice lives in Oslo!"),
    ("Alice", "lives_in", "Oslo", "Do you know Alice? She lives in Oslo."),
    ("Alice", "lives_in", "The Hague", "Alice lives in The Hague, not far from the sea."),
    ("Alice", "allergic_to", "peanuts, eggs and milk", "Alice is allergic to peanuts, eggs and milk."),
    ("Alice", "favourite_film", "what we do in the shadows", "Alice's favourite film is what we do in the shadows."),
    ("Alice", "favourite_actor", "Will Smith", "Will Smith is Alice's favourite actor."),
    ("Alice", "works_as", "head of a team that builds bridges", "Alice works as head of a team that builds bridges."),
    ("Alice", "status", "she is waiting for the parts", "Alice's status: she is waiting for the parts."),
    ("何敏", "lives_in", "北京", "何敏住在北京。"),
    ("何敏", "married_to", "王伟", "何敏的丈夫叫王伟，是牙医。"),
    ("Lupe", "age", "40", "Lupe turned 40 in May."),
    ("Mara", "works_at", "Cantabile", "Mara sings, and works at Cantabile."),
]


def of_an_older_version(subject: str, relation: str, object: str, text: str) -> Engine:
    engine = Engine(MemoryStore("test"), clock=FakeClock(NOW), extract=False)
    turn = engine.remember(text, at="2024-06-01")
    engine.relate(subject, relation, object, source=turn.id, valid_from="2024-06-01")
    return engine


@pytest.mark.parametrize(("subject", "relation", "object", "text"), WRONG)
def test_a_wrong_fact_is_found_retired_and_brought_back(subject: str, relation: str, object: str, text: str) -> None:
    with of_an_older_version(subject, relation, object, text) as engine:
        (finding,) = engine.audit().findings
        assert (finding.kind, finding.undoable) == ("wrong_fact", True)
        fixed = engine.audit(fix=True)
        (entry,) = fixed.fixed.values()
        assert not engine.audit().findings
        assert [memory.text for memory in engine.list().items] == [text]
        engine.undo(entry)
        assert engine.audit().findings == (finding,)


@pytest.mark.parametrize(("subject", "relation", "object", "text"), RIGHT)
def test_a_clean_fact_has_no_finding(subject: str, relation: str, object: str, text: str) -> None:
    with of_an_older_version(subject, relation, object, text) as engine:
        assert engine.audit().findings == ()


def test_a_fact_that_another_source_states_is_not_wrong() -> None:
    with of_an_older_version("Alice", "lives_in", "Oslo", "Does Alice live in Oslo?") as engine:
        engine.relate("Alice", "lives_in", "Oslo", source=engine.remember("Alice lives in Oslo.", at="2024-06-02").id)
        assert engine.audit(kinds=["wrong_fact"]).findings == ()


def test_two_current_values_are_reported_and_the_older_stays_ended_when_the_slot_is_settled_again() -> None:
    with Engine(MemoryStore("test"), clock=FakeClock(NOW)) as engine:
        engine.remember("Alice lives in Oslo.", at="2024-01-01")
        engine.remember("Alice lives in Lund.", at="2024-02-01")
        (finding,) = engine.audit().findings
        assert finding.kind == "contradiction"
        assert finding.reason.startswith("Alice lives_in Oslo, and since 2024-02-01 Lund: ")
        engine.audit(fix=True)
        engine.remember("Alice lives in Lund, by the park.", at="2024-03-01")
        current = [memory.fact for memory in engine.list().items if memory.fact]
    assert current == [Fact("Alice", "lives_in", "Lund")]


@pytest.mark.parametrize(
    "object", ["Dr. Who", "U.S.", "St. Petersburg", "May", "the sea", "Johan's caterer", "北京", "7"]
)
def test_noun_phrases_pass(object: str) -> None:
    assert object_problem(object) is None
