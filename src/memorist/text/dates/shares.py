"""Parts of a period: its beginning, middle or end, what is left of it and what is gone."""

from datetime import datetime, time, timedelta
from enum import Enum

from memorist.text.dates.calendar import Period, Unit, add
from memorist.text.dates.values import Context


class Share(Enum):
    """Which part of a period."""

    EARLY = 0
    MID = 1
    LATE = 2


_Cuts = tuple[tuple[datetime, datetime], tuple[datetime, datetime], tuple[datetime, datetime]]


def share_of(period: Period, share: Share) -> Period:
    """A part of a period: days and months by halves (their middle around the centre), the rest by thirds."""
    begin, end = _cuts(period)[share.value]
    unit = Unit.SECOND if end - begin <= timedelta(seconds=1) else Unit.MONTH
    return Period(begin, end, unit)


def _cuts(period: Period) -> _Cuts:
    start, end = period.start, period.end
    if period.unit is Unit.DAY:
        last_second = end - timedelta(seconds=1)  # "the end of the day" is a deadline
        return (start, _hour(start, 12)), (_hour(start, 10), _hour(start, 14)), (last_second, end)
    if period.unit is Unit.MONTH:
        half = start.replace(day=16)
        return (start, half), (start.replace(day=10), start.replace(day=20)), (half, end)
    if period.unit is Unit.WEEK:
        days = [start + timedelta(days=number) for number in range(8)]
        return (start, days[3]), (days[1], days[4]), (days[3], end)
    return _thirds(period)


def _hour(day: datetime, hour: int) -> datetime:
    return datetime.combine(day.date(), time(hour))


def _thirds(period: Period) -> _Cuts:
    start, end = period.start, period.end
    months = 12 * (end.year - start.year) + end.month - start.month
    if months >= 3:
        first, second = (add(start, number * months // 3, Unit.MONTH) for number in (1, 2))
    else:
        first, second = start + (end - start) / 3, end - (end - start) / 3
    return (start, first), (first, second), (second, end)


def earlier_in(period: Period, context: Context) -> Period | None:
    """`earlier this month`: up to today."""
    end = min(period.end, context.today)
    return Period(period.start, end, Unit.MONTH) if period.start < end else None


def later_in(period: Period, context: Context) -> Period | None:
    """`later this month`: its second half, no earlier than today."""
    start = max(_second_half(period), context.today)
    return Period(start, period.end, Unit.MONTH) if start < period.end else None


def _second_half(period: Period) -> datetime:
    if period.unit is Unit.YEAR:
        return add(period.start, 6, Unit.MONTH)
    return _cuts(period)[2][0]


def rest_of(period: Period, context: Context) -> Period | None:
    """What is left of a period, with today."""
    start = max(period.start, context.today)
    return Period(start, period.end, Unit.DAY) if start < period.end else None


def so_far(period: Period, context: Context) -> Period | None:
    """What is gone of a period, with today."""
    end = min(period.end, context.today + timedelta(days=1))
    return Period(period.start, end, Unit.DAY) if period.start < end else None
