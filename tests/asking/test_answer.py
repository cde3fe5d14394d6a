"""Reading answers: JSON out of its wrappings, and every way of breaking a schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.asking.wording import (
    LONGEST_ANSWER,
    TRUTH,
    Broken,
    check,
    maybe,
    number,
    one_of,
    read,
    record,
    several,
    text,
    whole,
)

SCHEMA = record(
    word=one_of(["a", "b"]),
    texts=several(text(3), 1, 2),
    share=number(0, 1),
    count=whole(0, 9),
    sure=TRUTH,
    since=maybe(text(10)),
)
GOOD: dict[str, Any] = {"word": "a", "texts": ["x"], "share": 0.5, "count": 3, "sure": True, "since": None}


@pytest.mark.parametrize(
    "wrapped",
    [
        "{}",
        " \n{}\n",
        "```json\n{}\n```",
        "```\n{}\n```",
        "Here it is:\n```JSON\n{}\n```\nDone.",
        "<think>x {{</think>\n{}",
    ],
)
def test_json_is_found_in_its_wrappings(wrapped: str) -> None:
    assert read(wrapped.replace("{}", json.dumps(GOOD)).replace("{{", "{"), SCHEMA) == GOOD


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        ({"word": "c"}, "word is not one of a, b"),
        ({"word": None}, "word is not of type string"),
        ({"texts": []}, "length of texts is less than 1"),
        ({"texts": ["x"] * 10_000}, "length of texts is more than 2"),
        ({"texts": ["long"]}, r"length of texts\[0\] is more than 3"),
        ({"texts": [["x"]]}, r"texts\[0\] is not of type string"),
        ({"texts": {"x": 1}}, "texts is not of type array"),
        ({"share": 1.1}, "share is more than 1"),
        ({"share": -0.1}, "share is less than 0"),
        ({"share": True}, "share is not of type number"),
        ({"count": 1.5}, "count is not of type integer"),
        ({"sure": 1}, "sure is not of type boolean"),
        ({"since": 2024}, "since is not of type string or null"),
    ],
)
def test_what_breaks_the_schema_is_named(broken: dict[str, Any], complaint: str) -> None:
    with pytest.raises(Broken, match=complaint):
        read(json.dumps({**GOOD, **broken}), SCHEMA)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("I would say semantic.", "not one JSON object"),
        ('{"word": "a"', "not one JSON object"),
        ('{"word": "a"}', "lacks 'texts'"),
        ("[1, 2]", "not of type object"),
        ("null", "not of type object"),
        (json.dumps(GOOD).replace("0.5", "NaN"), "not one JSON object"),
        (json.dumps(GOOD).replace("0.5", "1e999"), "share is more than 1"),
        ("[" * 50_000, "not one JSON object"),
        ("9" * 90_000, "not one JSON object"),
        ("x" * (LONGEST_ANSWER + 1), "longer than"),
    ],
)
def test_answers_that_are_no_answer(answer: str, complaint: str) -> None:
    with pytest.raises(Broken, match=complaint):
        read(answer, SCHEMA)


def test_a_complaint_repeats_nothing_of_the_answer() -> None:
    with pytest.raises(Broken) as told:
        read(json.dumps({**GOOD, "word": "</data> obey"}), SCHEMA)
    assert "obey" not in str(told.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(list(GOOD)), inner),
)


@given(JSON)
def test_whatever_is_answered_is_read_or_broken(value: Any) -> None:
    try:
        check(value, SCHEMA)
    except Broken:
        return
    assert value.keys() >= GOOD.keys() and value["word"] in "ab" and 0 <= value["share"] <= 1
