"""English periods longer than a day: years, months, quarters, seasons, decades, weeks, holidays."""

from datetime import timedelta

from memorist.text.dates.calendar import (
    SUB_DAY,
    Period,
    Unit,
    century,
    decade,
    half,
    holding,
    latest_decade,
    month,
    neighbour,
    nth_week,
    quarter,
    season,
    year,
)
from memorist.text.dates.english.atoms import english
from memorist.text.dates.english.lexicon import glued
from memorist.text.dates.holidays import long_weekend
from memorist.text.dates.values import (
    NOTHING,
    Context,
    Nothing,
    Recurring,
    Value,
    earliest,
    latest,
    refine,
    within,
    yearly,
)

rule = english.rule
_NO_CALENDAR_UNITS = SUB_DAY | {Unit.DAY, Unit.BUSINESS_DAY}


def related(value: Recurring, relation: int, context: Context) -> Value | None:
    """The last, this year's or the next of what comes once a year; one going on is neither last nor next."""
    if relation == 0:
        return within(value, holding(context.now, Unit.YEAR))
    if relation > 0:
        return earliest(value, context.today + timedelta(days=1))
    found = latest(value, context.today)
    if found and found.end > context.today:
        found = latest(value, found.start - timedelta(days=1))
    return found


@rule("named_year", "<year>", "[calendar] year [of] <year>", "cy <year>", "<marked_year>")
def named_year(_: Context, number: int) -> Period:
    """`2016`, `the year 2016`, `'16`."""
    return year(number)


@rule("named_year", "<relation> [calendar] year")
def related_year(context: Context, relation: int) -> Period:
    """`last year`."""
    return neighbour(context.now, Unit.YEAR, relation)


@rule("month_value", "<month>", "month of <month>")
def any_month(_: Context, number: int) -> Recurring:
    """`October`."""
    return yearly(lambda years: month(years, number))


@rule("month_value", "<relation> <month>")
def related_month(context: Context, relation: int, number: int) -> Value | None:
    """`last May`."""
    return related(any_month(context, number), relation, context)


@rule(
    "month_value",
    "<month> [,|of|in|-|/] <named_year>",
    "month of <month> [,|of|in] <named_year>",
)
def month_of_year(_: Context, number: int, of_year: Period) -> Period:
    """`October 2016`, `May of next year`."""
    return month(of_year.start.year, number)


@rule("month_value", "<month> of <short_year>")
def month_of_short_year(_: Context, number: int, of_year: int) -> Period:
    """`April of 87`."""
    return month(of_year, number)


@rule("month_value", "<named_year> [,|-|/] <month>")
def year_and_month(_: Context, of_year: Period, number: int) -> Period:
    """`2016 October`, `last year October`."""
    return month(of_year.start.year, number)


english.union("month_value", "<month_date>")


@rule("month_container", "<month_value>", "<unit_period>", "the <this_unit>")
def month_container(_: Context, value: Value) -> Value | None:
    """A month whose days are counted: `next month`, `June`, `the month`."""
    return value if isinstance(value, Recurring) or value.unit is Unit.MONTH else None


english.union("quarter_number", "q <hour>", "<hour> q", when=glued)
english.union("quarter_number", "<ordinal> quarter")
english.words("quarter_number", {"last|final quarter": 4})
english.union("half_number", "h <hour>", when=glued)
english.union("half_number", "<ordinal> half")
english.words("half_number", {"latter half": 2})
english.union("of_year", "[,|-|/|of|in] <named_year>")


@rule("of_year", "of|in the year")
def of_this_year(context: Context) -> Period:
    """`of the year`."""
    return holding(context.now, Unit.YEAR)


@rule("quarter", "<quarter_number>")
def any_quarter(_: Context, number: int) -> Recurring | None:
    """`Q1`."""
    return yearly(lambda years: quarter(years, number)) if 1 <= number <= 4 else None


@rule("quarter", "<quarter_number> <of_year>")
def quarter_of_year(_: Context, number: int, of_year: Period) -> Period | None:
    """`Q1 2019`, `the last quarter of the year`."""
    return quarter(of_year.start.year, number)


@rule("quarter", "<named_year> [,|-|/|the] <quarter_number>")
def year_and_quarter(_: Context, of_year: Period, number: int) -> Period | None:
    """`2019-Q1`."""
    return quarter(of_year.start.year, number)


@rule("quarter", "<half_number> <of_year>")
def half_of_year(_: Context, number: int, of_year: Period) -> Period | None:
    """`the first half of 2019`."""
    return half(of_year.start.year, number)


@rule("quarter", "<named_year> [,|-|/] <half_number>")
def year_and_half(_: Context, of_year: Period, number: int) -> Period | None:
    """`2019 H1`."""
    return half(of_year.start.year, number)


@rule("season_value", "<season>")
def any_season(_: Context, first_month: int) -> Recurring:
    """`summer`."""
    return yearly(lambda years: season(years, first_month))


@rule("season_value", "<relation> <season>")
def related_season(context: Context, relation: int, first_month: int) -> Value | None:
    """`last winter`."""
    return related(any_season(context, first_month), relation, context)


@rule("season_value", "<season> [,|of|in] <named_year>")
def season_of_year(_: Context, first_month: int, of_year: Period) -> Period:
    """`summer of 2019`."""
    return season(of_year.start.year, first_month)


@rule("decade", "<year> s", "<year> ' s")
def decade_or_century(_: Context, number: int) -> Period | None:
    """`1990s`; but the 1800s are a century."""
    return decade(number) if number % 100 or number == 2000 else century(number // 100 + 1)


@rule("decade", "<decade_word>")
def short_decade(context: Context, tens: int) -> Period | None:
    """`the nineties`, `90s`."""
    return latest_decade(tens, context.now)


rule("decade", "<two_figures> s", "' <two_figures> s", "<two_figures> ' s", when=glued)(short_decade)


@rule("decade", "<hour> <decade_word>")
def decade_of_century(_: Context, hundreds: int, tens: int) -> Period | None:
    """`nineteen nineties`."""
    return decade(100 * hundreds + tens) if 15 <= hundreds <= 20 else None


@rule("century", "<ordinal> [-] century")
def numbered_century(_: Context, number: int) -> Period:
    """`21st century`."""
    return century(number)


english.union("holiday_value", "<holiday>")


@rule("holiday_value", "<relation> <holiday>")
def related_holiday(context: Context, relation: int, value: Recurring) -> Value | None:
    """`last Christmas`."""
    return related(value, relation, context)


@rule("holiday_value", "<holiday> [,|of|in] <named_year>")
def holiday_of_year(_: Context, value: Recurring, of_year: Period) -> Value | None:
    """`Thanksgiving 2023`."""
    return within(value, of_year)


@rule("weekend", "<holiday> weekend", "[the] weekend of <holiday_value>")
def holiday_weekend(_: Context, value: Value) -> Value | None:
    """`Halloween weekend`."""
    return refine(value, long_weekend)


@rule("weekend", "<holiday> weekend [,|of|in] <named_year>")
def holiday_weekend_of_year(_: Context, value: Recurring, of_year: Period) -> Value | None:
    """`Halloween weekend 2021`."""
    found = within(value, of_year)
    return refine(found, long_weekend) if found else None


@rule("weekend", "the weekend")
def the_weekend(_: Context) -> Recurring:
    """`at the weekend`."""
    return Recurring(Unit.WEEK, lambda base: holding(base, Unit.WEEKEND))


@rule("unit_period", "<relation> <one_unit>")
def related_unit(context: Context, relation: int, unit: Unit) -> Period | Nothing | None:
    """`last week`, `next quarter`."""
    if unit is Unit.DAY:
        return NOTHING  # "the next day" is counted from the story, not from today
    return None if unit in _NO_CALENDAR_UNITS else neighbour(context.now, unit, relation)


english.words("beyond", {"before last": -2, "after next": 2})


@rule("unit_period", "[the] <one_unit> <beyond>")
def beyond_unit(context: Context, unit: Unit, steps: int) -> Period | None:
    """`the week before last`."""
    return None if unit in _NO_CALENDAR_UNITS else neighbour(context.now, unit, steps)


@rule("this_unit", "[the] <one_unit>")
def this_unit(context: Context, unit: Unit) -> Period | None:
    """`the month`, where a part or a day of it is named."""
    return None if unit in SUB_DAY or unit is Unit.BUSINESS_DAY else holding(context.now, unit)


@rule("week_number", "week|wk|cw [number|no|#] [.] <hour>", "week|wk|cw [number|no|#] [.] <day_figure>")
def week_number(_: Context, number: int) -> Recurring:
    """`week 10`."""
    return yearly(lambda years: nth_week(year(years), number))


@rule("week_number", "week|wk|cw [number|no|#] [.] <integer> <of_year>")
def week_of_year(_: Context, number: int, of_year: Period) -> Period | None:
    """`week 10 of 2019`."""
    return nth_week(of_year, number)


@rule("week_number", "<year> - w <two_figures>", when=glued)
def iso_week(_: Context, of_year: int, number: int) -> Period | None:
    """`2019-W10`."""
    return nth_week(year(of_year), number)


english.union(
    "container",
    "<named_year>",
    "<month_value>",
    "<quarter>",
    "<season_value>",
    "<decade>",
    "<century>",
    "<weekend>",
    "<unit_period>",
)
