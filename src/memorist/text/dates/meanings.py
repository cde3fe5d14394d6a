"""The meanings of phrases, shared by the grammars of both languages.

Each function makes the value of a phrase from the context and the values of its parts. Dates are written as in
English in the examples.
"""

from collections.abc import Callable
from datetime import timedelta

from memorist.text.dates.calendar import (
    Period,
    Unit,
    century,
    half,
    holding,
    latest_decade,
    month,
    neighbour,
    nth,
    nth_week,
    nth_weekday,
    quarter,
    season,
    several,
    weekday_of_week,
    year,
)
from memorist.text.dates.clock import ClockTime, Stretch, at, clock, during, from_to, in_part
from memorist.text.dates.numbers import Share, month_day, share_of
from memorist.text.dates.values import (
    NOTHING,
    Amount,
    Context,
    Nothing,
    Recurring,
    Value,
    between,
    coming,
    from_day,
    from_now,
    monthly,
    on_weekday,
    refine,
    resolve,
    rolling,
    weekly,
    within,
    yearly,
)

Change = Callable[[Period, Context], Period | None]


def refined(change: Change) -> Callable[[Context, Value], Value | None]:
    """The meaning that applies a change to every occurrence of a value."""

    def build(context: Context, value: Value) -> Value | None:
        return refine(value, lambda period: change(period, context))

    return build


def resolved(change: Change) -> Callable[[Context, Value], Period | None]:
    """The meaning that applies a change to the occurrence meant by the context."""

    def build(context: Context, value: Value) -> Period | None:
        found = resolve(value, context)
        return change(found, context) if found else None

    return build


# Years, months, quarters, seasons, decades


def numbered_year(_: Context, number: int) -> Period:
    """`2016`."""
    return year(number)


def related_year(context: Context, steps: int) -> Period:
    """`last year`."""
    return neighbour(context.now, Unit.YEAR, steps)


def any_month(_: Context, number: int) -> Recurring:
    """`October`."""
    return yearly(lambda years: month(years, number))


def month_of_year(_: Context, of_year: Period, number: int) -> Period:
    """`October 2016`."""
    return month(of_year.start.year, number)


def any_quarter(_: Context, number: int) -> Recurring | None:
    """`Q1`."""
    return yearly(lambda years: quarter(years, number)) if 1 <= number <= 4 else None


def quarter_of_year(_: Context, of_year: Period, number: int) -> Period | None:
    """`Q1 2019`."""
    return quarter(of_year.start.year, number)


def half_of_year(_: Context, of_year: Period, number: int) -> Period | None:
    """`the first half of 2019`."""
    return half(of_year.start.year, number)


def any_season(_: Context, first_month: int) -> Recurring:
    """`summer`."""
    return yearly(lambda years: season(years, first_month))


def season_of_year(_: Context, of_year: Period, first_month: int) -> Period:
    """`summer of 2019`."""
    return season(of_year.start.year, first_month)


def short_decade(context: Context, tens: int) -> Period | None:
    """`the nineties`."""
    return latest_decade(tens, context.now)


def numbered_century(_: Context, number: int) -> Period:
    """`21st century`."""
    return century(number)


def in_year(_: Context, of_year: Period, value: Value) -> Value | None:
    """`Thanksgiving 2023`."""
    return within(value, of_year)


def share(_: Context, value: Value, part: Share) -> Value | None:
    """`early 2016`, `the end of next month`."""
    return refine(value, lambda period: share_of(period, part))


# Weeks and units inside a longer period


def any_weekend(_: Context) -> Recurring:
    """`the weekend`."""
    return Recurring(Unit.WEEK, lambda base: holding(base, Unit.WEEKEND))


def any_week(_: Context, number: int) -> Recurring:
    """`week 10`."""
    return yearly(lambda years: nth_week(year(years), number))


def nth_unit(_: Context, container: Value, number: int, unit: Unit) -> Value | None:
    """`the first week of October`."""
    return refine(container, lambda period: nth(period, unit, number))


def nth_weekday_of(_: Context, container: Value, number: int, weekday: int) -> Value | None:
    """`the first Monday of June`."""
    return refine(container, lambda period: nth_weekday(period, weekday, number))


def first_units(_: Context, container: Value, count: int, unit: Unit) -> Value | None:
    """`the first two weeks of 2021`."""
    return refine(container, lambda period: several(period, unit, 1, count))


def last_units(_: Context, container: Value, count: int, unit: Unit) -> Value | None:
    """`the last three weeks of this year`."""
    return refine(container, lambda period: several(period, unit, -count, -1))


# Days


def any_weekday(_: Context, number: int) -> Recurring:
    """`Friday`."""
    return weekly(number)


def related_weekday(context: Context, weeks: int, number: int) -> Period:
    """`this Friday`, `next Friday`: the Friday of this or the next week."""
    return weekday_of_week(context.now, number, weeks)


def weekday_in_week(_: Context, week: Value, weekday: int) -> Value | None:
    """`next week on Tuesday`."""

    def change(period: Period) -> Period | None:
        return weekday_of_week(period.start, weekday) if period.unit is Unit.WEEK else None

    return refine(week, change)


def related_day(context: Context, days: int) -> Period:
    """`yesterday`."""
    return holding(context.today + timedelta(days=days), Unit.DAY)


def day_number(_: Context, number: int) -> int | None:
    """The number of a day in its month."""
    return number if 1 <= number <= 31 else None


def any_numbered_day(_: Context, number: int) -> Recurring | None:
    """`the 2nd`."""
    return monthly(number) if 1 <= number <= 31 else None


def month_and_day(_: Context, months: int, number: int) -> Value | Nothing | None:
    """`October 2nd`."""
    return month_day(months, number) if 1 <= number <= 31 else None


def date_of_year(_: Context, of_year: Period, value: Value) -> Value | Nothing:
    """`October 2nd, 2016`."""
    return within(value, of_year) or NOTHING


def date_and_weekday(context: Context, value: Value, weekday: int) -> Value:
    """`2 October, Friday`: the weekday decides between the years if it can."""
    return on_weekday(value, weekday, context) or value


# Times of day


def clock_time(_: Context, hours: int, minutes: int | None = None, seconds: int | None = None) -> ClockTime:
    """`six forty-three`."""
    return clock(hours, minutes, seconds)


def clock_in_part(_: Context, time: ClockTime, part: Stretch) -> ClockTime:
    """`five in the morning`."""
    return in_part(time, part)


def time_range(_: Context, first: ClockTime, last: ClockTime, part: Stretch | None = None) -> Stretch:
    """`from 3 to 5pm`."""
    return from_to(first, last, part)


def day_and_clock(_: Context, day: Value, time: ClockTime) -> Value | None:
    """`yesterday at 5pm`."""
    return at(day, time)


def day_and_stretch(_: Context, day: Value, times: Stretch) -> Value | None:
    """`Monday 9 to 11`."""
    return during(day, times)


def day_after_clock(_: Context, day: Value, time: ClockTime) -> Value | None:
    """`tomorrow after 5pm`: to the end of the day."""
    return during(day, Stretch(time.since_midnight(), timedelta(days=1)))


def day_before_clock(_: Context, day: Value, time: ClockTime) -> Value | None:
    """`tomorrow before 5pm`: from the beginning of the day."""
    return during(day, Stretch(timedelta(0), time.since_midnight()))


# Amounts, shifts and ranges


def simple_amount(_: Context, count: float, unit: Unit) -> Amount | None:
    """`three days`."""
    return None if unit is Unit.WEEKEND else ((count, unit),)


def and_a_half(_: Context, count: float, unit: Unit) -> Amount:
    """`one and a half years`."""
    return ((count + 0.5, unit),)


def ago(context: Context, distance: Amount) -> Period:
    """`three days ago`."""
    return from_now(distance, context, -1)


def ahead(context: Context, distance: Amount) -> Period:
    """`in two weeks`."""
    return from_now(distance, context, 1)


def after_anchor(context: Context, distance: Amount, value: Value) -> Period | None:
    """`two weeks after Easter`."""
    found = resolve(value, context)
    return from_day(found, distance, 1) if found else None


def before_anchor(context: Context, distance: Amount, value: Value) -> Period | None:
    """`two days before yesterday`."""
    found = resolve(value, context)
    return from_day(found, distance, -1) if found else None


def past_window(context: Context, distance: Amount) -> Period:
    """`within the past two weeks`."""
    return rolling(-distance[0][0], distance[0][1], context)


def coming_window(context: Context, distance: Amount) -> Period:
    """`the coming two weeks`."""
    return rolling(distance[0][0], distance[0][1], context)


def within_amount(context: Context, distance: Amount) -> Period:
    """`within two weeks`: from now on."""
    return coming(distance, context)


def today(context: Context) -> Period:
    """`now` as the edge of a range."""
    return holding(context.now, Unit.DAY)


def span(context: Context, first: Value, last: Value) -> Period | None:
    """`from May to July`."""
    return between(first, last, context)


def numbered_days(context: Context, first: int, last: int) -> Period | None:
    """`between the 21st and the 23rd`."""
    return between(monthly(first), monthly(last), context)
