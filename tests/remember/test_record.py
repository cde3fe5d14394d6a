"""What `remember` accepts, refuses and fills in."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.errors import InvalidInput
from memorist.model import Kind, Tier, Worth
from memorist.model.arguments import MAX_BYTES
from memorist.remember.record import record

NOW = datetime(2024, 7, 1, 12, tzinfo=UTC)


def test_defaults_are_those_of_the_interface() -> None:
    memory = record("Alice moved.", NOW)
    assert (memory.kind, memory.scope, memory.tier) == (Kind.EPISODIC, "global", Tier.WORKING)
    assert memory.worth == Worth(
        importance=0.5,
        confidence=1,
        salience=0,
        trust=3,
        credibility=6,
        classification=1,
        emotion=0,
        relevance=0,
    )
    assert memory.times.valid_from == memory.times.ingested_at == NOW


@pytest.mark.parametrize(
    ("at", "moment"),
    [
        ("2024-06-03", datetime(2024, 6, 3, tzinfo=UTC)),
        ("2024-06-03T10:00:00+02:00", datetime(2024, 6, 3, 8, tzinfo=UTC)),
        (date(2024, 6, 3), datetime(2024, 6, 3, tzinfo=UTC)),
        (datetime(2024, 6, 3, 5), datetime(2024, 6, 3, 5, tzinfo=UTC)),
        (datetime(2024, 6, 3, 5, tzinfo=timezone(timedelta(hours=5))), datetime(2024, 6, 3, tzinfo=UTC)),
    ],
)
def test_times_become_utc(at: str | date | datetime, moment: datetime) -> None:
    assert record("x", NOW, at=at).times.valid_from == moment


def test_the_id_does_not_depend_on_the_moment_of_writing() -> None:
    assert record("x", NOW).id == record("x", NOW + timedelta(days=1)).id


@pytest.mark.parametrize(
    "other",
    [
        {"at": "2024-06-03"},
        {"source": "a"},
        {"session": "s"},
        {"position": 1},
        {"scope": "user:bob"},
        {"key": "k"},
    ],
)
def test_the_id_tells_occurrences_apart(other: dict[str, object]) -> None:
    assert record("x", NOW, **other).id != record("x", NOW).id  # pyright: ignore[reportArgumentType]


def test_a_key_alone_makes_the_id_within_its_scope() -> None:
    assert record("x", NOW, key="k").id == record("y", NOW, key="k", source="s").id
    assert record("x", NOW, key="k").id != record("x", NOW, key="k", scope="user:bob").id


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("a\0b", "NUL"),
        ("half \ud800 a pair", "surrogate"),
        (b"bytes", "is a bytes"),
        (None, "is a NoneType"),
        ("x" * (MAX_BYTES + 1), "16,777,217 bytes"),
    ],
)
def test_text_that_cannot_be_kept_exactly_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        record(text, NOW)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"importance": 1.1}, "importance"),
        ({"importance": float("nan")}, "importance"),
        ({"confidence": -0.1}, "confidence"),
        ({"position": 2**63}, "position"),
        ({"position": -(2**70)}, "position"),
        ({"trust": 4}, "trust"),
        ({"credibility": 0}, "credibility"),
        ({"classification": 4}, "classification"),
        ({"emotion": -6}, "emotion"),
        ({"kind": "dream"}, "kind 'dream'.*episodic"),
        ({"tier": "top"}, "tier 'top'"),
        ({"at": "yesterday"}, "'yesterday' is not a time"),
        ({"scope": ""}, "scope"),
        ({"speaker": "\0"}, "NUL"),
        ({"keywords": "one string"}, "keywords"),
        ({"metadata": {"a": float("nan")}}, "metadata"),
        ({"metadata": {"a": object()}}, "metadata"),
        ({"metadata": {"a": ["\0"]}}, "NUL"),
        ({"colour": "red"}, "no keyword 'colour'"),
    ],
)
def test_fields_out_of_range_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        record("x", NOW, **fields)  # pyright: ignore[reportArgumentType]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip))
def test_any_other_text_is_kept_exactly(text: str) -> None:
    assert record(text, NOW).text == text
