"""Dates in a text become mentions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memorist.remember.extract import mentions
from memorist.remember.extract.names import MOST_MENTIONS

AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)  # a Monday


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went yesterday.", [("yesterday", "2023-05-07", "2023-05-08")]),
        ("We met last Friday and on 3 May.",
         [("last Friday", "2023-05-05", "2023-05-06"), ("3 May", "2023-05-03", "2023-05-04")]),
        ("我上周三去的。", [("上周三", "2023-05-03", "2023-05-04")]),
        ("Run `git log --since=yesterday` now and then.", []),
        ("```\nyesterday\n```", []),
        ("We are busy right now.", []),
        ("no dates here", []),
    ],
)  # fmt: skip
def test_dates_are_relative_to_when_the_text_was_said(text: str, expected: list[tuple[str, str, str]]) -> None:
    found = [
        (mention.text, mention.start.date().isoformat(), mention.end.date().isoformat())
        for mention in mentions(text, AT)
    ]
    assert found == expected


def test_the_number_of_mentions_is_limited() -> None:
    days = [datetime(2024, month, day).strftime("%Y-%m-%d") for month in (1, 2, 3) for day in range(1, 29)]
    assert len(mentions(" ".join(days), AT)) == MOST_MENTIONS
    assert mentions("x " * 10_000 + "yesterday", AT) == ()


def test_the_same_day_said_twice_is_one_mention() -> None:
    assert len(mentions("yesterday and yesterday", AT)) == 1
