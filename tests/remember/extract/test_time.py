"""The validity of facts, and whether they are stated as a change."""

from __future__ import annotations

import pytest

from memorist.remember.extract import statements
from tests.remember.extract.helpers import AT, only, short


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("I moved to Berlin in March 2023.", "2023-03-01", None),
        ("I moved to Berlin last week.", "2024-05-27", None),
        ("Last week, I moved to Berlin.", "2024-05-27", None),
        ("In 2019 I moved to Berlin.", "2019-01-01", None),
        ("In March 2023 I moved to Berlin.", "2023-03-01", None),
        ("Last week I moved to Berlin.", "2024-05-27", None),
        ("Two years ago I moved to Berlin.", "2022-06-03", None),
        ("I've lived in Oslo since 2019.", "2019-01-01", None),
        ("I have lived in Oslo for five years.", "2019-06-03", None),
        ("I worked at Google until 2020.", None, "2020-01-01"),
        ("I worked at Google from 2015 to 2018.", "2015-01-01", "2019-01-01"),
        ("I lived in Paris in 2019.", "2019-01-01", "2020-01-01"),
        ("I visited Paris yesterday.", "2024-06-02", None),
        ("I live in Oslo.", None, None),
        ("I moved to Oslo in winter 2 years ago.", None, None),
        ("我去年搬到上海了。", "2023-01-01", None),
        ("2023年3月我搬到了杭州。", "2023-03-01", None),
    ],
)
def test_times_are_those_in_the_text(text: str, since: str | None, until: str | None) -> None:
    one = only(text)
    assert (one.since and one.since.date().isoformat(), one.until and one.until.date().isoformat()) == (since, until)


@pytest.mark.parametrize(
    ("text", "update"),
    [
        ("I live in Oslo.", False),
        ("I live in Oslo now.", True),
        ("Actually, I live in Oslo.", True),
        ("These days I work at Spotify.", True),
        ("I no longer work at Spotify.", True),
        ("I moved to Oslo.", True),
        ("I just speak French.", False),
        ("My favourite pastime is getting lost in stories.", False),
        ("我住在北京。", False),
        ("我不再住在北京。", True),
        ("我现在住在北京。", True),
    ],
)
def test_wording_of_a_change_is_recognised(text: str, update: bool) -> None:
    assert only(text).update is update


def test_years_at_work_are_a_fact_of_their_own() -> None:
    five = statements("I've been at Google for 5 years.", speaker="Me", at=AT)
    six = statements("I've been at Google for 6 years.", speaker="Me", at=AT)
    assert [(one.fact.relation, one.fact.object) for one in five] == [("works_at", "Google"), ("years_at_google", "5")]
    assert six[1].fact.relation == five[1].fact.relation and six[1].fact.object == "6"


@pytest.mark.parametrize(
    ("text", "expected", "since"),
    [
        ("We move to Leeds on 1 September.", "Me lives_in Leeds", "2024-09-01"),
        ("We moved to Leeds on 1 September.", "Me lives_in Leeds", "2023-09-01"),
        ("I'm moving to Leeds in September.", "Me lives_in Leeds", "2024-09-01"),
        ("I moved to Leeds in September.", "Me lives_in Leeds", "2023-09-01"),
        ("I will move to Leeds in May.", "Me lives_in Leeds", "2025-05-01"),
        ("I'm going to move to Leeds next month.", "Me lives_in Leeds", "2024-07-01"),
        ("I've lived in Leeds since September.", "Me lives_in Leeds", "2023-09-01"),
        ("I live in Leeds from September.", "Me lives_in Leeds", "2024-09-01"),
        ("I start as a nurse on Monday.", "Me works_as nurse", "2024-06-10"),
        ("I start at Google on 1 May.", "Me works_at Google", "2025-05-01"),
        ("Anna joins Spotify in October.", "Anna works_at Spotify", "2024-10-01"),
        ("Anna is leaving Spotify in October.", "not Anna works_at Spotify", "2024-10-01"),
        ("From 15 October I work at Spotify.", "Me works_at Spotify", "2024-10-15"),
        ("I'm a nurse from the 14th!", "Me works_as nurse", "2024-06-14"),
        ("我九月搬到上海。", "Me lives_in 上海", "2024-09-01"),
        ("我九月搬到上海了。", "Me lives_in 上海", "2023-09-01"),
        ("我下个月会搬到上海。", "Me lives_in 上海", "2024-07-01"),
        ("我从九月起在华为上班。", "Me works_at 华为", "2024-09-01"),
        ("我九月加入华为。", "Me works_at 华为", "2024-09-01"),
    ],
)
def test_the_tense_tells_whether_a_date_lies_ahead(text: str, expected: str, since: str) -> None:
    one = only(text)
    assert (short(one), one.since and one.since.date().isoformat()) == (expected, since)


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Berlin next year.",
        "I'm moving to Berlin.",
        "I might move to Berlin in September.",
        "If we move to Berlin in September, I'll learn German.",
        "We're going to Berlin on Sunday.",
        "我会搬到上海。",
        "我打算九月搬到上海。",
    ],
)
def test_plans_without_a_date_and_mere_intentions_state_nothing(text: str) -> None:
    assert statements(text, speaker="Me", at=AT) == []
