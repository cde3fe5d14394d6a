"""The English grammar of periods and days."""

from dataclasses import replace
from datetime import datetime, timedelta

from memorist.text.dates import meanings
from memorist.text.dates.calendar import (
    SUB_DAY,
    Period,
    Unit,
    century,
    day,
    decade,
    holding,
    neighbour,
    nth_week,
)
from memorist.text.dates.grammar import SWAPPED
from memorist.text.dates.holidays import long_weekend
from memorist.text.dates.terminals import english
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
from memorist.text.dates.words import glued

rule, union, words = english.rule, english.union, english.words
_NOT_CALENDAR_UNITS = SUB_DAY | {Unit.DAY, Unit.BUSINESS_DAY}


def related(context: Context, relation: int, value: Recurring) -> Value | None:
    """`last May`, `this Easter`, `next summer`; a period that includes today is neither last nor next."""
    if relation == 0:
        return within(value, holding(context.now, Unit.YEAR))
    if relation > 0:
        return earliest(value, context.today + timedelta(days=1))
    found = latest(value, context.today)
    if found and found.end > context.today:
        found = latest(value, found.start - timedelta(days=1))
    return found


def this_year(context: Context) -> Period:
    """`of the year`."""
    return holding(context.now, Unit.YEAR)


def month_container(_: Context, value: Value) -> Value | None:
    """A month whose days are counted: `next month`, `June`, `the month`."""
    return value if isinstance(value, Recurring) or value.unit is Unit.MONTH else None


def decade_or_century(_: Context, number: int) -> Period | None:
    """`1990s`; but the 1800s are a century."""
    return decade(number) if number % 100 or number == 2000 else century(number // 100 + 1)


def decade_of_century(_: Context, hundreds: int, tens: int) -> Period | None:
    """`nineteen nineties`."""
    return decade(100 * hundreds + tens) if 15 <= hundreds <= 20 else None


def holiday_weekend(_: Context, value: Value, of_year: Period | None = None) -> Value | None:
    """`Halloween weekend`, `Halloween weekend 2021`."""
    found = within(value, of_year) if of_year else value
    return refine(found, long_weekend) if found else None


def related_unit(context: Context, relation: int, unit: Unit) -> Period | Nothing | None:
    """`last week`, `next quarter`."""
    if unit is Unit.DAY:
        return NOTHING  # "the next day" is relative to the story, not to today
    return None if unit in _NOT_CALENDAR_UNITS else neighbour(context.now, unit, relation)


def beyond_unit(context: Context, unit: Unit, steps: int) -> Period | None:
    """`the week before last`."""
    return None if unit in _NOT_CALENDAR_UNITS else neighbour(context.now, unit, steps)


def this_unit(context: Context, unit: Unit) -> Period | None:
    """`the month`, if a part or a day of it is named."""
    return None if unit in SUB_DAY or unit is Unit.BUSINESS_DAY else holding(context.now, unit)


def week_of_year(_: Context, of_year: Period, number: int) -> Period | None:
    """`week 10 of 2019`, `2019-W10`."""
    return nth_week(of_year, number)


rule("named_year", meanings.numbered_year, "<year>", "[calendar] year [of] <year>", "cy <year>", "<marked_year>")
rule("named_year", meanings.related_year, "<relation> [calendar] year")
rule("brief_year", meanings.numbered_year, "<short_year>")
rule("plain_year", meanings.numbered_year, "<year>")
rule("any_month", meanings.any_month, "<month>", "month of <month>")
union("month_value", "<any_month>")
rule("month_value", related, "<relation> <any_month>")
rule(
    "month_value",
    meanings.month_of_year,
    "<month> [,|of|in|-|/] <named_year>",
    "month of <month> [,|of|in] <named_year>",
    "<month> of <brief_year>",
    order=SWAPPED,
)
rule("month_value", meanings.month_of_year, "<named_year> [,|-|/] <month>")
union("month_value", "<month_date>")
rule("month_container", month_container, "<month_value>", "<unit_period>", "the <this_unit>")
union("quarter_number", "q <hour>", "<hour> q", when=glued)
union("quarter_number", "<ordinal> quarter")
words("quarter_number", {"last|final quarter": 4})
union("half_number", "h <hour>", when=glued)
union("half_number", "<ordinal> half")
words("half_number", {"latter half": 2})
union("of_year", "[,|-|/|of|in] <named_year>")
rule("of_year", this_year, "of|in the year")
rule("quarter", meanings.any_quarter, "<quarter_number>")
rule("quarter", meanings.quarter_of_year, "<quarter_number> <of_year>", order=SWAPPED)
rule("quarter", meanings.quarter_of_year, "<named_year> [,|-|/|the] <quarter_number>")
rule("quarter", meanings.half_of_year, "<half_number> <of_year>", order=SWAPPED)
rule("quarter", meanings.half_of_year, "<named_year> [,|-|/] <half_number>")
rule("any_season", meanings.any_season, "<season>")
union("season_value", "<any_season>")
rule("season_value", related, "<relation> <any_season>")
rule("season_value", meanings.season_of_year, "<season> [,|of|in] <named_year>", order=SWAPPED)
rule("decade", decade_or_century, "<year> s", "<year> ' s")
rule("decade", meanings.short_decade, "<decade_word>")
rule("decade", meanings.short_decade, "<two_figures> s", "' <two_figures> s", "<two_figures> ' s", when=glued)
rule("decade", decade_of_century, "<hour> <decade_word>")
rule("century", meanings.numbered_century, "<ordinal> [-] century")
union("holiday_value", "<holiday>")
rule("holiday_value", related, "<relation> <holiday>")
rule("holiday_value", meanings.in_year, "<holiday> [,|of|in] <named_year>", order=SWAPPED)
rule("weekend", holiday_weekend, "<holiday> weekend", "[the] weekend of <holiday_value>")
rule("weekend", holiday_weekend, "<holiday> weekend [,|of|in] <named_year>")
rule("weekend", meanings.any_weekend, "the weekend")
rule("unit_period", related_unit, "<relation> <one_unit>")
words("beyond", {"before last": -2, "after next": 2})
rule("unit_period", beyond_unit, "[the] <one_unit> <beyond>")
rule("this_unit", this_unit, "[the] <one_unit>")
_WEEK = "week|wk|cw [number|no|#] [.]"
rule("week_number", meanings.any_week, f"{_WEEK} <hour>", f"{_WEEK} <day_figure>")
rule("week_number", week_of_year, f"{_WEEK} <integer> <of_year>", order=SWAPPED)
rule("week_number", week_of_year, "<plain_year> - w <two_figures>", when=glued)
union("container", "<named_year>", "<month_value>", "<quarter>", "<season_value>")
union("container", "<decade>", "<century>", "<weekend>", "<unit_period>")


def last_weekday(context: Context, number: int) -> Period | None:
    """`last Friday`: the last one before today."""
    return latest(weekly(number), context.today - timedelta(days=1))


def coming_weekday(context: Context, number: int) -> Period | None:
    """`this coming Friday`: the first one after today."""
    return earliest(weekly(number), context.today + timedelta(days=1))


def week_of(_: Context, value: Value) -> Value | None:
    """`the week of the 18th`."""
    return refine(value, lambda found: holding(found.start, Unit.WEEK))


def weekend_of(_: Context, value: Value) -> Value | None:
    """`the weekend of 2 October`."""
    return refine(value, lambda found: holding(found.start, Unit.WEEKEND))


def week_by_name(_: Context, value: Value) -> Value | None:
    """`next week`, `week 10`, `the first week of October`."""
    return value if isinstance(value, Recurring) or value.unit is Unit.WEEK else None


def full_date(_: Context, years: int, months: int, days: int) -> Period | Nothing:
    """`2/Oct/16`."""
    try:
        return day(years, months, days)
    except ValueError:
        return NOTHING


def date_of_this_year(context: Context, value: Value) -> Value | None:
    """`this 5 May`."""
    return within(value, holding(context.now, Unit.YEAR))


def weekday_and_pair(context: Context, weekday: int, value: Value) -> Period | None:
    """`Friday 7-6`: a date if that is a Friday, otherwise hours."""
    return on_weekday(value, weekday, context)


def weekday_and_number(context: Context, weekday: int, number: int) -> Period | None:
    """`Friday the 2nd`: in the nearest month where that day is a Friday."""
    if number > 31:
        return None
    numbered = monthly(number)

    def pick(base: datetime) -> Period | None:
        found = numbered.pick(base)
        return found if found and found.start.weekday() == weekday else None

    return resolve(Recurring(Unit.MONTH, pick), replace(context, prefer="nearest"))


def exact_date(context: Context, value: Value) -> Value | None:
    """`tomorrow, 13/04/21`: the date is the more precise of the two."""
    return resolve(value, context)


def numbered_day_of(_: Context, number: int, container: Value) -> Value | None:
    """`the 5th of next month`."""
    return within(monthly(number), container) if 1 <= number <= 31 else None


rule("weekday_value", meanings.any_weekday, "<weekday>")
rule("weekday_value", last_weekday, "[this] past <weekday>", "last|previous|prior <weekday>")
rule("weekday_value", coming_weekday, "[this] coming|upcoming <weekday>", "following <weekday>")
words("this_week", {"this": 0, "next": 1})
rule("weekday_value", meanings.related_weekday, "<this_week> <weekday>")
rule("deictic_day", meanings.related_day, "<deictic>")
union("nth", "<ordinal>")
words("nth", {"last|final": -1})
_OF = ("of|in <container>", "of|in <this_unit>")
rule("counted", meanings.nth_unit, *(f"<nth> <unit> {of}" for of in (*_OF, "<unit_period>")), order=(1, 2, 0))
rule("counted", meanings.nth_weekday_of, *(f"<nth> <weekday> {of}" for of in _OF), order=(1, 2, 0))
rule("counted", meanings.first_units, *(f"first <integer> <unit> {of}" for of in _OF), order=(1, 2, 0))
rule("counted", meanings.last_units, *(f"last|final <integer> <unit> {of}" for of in _OF), order=(1, 2, 0))
union("firm_day", "<deictic_day>", "<dated>", "<holiday_value>", "<numbered_day>")
rule(
    "week_value",
    week_of,
    "[the] week of|starting|beginning|commencing [on] <firm_day>",
    "w/c <firm_day>",
    "week containing|including <firm_day>",
)
rule("week_value", weekend_of, "[the] weekend of <dated>", "[the] weekend of <numbered_day>")
rule("week_value", week_by_name, "<unit_period>", "<week_number>", "<counted>")
rule("week_day", meanings.weekday_in_week, "<week_value> [on|,] <weekday>")
rule("week_day", meanings.weekday_in_week, "<weekday> [of|in|,] <week_value>", order=SWAPPED)
union("plain_day", "<firm_day>", "<weekday_value>", "<week_day>", "<counted>")
rule("day_of_month", meanings.day_number, "<ordinal>", "<day_figure>")
rule(
    "month_day",
    meanings.month_and_day,
    "<day_of_month> [day] [of|-|/|.|,] <month>",
    "the <day_of_month> [day] [of] <month>",
    order=SWAPPED,
)
rule("month_day", meanings.month_and_day, "<month> [-|/|,|.|the] <day_of_month>")
rule(
    "date",
    meanings.date_of_year,
    "<month_day> [,|of|in|-|/] <named_year>",
    "<month_day> , in|of <named_year>",
    "<month_day> of <brief_year>",
    "<slash_day> , <plain_year>",
    order=SWAPPED,
)
rule("date", full_date, "<day_of_month> -|/ <month> -|/ <short_year>", when=glued, order=(2, 1, 0))
rule("date", full_date, "<month> -|/ <day_of_month> -|/ <short_year>", when=glued, order=(1, 2, 0))
rule("date", full_date, "<year> -|/ <month> -|/ <day_of_month>", "<year> [,] <month> [the] <day_of_month>")
rule("date", full_date, "<year> -|/ <day_of_month> -|/ <month>", when=glued, order=(0, 2, 1))
rule("date", full_date, "<month> -|/ <year> -|/ <day_of_month>", when=glued, order=(1, 0, 2))
rule("date", full_date, "<day_of_month> -|/ <year> -|/ <month>", when=glued, order=(2, 0, 1))
union("date", "<full_date>", "<slash_day>", "<month_day>")
rule("date", date_of_this_year, "this <month_day>", "this <slash_day>")
rule("weekday_date", meanings.date_and_weekday, "<weekday> [,] [the] <date>", "<weekday> ( <date> )", order=SWAPPED)
rule("weekday_date", weekday_and_pair, "<weekday> [,] <pair_day>")
rule("weekday_date", meanings.date_and_weekday, "<date> [,] [(] <weekday> [)]")
rule("weekday_date", date_of_this_year, "this <weekday> [,] <slash_day>", order=(None, 0))
rule("weekday_date", meanings.date_and_weekday, "<relation> <weekday> [,] <date>", order=(None, 1, 0))
rule("weekday_date", weekday_and_number, "<weekday> [,] [the] <ordinal>")
rule("weekday_date", exact_date, "<deictic> [,] [the] <date>", order=(None, 0))
union("dated", "<date>", "<weekday_date>")
rule("numbered_day", meanings.any_numbered_day, "[the] <ordinal_figure>")
rule("numbered_day", numbered_day_of, "[the] <ordinal> [day] of|in <month_container>")
