"""English days and weeks: weekdays, tomorrow, the first Monday of June, the week of the 2nd."""

from datetime import timedelta

from memorist.text.dates.calendar import (
    Period,
    Unit,
    holding,
    nth,
    nth_weekday,
    several,
    weekday_of_week,
)
from memorist.text.dates.english.atoms import english
from memorist.text.dates.values import (
    Context,
    Recurring,
    Value,
    earliest,
    latest,
    refine,
    weekly,
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
