"""English: days."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from memorist.text.dates.calendar import Period, Unit, day, holding, nth, nth_weekday, several, weekday_of_week, year
from memorist.text.dates.english.atoms import english
from memorist.text.dates.english.lexicon import glued
from memorist.text.dates.numbers import month_day
from memorist.text.dates.values import (
    NOTHING,
    Context,
    Nothing,
    Recurring,
    Value,
    earliest,
    latest,
    monthly,
    on_weekday,
    refine,
    resolve,
    weekly,
    within,
)

rule = english.rule

english.words("soon", dict.fromkeys(("coming", "upcoming", "this coming", "this upcoming", "following"), 1))
english.words("recent", dict.fromkeys(("last", "past", "this past", "previous", "prior"), -1))


@rule("weekday_value", "<weekday>")
def any_weekday(_: Context, number: int) -> Recurring:
    """`Friday`."""
    return weekly(number)


@rule("weekday_value", "<recent> <weekday>")
def last_weekday(context: Context, _: int, number: int) -> Period | None:
    """`last Friday`: the latest before today."""
    return latest(weekly(number), context.today - timedelta(days=1))


@rule("weekday_value", "<soon> <weekday>")
def coming_weekday(context: Context, _: int, number: int) -> Period | None:
    """`this coming Friday`: the first after today."""
    return earliest(weekly(number), context.today + timedelta(days=1))


@rule("weekday_value", "this <weekday>")
def this_weekday(context: Context, number: int) -> Period:
    """`this Friday`: of the current week."""
    return weekday_of_week(context.now, number)


@rule("weekday_value", "next <weekday>")
def next_weekday(context: Context, number: int) -> Period:
    """`next Friday`: of the next week."""
    return weekday_of_week(context.now, number, 1)


@rule("deictic_day", "<deictic>")
def deictic_day(context: Context, days: int) -> Period:
    """`yesterday`."""
    return holding(context.today + timedelta(days=days), Unit.DAY)


@rule("nth", "<ordinal>")
def nth_number(_: Context, number: int) -> int:
    """`second`."""
    return number


english.words("nth", {"last|final": -1})


@rule("counted", "<nth> <unit> of|in <container>", "<nth> <unit> of|in <this_unit>", "<nth> <unit> <unit_period>")
def nth_unit_of(_: Context, number: int, unit: Unit, container: Value) -> Value | None:
    """`the first week of October`, `the last day of the month`."""
    return refine(container, lambda period: nth(period, unit, number))


@rule("counted", "<nth> <weekday> of|in <container>", "<nth> <weekday> of|in <this_unit>")
def nth_weekday_of(_: Context, number: int, weekday: int, container: Value) -> Value | None:
    """`the first Monday of June`."""
    return refine(container, lambda period: nth_weekday(period, weekday, number))


@rule("counted", "first <integer> <unit> of|in <container>", "first <integer> <unit> of|in <this_unit>")
def first_units_of(_: Context, count: int, unit: Unit, container: Value) -> Value | None:
    """`the first two weeks of 2021`."""
    return refine(container, lambda period: several(period, unit, 1, count))


@rule("counted", "last|final <integer> <unit> of|in <container>", "last|final <integer> <unit> of|in <this_unit>")
def last_units_of(_: Context, count: int, unit: Unit, container: Value) -> Value | None:
    """`the last three weeks of this year`."""
    return refine(container, lambda period: several(period, unit, -count, -1))


english.union("firm_day", "<deictic_day>", "<dated>", "<holiday_value>", "<numbered_day>")


@rule(
    "week_value",
    "[the] week of|starting|beginning|commencing [on] <firm_day>",
    "w/c <firm_day>",
    "week containing|including <firm_day>",
)
def week_of(_: Context, value: Value) -> Value | None:
    """`the week of the 18th`."""
    return refine(value, lambda found: holding(found.start, Unit.WEEK))


@rule("week_value", "[the] weekend of <dated>", "[the] weekend of <numbered_day>")
def weekend_of(_: Context, value: Value) -> Value | None:
    """`the weekend of 2 October`."""
    return refine(value, lambda found: holding(found.start, Unit.WEEKEND))


@rule("week_value", "<unit_period>", "<week_number>", "<counted>")
def week_by_name(_: Context, value: Value) -> Value | None:
    """`next week`, `week 10`, `the first week of October`."""
    return value if isinstance(value, Recurring) or value.unit is Unit.WEEK else None


def _in_week(week: Value, weekday: int) -> Value | None:
    def change(period: Period) -> Period | None:
        return weekday_of_week(period.start, weekday) if period.unit is Unit.WEEK else None

    return refine(week, change)


@rule("week_day", "<week_value> [on|,] <weekday>")
def week_and_weekday(_: Context, week: Value, weekday: int) -> Value | None:
    """`next week on Tuesday`."""
    return _in_week(week, weekday)


@rule("week_day", "<weekday> [of|in|,] <week_value>")
def weekday_of_named_week(_: Context, weekday: int, week: Value) -> Value | None:
    """`Tuesday of next week`."""
    return _in_week(week, weekday)


english.union("plain_day", "<firm_day>", "<weekday_value>", "<week_day>", "<counted>")


@rule("day_of_month", "<ordinal>", "<day_figure>")
def day_of_month(_: Context, number: int) -> int | None:
    """A day's number in its month."""
    return number if 1 <= number <= 31 else None


@rule(
    "month_day",
    "<day_of_month> [day] [of|-|/|.|,] <month>",
    "the <day_of_month> [day] [of] <month>",
)
def day_and_month(_: Context, number: int, months: int) -> Value | Nothing:
    """`2nd of October`."""
    return month_day(months, number)


@rule("month_day", "<month> [-|/|,|.|the] <day_of_month>")
def month_and_day(_: Context, months: int, number: int) -> Value | Nothing:
    """`October 2nd`."""
    return month_day(months, number)


@rule("date", "<month_day> [,|of|in|-|/] <named_year>", "<month_day> , in|of <named_year>")
def with_year(_: Context, value: Value, of_year: Period) -> Value | Nothing:
    """`October 2nd, 2016`."""
    return within(value, of_year) or NOTHING


@rule("date", "<month_day> of <short_year>", "<month_day> [,] <marked_year>", "<slash_day> , <year>")
def with_short_year(_: Context, value: Value, of_year: int) -> Value | Nothing:
    """`2 October of 16`, `10/2, 2016`."""
    return within(value, year(of_year)) or NOTHING


def _in_order(order: str) -> Callable[[Context, int, int, int], Period | Nothing]:
    places = [order.index(field) for field in "ymd"]

    def build(_: Context, *fields: int) -> Period | Nothing:
        years, months, days = (fields[place] for place in places)
        try:
            return day(years, months, days)
        except ValueError:
            return NOTHING

    return build


rule("date", "<day_of_month> -|/ <month> -|/ <short_year>", when=glued)(_in_order("dmy"))
rule("date", "<month> -|/ <day_of_month> -|/ <short_year>", when=glued)(_in_order("mdy"))
rule("date", "<year> -|/ <month> -|/ <day_of_month>", "<year> [,] <month> [the] <day_of_month>")(_in_order("ymd"))
rule("date", "<year> -|/ <day_of_month> -|/ <month>", when=glued)(_in_order("ydm"))
rule("date", "<month> -|/ <year> -|/ <day_of_month>", when=glued)(_in_order("myd"))
rule("date", "<day_of_month> -|/ <year> -|/ <month>", when=glued)(_in_order("dym"))

english.union("date", "<full_date>", "<slash_day>", "<month_day>")


@rule("date", "this <month_day>", "this <slash_day>")
def date_of_this_year(context: Context, value: Value) -> Value | None:
    """`this 5 May`."""
    return within(value, holding(context.now, Unit.YEAR))


@rule("weekday_date", "<weekday> [,] [the] <date>", "<weekday> ( <date> )")
def weekday_and_date(context: Context, weekday: int, value: Value) -> Value:
    """`Friday, 2 October`: the weekday decides between the years where it can."""
    return on_weekday(value, weekday, context) or value


@rule("weekday_date", "<weekday> [,] <pair_day>")
def weekday_and_pair(context: Context, weekday: int, value: Value) -> Period | None:
    """`Friday 7-6`: a date if that is a Friday, else hours."""
    return on_weekday(value, weekday, context)


@rule("weekday_date", "<date> [,] [(] <weekday> [)]")
def date_and_weekday(context: Context, value: Value, weekday: int) -> Value | None:
    """`2 October, Friday`."""
    return weekday_and_date(context, weekday, value)


@rule("weekday_date", "this <weekday> [,] <slash_day>")
def this_weekday_and_date(context: Context, _: int, value: Value) -> Value | None:
    """`this Friday 10/2`."""
    return date_of_this_year(context, value)


@rule("weekday_date", "<relation> <weekday> [,] <date>")
def related_weekday_and_date(context: Context, _: int, weekday: int, value: Value) -> Value | None:
    """`next Friday, 2 October`."""
    return weekday_and_date(context, weekday, value)


@rule("weekday_date", "<weekday> [,] [the] <ordinal>")
def weekday_and_number(context: Context, weekday: int, number: int) -> Period | None:
    """`Friday the 2nd`: of the nearest month where that day is a Friday."""
    if number > 31:
        return None
    numbered = monthly(number)

    def pick(base: datetime) -> Period | None:
        found = numbered.pick(base)
        return found if found and found.start.weekday() == weekday else None

    return resolve(Recurring(Unit.MONTH, pick), replace(context, prefer="nearest"))


@rule("weekday_date", "<deictic> [,] [the] <date>")
def deictic_and_date(context: Context, _: int, value: Value) -> Value | None:
    """`tomorrow, 13/04/21`: the date is the firmer of the two."""
    return resolve(value, context)


english.union("dated", "<date>", "<weekday_date>")


@rule("numbered_day", "[the] <ordinal_figure>")
def numbered_day(_: Context, number: int) -> Recurring | None:
    """`the 2nd`."""
    return monthly(number) if 1 <= number <= 31 else None


@rule("numbered_day", "[the] <ordinal> [day] of|in <month_container>")
def numbered_day_of(_: Context, number: int, container: Value) -> Value | None:
    """`the 5th of next month`."""
    return within(monthly(number), container) if 1 <= number <= 31 else None
