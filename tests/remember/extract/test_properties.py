"""Properties that hold for any text."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memorist.model import Entity
from memorist.remember.extract import Dictionary, entities, mentions, statements

AT = datetime(2024, 6, 3, tzinfo=UTC)
ENGLISH = """I I'm my we she Anna Oslo Google live lives in moved to from work works at as a an the nurse love like
    don't no longer anymore and but , . ! ? " ` [ ] : ' sister named dog is am was born on May 1990 if would since for 5
    years married favourite colour blue have two dogs yesterday @bob $5 ABC-12 / ..."""
WORDS = [*ENGLISH.split(), "\n", "我", "住在", "北京", "不再", "工作", "搬到", "了", "。"]
PLAIN = ["really", "now", "and", "but", "we", "my", "dog", "Anna", "in", "Oslo", "today", "with"]
TALK = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join) | st.text(max_size=200)


@given(TALK, st.none() | st.sampled_from(["Me", "Anna"]))
def test_statements_quote_the_text_and_take_their_objects_from_it(text: str, speaker: str | None) -> None:
    for statement in statements(text, speaker=speaker, at=AT):
        assert statement.quote and statement.quote in text
        assert statement.fact.object in text and statement.fact.object.strip() == statement.fact.object
        assert 1 <= len(statement.fact.object.split()) <= 6
        assert statement.fact.subject and statement.fact.relation == statement.fact.relation.lower()
        assert statement.since is None or statement.since <= AT
        assert statement.until is None or statement.until <= AT


@given(TALK)
def test_extraction_is_deterministic(text: str) -> None:
    assert statements(text, speaker="Me", at=AT) == statements(text, speaker="Me", at=AT)
    assert entities(text) == entities(text)


@given(TALK)
@example("since ` ` May")
def test_every_entity_and_mention_is_in_the_text(text: str) -> None:
    found = entities(text, Dictionary([Entity("1", "Anna Berg", kind="person"), Entity("2", "@bob")]))
    assert all(text[span.begin : span.stop] == span.text and span.kind for span in found)
    assert all(one.stop <= other.begin for one, other in pairwise(found))
    assert all(mention.text in text and mention.start < mention.end for mention in mentions(text, AT))


@given(st.lists(st.sampled_from(PLAIN), max_size=6))
def test_a_question_or_a_supposition_states_nothing(words: list[str]) -> None:
    between = " ".join(words)
    assert statements(f"If {between} I live in Zurich.", speaker="Me", at=AT) == []
    assert statements(f"I live in Zurich {between}?", speaker="Me", at=AT) == []
    assert statements(f"Do I {between} live in Zurich", speaker="Me", at=AT) == []


HOSTILE = ["a" * 100_000, "I " * 50_000, "A" * 30_000, "my " * 9_000, "(" * 30_000, "I own a " * 5_000, "我" * 30_000]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:7])
def test_hostile_texts_are_read_in_bounded_time(text: str) -> None:
    statements(text, speaker="Me", at=AT)
    entities(text)
    mentions(text, AT)
