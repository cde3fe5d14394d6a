"""Entities in a text, with their kinds and places."""

from __future__ import annotations

from itertools import pairwise

import pytest

from memorist.model import Entity
from memorist.remember.extract import Dictionary, entities


def kinds(text: str) -> list[tuple[str, str]]:
    return [(entity.text, entity.kind) for entity in entities(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Bob's sister in New York.", [("Bob", "person"), ("New York", "place")]),
        ("I'm at Stanford University with Dr. Smith.", [("Stanford University", "organisation"), ("Smith", "person")]),
        ("She works for Acme on Lake Mead.", [("Acme", "organisation"), ("Lake Mead", "place")]),
        ("My sister Zora lives in Trondelag.", [("Zora", "person"), ("Trondelag", "place")]),
        ("We bought a MacBook and a GPT-4 licence.", [("MacBook", "product"), ("GPT-4", "ticket")]),
        ("Ping @ali or bob@example.com.", [("@ali", "handle"), ("bob@example.com", "email")]),
        ("See https://x.org/a?b=1, then ABC-123.", [("https://x.org/a?b=1", "url"), ("ABC-123", "ticket")]),
        ("Open /usr/lib/x.py or C:\\tmp\\a.txt; ok", [("/usr/lib/x.py", "path"), ("C:\\tmp\\a.txt", "path")]),
        ("It cost $1,200, 3.5 kg for 20 euros.", [("$1,200", "money"), ("3.5 kg", "measure"), ("20 euros", "money")]),
        ("ISBN 978-3-16-148410-0, commit 3f2a9bc1", [("ISBN 978-3-16-148410-0", "isbn"), ("3f2a9bc1", "hash")]),
        ("Call +46 70 123 4567 today.", [("+46 70 123 4567", "phone"), ("today", "date")]),
        ("我上周三花了200元。", [("上周三", "date"), ("200元", "money")]),
        ("Alice left. Nothing else did.", [("Alice", "person")]),
        ("Will you come? May I? Mark my words.", []),
        ("I'm sure. I've been. Thanks! Glad to hear. The end.", []),
        ("", []),
    ],
)  # fmt: skip
def test_names_amounts_and_identifiers_have_kinds(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


def test_spans_match_the_text_and_do_not_overlap() -> None:
    text = "Bob met Anna in Oslo on 3 May 2024, see ABC-12."
    found = entities(text)
    assert all(text[span.begin : span.stop] == span.text for span in found)
    assert all(one.stop <= other.begin for one, other in pairwise(found))


def test_a_known_name_gives_its_entity_and_kind() -> None:
    heron = Entity("e1", "Heron", kind="project", aliases=("@heron",))
    (name, handle) = entities("We ship Heron; ask @heron.", Dictionary([heron]))
    assert (name.entity, name.kind) == (heron, "project")
    assert (handle.entity, handle.kind) == (heron, "handle")


def test_the_first_word_of_a_sentence_is_a_name_if_known_but_never_a_misspelling() -> None:
    heron = Entity("e1", "Heron")
    assert [entity.entity for entity in entities("Heron is late.", Dictionary([heron]))] == [heron]
    assert entities("Herron is late.", Dictionary([heron])) == []
    assert [entity.entity for entity in entities("We like Herron.", Dictionary([Entity("e2", "Herrons")]))] == [
        Entity("e2", "Herrons")
    ]
