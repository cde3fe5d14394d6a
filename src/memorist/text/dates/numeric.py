"""Dates in figures: 2016-10-02, 10/2/2016, 2.10.2016, 2016-10, 20161002, 2016-10-02T17:00Z."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from memorist.text.dates.calendar import Period, Unit, add, day, month
from memorist.text.dates.numbers import full_year
from memorist.text.dates.values import NOTHING, Context, Nothing, Value, yearly

_TRIPLE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{4}|\d{1,2})(?!\d)")
_PAIR = re.compile(r"(\d{1,4})([-/.])(\d{4}|\d{1,2})(?!\d)")
_ISO_TIME = re.compile(
    r"[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?)?(?!\d)(Z|[+-]\d\d:?\d\d(?!\d))?", re.IGNORECASE
)
_COMPACT = re.compile(r"(?:19|20)\d{6}(?!\d)")

Found = tuple[int, Value | Nothing]


def full_dates(text: str, begin: int, context: Context) -> Iterator[Found]:
    """Days with their year that begin at an offset: where each stops, and the day."""
    compact = _COMPACT.match(text, begin)
    if compact:
        digits = compact[0]
        yield compact.end(), _day_or_nothing(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    found = _TRIPLE.match(text, begin)
    if not found:
        return
    first, sign, second, third = found.groups()
    fields = _order(first, sign, second, third, context)
    if fields:
        date = _day_or_nothing(*fields)
        if isinstance(date, Period) and len(first) == 4 and sign == "-":
            yield from _with_iso_time(text, found.end(), date)
        yield found.end(), date


def _order(first: str, sign: str, second: str, third: str, context: Context) -> tuple[int, int, int] | None:
    """Year, month and day: year first if it has four digits, else month first, or day first with dots."""
    one, two, three = int(first), int(second), int(third)
    if len(first) == 4:
        return (one, two, three) if len(third) < 3 else None
    if len(first) == 3 or (sign == "." and len(third) < 4):
        return None
    if context.year_first and len(third) == 2 and sign != ".":
        return full_year(one, context.now.year), two, three
    months, days = (two, one) if (sign == "." or one > 12) and two <= 12 else (one, two)
    if months > 12:
        return None
    return full_year(three, context.now.year), months, days


def _day_or_nothing(years: int, months: int, days: int) -> Period | Nothing:
    try:
        return day(years, months, days)
    except ValueError:
        return NOTHING


def _with_iso_time(text: str, begin: int, date: Period) -> Iterator[Found]:
    found = _ISO_TIME.match(text, begin)
    if not found or (found[0].startswith(" ") and not found[2]):
        return
    hours, minutes, seconds, zone = found.groups()
    unit = Unit.SECOND if seconds else Unit.MINUTE if minutes else Unit.HOUR
    if int(hours) > 23 or int(minutes or 0) > 59 or int(seconds or 0) > 59:
        return
    start = date.start.replace(hour=int(hours), minute=int(minutes or 0), second=int(seconds or 0))
    start -= _offset(zone)
    yield found.end(), Period(start, add(start, 1, unit), unit)


def _offset(zone: str | None) -> timedelta:
    if not zone or zone in "Zz":
        return timedelta(0)
    sign = -1 if zone[0] == "-" else 1
    return sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))


def month_dates(text: str, begin: int) -> Iterator[Found]:
    """Months with their year: 2015-12, 12/2015."""
    found = _PAIR.match(text, begin)
    if not found or found[2] == ".":
        return
    first, _, second = found.groups()
    years, months = (first, second) if len(first) == 4 else (second, first)
    if len(years) == 4 and len(months) <= 2 and 1900 <= int(years) < 2100 and 1 <= int(months) <= 12:
        yield found.end(), month(int(years), int(months))


def day_pairs(text: str, begin: int, signs: str) -> Iterator[Found]:
    """Days without a year, month first unless it cannot be: 4/22, 22/04."""
    found = _PAIR.match(text, begin)
    if not found or found[2] not in signs or len(found[1]) > 2 or len(found[3]) > 2 or found[0] == "24/7":
        return
    first, second = int(found[1]), int(found[3])
    months, days = (second, first) if first > 12 else (first, second)
    if 1 <= months <= 12 and 1 <= days <= 31:
        yield found.end(), month_day(months, days)


def month_day(months: int, days: int) -> Value | Nothing:
    """A day of some year; nothing where no year has it."""
    try:
        datetime(2000, months, days)  # a leap year: every day that may be
    except ValueError:
        return NOTHING
    return yearly(lambda years: day(years, months, days))
