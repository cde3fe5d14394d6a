"""Facts as sentences."""

from __future__ import annotations

import pytest

from memorist.model import Fact
from memorist.text.facts import reworded, sentence


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
        (Fact("Alice", "years_at_Acme", "five"), "Alice has spent five years at Acme."),
        (Fact("Bo", "employer", "Acme Inc."), "Bo's employer is Acme Inc."),
        (Fact("何敏", "married_to", "王伟"), "何敏 is married to 王伟."),
        (Fact("何敏", "职业", "医生"), "何敏的职业是医生。"),
        (Fact("{a}", "{unit}", "{o}"), "{a}'s unit is {o}."),
    ],
)
def test_each_relation_has_its_sentence(fact: Fact, said: str) -> None:
    assert sentence(fact.subject, fact.relation, fact.object) == said


def test_a_fact_stored_in_the_words_of_before_is_shown_as_a_sentence_and_other_words_stay() -> None:
    fact = "Frank", "boss", "Grace"
    assert reworded("Frank boss Grace.", *fact) == "Grace is Frank's boss."
    assert reworded("Grace runs Frank's team.", *fact) == "Grace runs Frank's team."
