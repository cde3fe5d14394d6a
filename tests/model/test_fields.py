"""What a field is, read from where it is defined."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, TypedDict

import pytest

from memorist.model import Fields, Filter, Filters, Kind, Memory, RecallOptions, Worth, fields_of, keywords_of
from memorist.model.fields import REQUIRED, Default, Doc, Flat, Range, keywords_for, ranges_of

EXTRA = {"at", "pinned"}
"""Keywords of `remember` that the model calls something else: `at` becomes `valid_from`, and `pinned` a tier."""
DERIVED = {
    *("id", "text", "usage", "mentions", "fact", "relevance", "version", "version_of", "superseded_by"),
    *("valid_from", "valid_to", "expired_at", "retracted_at"),
}
"""Fields of a memory that its text, other verbs or the engine decide."""


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Size:
    height: Annotated[int, Range(1, 9), Doc("How tall it is.")] = 3


@dataclass(frozen=True)
class Thing:
    name: str
    size: Annotated[Size, Flat()]
    colour: Colour = Colour.RED


@keywords_for(Thing)
class ThingFields(TypedDict, total=False):
    height: int
    colour: str | None
    label: Annotated[str, Doc("What is written on it."), Default("none")]


def test_nested_fields_are_flattened_with_their_metadata() -> None:
    fields = fields_of(Thing)
    assert list(fields) == ["name", "height", "colour"]
    height = fields["height"]
    assert (height.type, height.range, height.default, height.group) == (int, Range(1, 9), 3, "size")
    assert fields["name"].default is REQUIRED


def test_keywords_are_completed_from_the_model() -> None:
    keywords = keywords_of(ThingFields)
    assert (keywords["height"].range, keywords["height"].description) == (Range(1, 9), "How tall it is.")
    assert keywords["colour"].choices == ("red", "blue")
    assert (keywords["label"].default, keywords["label"].description) == ("none", "What is written on it.")
    with pytest.raises(TypeError, match="not a TypedDict"):
        keywords_of(Thing)


def test_the_keywords_of_remember_are_the_fields_of_a_memory() -> None:
    assert set(keywords_of(Fields)) - EXTRA == set(fields_of(Memory)) - DERIVED


def test_every_keyword_is_described() -> None:
    for keywords in (Fields, Filters, RecallOptions):
        for name, one in keywords_of(keywords).items():
            assert one.description.endswith("."), name


def test_filters_take_the_fields_of_a_filter() -> None:
    made_of = {"scope": {"scopes", "scope_prefixes"}, "where": {"conditions"}, "as_of": {"as_of", "planned"}}
    assert {text for name in keywords_of(Filters) for text in made_of.get(name, {name})} == set(fields_of(Filter))
    assert keywords_of(Filters)["kinds"].choices == tuple(Kind)
    assert (keywords_of(Filters)["max_classification"].default, Filter().max_classification) == (2, 3)


def test_ranges_are_those_of_the_fields() -> None:
    assert ranges_of(Worth)["credibility"] == (1, 6)
