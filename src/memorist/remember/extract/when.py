"""Since when and until when a clause says that something holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memorist.text.dates import find_dates

_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
}  # fmt: skip
_DAYS, _MONTHS = {"day": 1, "week": 7}, {"month": 1, "year": 12, "decade": 120}
DURATION = re.compile(
    r"\bfor\s+(?:about\s+|over\s+|around\s+|more\s+than\s+|the\s+(?:past|last)\s+)?(?:an?\s+(?=couple))?"
    rf"(?P<number>\d{{1,2}}|{'|'.join(_NUMBERS)})(?:\s+of)?\s+(?P<unit>day|week|month|year|decade)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Times:
    """The times that a clause names: dates begun by its moment, and how long something has lasted."""

    since: datetime | None = None
    until: datetime | None = None
    open_since: datetime | None = None
    future: bool = False


def times(clause: str, at: datetime) -> Times:
    """The date of a clause as beginning and end; `since 2019` and `for five years` as an open beginning.

    Of two dates one must lie within the other: `in the winter two years ago` tells no beginning.
    """
    spans = find_dates(clause, at)
    past = sorted((span for span in spans if span.start <= at), key=lambda span: span.end - span.start)
    if not past or not all(span.start <= past[0].start and past[0].end <= span.end for span in past):
        return Times(open_since=_begun(clause, at), future=bool(spans) and not past)
    first = past[0]
    since = first.start if first.start > _FIRST else None
    until = first.end if first.end < _LAST else None
    opened = since if until is None else None
    return Times(since, until if until and until <= at else None, opened or _begun(clause, at))


def _begun(clause: str, at: datetime) -> datetime | None:
    found = DURATION.search(clause)
    if not found:
        return None
    number, unit = found["number"].lower(), found["unit"].lower()
    count = int(number) if number.isdigit() else _NUMBERS[number]
    today = at.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if unit in _DAYS:
            return today - timedelta(days=count * _DAYS[unit])
        months = today.year * 12 + today.month - 1 - count * _MONTHS[unit]
        return today.replace(year=months // 12, month=months % 12 + 1, day=min(today.day, 28))
    except (ValueError, OverflowError):  # before the year 1
        return None
