"""Whom a memory speaks of."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memorist.model import Entity, Fact, Link
from memorist.remember.entities import MENTIONS, OBJECT, SUBJECT, about, entity_named
from memorist.remember.extract.names import name_runs
from memorist.remember.fact_rows import relation_claim, settle_claims
from memorist.remember.record import record

NOW = datetime(2024, 7, 1, tzinfo=UTC)


def nobody(names: object) -> list[Entity]:
    return []


@pytest.mark.parametrize(
    ("text", "sure", "perhaps"),
    [
        ("We met Bob's sister in New York.", ("Bob", "New York"), ()),
        ("Alice moved on.", (), ("Alice",)),
        ("Hey Caroline! How was Monday?", ("Caroline",), ()),
        ("She works at the University of Oslo.", ("University of Oslo",), ()),
        ("nothing here, i think", (), ()),
        ("", (), ()),
    ],
)
def test_names_are_runs_of_capitalised_words(text: str, sure: tuple[str, ...], perhaps: tuple[str, ...]) -> None:
    found = list(name_runs(text))
    assert tuple(run.text for run in found if not run.opens) == sure
    assert tuple(run.text for run in found if run.opens) == perhaps


def test_a_fact_links_its_ends_and_a_turn_its_speaker_and_those_it_mentions() -> None:
    slot, claim = relation_claim(Fact("Alice", "works_with", "Bob"), None, NOW)
    fact = settle_claims(slot, [claim])[0]
    turn = record("I saw Dora in Paris.", NOW, speaker="Cem")
    entities, links = about([fact, turn], nobody)
    named = {entity.id: entity.name for entity in entities}
    said = {(link.source, link.relation, named[link.target]) for link in links}
    assert (fact.id, SUBJECT, "Alice") in said and (fact.id, OBJECT, "Bob") in said
    assert {(turn.id, SUBJECT, "Cem"), (turn.id, MENTIONS, "Dora"), (turn.id, MENTIONS, "Paris")} <= said


def test_a_first_word_is_a_name_when_the_store_or_the_batch_knows_it() -> None:
    alone = record("Zorba left.", NOW)
    assert about([alone], nobody) == ([], [])
    assert about([alone], lambda names: [entity_named("Zorba")])[1] == [
        Link(alone.id, MENTIONS, entity_named("zorba").id)
    ]
    introduced = record("This is my friend Zorba.", NOW)
    assert len(about([introduced, alone], nobody)[1]) == 2


def test_an_alias_leads_to_the_entity_it_belongs_to() -> None:
    known = Entity("e1", "Alice Berg", aliases=("Ali",))
    _, links = about([record("We met Ali.", NOW)], lambda names: [known])
    assert [link.target for link in links] == ["e1"]


def test_a_first_name_and_a_misspelling_lead_to_the_one_they_can_mean() -> None:
    known = [Entity("e1", "Caroline Berg", "person"), Entity("e2", "Robert Lund", "person")]
    turn = record("I met Caroline and later Caroline Bergg, but not Rob.", NOW)
    found, links = about([turn], lambda names: known)
    assert [link.target for link in links][:1] == ["e1"]
    assert {entity.name for entity in found} == {"Caroline Berg", "Rob"}


def test_two_who_share_a_first_name_are_not_guessed_between() -> None:
    known = [Entity("e1", "Anna Berg", "person"), Entity("e2", "Anna Lund", "person")]
    found, _ = about([record("I met Anna.", NOW)], lambda names: known)
    assert [entity.id for entity in found] == [entity_named("Anna").id]


def test_kinds_are_kept_and_sums_are_no_entities() -> None:
    found, _ = about([record("I paid $30 in Paris, see TICK-12 and mail a@b.org.", NOW)], nobody)
    assert {(entity.name, entity.kind) for entity in found} == {
        ("Paris", "place"),
        ("TICK-12", "ticket"),
        ("a@b.org", "email"),
    }
