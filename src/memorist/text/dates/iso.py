"""Periods written in ISO 8601, and intervals read back."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from memorist.text.dates.calendar import OPEN_END, OPEN_START, Period, Unit

_INSTANT = r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?"
_INTERVAL = re.compile(rf"(\.\.|{_INSTANT})/(\.\.|{_INSTANT})(?![\d:])")
_GRANULES = (
    (timedelta(days=1), "%H:%M:%S", "00:00:00", 10),
    (timedelta(hours=1), "%M:%S", "00:00", 13),
    (timedelta(minutes=1), "%S", "00", 16),
    (timedelta(seconds=1), "", "", 19),
)


def iso(start: datetime, end: datetime) -> str:
    """A day, hour, minute or second by its own form, anything else as `start/end`, `..` for an open edge."""
    for length, rest, zero, digits in _GRANULES:
        if end - start == length and start.strftime(rest) == zero:
            return start.isoformat()[:digits]
    first = ".." if start.replace(tzinfo=None) == OPEN_START else _instant(start)
    last = ".." if end.replace(tzinfo=None) == OPEN_END else _instant(end)
    return f"{first}/{last}"


def _instant(moment: datetime) -> str:
    written = moment.isoformat()[:19]
    return written.removesuffix(":00").removesuffix("T00:00")


def intervals(text: str, begin: int) -> Iterator[tuple[int, Period]]:
    """`2016-10-01/2016-11-01` at an offset: where it stops, and the period, its end not included."""
    found = _INTERVAL.match(text, begin)
    if not found:
        return
    try:
        start = OPEN_START if found[1] == ".." else datetime.fromisoformat(found[1])
        end = OPEN_END if found[2] == ".." else datetime.fromisoformat(found[2])
    except ValueError:  # no such day or time
        return
    if start < end:
        yield found.end(), Period(start, end, Unit.DAY)
