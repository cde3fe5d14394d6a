"""The meanings of phrases, shared by the grammars of both languages.

A meaning makes the value of a phrase from the values of its parts; one with a parameter `context` is given the
context too. Dates are written as in English in the examples.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from memorist.text.dates import calendar, values
from memorist.text.dates.calendar import Period, Unit
from memorist.text.dates.clock import ClockTime, Stretch, during
from memorist.text.dates.grammar import Builder, call_builder
from memorist.text.dates.values import NOTHING, Amount, Context, Nothing, Recurring, Value

Change = Callable[..., Period | None]
"""Makes a period from another one and further arguments."""


def change_every(change: Change) -> Builder:
    """The meaning that applies a change to every occurrence of the first value."""

    def build(value: Value, *others: object, context: Context) -> Value | None:
        return values.refine(value, lambda period: call_builder(change, context, period, *others))

    return build


def change_preferred(change: Change) -> Builder:
    """The meaning that applies a change to the occurrence of the first value that the context prefers."""

    def build(value: Value, *others: object, context: Context) -> Period | None:
        found = values.resolve(value, context)
        return call_builder(change, context, found, *others) if found else None

    return build


def of_this(unit: Unit, change: Change) -> Builder:
    """The meaning that applies a change to the current unit: `EOM`, `YTD`."""

    def build(*others: object, context: Context) -> Period | None:
        return call_builder(change, context, calendar.unit_around(context.now, unit), *others)

    return build


def related(unit: Unit) -> Builder:
    """The meaning of a unit some steps after the current one: `last year`, `yesterday`; `now` for no steps."""

    def build(steps: int = 0, *, context: Context) -> Period:
        return calendar.neighbour(context.now, unit, steps)

    return build


def numbered_unit(unit: Unit) -> Builder:
    """The meaning of a numbered unit of a year, or else of any year: `Q1 2019`, `October`, `week 10`."""

    def build(number: int, of_year: Period | None = None) -> Value | None:
        if of_year:
            return calendar.nth(of_year, unit, number)
        return values.yearly(lambda years: calendar.nth(calendar.year(years), unit, number))

    return build


def up_to(limit: int) -> Builder:
    """The meaning of a number from 1 to a limit, such as the number of a day in its month."""

    def build(number: int) -> int | None:
        return number if 1 <= number <= limit else None

    return build


def latest_decade(tens: int, context: Context) -> Period | None:
    """The latest such decade that has begun: 90 for `the nineties`."""
    return calendar.decade(context.now.year - (context.now.year - tens) % 100)


def any_season(first_month: int) -> Recurring:
    """`summer`."""
    return values.yearly(lambda years: calendar.season(years, first_month))


def any_weekend() -> Recurring:
    """`the weekend`."""
    return Recurring(Unit.WEEK, lambda base: calendar.unit_around(base, Unit.WEEKEND))


def first_units(container: Period, count: int, unit: Unit) -> Period | None:
    """`the first two weeks of 2021`."""
    return calendar.several(container, unit, 1, count)


def last_units(container: Period, count: int, unit: Unit) -> Period | None:
    """`the last three weeks of this year`."""
    return calendar.several(container, unit, -count, -1)


def related_weekday(weeks: int, number: int, context: Context) -> Period:
    """`this Friday`, `next Friday`: the Friday of this or the next week."""
    return calendar.weekday_of_week(context.now, number, weeks)


def weekday_in_week(week: Period, weekday: int) -> Period | None:
    """`next week on Tuesday`."""
    return calendar.weekday_of_week(week.start, weekday) if week.unit is Unit.WEEK else None


def weekday_near(day: Period, weekday: int) -> Period:
    """`两周前的周六`: in the week of a day."""
    return calendar.weekday_of_week(day.start, weekday)


def same_day(years: int, context: Context) -> Period:
    """`去年今天`."""
    return values.from_now(((years, Unit.YEAR),), context, 1)


def any_numbered_day(number: int) -> Recurring | None:
    """`the 2nd`."""
    return values.monthly(number) if 1 <= number <= 31 else None


def date_of_year(value: Value, of_year: Period) -> Value | Nothing:
    """`October 2nd, 2016`."""
    return values.within(value, of_year) or NOTHING


def date_and_weekday(value: Value, weekday: int, context: Context) -> Value:
    """`2 October, Friday`: the weekday decides between the years if it can."""
    return values.on_weekday(value, weekday, context) or value


def day_after_clock(day: Value, time: ClockTime) -> Value | None:
    """`tomorrow after 5pm`: to the end of the day."""
    return during(day, Stretch(time.since_midnight(), timedelta(days=1)))


def day_before_clock(day: Value, time: ClockTime) -> Value | None:
    """`tomorrow before 5pm`: from the beginning of the day."""
    return during(day, Stretch(timedelta(0), time.since_midnight()))


def simple_amount(count: float, unit: Unit) -> Amount:
    """`three days`."""
    return ((count, unit),)


def and_a_half(count: float, unit: Unit) -> Amount:
    """`one and a half years`."""
    return ((count + 0.5, unit),)


ago, ahead = partial(values.from_now, sign=-1), partial(values.from_now, sign=1)
"""`three days ago`, `in two weeks`."""
later, sooner = partial(values.from_day, sign=1), partial(values.from_day, sign=-1)
"""`two weeks after Easter`, `two days before yesterday`."""


def window(distance: Amount, context: Context, sign: int) -> Period | None:
    """`the past two months` (-1), `the coming two weeks` (1)."""
    return values.rolling(sign * distance[0][0], distance[0][1], context) if sign else None


past_window, coming_window = partial(window, sign=-1), partial(window, sign=1)
