"""The Gregorian calendar, and Easter, Chinese and Islamic dates in it."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import Enum

OPEN_START = datetime(1, 1, 1)
"""The start of a period without a beginning ("before 2018")."""
OPEN_END = datetime(9999, 12, 31)
"""The end of a period without an end ("since August")."""


class Unit(Enum):
    """A unit of time, from an instant to a century."""

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
    """The time from `start` up to, but not including, `end`; `unit` is the precision it was given with."""

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
    """Add calendar units; a day that the target month lacks becomes its last day (31 January + 1 month)."""
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
    """The beginning of the unit that contains `moment`; a fortnight begins with the current week."""
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
    if unit is Unit.SEASON:  # December belongs to the winter of the following year
        moment, offset = add(moment, 1, Unit.MONTH), -1
    else:
        offset = 0
    length = _MONTHS[unit]
    year = moment.year - moment.year % (length // 12) if length > 12 else moment.year
    month = moment.month - (moment.month - 1) % length if length < 12 else 1
    return add(datetime(max(year, 1), month, 1), offset, Unit.MONTH)


def unit_around(moment: datetime, unit: Unit) -> Period:
    """The calendar unit that contains `moment`; for a weekend, the one of the same week."""
    start = floor(moment, unit)
    end = start + timedelta(days=2) if unit is Unit.WEEKEND else add(start, 1, unit)
    return Period(start, end, unit)


def neighbour(moment: datetime, unit: Unit, steps: int) -> Period:
    """The calendar unit `steps` after (if negative, before) the one that contains `moment`."""
    return unit_around(add(floor(moment, unit), steps, unit), unit)


def day(year: int, month: int, number: int) -> Period:
    """A day; raises ValueError if there is no such day."""
    return unit_around(datetime(year, month, number), Unit.DAY)


def month(year: int, number: int) -> Period:
    """A month of a year."""
    return unit_around(datetime(year, number, 1), Unit.MONTH)


def year(number: int) -> Period:
    """A year."""
    return unit_around(datetime(number, 1, 1), Unit.YEAR)


def season(year_: int, first_month: int) -> Period:
    """A meteorological season of three whole months; winter extends into the next year."""
    return unit_around(datetime(year_, first_month, 1), Unit.SEASON)


def decade(year_: int) -> Period | None:
    """The decade that begins with a round year."""
    return None if year_ % 10 else unit_around(datetime(year_, 1, 1), Unit.DECADE)


def century(number: int) -> Period:
    """A century by its number, counted from the round year."""
    return unit_around(datetime(max(100 * (number - 1), 1), 1, 1), Unit.CENTURY)


def half(container: Period, number: int) -> Period:
    """The first or second half of a period; of a month, up to or from the 16th."""
    months = 12 * (container.end.year - container.start.year) + container.end.month - container.start.month
    middle = add(container.start, months / 2, Unit.MONTH) if months > 1 else midnight(container.middle)
    middle = container.start.replace(day=16) if months == 1 else middle
    edges = (container.start, middle) if number == 1 else (middle, container.end)
    return Period(*edges, Unit.HALF if months == 12 else container.unit)


def nth_week(container: Period, number: int) -> Period | None:
    """A week of a month or year; as in ISO 8601, a week belongs to the period that contains its Thursday."""
    thursday = timedelta(days=3)
    if number > 0:
        first = monday(container.start + thursday)
        start = first + timedelta(weeks=number - 1)
    else:
        last = monday(container.end - timedelta(days=1) - thursday)
        start = last + timedelta(weeks=number + 1)
    inside = container.start <= start + thursday < container.end
    return unit_around(start, Unit.WEEK) if inside else None


def nth(container: Period, unit: Unit, number: int) -> Period | None:
    """The `number`-th unit in a period, counted from its end if negative."""
    if unit is Unit.WEEK:
        return nth_week(container, number)
    if unit is Unit.WEEKEND:
        saturday = nth_weekday(container, 5, number)
        return saturday and unit_around(saturday.start, Unit.WEEKEND)
    base = container.start if number > 0 else container.end - timedelta(seconds=1)
    found = neighbour(base, unit, number - 1 if number > 0 else number + 1)
    return found if container.start <= found.start < container.end else None


def several(container: Period, unit: Unit, first: int, last: int) -> Period | None:
    """From one numbered unit in a period to another."""
    begin, finish = nth(container, unit, first), nth(container, unit, last)
    return Period(begin.start, finish.end, unit) if begin and finish else None


def nth_weekday(container: Period, weekday: int, number: int) -> Period | None:
    """The `number`-th Monday (0) … Sunday (6) in a period, counted from its end if negative."""
    if number > 0:
        first = container.start + timedelta(days=(weekday - container.start.weekday()) % 7)
        start = first + timedelta(weeks=number - 1)
    else:
        final = container.end - timedelta(days=1)
        start = final - timedelta(days=(final.weekday() - weekday) % 7) + timedelta(weeks=number + 1)
    return unit_around(start, Unit.DAY) if container.start <= start < container.end else None


def weekday_of_week(moment: datetime, weekday: int, weeks: int = 0) -> Period:
    """A weekday in the week of `moment`, or `weeks` later."""
    return unit_around(monday(moment) + timedelta(days=weekday + 7 * weeks), Unit.DAY)


_FIRST_YEAR = 1950
# Six hexadecimal digits per year: days from 1 January to the lunar new year (6 bits), the leap month or
# 0 (4 bits), and for each month whether it has 30 days rather than 29 (13 bits, first month lowest).
# The data agree with the lunardate package; for 1978 and 2057, where printed calendars differ, with the later ones.
_YEARS = (
    "5e0536480aad34b5aa5805b2420ba52e7d4a540d4a3d0a95600a974c055636cab55a0ad54606d2308ea5560ea5"
    "40064a286c974e0a9b3af55a5e056a480b6934b7525a0b52420b252c964b520a4b3d14ab6002ad4a056d36cb69"
    "5c0da9460d92309d25560d25415a4d640a564e02b638c5b55e06d5480ea934be925a0e92440d262c6a56500a57"
    "3d14d662035a4a06d536b6c95c07494606932e952b54052b3e0a5b2a555a4e056a38fb55600ba44a0b4932ba93"
    "580a9542052d2c8aad500ab53d35aa6205d24c0da536dd4a5c0d4a460c9530952e5405563e0ab52a55b25006d2"
    "38cea55e072548064b32ac97560cab42055a2c6ad6520b693d7752620b524c0b2536da4b5a0a4b4404ab2ea55b"
    "5405ad3e0b6a2a5b52500d923afd255e0d25480a5532b4ad5804b64005b52c6daa520ec93f1e92620e924c0d26"
    "36ca565a0a574404d62e86d5540755400749286e934e069338f52b5e052b460a5b32b55a58056a420b652c974a"
)


def chinese_day(year: int, month: int, day: int, *, leap: bool = False) -> Period | None:
    """A day of the Chinese calendar, for the years 1950 to 2069."""
    place = 6 * (year - _FIRST_YEAR)
    if not 0 <= place < len(_YEARS):
        return None
    facts = int(_YEARS[place : place + 6], 16)
    leap_month = facts >> 13 & 15
    if leap and month != leap_month:
        return None
    before = month - 1 + (leap or 0 < leap_month < month)
    days = (facts >> 17) + sum(29 + (facts >> index & 1) for index in range(before)) + day - 1
    return unit_around(datetime(year, 1, 1) + timedelta(days=days), Unit.DAY)


def clear_and_bright(year: int) -> Period | None:
    """Qingming, the solar term at the sun's longitude 15°, by the usual approximation for 1901 to 2099."""
    if not 1901 <= year <= 2099:
        return None
    rest = year % 100
    constant = 5.59 if year <= 2000 else 4.81
    rest = 100 if year == 2000 else rest
    return unit_around(datetime(year, 4, int(rest * 0.2422 + constant) - rest // 4), Unit.DAY)


def islamic_day(year: int, month: int, day: int) -> Period | None:
    """The first such day in a Gregorian year by the tabular calendar; the observed day may differ by one."""
    around = int((year - 622) * 33 / 32)
    for candidate in range(around - 1, around + 3):
        days = day + (59 * (month - 1) + 1) // 2 + (candidate - 1) * 354 + (3 + 11 * candidate) // 30
        found = datetime(622, 7, 18) + timedelta(days=days - 1)
        if found.year == year:
            return unit_around(found, Unit.DAY)
    return None


def easter(year: int) -> datetime:
    """Easter Sunday of the Gregorian calendar (the anonymous algorithm, Meeus 1991, p. 67)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    f = (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return datetime(year, month, day + 1)
