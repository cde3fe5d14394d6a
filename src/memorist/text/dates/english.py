"""The English grammar of periods and days."""

from dataclasses import replace
from datetime import datetime

from memorist.text.dates import calendar, meanings, values
from memorist.text.dates.calendar import SUB_DAY, Period, Unit
from memorist.text.dates.grammar import SWAPPED, Builder
from memorist.text.dates.holidays import long_weekend
from memorist.text.dates.meanings import change_every, numbered_unit
from memorist.text.dates.numbers import day_or_nothing, month_day
from memorist.text.dates.terminals import english
from memorist.text.dates.values import Context, Recurring, Value, resolve, within
from memorist.text.dates.words import is_glued, nothing_follows

rule, union, words = english.rule, english.union, english.words
_NOT_CALENDAR_UNITS = SUB_DAY | {Unit.DAY, Unit.BUSINESS_DAY}


def relative_time(relation: int, value: Recurring, context: Context) -> Value | None:
    """`last May`, `next summer`, `two Fridays ago`, `the Monday after next`; `this Easter` is in this year."""
    if relation == 0:
        return within(value, calendar.unit_around(context.now, Unit.YEAR))
    return values.occurrence(value, relation, calendar.unit_around(context.now, Unit.DAY))


def if_unit(unit: Unit) -> Builder:
    """The meaning of a period that must be a certain unit: `next month`, `June`, `the month`."""

    def build(value: Value) -> Value | None:
        return value if isinstance(value, Recurring) or value.unit is unit else None

    return build


def around(unit: Unit) -> Builder:
    """The meaning of the unit that contains a day: `the week of the 18th`, `the weekend of 2 October`."""

    def build(value: Value) -> Value | None:
        return values.refine(value, lambda found: calendar.unit_around(found.start, unit))

    return build


def decade_or_century(number: int) -> Period | None:
    """`1990s`; but the 1800s are a century."""
    return calendar.decade(number) if number % 100 or number == 2000 else calendar.century(number // 100 + 1)


def decade_of_century(hundreds: int, tens: int) -> Period | None:
    """`nineteen nineties`."""
    return calendar.decade(100 * hundreds + tens) if 15 <= hundreds <= 20 else None


def related_unit(steps: int, unit: Unit, context: Context) -> Period | None:
    """`last week`, `next quarter`, `the week before last`."""
    return None if unit in _NOT_CALENDAR_UNITS else calendar.neighbour(context.now, unit, steps)


def this_unit(unit: Unit, context: Context) -> Period | None:
    """`the month`, if a part or a day of it is named."""
    return None if unit in SUB_DAY or unit is Unit.BUSINESS_DAY else calendar.unit_around(context.now, unit)


rule("named_year", calendar.year, "<year>", "[calendar] year [of] <year>", "cy <year>", "<marked_year>")
rule("named_year", meanings.related(Unit.YEAR), "<relation> [calendar] year")
rule("brief_year", calendar.year, "<short_year>")
rule("plain_year", calendar.year, "<year>")
rule("any_month", numbered_unit(Unit.MONTH), "<month>", "month of <month>")
union("month_value", "<any_month>")
rule("month_value", relative_time, "<relation> <any_month>")
rule(
    "month_value",
    numbered_unit(Unit.MONTH),
    "<month> [,|of|in|-|/] <named_year>",
    "month of <month> [,|of|in] <named_year>",
    "<month> of <brief_year>",
)
rule("month_value", numbered_unit(Unit.MONTH), "<named_year> [,|-|/] <month>", order=SWAPPED)
union("month_value", "<month_date>")
rule("month_container", if_unit(Unit.MONTH), "<month_value>", "<unit_period>", "the <this_unit>")
rule("quarter_number", meanings.up_to(4), "q <hour>", "<hour> q", when=is_glued)
rule("quarter_number", meanings.up_to(4), "<ordinal> quarter")
words("quarter_number", {"last|final quarter": 4})
union("half_number", "h <hour>", when=is_glued)
union("half_number", "<ordinal> half")
words("half_number", {"latter half": 2})
union("of_year", "[,|-|/|of|in] <named_year>")
rule("of_year", meanings.related(Unit.YEAR), "of|in the year")
rule("quarter", numbered_unit(Unit.QUARTER), "<quarter_number>", "<quarter_number> <of_year>")
rule("quarter", numbered_unit(Unit.QUARTER), "<named_year> [,|-|/|the] <quarter_number>", order=SWAPPED)
rule("quarter", numbered_unit(Unit.HALF), "<half_number> <of_year>")
rule("quarter", numbered_unit(Unit.HALF), "<named_year> [,|-|/] <half_number>", order=SWAPPED)
rule("any_season", meanings.any_season, "<season>")
union("season_value", "<any_season>")
rule("season_value", relative_time, "<relation> <any_season>")
rule("season_value", within, "<any_season> [,|of|in] <named_year>")
rule("decade", decade_or_century, "<year> s", "<year> ' s")
rule("decade", meanings.latest_decade, "<decade_word>")
rule("decade", meanings.latest_decade, "<two_figures> s", "' <two_figures> s", "<two_figures> ' s", when=is_glued)
rule("decade", decade_of_century, "<hour> <decade_word>")
rule("century", calendar.century, "<ordinal> [-] century")
union("holiday_value", "<holiday>")
rule("holiday_value", relative_time, "<relation> <holiday>")
rule("holiday_value", within, "<holiday> [,|of|in] <named_year>")
rule("weekend", change_every(long_weekend), "<holiday> weekend", "[the] weekend of <holiday_value>")
rule("holiday_weekend", change_every(long_weekend), "<holiday> weekend")
rule("weekend", within, "<holiday_weekend> [,|of|in] <named_year>")
rule("any_weekend", meanings.any_weekend, "weekend")
union("weekend", "the <any_weekend>")
words("coming", {"coming|upcoming": 1, "this coming|upcoming": 1})
rule("weekend", relative_time, "<coming> <any_weekend>")
rule("unit_period", related_unit, "<relation> <one_unit>")
words("beyond", {"before last": -2, "after next": 2})
rule("unit_period", related_unit, "[the] <one_unit> <beyond>", order=SWAPPED)
rule("this_unit", this_unit, "[the] <one_unit>")
_WEEK = "week|wk|cw [number|no|#] [.]"
rule(
    "week_number", numbered_unit(Unit.WEEK), f"{_WEEK} <hour>", f"{_WEEK} <day_figure>", f"{_WEEK} <integer> <of_year>"
)
rule("week_number", numbered_unit(Unit.WEEK), "<plain_year> - w <two_figures>", when=is_glued, order=SWAPPED)
union("container", "<named_year>", "<month_value>", "<quarter>", "<season_value>")
rule("half_value", change_every(calendar.half), "<half_number> of|in [the] <halved>", order=SWAPPED)
union("halved", "<named_year>", "<month_value>", "<quarter>", "<season_value>", "<decade>", "<century>")
union("container", "<half_value>", "<decade>", "<century>", "<weekend>", "<unit_period>")


def weekday_and_number(weekday: int, number: int, context: Context) -> Period | None:
    """`Friday the 2nd`: in the nearest month where that day is a Friday."""
    if number > 31:
        return None
    numbered = values.monthly(number)

    def pick(base: datetime) -> Period | None:
        found = numbered.pick(base)
        return found if found and found.start.weekday() == weekday else None

    return resolve(Recurring(Unit.MONTH, pick), replace(context, prefer="nearest"))


rule("any_weekday", values.weekly, "<weekday>")
union("weekday_value", "<any_weekday>")
words("this_week", {"this": 0, "next": 1})
rule("weekday_value", meanings.related_weekday, "<this_week> <weekday>")
rule("weekday_value", relative_time, "<relation> <any_weekday>")
words("last_or_next", {"last": -1, "next": 1})
rule("weekday_value", relative_time, "<any_weekday> <last_or_next>", when=nothing_follows, order=SWAPPED)
rule("deictic_day", meanings.related(Unit.DAY), "<deictic>")
union("nth", "<ordinal>")
words("nth", {"last|final": -1, "second_to_last|penultimate|last_but_one": -2})
_OF = ("of|in <container>", "of|in <this_unit>")
rule("counted", change_every(calendar.nth), *(f"<nth> <unit> {of}" for of in (*_OF, "<unit_period>")), order=(2, 1, 0))
rule("counted", change_every(calendar.nth_weekday), *(f"<nth> <weekday> {of}" for of in _OF), order=(2, 1, 0))
rule("counted", change_every(meanings.first_units), *(f"first <integer> <unit> {of}" for of in _OF), order=(1, 2, 0))
rule(
    "counted", change_every(meanings.last_units), *(f"last|final <integer> <unit> {of}" for of in _OF), order=(1, 2, 0)
)
union("firm_day", "<deictic_day>", "<dated>", "<holiday_value>", "<numbered_day>")
rule(
    "week_value",
    around(Unit.WEEK),
    "[the] week of|starting|beginning|commencing [on] <firm_day>",
    "w/c <firm_day>",
    "<holiday_value> week",
    "week containing|including <firm_day>",
)
rule("week_value", around(Unit.WEEKEND), "[the] weekend of <dated>", "[the] weekend of <numbered_day>")
rule("week_value", if_unit(Unit.WEEK), "<unit_period>", "<week_number>", "<counted>")
rule("week_day", change_every(meanings.weekday_in_week), "<week_value> [on|,] <weekday>", "<week_value> ' s <weekday>")
rule("week_day", change_every(meanings.weekday_in_week), "<weekday> [of|in|,] <week_value>", order=SWAPPED)
union("plain_day", "<firm_day>", "<weekday_value>", "<week_day>", "<counted>")
rule("day_of_month", meanings.up_to(31), "<ordinal>", "<day_figure>")
rule(
    "month_day",
    month_day,
    "<day_of_month> [day] [of|-|/|.|,] <month>",
    "the <day_of_month> [day] [of] <month>",
    order=SWAPPED,
)
rule("month_day", month_day, "<month> [-|/|,|.|the] <day_of_month>")
rule(
    "date",
    meanings.date_of_year,
    "<month_day> [,|of|in|-|/] <named_year>",
    "<month_day> , in|of <named_year>",
    "<month_day> of <brief_year>",
    "<slash_day> , <plain_year>",
)
rule("date", day_or_nothing, "<day_of_month> -|/ <month> -|/ <short_year>", when=is_glued, order=(2, 1, 0))
rule("date", day_or_nothing, "<month> -|/ <day_of_month> -|/ <short_year>", when=is_glued, order=(1, 2, 0))
rule("date", day_or_nothing, "<year> -|/ <month> -|/ <day_of_month>", "<year> [,] <month> [the] <day_of_month>")
rule("date", day_or_nothing, "<year> -|/ <day_of_month> -|/ <month>", when=is_glued, order=(0, 2, 1))
rule("date", day_or_nothing, "<month> -|/ <year> -|/ <day_of_month>", when=is_glued, order=(1, 0, 2))
rule("date", day_or_nothing, "<day_of_month> -|/ <year> -|/ <month>", when=is_glued, order=(2, 0, 1))
union("date", "<full_date>", "<slash_day>", "<month_day>")
rule("date", relative_time, "<relation> <month_day>", "<relation> <slash_day>")
rule("weekday_date", meanings.date_and_weekday, "<weekday> [,] [the] <date>", "<weekday> ( <date> )", order=SWAPPED)
rule("weekday_date", values.on_weekday, "<weekday> [,] <pair_day>", order=SWAPPED)
rule("weekday_date", meanings.date_and_weekday, "<date> [,] [(] <weekday> [)]")
words("this", {"this": 0})
rule("weekday_date", relative_time, "<this> <weekday> [,] <slash_day>", order=(0, None, 1))
rule("weekday_date", meanings.date_and_weekday, "<relation> <weekday> [,] <date>", order=(None, 1, 0))
rule("weekday_date", weekday_and_number, "<weekday> [,] [the] <ordinal>")
rule("weekday_date", resolve, "<deictic> [,] [the] <date>", order=(None, 0))
union("dated", "<date>", "<weekday_date>")
rule("any_numbered_day", meanings.any_numbered_day, "<ordinal>")
rule("numbered_day", meanings.any_numbered_day, "[the] <ordinal_figure>")
rule("numbered_day", within, "[the] <any_numbered_day> [day] of|in <month_container>")
rule("numbered_day", within, "<unit_period> [on|,] [the] <any_numbered_day>", order=SWAPPED)
union("recurring", "<any_weekday>", "<any_month>", "<any_season>", "<holiday>", "<month_day>", "<any_weekend>")
rule("dated", within, "<named_year> ' s <recurring>", order=SWAPPED)
