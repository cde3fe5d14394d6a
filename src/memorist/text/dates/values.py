"""The values of date expressions, and how they are resolved to periods."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count, islice
from typing import Literal

from memorist.text.dates.calendar import OPEN_END, OPEN_START, SUB_DAY, Period, Unit, add, floor, midnight, unit_around


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date in a text: the time from `start` up to, but not including, `end`, both in UTC.

    `text` is the date as written, which is `input[begin:stop]`.
    """

    start: datetime
    end: datetime
    text: str
    begin: int
    stop: int


Prefer = Literal["past", "future", "nearest", "tense"]
Edges = Literal["whole", "point"]
_TRIES = 40  # rounds searched; a weekday falls on a 31st within 25 months, a leap day may be 8 years away


@dataclass(frozen=True, slots=True)
class Context:
    """When an expression was said, and how ambiguities are resolved.

    `edges` says whether a range includes the end it names: "whole", the usual sense, does
    ("1 to 7 May" includes the 7th, "the past week" includes today); "point" stops where it begins,
    as in the test cases of the Recognizers.
    """

    now: datetime
    prefer: Prefer = "past"
    edges: Edges = "whole"
    year_first: bool = False
    chosen: "list[Recurring]" = field(default_factory=list["Recurring"], compare=False)
    """The values of which `prefer` chose an occurrence so far; without any, another preference reads the same."""

    @property
    def today(self) -> datetime:
        """The beginning of the current day."""
        return midnight(self.now)


@dataclass(frozen=True, slots=True)
class Recurring:
    """A period without its year, month or week: `pick` finds it in one round of `cycle`."""

    cycle: Unit
    pick: Callable[[datetime], Period | None]
    skips_today: bool = False  # "Monday" said on a Monday is another Monday


Value = Period | Recurring


@dataclass(frozen=True, slots=True)
class OffsetFromLast:
    """A time counted from the one told before it, or else from now: `the day before`, `30 minutes later`."""

    distance: "Amount"
    sign: int


class Nothing:
    """The value of words that are known not to be a date ("every Monday", "30 February")."""


NOTHING = Nothing()


def _rounds(value: Recurring, moment: datetime, step: int) -> Iterator[Period]:
    base = floor(moment, value.cycle)
    for turn in islice(count(0, step), _TRIES):
        try:
            found = value.pick(add(base, turn, value.cycle))
        except (ValueError, OverflowError):  # no such day in this round, or outside the calendar
            continue
        if found:
            yield found


def latest(value: Value, limit: datetime) -> Period | None:
    """The last occurrence that starts at or before `limit`."""
    if isinstance(value, Period):
        return value
    return next((found for found in _rounds(value, limit, -1) if found.start <= limit), None)


def earliest(value: Value, limit: datetime) -> Period | None:
    """The first occurrence that starts at or after `limit`."""
    if isinstance(value, Period):
        return value
    return next((found for found in _rounds(value, limit, 1) if found.start >= limit), None)


def occurrence(value: Recurring, steps: int, anchor: Period) -> Period | None:
    """The occurrence some steps after a period, or before it if negative; 1 is the first that begins after it."""
    found = anchor
    for _ in range(min(abs(steps), _TRIES)):
        following = earliest(value, found.end) if steps > 0 else _latest_over(value, found.start)
        if following is None:
            return None
        found = following
    return found


def _latest_over(value: Recurring, limit: datetime) -> Period | None:
    """The last occurrence that is over at `limit`."""
    found = latest(value, limit - timedelta(microseconds=1))
    return latest(value, found.start - timedelta(microseconds=1)) if found and found.end > limit else found


def resolve(value: Value, context: Context) -> Period | None:
    """The occurrence that the context prefers."""
    if isinstance(value, Period):
        return value
    past, future = _around(value, context)
    if past is None or future is None:
        return past or future
    context.chosen.append(value)
    if context.prefer == "nearest":
        since, until = context.today - past.end, future.start - context.today - timedelta(days=1)
        return past if since <= until else future
    return past if context.prefer == "past" else future


def _around(value: Recurring, context: Context) -> tuple[Period | None, Period | None]:
    today, tomorrow = context.today, context.today + timedelta(days=1)
    if value.skips_today:
        return latest(value, today - timedelta(microseconds=1)), earliest(value, tomorrow)
    past = latest(value, tomorrow - timedelta(microseconds=1))
    current = past if past and past.end > today else None
    return past, current or earliest(value, tomorrow)


def on_weekday(value: Value, weekday: int, context: Context) -> Period | None:
    """The occurrence on a weekday: the preferred one, else the nearest on the other side of now."""
    found = resolve(value, context)
    if isinstance(value, Recurring) and found and found.start.weekday() != weekday:
        past = found.start <= context.now
        found = earliest(value, found.end) if past else latest(value, found.start - timedelta(days=1))
    return found if found and found.start.weekday() == weekday else None


def refine(value: Value, change: Callable[[Period], Period | None]) -> Value | None:
    """Apply a change to a period, or to each occurrence of a recurring one."""
    if isinstance(value, Period):
        return change(value)

    def pick(base: datetime) -> Period | None:
        found = value.pick(base)
        return change(found) if found else None

    return Recurring(value.cycle, pick, value.skips_today)


def within(value: Value, container: Value) -> Value | None:
    """The first occurrence of `value` in `container` ("May of next year")."""

    def inside(period: Period) -> Period | None:
        found = earliest(value, period.start)
        return found if found and found.start < period.end else None

    return refine(container, inside)


def between(first: Value, last: Value, context: Context) -> Period | None:
    """From one value to another; each settles what the other leaves open."""
    if isinstance(last, Period) and isinstance(first, Recurring):
        begin, finish = latest(first, last.start), last
    elif isinstance(first, Recurring) and isinstance(last, Recurring) and last.cycle is not first.cycle:
        begin, finish = _by_the_wider(first, last, context)
    else:
        begin = resolve(first, context)
        finish = earliest(last, begin.start) if begin else None
    if begin is None or finish is None:
        return None
    end = closing_edge(finish, context)
    return Period(begin.start, end, finish.unit) if begin.start < end else None


def _by_the_wider(first: Recurring, last: Recurring, context: Context) -> tuple[Period | None, Period | None]:
    if first.cycle is Unit.YEAR:
        begin = resolve(first, context)
        return begin, earliest(last, begin.start) if begin else None
    finish = resolve(last, context)
    return latest(first, finish.start) if finish else None, finish


def closing_edge(period: Period, context: Context) -> datetime:
    """The end of a range whose last part is `period`."""
    whole = context.edges == "whole" and period.unit not in SUB_DAY
    return period.end if whole else period.start


def over(period: Period, context: Context) -> datetime:
    """The moment when a period is over."""
    day_as_point = context.edges == "point" and period.unit is Unit.DAY
    return period.start if period.unit in SUB_DAY or day_as_point else period.end


def since(period: Period) -> Period:
    """From the start of a period, without end."""
    return Period(period.start, OPEN_END, period.unit)


def after(period: Period, context: Context) -> Period:
    """From the end of a period, without end."""
    return Period(over(period, context), OPEN_END, period.unit)


def before(period: Period) -> Period:
    """Until the start of a period."""
    return Period(OPEN_START, period.start, period.unit)


def through(period: Period, context: Context) -> Period:
    """Until the end of a period."""
    return Period(OPEN_START, over(period, context), period.unit)


def rolling(count_: float, unit: Unit, context: Context) -> Period:
    """`count_` units up to now (if negative) or from now on; quarters and longer are whole calendar units."""
    if unit in SUB_DAY:
        edges = sorted((context.now, add(context.now, count_, unit)))
        return Period(edges[0], edges[1], unit)
    if unit in (Unit.QUARTER, Unit.HALF, Unit.DECADE, Unit.CENTURY, Unit.WEEKEND, Unit.FORTNIGHT):
        start = add(floor(context.now, unit), min(count_, 1), unit)
        last = unit_around(add(floor(context.now, unit), max(count_, -1), unit), unit)
        return Period(start, last.end, unit)
    if count_ < 0:
        end = context.today + timedelta(days=context.edges == "whole")
        return Period(add(context.today, count_, unit), end, unit)
    tomorrow = context.today + timedelta(days=1)
    if unit is Unit.BUSINESS_DAY:
        return Period(tomorrow, add(context.today, count_, unit) + timedelta(days=1), unit)
    return Period(tomorrow, add(tomorrow, count_, unit), unit)


def yearly(pick: Callable[[int], Period | None]) -> Recurring:
    """A period that occurs once a year."""
    return Recurring(Unit.YEAR, lambda base: pick(base.year))


def weekly(weekday: int) -> Recurring:
    """A weekday, Monday (0) to Sunday (6)."""
    return Recurring(Unit.WEEK, lambda base: unit_around(base + timedelta(days=weekday), Unit.DAY), skips_today=True)


def monthly(number: int) -> Recurring:
    """A day of the month."""
    return Recurring(Unit.MONTH, lambda base: unit_around(base.replace(day=number), Unit.DAY))


Amount = tuple[tuple[float, Unit], ...]
"""Counts of units that add up: two years and three months."""


def is_fine(amount: Amount) -> bool:
    """Whether an amount is given in hours or less."""
    return any(unit in SUB_DAY for _, unit in amount)


def move(moment: datetime, amount: Amount, sign: int = 1) -> datetime:
    """A moment later by an amount, or earlier if the sign is -1."""
    for number, unit in amount:
        moment = add(moment, sign * number, unit)
    return moment


def from_now(amount: Amount, context: Context, sign: int) -> Period:
    """`three days ago`, `in two hours`: a day, or one unit of the clock from the exact moment."""
    if not is_fine(amount):
        return unit_around(move(context.today, amount, sign), Unit.DAY)
    moment, unit = move(context.now, amount, sign), amount[-1][1]
    return Period(moment, add(moment, 1, unit), unit)


def from_day(day: Period, amount: Amount, sign: int) -> Period | None:
    """`two weeks after Easter`: a day; None for hours."""
    return None if is_fine(amount) else unit_around(move(day.start, amount, sign), Unit.DAY)


def coming(amount: Amount, context: Context) -> Period:
    """`within two weeks`: from now or today on."""
    start = context.now if is_fine(amount) else context.today
    return Period(start, move(start, amount), amount[-1][1])
