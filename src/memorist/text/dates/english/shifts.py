"""English: shifts such as `three days ago`, and what counts as a date."""

from datetime import timedelta

from memorist.text.dates.calendar import SUB_DAY, Period, Unit, holding, neighbour
from memorist.text.dates.english.atoms import english
from memorist.text.dates.english.lexicon import PLURAL_WEEKDAYS, WEEKDAYS, at_end, clear, clear_range, free_pair
from memorist.text.dates.grammar import free_after
from memorist.text.dates.values import (
    NOTHING,
    Amount,
    Context,
    Recurring,
    Value,
    before,
    coming,
    earliest,
    from_day,
    from_now,
    latest,
    monthly,
    refine,
    resolve,
    rolling,
    weekly,
)

rule = english.rule


@rule("simple_amount", "<number> <unit>", "<quantity> <unit>")
def simple_amount(_: Context, count: float, unit: Unit) -> Amount | None:
    """`three days`."""
    return None if unit is Unit.WEEKEND else ((count, unit),)


@rule(
    "simple_amount",
    "<number> and a half <unit>",
    "<number> <unit> and a half",
    "<quantity> <unit> and a half",
)
def and_a_half(_: Context, count: float, unit: Unit) -> Amount:
    """`one and a half years`, `a year and a half`."""
    return ((count + 0.5, unit),)


english.union("amount", "<simple_amount>")


@rule("amount", "<simple_amount> [,|and] <simple_amount>")
def two_amounts(_: Context, one: Amount, other: Amount) -> Amount:
    """`two years and three months`."""
    return one + other


@rule("shifted", "<amount> ago|back", "<amount> before now", "<amount> prior to now")
def ago(context: Context, distance: Amount) -> Period:
    """`three days ago`."""
    return from_now(distance, context, -1)


@rule("shifted", "in <amount>", "in <amount> ' [s] time", "<amount> from|after now", "<amount> hence")
def ahead(context: Context, distance: Amount) -> Period | None:
    """`in two weeks`."""
    vague = distance == ((1, Unit.SECOND),)  # "in a second" is no date
    return None if vague else from_now(distance, context, 1)


@rule("window", "<number> -|to|or <number> <unit> ago|back")
def between_ago(context: Context, first: float, last: float, unit: Unit) -> Period | None:
    """`four or five months ago`."""
    begin, finish = from_now(((last, unit),), context, -1), from_now(((first, unit),), context, -1)
    return Period(begin.start, finish.end, unit) if begin.start < finish.end else None


@rule("window", "in <number> -|to|or <number> <unit>")
def between_ahead(context: Context, first: float, last: float, unit: Unit) -> Period | None:
    """`in two or three weeks`."""
    begin, finish = from_now(((first, unit),), context, 1), from_now(((last, unit),), context, 1)
    return Period(begin.start, finish.end, unit) if begin.start < finish.end else None


english.union("anchor", "<plain_day>", "<container>")


@rule("shifted", "[in] <amount> after|from|following [the] <anchor>")
def after_anchor(context: Context, distance: Amount, value: Value) -> Period | None:
    """`two weeks after Easter`."""
    found = resolve(value, context)
    return from_day(found, distance, 1) if found else None


@rule("shifted", "<amount> before [the] <anchor>", "<amount> prior to [the] <anchor>")
def before_anchor(context: Context, distance: Amount, value: Value) -> Period | None:
    """`two days before yesterday`."""
    found = resolve(value, context)
    return from_day(found, distance, -1) if found else None


english.words("side", {"before": -1, "after|following": 1})


@rule("shifted", "the <one_unit> <side> [the] <anchor>")
def unit_beside(context: Context, unit: Unit, side: int, value: Value) -> Period | None:
    """`the week before 9 June`."""
    found = resolve(value, context)
    return neighbour(found.start, unit, side) if found and unit not in SUB_DAY else None


@rule("shifted", "the <weekday> <side> [the] <anchor>")
def weekday_beside(context: Context, weekday: int, side: int, value: Value) -> Period | None:
    """`the Friday before 15 July`."""
    found = resolve(value, context)
    if found is None:
        return None
    if side < 0:
        return latest(weekly(weekday), found.start - timedelta(days=1))
    return earliest(weekly(weekday), found.end)


@rule("shifted_weekday", "<shifted> [,] on <weekday>")
def shifted_to_weekday(_: Context, value: Value, weekday: int) -> Value | None:
    """`two months from today on Tuesday`: the first one from then on."""
    return refine(value, lambda found: earliest(weekly(weekday), found.start))


@rule("shifted_weekday", "<weekday> [,] <shifted>")
def weekday_shifted(context: Context, weekday: int, value: Value) -> Value | None:
    """`Tuesday, two months from today`."""
    return shifted_to_weekday(context, value, weekday)


@rule("shifted_weekday", "a week on|from|after <weekday>", "<weekday> week")
def weekday_in_a_week(context: Context, weekday: int) -> Period | None:
    """`a week on Tuesday`."""
    found = earliest(weekly(weekday), context.today + timedelta(days=1))
    return holding(found.start + timedelta(days=7), Unit.DAY) if found else None


english.words("weekdays", PLURAL_WEEKDAYS | WEEKDAYS)


@rule("shifted_weekday", "<integer> <weekdays> ago|back")
def weekdays_ago(context: Context, count: int, weekday: int) -> Period | None:
    """`two Fridays ago`."""
    found = latest(weekly(weekday), context.today - timedelta(days=1))
    return holding(found.start - timedelta(weeks=count - 1), Unit.DAY) if found else None


@rule("shifted_weekday", "<integer> <weekdays> from now|today", "in <integer> <weekdays>")
def weekdays_ahead(context: Context, count: int, weekday: int) -> Period | None:
    """`two Fridays from now`."""
    found = earliest(weekly(weekday), context.today + timedelta(days=1))
    return holding(found.start + timedelta(weeks=count - 1), Unit.DAY) if found else None


@rule("window", "<relation> <simple_amount>")
def window(context: Context, relation: int, distance: Amount) -> Period | None:
    """`the past two months`."""
    count, unit = distance[0]
    return rolling(relation * count, unit, context) if relation else None


@rule("window", "<number> <relation> <unit>", "<quantity> <relation> <unit>")
def counted_window(context: Context, count: float, relation: int, unit: Unit) -> Period | None:
    """`two upcoming months`."""
    return rolling(relation * count, unit, context) if relation and count > 1 else None


@rule("window", "past <one_unit>")
def past_unit(context: Context, unit: Unit) -> Period | None:
    """`the past week`: counted back from today, unlike last week."""
    return rolling(-1, unit, context) if unit in (Unit.WEEK, Unit.MONTH, Unit.YEAR) else None


@rule("window", "<relation> <one_unit>")
def unit_of_the_clock(context: Context, relation: int, unit: Unit) -> Period | None:
    """`the last hour`."""
    return rolling(relation, unit, context) if unit in SUB_DAY and relation else None


@rule("window", "within [the] [next|coming|following] <amount>", "less than <amount> from now|today")
def within_amount(context: Context, distance: Amount) -> Period:
    """`within two weeks`: from now on."""
    return coming(distance, context)


@rule("window", "within [the] past|last|previous <amount>", "less than <amount> ago")
def within_past(context: Context, distance: Amount) -> Period:
    """`within the past two weeks`."""
    count, unit = distance[0]
    return rolling(-count, unit, context)


@rule("window", "more than <amount> ago", "over <amount> ago")
def more_than_ago(context: Context, distance: Amount) -> Period:
    """`more than two weeks ago`."""
    return before(ago(context, distance))


_NO_DATES = ("weekends", "weekdays", "up-to-date", "up to date", "out of date", "day after day")
english.words("no_date", dict.fromkeys((*PLURAL_WEEKDAYS, *_NO_DATES), NOTHING))
english.ignore(
    "no_date",
    "every|each|any [other] <moment>",
    "every|each|any [other] <unit>",
    "every|each|any <ordinal> <unit>",
    "every|each|any <amount>",
    "every|each|any <day_part>",
    "every|each|any <weekday> [, <weekday>] [, <weekday>] [,] and|or|& <weekday> [[at] <settled_clock>]",
    "<weekday> mornings|afternoons|evenings|nights",
    "<number> weekends",
    "<number> <unit> a|per <unit>",
)


@rule("lone_number", "on <two_figures>", "on the <day_figure>", when=at_end)
def lone_number(_: Context, number: int) -> Recurring | None:
    """`on the 15`."""
    return monthly(number) if 1 <= number <= 31 else None


english.union("expression", "<interval>", when=free_after)
english.union("expression", "<moment>", when=clear)
english.union("expression", "<span>", when=clear_range)
english.union("expression", "for the <this_unit>", when=at_end)
english.union("expression", "<lone_number>", when=free_after)
english.union("expression", "on|in <pair_day>", when=free_pair)
english.union("expression", "<no_date>")
