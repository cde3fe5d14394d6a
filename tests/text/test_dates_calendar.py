"""The building blocks of the grammars: numbers, the calendar, holidays, times of day."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.text.dates.calendar import (
    Unit,
    add,
    chinese_day,
    clear_and_bright,
    easter,
    islamic_day,
    month,
    neighbour,
    nth,
    nth_week,
    nth_weekday,
    unit_around,
    year,
)
from memorist.text.dates.clock import AFTERNOON, clock, from_to, in_part
from memorist.text.dates.holidays import ENGLISH_HOLIDAYS, long_weekend
from memorist.text.dates.numbers import Share, chinese_number, full_year, share_of, spelled_numbers
from memorist.text.dates.tokens import tokenise
from memorist.text.dates.values import latest

CALENDAR = [unit for unit in Unit if unit not in (Unit.INSTANT, Unit.PART_OF_DAY, Unit.BUSINESS_DAY)]
MOMENTS = st.datetimes(datetime(200, 1, 1), datetime(9000, 1, 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twenty nine", [20, 29]),
        ("twenty-nine", [20, 29]),
        ("two thousand and fifteen", [2, 2000, 2015]),
        ("seventeen hundred thirty three", [17, 1700, 1730, 1733]),
        ("six forty", [6]),
        ("hundred", []),
        ("nineteen ninety", [19]),
    ],
)
def test_numbers_in_words_grow_as_long_as_they_are_one_number(text: str, expected: list[int]) -> None:
    assert [value for _, value, _ in spelled_numbers(tokenise(text).keys, 0)] == expected


def test_an_ordinal_ends_a_number() -> None:
    assert list(spelled_numbers(tokenise("twenty first second").keys, 0)) == [(1, 20, False), (2, 21, True)]


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        *(("三", 3), ("十", 10), ("十二", 12), ("二十", 20), ("二十三", 23), ("一百零五", 105), ("两千零五", 2005)),
        *(("二零一六", 2016), ("一九九八", 1998), ("〇八", 8), ("廿三", 23), ("三万五千", 35_000)),
    ],
)
def test_chinese_numerals_by_scale_and_by_digit(numeral: str, value: int) -> None:
    assert chinese_number(numeral) == value


def test_a_year_in_two_digits_is_at_most_twenty_years_ahead() -> None:
    assert [full_year(number, 2016) for number in (16, 36, 37, 99, 0)] == [2016, 2036, 1937, 1999, 2000]


def test_months_are_added_by_the_calendar() -> None:
    assert add(datetime(2016, 1, 31), 1, Unit.MONTH) == datetime(2016, 2, 29)
    assert add(datetime(2016, 2, 29), -1, Unit.YEAR) == datetime(2015, 2, 28)
    assert add(datetime(2016, 11, 7), 0.5, Unit.YEAR) == datetime(2017, 5, 7)
    assert add(datetime(2016, 11, 4), 1, Unit.BUSINESS_DAY) == datetime(2016, 11, 7)
    assert add(datetime(2016, 11, 7), -6, Unit.BUSINESS_DAY) == datetime(2016, 10, 28)


@given(MOMENTS, st.sampled_from(CALENDAR))
def test_a_unit_contains_its_moment_and_touches_its_neighbours(moment: datetime, unit: Unit) -> None:
    held = unit_around(moment, unit)
    if unit is not Unit.WEEKEND:
        assert held.start <= moment < held.end
        assert neighbour(moment, unit, 1).start == held.end
    assert neighbour(neighbour(moment, unit, 3).start, unit, -3) == held


def test_seasons_begin_in_march_june_september_and_december() -> None:
    assert unit_around(datetime(2016, 1, 15), Unit.SEASON).start == datetime(2015, 12, 1)
    assert unit_around(datetime(2016, 3, 1), Unit.SEASON).end == datetime(2016, 6, 1)


@given(st.integers(1600, 2400), st.integers(1, 52))
def test_weeks_of_a_year_are_those_of_iso_8601(number: int, week: int) -> None:
    found = nth_week(year(number), week)
    assert found
    assert found.start == datetime.fromisocalendar(number, week, 1)


def test_counting_from_the_end() -> None:
    assert nth(month(2016, 2), Unit.DAY, -1) == unit_around(datetime(2016, 2, 29), Unit.DAY)
    assert nth(year(2019), Unit.WEEK, -1) == unit_around(datetime(2019, 12, 23), Unit.WEEK)
    assert nth_weekday(month(2016, 5), 0, -1) == unit_around(datetime(2016, 5, 30), Unit.DAY)
    assert nth(month(2017, 10), Unit.WEEKEND, 1) == unit_around(datetime(2017, 10, 7), Unit.WEEKEND)
    assert nth_weekday(month(2016, 2), 0, 5) == unit_around(datetime(2016, 2, 29), Unit.DAY)
    assert nth_weekday(month(2016, 3), 0, 5) is None


def test_easter_and_the_days_counted_from_it() -> None:
    assert [easter(number) for number in (1818, 2016, 2019, 2038)] == [
        datetime(1818, 3, 22),
        datetime(2016, 3, 27),
        datetime(2019, 4, 21),
        datetime(2038, 4, 25),
    ]
    pancakes = latest(ENGLISH_HOLIDAYS["shrove tuesday"], datetime(2019, 12, 31))
    assert pancakes
    assert pancakes.start == datetime(2019, 3, 5)


def test_the_chinese_calendar_with_its_leap_months() -> None:
    def found(*fields: int, leap: bool = False) -> datetime | None:
        period = chinese_day(*fields, leap=leap)
        return period and period.start

    assert found(2024, 1, 1) == datetime(2024, 2, 10)
    assert found(2020, 4, 1, leap=True) == datetime(2020, 5, 23)
    assert found(2020, 5, 5) == datetime(2020, 6, 25)
    assert found(1978, 8, 15) == datetime(1978, 9, 17)
    assert found(2033, 11, 1, leap=True) == datetime(2033, 12, 22)
    assert found(2021, 4, 1, leap=True) is None
    assert found(1949, 1, 1) is None


def test_solar_term_and_islamic_feast() -> None:
    assert [clear_and_bright(number) for number in (2000, 2016, 2023)] == [
        unit_around(datetime(2000, 4, 4), Unit.DAY),
        unit_around(datetime(2016, 4, 4), Unit.DAY),
        unit_around(datetime(2023, 4, 5), Unit.DAY),
    ]
    assert islamic_day(2023, 10, 1) == unit_around(datetime(2023, 4, 21), Unit.DAY)


def test_a_holiday_next_to_a_weekend_extends_it() -> None:
    def days(moment: datetime) -> tuple[int, int]:
        weekend = long_weekend(unit_around(moment, Unit.DAY))
        return weekend.start.day, (weekend.end - timedelta(days=1)).day

    assert days(datetime(2023, 11, 23)) == (23, 26)  # a Thursday
    assert days(datetime(2016, 5, 30)) == (28, 30)  # a Monday
    assert days(datetime(2016, 11, 9)) == (12, 13)  # a Wednesday is not drawn in


def test_ambiguous_times_are_waking_hours_unless_the_part_of_day_differs() -> None:
    assert clock(5).since_midnight() == timedelta(hours=17)
    assert clock(9).since_midnight() == timedelta(hours=9)
    assert clock(12, half="am").since_midnight() == timedelta(0)
    assert in_part(clock(9), AFTERNOON).since_midnight() == timedelta(hours=21)


@pytest.mark.parametrize(
    ("first", "last", "hours"),
    [
        (clock(3), clock(5, half="pm"), (15, 17)),
        (clock(11), clock(1, half="pm"), (11, 13)),
        (clock(11), clock(4), (11, 16)),
        (clock(10, half="pm"), clock(2, half="am"), (22, 26)),
        (clock(14), clock(16), (14, 16)),
    ],
)
def test_a_stretch_of_time_ends_after_it_begins(first: object, last: object, hours: tuple[int, int]) -> None:
    stretch = from_to(first, last)  # pyright: ignore[reportArgumentType]
    assert (stretch.begin, stretch.end) == tuple(timedelta(hours=hour) for hour in hours)


def test_there_is_no_hour_25() -> None:
    with pytest.raises(ValueError, match="no such time"):
        clock(25)


def test_parts_of_a_week_and_of_a_quarter() -> None:
    week, quarter = unit_around(datetime(2016, 11, 7), Unit.WEEK), unit_around(datetime(2016, 11, 7), Unit.QUARTER)
    assert share_of(week, Share.LATE).start == datetime(2016, 11, 10)
    assert share_of(quarter, Share.MID).start == datetime(2016, 11, 1)
