"""Dates composed of number, unit, weekday, month, part of day, direction and anchor, and the tense of the verb."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memorist.text.dates import find_dates
from memorist.text.dates.numbers import iso
from memorist.text.dates.values import Prefer

WEDNESDAY = datetime(2025, 5, 14, 10, 30, tzinfo=UTC)


def dates(text: str, prefer: Prefer = "past") -> list[str]:
    return [iso(span.start, span.end) for span in find_dates(text, WEDNESDAY, prefer=prefer)]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("last 3rd of March", "2025-03-03"),
        ("next 6th of April", "2026-04-06"),
        ("two Fridays ago", "2025-05-02"),
        ("a couple of weekends ago", "2025-05-03/2025-05-05"),
        ("three Christmases ago", "2022-12-25"),
        ("two summers ago", "2023-06-01/2023-09-01"),
        ("the Tuesday before last", "2025-05-06"),
        ("the summer before last", "2023-06-01/2023-09-01"),
        ("the Monday after next", "2025-05-26"),
        ("Friday last.", "2025-05-09"),
        ("this coming weekend", "2025-05-17/2025-05-19"),
        ("the end of the quarter", "2025-06-01/2025-07-01"),
    ],
)
def test_occurrences_are_counted_from_today(text: str, date: str) -> None:
    assert dates(text) == [date]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("3 days from Tuesday", "2025-05-23"),
        ("a week on Tuesday", "2025-05-27"),
        ("Tuesday week", "2025-05-27"),
        ("tomorrow week", "2025-05-22"),
        ("a fortnight from Saturday", "2025-05-31"),
        ("the day after next Monday", "2025-05-20"),
        ("the Friday after Easter", "2025-04-25"),
        ("the first Saturday after New Year", "2025-01-04"),
        ("the week before Christmas", "2024-12-16/2024-12-23"),
        ("this time last year", "2024-05-14"),
        ("a year ago today", "2024-05-14"),
        ("in exactly two weeks", "2025-05-28"),
        ("a good two weeks ago", "2025-04-30"),
        ("just over a week ago", "2025-05-07"),
    ],
)
def test_amounts_and_anchors_combine(text: str, date: str) -> None:
    assert dates(text) == [date]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("two nights ago", "2025-05-12T20:00/2025-05-13"),
        ("the evening before Christmas Eve", "2024-12-23T16:00/2024-12-23T20:00"),
        ("late on Friday night", "2025-05-09T22:00/2025-05-10"),
        ("first thing tomorrow", "2025-05-15T08:00/2025-05-15T12:00"),
        ("at ten to seven tomorrow morning", "2025-05-15T06:50"),
        ("the second half of June", "2024-06-16/2024-07-01"),
        ("the first half of the 1990s", "1990-01-01/1995-01-01"),
        ("next month on the 20th", "2025-06-20"),
        ("last year's Christmas", "2024-12-25"),
        ("6 and 7 June", "2024-06-06/2024-06-08"),
        ("两个星期前的周六", "2025-05-03"),
        ("三天后的下午四点半", "2025-05-17T16:30"),
        ("去年今天", "2024-05-14"),
        ("六月三号和四号", "2024-06-03/2024-06-05"),
    ],
)
def test_parts_combine_with_any_day(text: str, date: str) -> None:
    assert dates(text) == [date]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He called 30 minutes later.", ["2025-05-14T11:00"]),
        ("They had met the day before.", ["2025-05-13"]),
        ("We landed on 3 March 2025. The next day we slept.", ["2025-03-03", "2025-03-04"]),
        ("We landed on 3 March 2025 and left two weeks later.", ["2025-03-03", "2025-03-17"]),
        ("2025年3月3日到的，第二天睡了一天。", ["2025-03-03", "2025-03-04"]),
        ("Come later this week.", ["2025-05-15/2025-05-19"]),
        ("The day before the wedding was sunny.", []),
    ],
)
def test_a_story_counts_from_the_date_told_before(text: str, expected: list[str]) -> None:
    assert dates(text) == expected


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Gladys died on Thursday.", "2025-05-08"),
        ("On Thursday, Gladys died.", "2025-05-08"),
        ("The dentist is on Thursday.", "2025-05-15"),
        ("Did we meet in June?", "2024-06-01/2024-07-01"),
        ("Do we meet in June?", "2025-06-01/2025-07-01"),
        ("The contract is renewed in April.", "2026-04-01/2026-05-01"),
        ("Cake ordered at Ahimsa, pickup 1 June.", "2025-06-01"),
        ("The trial was moved to Friday.", "2025-05-16"),
        ("We booked the dentist for Friday.", "2025-05-16"),
        ("Heater kit, 26 April.", "2025-04-26"),
        ("她四月去了北京。", "2025-04-01/2025-05-01"),
        ("我们六月要去北京。", "2025-06-01/2025-07-01"),
        ("我们六月会去北京。", "2025-06-01/2025-07-01"),
        ("我们四月三日开会了。", "2025-04-03"),
        ("四月三日的会议", "2025-04-03"),
        ("四月三日的重要决定", "2025-04-03"),
        ("四月三日的要求", "2025-04-03"),
    ],
)
def test_the_verb_decides_between_past_and_future(text: str, date: str) -> None:
    """A noun phrase has no verb: then the nearest date is meant, 26 April rather than next year."""
    assert dates(text, prefer="tense") == [date]


def test_a_weekday_in_general_is_no_date() -> None:
    assert dates("Who can help on a Saturday evening?") == []
