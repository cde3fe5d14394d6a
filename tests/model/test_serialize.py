"""JSON forms: derived from the dataclasses, and read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pytest

from memorist.errors import InvalidInput
from memorist.model import Evidence, Item, Kind, Memory, Recall, Step, Times, error_name, from_data, to_data
from memorist.model.fields import Flat, Hidden, Named, Rounded
from memorist.model.serialize import ITEM_FIELDS

NOW = datetime(2024, 6, 3, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Inner:
    at: datetime
    note: str | None = None


@dataclass(frozen=True)
class Outer:
    IN_JSON: ClassVar = ("count",)

    name: str
    inner: Annotated[Inner, Flat()]
    parts: tuple[Inner, ...] = ()
    ms: Annotated[float, Named("milliseconds"), Rounded(1)] = 0.0
    secret: Annotated[tuple[str, ...], Hidden(tuple)] = ()
    colour: Literal["red", "blue"] = "red"
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def count(self) -> int:
        return len(self.parts)


WHOLE = Outer("a", Inner(NOW, "b"), (Inner(NOW),), 1.26, ("hidden",), "blue", Counter({"x": 2}))
FORM: dict[str, Any] = {
    "name": "a",
    "at": "2024-06-03T12:00:00Z",
    "note": "b",
    "parts": [{"at": "2024-06-03T12:00:00Z", "note": None}],
    "milliseconds": 1.3,
    "colour": "blue",
    "numbers": {"x": 2},
    "count": 1,
}


def test_the_form_follows_the_fields_and_their_marks() -> None:
    assert to_data(WHOLE) == FORM
    assert type(to_data(WHOLE)["numbers"]) is dict
    assert to_data([Path("a"), Kind.NOTE, {"b", "a"}, None]) == ["a", "note", ["a", "b"], None]
    with pytest.raises(TypeError, match="object has no JSON form"):
        to_data(object())


def test_the_form_is_read_back_without_what_is_hidden() -> None:
    read = from_data(Outer, FORM)
    assert (read.inner, read.parts, read.ms, read.secret) == (WHOLE.inner, WHOLE.parts, 1.3, ())
    assert from_data(Outer, {"name": "a", "at": "2024-06-03"}).colour == "red"
    assert from_data(Outer, FORM, secret=("given",)).secret == ("given",)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": 1}, "name must be a text, not int"),
        ({"name": None}, "name must be a text, not NoneType"),
        ({"parts": "x"}, "parts must be a list, not str"),
        ({"parts": [1]}, "An inner must be an object, not int"),
        ({"milliseconds": True}, "milliseconds must be a number, not bool"),
        ({"milliseconds": 10**400}, "milliseconds is too large"),
        ({"colour": "green"}, "colour 'green' is unknown"),
        ({"numbers": {"x": "y"}}, "numbers must be a whole number, not str"),
        ({"at": "soon"}, "'soon' is not a time"),
        ({"size": 1}, "unknown field, size"),
    ],
)
def test_a_wrong_value_is_named(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        from_data(Outer, {**FORM, **change})


def test_a_whole_number_is_read_as_every_store_gives_it_back() -> None:
    assert type(from_data(Outer, {**FORM, "milliseconds": 0}).ms) is float


def test_missing_fields_are_named_together() -> None:
    with pytest.raises(InvalidInput, match="has no name and no at"):
        from_data(Outer, {})


def test_an_item_shows_part_of_its_memory_and_is_read_with_all_of_it() -> None:
    item = Item(Memory("m", "text", Times(NOW, NOW)), 0.5, 1, {"keyword": Evidence(None, 0.5, 1.0)})
    data = to_data(item)
    assert data.keys() == {"id", "rank", "score", *ITEM_FIELDS, "signals", "phase", "hop", "notes", "probability"}
    assert from_data(Item, {**data, "memory": to_data(item.memory)}) == item


def test_what_a_step_notes_is_no_reason_for_skipping_it() -> None:
    step = Step("mode", 1.23456, (), 3, 3, notes=("mode mixed by rules", "second"))
    data = {"stage": "mode", "ms": 1.235, "before": 3, "after": 3, "skipped": None, "notes": list(step.notes)}
    assert to_data(step) == data
    assert from_data(Step, data) == Step("mode", 1.235, (), 3, 3, notes=step.notes)
    assert to_data(Step("rerank", 0, (), 3, 3, "no reranker"))["skipped"] == "no reranker"


def test_the_request_of_a_recall_is_not_told() -> None:
    from memorist.model.serialize import json_fields

    assert "request" not in {field.name for field in json_fields(Recall)}


def test_errors_have_names() -> None:
    assert error_name(InvalidInput) == "invalid-input"
