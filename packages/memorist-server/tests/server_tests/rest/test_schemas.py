"""Request and response models follow the model: a field that is added there appears here."""

from __future__ import annotations

import pytest

from memorist.model import Fields, Memory, RecallOptions, Worth, fields_of, keywords_of
from memorist.model.memory import RANGES
from memorist.verbs import Verbs
from memorist_server.rest.routes.memories import ExplainBody, ListQuery, RecallBody, RememberBody
from memorist_server.rest.schemas import answer_of


def test_a_memory_is_answered_with_all_its_fields() -> None:
    assert answer_of(Verbs.get).model_fields.keys() == fields_of(Memory).keys()


def test_remember_accepts_every_keyword_within_its_range() -> None:
    properties = RememberBody.model_json_schema()["properties"]
    assert properties.keys() == {"text", *keywords_of(Fields)}
    for name in keywords_of(Fields).keys() & RANGES.keys():
        low, high = RANGES[name]
        assert (properties[name]["minimum"], properties[name]["maximum"]) == (low, high)
        assert properties[name]["default"] == getattr(Worth(), name)


def test_a_recall_accepts_every_keyword() -> None:
    assert RecallBody.model_fields.keys() == {"query", "details", *keywords_of(RecallOptions)}
    assert ExplainBody.model_fields.keys() == {"query", "id", *keywords_of(RecallOptions)}


@pytest.mark.parametrize("name", ["kinds", "scope"])
def test_a_filter_of_several_values_is_a_list(name: str) -> None:
    kinds = ListQuery.model_json_schema()["properties"][name]["anyOf"]
    assert [kind["type"] for kind in kinds] == ["array", "null"]


def test_every_field_that_is_described_in_the_model_is_described_here() -> None:
    described = {name for name, one in fields_of(Memory).items() if one.description}
    properties = answer_of(Verbs.get).model_json_schema()["properties"]
    assert all(properties[name]["description"] for name in described)
