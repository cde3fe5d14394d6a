"""Periods of the calendar and their arithmetic: half-open, naive in UTC, weeks from Monday."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import Enum

OPEN_START = datetime(1, 1, 1)
"""Where a span without a beginning ("before 2018") begins."""
OPEN_END = datetime(9999, 12, 31)
"""Where a span without an end ("since August") ends."""


class Unit(Enum):
    """A length of the calendar, from a point to a century."""

    INSTANT = "instant"
    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    PART_OF_DAY = "part of day"
    DAY = "day"
    BUSINESS_DAY = "business day"
    WEEKEND = "weekend"
    WEEK = "week"
    FORTNIGHT = "fortnight"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    HALF = "half"
    YEAR = "year"
    DECADE = "decade"
    CENTURY = "century"


SUB_DAY = frozenset({Unit.INSTANT, Unit.SECOND, Unit.MINUTE, Unit.HOUR})
_LENGTHS = {
    Unit.SECOND: timedelta(seconds=1),
    Unit.MINUTE: timedelta(minutes=1),
    Unit.HOUR: timedelta(hours=1),
    Unit.DAY: timedelta(days=1),
    Unit.WEEK: timedelta(days=7),
    Unit.WEEKEND: timedelta(days=7),
    Unit.FORTNIGHT: timedelta(days=14),
}
_MONTHS = {
    Unit.MONTH: 1,
    Unit.QUARTER: 3,
    Unit.SEASON: 3,
    Unit.HALF: 6,
    Unit.YEAR: 12,
    Unit.DECADE: 120,
    Unit.CENTURY: 1200,
}


@dataclass(frozen=True, slots=True)
class Period:
    """Time from `start` up to, and without, `end`; `unit` is how finely it was named."""

    start: datetime
    end: datetime
    unit: Unit

    @property
    def middle(self) -> datetime:
        """The instant halfway through."""
        return self.start + (self.end - self.start) / 2


def midnight(moment: datetime) -> datetime:
    """The beginning of the day of `moment`."""
    return datetime.combine(moment.date(), time.min)


def monday(moment: datetime) -> datetime:
    """The beginning of the week of `moment`."""
    return midnight(moment) - timedelta(days=moment.weekday())


def add(moment: datetime, count: float, unit: Unit) -> datetime:
    """Move by calendar units; a day the target month lacks becomes its last (31 January + 1 month)."""
    if unit is Unit.BUSINESS_DAY:
        return _add_business_days(moment, int(count))
    if unit in _LENGTHS:
        return moment + count * _LENGTHS[unit]
    months = round(count * _MONTHS[unit])
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, _days_in(year, month + 1)))


def _add_business_days(moment: datetime, count: int) -> datetime:
    weeks, rest = divmod(abs(count), 5)
    step = timedelta(days=1 if count > 0 else -1)
    moment += 7 * weeks * step
    while rest:
        moment += step
        rest -= moment.weekday() < 5
    return moment


def _days_in(year: int, month: int) -> int:
    first = datetime(year, month, 1)
    following = datetime(year + month // 12, month % 12 + 1, 1) if (year, month) != (9999, 12) else None
    return (following - first).days if following else 31


def floor(moment: datetime, unit: Unit) -> datetime:
    """The beginning of the unit that holds `moment`; a fortnight begins with the current week."""
    if unit is Unit.SECOND:
        return moment.replace(microsecond=0)
    if unit is Unit.MINUTE:
        return moment.replace(second=0, microsecond=0)
    if unit is Unit.HOUR:
        return moment.replace(minute=0, second=0, microsecond=0)
    if unit in (Unit.DAY, Unit.BUSINESS_DAY):
        return midnight(moment)
    if unit in (Unit.WEEK, Unit.FORTNIGHT):
        return monday(moment)
    if unit is Unit.WEEKEND:
        return monday(moment) + timedelta(days=5)
    return _floor_months(moment, unit)


def _floor_months(moment: datetime, unit: Unit) -> datetime:
    if unit is Unit.SEASON:  # December opens the winter of the year that follows
        moment, offset = add(moment, 1, Unit.MONTH), -1
    else:
        offset = 0
    length = _MONTHS[unit]
    year = moment.year - moment.year % (length // 12) if length > 12 else moment.year
    month = moment.month - (moment.month - 1) % length if length < 12 else 1
    return add(datetime(max(year, 1), month, 1), offset, Unit.MONTH)


def holding(moment: datetime, unit: Unit) -> Period:
    """The calendar unit that holds `moment`; for a weekend, that of its week."""
    start = floor(moment, unit)
    end = start + timedelta(days=2) if unit is Unit.WEEKEND else add(start, 1, unit)
    return Period(start, end, unit)


def neighbour(moment: datetime, unit: Unit, steps: int) -> Period:
    """The calendar unit `steps` after (before, if negative) the one that holds `moment`."""
    return holding(add(floor(moment, unit), steps, unit), unit)


def day(year: int, month: int, number: int) -> Period:
    """One day of the calendar; ValueError where there is no such day."""
    return holding(datetime(year, month, number), Unit.DAY)


def month(year: int, number: int) -> Period:
    """One month of the calendar."""
    return holding(datetime(year, number, 1), Unit.MONTH)


def year(number: int) -> Period:
    """One year of the calendar."""
    return holding(datetime(number, 1, 1), Unit.YEAR)


def quarter(year_: int, number: int) -> Period | None:
    """The first to fourth quarter of a year."""
    return holding(datetime(year_, 3 * number - 2, 1), Unit.QUARTER) if 1 <= number <= 4 else None


def half(year_: int, number: int) -> Period | None:
    """The first or second half of a year."""
    return holding(datetime(year_, 6 * number - 5, 1), Unit.HALF) if number in (1, 2) else None


def season(year_: int, first_month: int) -> Period:
    """Three whole months, as in meteorology; winter goes on into the next year."""
    start = datetime(year_, first_month, 1)
    return Period(start, add(start, 3, Unit.MONTH), Unit.SEASON)


def decade(year_: int) -> Period | None:
    """The decade a round year begins."""
    return None if year_ % 10 else holding(datetime(year_, 1, 1), Unit.DECADE)


def latest_decade(tens: int, now: datetime) -> Period | None:
    """The latest decade so called that has begun: 90 for the nineties."""
    return decade(now.year - (now.year - tens) % 100)


def century(number: int) -> Period:
    """The number-th century, from its round year."""
    return holding(datetime(max(100 * (number - 1), 1), 1, 1), Unit.CENTURY)


def nth_week(container: Period, number: int) -> Period | None:
    """A week of a month or year, counted as ISO 8601 does: it belongs where its Thursday lies."""
    thursday = timedelta(days=3)
    if number > 0:
        first = monday(container.start + thursday)
        start = first + timedelta(weeks=number - 1)
    else:
        last = monday(container.end - timedelta(days=1) - thursday)
        start = last + timedelta(weeks=number + 1)
    inside = container.start <= start + thursday < container.end
    return holding(start, Unit.WEEK) if inside else None


def nth(container: Period, unit: Unit, number: int) -> Period | None:
    """The `number`-th unit inside a container, from its end if negative."""
    if unit is Unit.WEEK:
        return nth_week(container, number)
    if unit is Unit.WEEKEND:
        saturday = nth_weekday(container, 5, number)
        return saturday and holding(saturday.start, Unit.WEEKEND)
    base = container.start if number > 0 else container.end - timedelta(seconds=1)
    found = neighbour(base, unit, number - 1 if number > 0 else number + 1)
    return found if container.start <= found.start < container.end else None


def several(container: Period, unit: Unit, first: int, last: int) -> Period | None:
    """From one numbered unit inside a container to another."""
    begin, finish = nth(container, unit, first), nth(container, unit, last)
    return Period(begin.start, finish.end, unit) if begin and finish else None


def nth_weekday(container: Period, weekday: int, number: int) -> Period | None:
    """The `number`-th Monday (0) … Sunday (6) inside a container, from its end if negative."""
    if number > 0:
        first = container.start + timedelta(days=(weekday - container.start.weekday()) % 7)
        start = first + timedelta(weeks=number - 1)
    else:
        final = container.end - timedelta(days=1)
        start = final - timedelta(days=(final.weekday() - weekday) % 7) + timedelta(weeks=number + 1)
    return holding(start, Unit.DAY) if container.start <= start < container.end else None


def weekday_of_week(moment: datetime, weekday: int, weeks: int = 0) -> Period:
    """A weekday of the week of `moment`, or of one some weeks away."""
    return holding(monday(moment) + timedelta(days=weekday + 7 * weeks), Unit.DAY)
