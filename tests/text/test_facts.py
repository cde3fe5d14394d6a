"""Facts as sentences."""

from __future__ import annotations

import pytest

from memorist.model import Fact
from memorist.text.facts import reword, sentence


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (Fact("Frank", "boss", "Grace"), "Grace is Frank's boss."),
        (Fact("Grace", "boss_of", "Frank"), "Grace is Frank's boss."),
        (Fact("Alice", "lives_in", "Oslo"), "Alice lives in Oslo."),
        (Fact("Alice", "favourite_colour", "green"), "Alice's favourite colour is green."),
        (Fact("Alice", "allergic_to", "nuts"), "Alice is allergic to nuts."),
        (Fact("Alice", "sister", "Anna"), "Anna is Alice's sister."),
        (Fact("Alice", "best_friend", "Bo"), "Bo is Alice's best friend."),
        (Fact("Alice", "pet", "Max"), "Max is Alice's pet."),
        (Fact("Alice", "deploys_on", "Friday"), "Alice deploys on Friday."),
        (Fact("Alice", "works_as", "engineer"), "Alice works as an engineer."),
        (Fact("Alice", "wifi_password", "tulip"), "Alice's wifi password is tulip."),
        (Fact("Alice", "visited", "Rome"), "Alice visited Rome."),
        (Fact("Alice", "working_on", "the roof"), "Alice is working on the roof."),
        (Fact("Alice", "like", "tea"), "Alice likes tea."),
        (Fact("Alice", "age", "40"), "Alice is 40."),
        (Fact("the shop", "hours", "9 to 5"), "the shop's hours are 9 to 5."),
        (Fact("Dune", "written_by", "Frank Herbert"), "Dune is written by Frank Herbert."),
        (Fact("The ledger", "kept_by", "Ann"), "The ledger is kept by Ann."),
        (Fact("The shed", "built_by", "Ann"), "The shed is built by Ann."),
        (Fact("The report", "due_by", "Friday"), "The report is due by Friday."),
        (Fact("Samuel", "goes_by", "Sam"), "Samuel goes by Sam."),
        (Fact("Alice", "years_at_Acme", "five"), "Alice has spent five years at Acme."),
        (Fact("Bo", "employer", "Acme Inc."), "Bo's employer is Acme Inc."),
        (Fact("Stefan", "has", "bike"), "Stefan has a bike."),
        (Fact("Stefan", "has", "two bikes"), "Stefan has two bikes."),
        (Fact("Stefan", "has", "asthma"), "Stefan has asthma."),
        (Fact("Stefan", "has_pet", "Rex"), "Stefan has the pet Rex."),
        (Fact("Stefan", "has_been_to", "Rome"), "Stefan has been to Rome."),
        (Fact("Stefan", "has_degree_in", "physics"), "Stefan has a degree in physics."),
        (Fact("Zoe", "deadline", "March 3"), "Zoe's deadline is March 3."),
        (Fact("March 3", "deadline_for", "the report"), "March 3 is the deadline for the report."),
        (Fact("Zoe", "trip_to", "Rome"), "Zoe's trip is to Rome."),
        (Fact("Zoe", "WORKS_AT", "Acme"), "Zoe works at Acme."),
        (Fact("Zoe", "OWNS", "a boat"), "Zoe owns a boat."),
        (Fact("Zoe", "dependsOn", "Redis"), "Zoe depends on Redis."),
        (Fact("Zoe", "GPA", "3.7"), "Zoe's GPA is 3.7."),
        (Fact("Zoe", "can_play", "chess"), "Zoe can play chess."),
        (Fact("Zoe", "does_not_like", "tea"), "Zoe does not like tea."),
        (Fact("Zoe", "not_in", "Rome"), "Zoe is not in Rome."),
        (Fact("Zoe", "plans_to", "move"), "Zoe plans to move."),
        (Fact("Zoe", "older_than", "Ann"), "Zoe is older than Ann."),
        (Fact("the barn", "near", "the lake"), "the barn is near the lake."),
        (Fact("the barn", "next to", "the lake"), "the barn is next to the lake."),
        (Fact("Frank", "author_of", "Dune"), "Frank is the author of Dune."),
        (Fact("A", "->", "B"), "A is related to B."),
        (Fact("何敏", "married_to", "王伟"), "何敏 is married to 王伟."),
        (Fact("何敏", "职业", "医生"), "何敏的职业是医生。"),
        (Fact("{a}", "{unit}", "{o}"), "{a}'s unit is {o}."),
    ],
)
def test_each_relation_has_its_sentence(fact: Fact, said: str) -> None:
    assert sentence(fact.subject, fact.relation, fact.object) == said


def test_a_fact_stored_in_the_words_of_before_is_shown_as_a_sentence_and_other_words_stay() -> None:
    fact = "Frank", "boss", "Grace"
    assert reword("Frank boss Grace.", *fact) == "Grace is Frank's boss."
    assert reword("Grace runs Frank's team.", *fact) == "Grace runs Frank's team."
