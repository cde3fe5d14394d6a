"""The validity of facts, and whether they are stated as a change."""

from __future__ import annotations

import pytest

from memorist.remember.extract import statements
from tests.remember.extract.helpers import AT, only


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("I moved to Berlin in March 2023.", "2023-03-01"),
        ("I moved to Berlin last week.", "2024-05-27"),
        ("Last week, I moved to Berlin.", "2024-05-27"),
        ("Last week I moved to Berlin.", "2024-05-27"),
        ("We moved to Leeds on 1 September.", "2023-09-01"),
        ("I moved to Leeds in September.", "2023-09-01"),
        ("I live in Oslo since 2019.", "2019-01-01"),
        ("I work at Spotify for five years.", "2019-06-03"),
        ("I live in Oslo.", None),
        ("我去年搬到上海了。", "2023-01-01"),
        ("2023年3月我搬到了杭州。", "2023-03-01"),
        ("我九月搬到上海了。", "2023-09-01"),
    ],
)
def test_the_beginning_is_the_date_in_the_text(text: str, since: str | None) -> None:
    one = only(text)
    assert (one.since and one.since.date().isoformat(), one.until, one.negated) == (since, None, False)


@pytest.mark.parametrize(
    ("text", "update"),
    [
        ("I live in Oslo.", False),
        ("I live in Oslo now.", True),
        ("Actually, I live in Oslo.", True),
        ("These days I work at Spotify.", True),
        ("I moved to Oslo.", True),
        ("我住在北京。", False),
        ("我现在住在北京。", True),
        ("我现在也住在北京。", False),
        ("我老公叫陈刚。", False),
        ("I live in Oslo these days.", True),
        ("I live in Oslo, now that the kids left.", False),
        ("I live in Oslo and now have a cat.", False),
        ("I live in Oslo, no longer with Bob.", False),
        ("I work at Acme, where the canteen moved to the roof.", False),
        ("I work at Acme, we just moved to a new office.", False),
        ("I now also work at Bosch.", False),
        ("I work at Bosch too now.", False),
        ("I still work at Acme, actually.", False),
        ("I'm living in Rome now during the week.", False),
    ],
)
def test_wording_of_a_change_is_recognised(text: str, update: bool) -> None:
    assert only(text).update is update


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Berlin next year.",
        "I moved to Berlin in 2009.",
        "We move to Leeds on 1 September.",
        "I'm moving to Berlin.",
        "I live in Leeds from September.",
        "From 15 October I work at Spotify.",
        "I worked at Google until 2020.",
        "I lived in Paris in 2019.",
        "If we move to Berlin in September, I'll learn German.",
        "我会搬到上海。",
        "我下个月搬到上海。",
        "我打算九月搬到上海。",
    ],
)
def test_plans_the_past_and_mere_intentions_state_nothing(text: str) -> None:
    assert statements(text, speaker="Me", at=AT) == []
