"""The grammar of `where`, and what each condition holds for."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from memorist.errors import InvalidInput
from memorist.model import Filter, Memory, Origin, condition_of
from memorist.testing import memory

LAMP = memory(
    "Das Licht im Café brennt.",
    keywords=("lamp",),
    original="The light in the café is on.",
    origin=Origin(source="notes/home.md", session="s1", speaker="Ann"),
    metadata={
        "project": "atlas",
        "priority": 3,
        "ratio": 2.5,
        "done": True,
        "one": 1,
        "due": "2024-06-03",
        "met": "2024-06-03T14:30:00+02:00",
        "tags": ["red", 7, True],
        "null": None,
        "inner": {"project": "atlas"},
        "a.b": "dotted",
    },
)


def meets(where: dict[str, Any], one: Memory = LAMP) -> bool:
    return Filter(conditions=condition_of(where)).admits(one)


@pytest.mark.parametrize(
    "where",
    [
        {"metadata.project": "atlas"},
        {"metadata.project": {"eq": "atlas", "ne": "Atlas"}},
        {"metadata.priority": {"gte": 3, "lt": 5}, "speaker": {"in": ["Ann", "Ben"]}},
        {"metadata.priority": 3.0, "metadata.ratio": {"gt": 2}},
        {"metadata.done": True, "metadata.one": {"ne": True}},  # a truth value is no number
        {"metadata.a.b": "dotted"},
        {"metadata.tags": {"contains": "red"}},
        {"metadata.tags": {"contains": True}},
        {"metadata.project": {"contains": "tla"}, "source": {"contains": "/home"}},
        {"metadata.due": {"gte": "2024-06-01", "lt": "2024-07"}},
        {"metadata.due": {"gt": date(2024, 6, 2)}},
        {"metadata.met": "2024-06-03T12:30:00Z"},  # the same moment
        {"metadata.met": {"lte": datetime(2024, 6, 3, 12, 30, tzinfo=UTC)}},
        {"metadata.project": {"gt": "Atlas"}},  # texts by their code points
        {"metadata.project": {"exists": True}, "metadata.other": {"exists": False}},
        {"metadata.null": {"exists": False}},
        {"session": "s1", "source": {"ne": "s1"}},
        {"text": {"contains": "LICHT cafe"}},
        {"text": {"contains": "lamp light"}},  # of a keyword and of the original
        {"or": [{"speaker": "Ben"}, {"speaker": "Ann"}]},
        {"and": [{"speaker": "Ann"}, {"not": {"speaker": "Ben", "session": "s1"}}]},
        {},
    ],
    ids=str,
)
def test_a_condition_holds(where: dict[str, Any]) -> None:
    assert meets(where)


@pytest.mark.parametrize(
    "where",
    [
        {"metadata.project": "Atlas"},
        {"metadata.priority": "3"},
        {"metadata.priority": {"gt": "1"}},
        {"metadata.project": {"lt": 99}},
        {"metadata.done": 1},
        {"metadata.one": True},
        {"metadata.tags": "red"},
        {"metadata.tags": {"contains": 1}},
        {"metadata.priority": {"contains": "3"}},
        {"metadata.inner": {"contains": "project"}},
        {"metadata.inner.project": "atlas"},
        {"metadata.other": {"lt": 9}},
        {"metadata.other": {"in": []}},
        {"metadata.null": {"exists": True}},
        {"metadata.due": {"lt": "2024-06-03T00:00:00+00:00"}},
        {"text": {"contains": "lic"}},
        {"text": {"contains": "Licht Tisch"}},
        {"speaker": "Ann", "session": "s2"},
        {"not": {"or": [{"speaker": "Ann"}, {"speaker": "Ben"}]}},
    ],
    ids=str,
)
def test_a_condition_does_not_hold(where: dict[str, Any]) -> None:
    assert not meets(where)


@pytest.mark.parametrize("key", ["project", "priority", "tags", "inner"])
def test_what_is_missing_or_of_another_type_meets_only_ne_and_not(key: str) -> None:
    bare, name = memory("bare"), f"metadata.{key}"
    for operator in ("eq", "gt", "gte", "lt", "lte", "contains"):
        assert not meets({name: {operator: "0"}}, bare)
        assert meets({"not": {name: {operator: "0"}}}, bare)
    assert meets({name: {"ne": "0"}}, bare)
    assert meets({name: {"ne": "0"}})


@pytest.mark.parametrize(
    ("where", "problem", "remedy"),
    [
        ({"project": "atlas"}, "no field 'project'", "Write metadata.project"),
        ({"gte": 3}, "no field 'gte'", "Name the field first"),
        ({"metadata.": 1}, "no field", "metadata."),
        ({"metadata.k": {"between": [1, 2]}}, "no operator 'between'", "eq, ne, gt"),
        ({"metadata.k": {}}, "no operator", "eq, ne, gt"),
        ({"metadata.k": None}, "is null", '{"exists": false}'),
        ({"metadata.k": ["a", "b"]}, "neither a text nor a number", '{"in": [1, 2]}'),
        ({"metadata.k": {"eq": {"a": 1}}}, "neither a text nor a number", "one value"),
        ({"metadata.k": float("nan")}, "neither a text nor a number", "one value"),
        ({"metadata.k": {"in": "Ann"}}, "takes a list", '{"in": ["Ann", "Ben"]}'),
        ({"metadata.k": {"in": list(range(1001))}}, "more than 1,000 values", "Split"),
        ({"metadata.k": {"gt": True}}, "gt on metadata.k is True", "number"),
        ({"metadata.k": {"exists": "yes"}}, "neither true nor false", '{"exists": true}'),
        ({"text": "lamp"}, "takes `contains`", '{"text": {"contains": "invoice"}}'),
        ({"text": {"contains": "?!"}}, "at least one word", "contains"),
        ({"or": {"speaker": "Ann"}}, "takes a list of conditions", '{"or": ['),
        ({"or": []}, "takes a list of conditions", '{"or": ['),
        ({"not": {}}, "not a mapping, or empty", '{"metadata.project": "atlas"}'),
        ({"and": ["speaker"]}, "not a mapping, or empty", '{"metadata.project": "atlas"}'),
        ({"emotion": {"gt": "x"}}, "emotion in where is compared with a number", '{"emotion": {"gte": 2}}'),
        ({"emotion": {"in": [1, "2"]}}, "emotion in where is compared with a number", '{"emotion": {"gte": 2}}'),
        ({"emotion": True}, "emotion in where is compared with a number", '{"emotion": {"gte": 2}}'),
        ({"emotion": {"contains": "1"}}, "no operator 'contains'", "eq, ne, gt, gte, lt, lte, in, exists"),
        ({"emotion_tags": "joy"}, "no operator 'eq'", "contains, exists"),
        ({"emotion_tags": {"contains": 1}}, "compared with a text", '{"emotion_tags": {"contains": "a"}}'),
        ({"speaker": 3}, "speaker in where is compared with a text", '{"speaker": {"contains": "a"}}'),
        ({"session": {"contains": 3}}, "session in where is compared with a text", "contains"),
        ({"created": {"contains": "2024"}}, "no operator 'contains'", "eq, ne, gt"),
        ({"speaker": "\ud800"}, "half a surrogate pair", "Decode"),
        ({"or": [{"session": str(number)} for number in range(101)]}, "more than 100 conditions", "`in`"),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "replace").decode(),
)
def test_a_mistake_is_named_with_its_remedy(where: dict[str, Any], problem: str, remedy: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        condition_of(where)
    assert problem in str(refused.value)
    assert remedy in str(refused.value.remedy)


def test_nesting_has_a_limit() -> None:
    where: dict[str, Any] = {"speaker": "Ann"}
    for _ in range(8):
        where = {"not": where}
    assert meets(where)  # eight times not
    with pytest.raises(InvalidInput, match="more than 8 levels"):
        condition_of({"not": where})


def test_conditions_that_differ_in_type_alone_are_not_mistaken_for_each_other() -> None:
    assert condition_of({"metadata.k": 1}) == condition_of({"metadata.k": 1.0})
    assert condition_of({"metadata.k": 1}) != condition_of({"metadata.k": True})


@pytest.mark.parametrize(
    ("where", "session"),
    [
        ({"session": "s1"}, "s1"),
        ({"session": {"eq": "s1"}, "speaker": "Ann"}, "s1"),
        ({"session": "s1", "not": {"session": "s1"}}, "s1"),
        ({"session": {"in": ["s1"]}}, None),
        ({"or": [{"session": "s1"}, {"speaker": "Ann"}]}, None),
        ({"not": {"session": "s1"}}, None),
        ({"session": "2024-06-03T00:00:00.000000+00:00"}, None),
        ({"metadata.session": "s1"}, None),
    ],
)
def test_a_filter_knows_the_only_session_that_it_admits(where: dict[str, Any], session: str | None) -> None:
    """A time may be written in several ways, so a session that reads like one is left to the condition."""
    assert Filter(conditions=condition_of(where)).session == session
