"""The English grammar of shifts (`three days ago`), ranges (`from May to July`) and whole expressions."""

from collections.abc import Callable
from datetime import datetime, timedelta

from memorist.text.dates import meanings
from memorist.text.dates.calendar import SUB_DAY, Period, Unit, holding, midnight, neighbour
from memorist.text.dates.english_times import english
from memorist.text.dates.grammar import free_after
from memorist.text.dates.numbers import month_day
from memorist.text.dates.values import (
    NOTHING,
    Amount,
    Context,
    Nothing,
    Value,
    after,
    before,
    between,
    earliest,
    from_now,
    latest,
    monthly,
    move,
    refine,
    resolve,
    rolling,
    since,
    through,
    weekly,
    within,
)
from memorist.text.dates.words import (
    PLURAL_WEEKDAYS,
    WEEKDAYS,
    free_pair,
    is_english_date,
    is_english_range,
    is_limit,
    nothing_follows,
    to_this_day,
)

rule, union, words = english.rule, english.union, english.words


def two_amounts(_: Context, one: Amount, other: Amount) -> Amount:
    """`two years and three months`."""
    return one + other


def ahead_if_definite(context: Context, distance: Amount) -> Period | None:
    """`in two weeks`; but `in a second` is not a date."""
    return None if distance == ((1, Unit.SECOND),) else meanings.ahead(context, distance)


def between_ago(context: Context, first: float, last: float, unit: Unit) -> Period | None:
    """`four or five months ago`."""
    begin, finish = from_now(((last, unit),), context, -1), from_now(((first, unit),), context, -1)
    return Period(begin.start, finish.end, unit) if begin.start < finish.end else None


def between_ahead(context: Context, first: float, last: float, unit: Unit) -> Period | None:
    """`in two or three weeks`."""
    begin, finish = from_now(((first, unit),), context, 1), from_now(((last, unit),), context, 1)
    return Period(begin.start, finish.end, unit) if begin.start < finish.end else None


def unit_beside(context: Context, unit: Unit, side: int, value: Value) -> Period | None:
    """`the week before 9 June`."""
    found = resolve(value, context)
    return neighbour(found.start, unit, side) if found and unit not in SUB_DAY else None


def weekday_beside(context: Context, weekday: int, side: int, value: Value) -> Period | None:
    """`the Friday before 15 July`."""
    found = resolve(value, context)
    if found is None:
        return None
    if side < 0:
        return latest(weekly(weekday), found.start - timedelta(days=1))
    return earliest(weekly(weekday), found.end)


def shifted_to_weekday(_: Context, value: Value, weekday: int) -> Value | None:
    """`two months from today on Tuesday`: the first one from then on."""
    return refine(value, lambda found: earliest(weekly(weekday), found.start))


def weekday_in_a_week(context: Context, weekday: int) -> Period | None:
    """`a week on Tuesday`."""
    return weekdays_ahead(context, 2, weekday)


def weekdays_ago(context: Context, count: int, weekday: int) -> Period | None:
    """`two Fridays ago`."""
    found = latest(weekly(weekday), context.today - timedelta(days=1))
    return holding(found.start - timedelta(weeks=count - 1), Unit.DAY) if found else None


def weekdays_ahead(context: Context, count: int, weekday: int) -> Period | None:
    """`two Fridays from now`."""
    found = earliest(weekly(weekday), context.today + timedelta(days=1))
    return holding(found.start + timedelta(weeks=count - 1), Unit.DAY) if found else None


def window(context: Context, relation: int, distance: Amount) -> Period | None:
    """`the past two months`."""
    count, unit = distance[0]
    return rolling(relation * count, unit, context) if relation else None


def counted_window(context: Context, count: float, relation: int, unit: Unit) -> Period | None:
    """`two upcoming months`."""
    return rolling(relation * count, unit, context) if relation and count > 1 else None


def past_unit(context: Context, unit: Unit) -> Period | None:
    """`the past week`: counted back from today, unlike last week."""
    return rolling(-1, unit, context) if unit in (Unit.WEEK, Unit.MONTH, Unit.YEAR) else None


def unit_of_the_clock(context: Context, relation: int, unit: Unit) -> Period | None:
    """`the last hour`."""
    return rolling(relation, unit, context) if unit in SUB_DAY and relation else None


def more_than_ago(context: Context, distance: Amount) -> Period:
    """`more than two weeks ago`."""
    return before(meanings.ago(context, distance), context)


rule("simple_amount", meanings.simple_amount, "<number> <unit>", "<quantity> <unit>")
rule(
    "simple_amount",
    meanings.and_a_half,
    "<number> and a half <unit>",
    "<number> <unit> and a half",
    "<quantity> <unit> and a half",
)
union("amount", "<simple_amount>")
rule("amount", two_amounts, "<simple_amount> [,|and] <simple_amount>")
rule("shifted", meanings.ago, "<amount> ago|back", "<amount> before now", "<amount> prior to now")
rule("shifted", ahead_if_definite, "in <amount>", "in <amount> ' [s] time", "<amount> from|after now", "<amount> hence")
rule("window", between_ago, "<number> -|to|or <number> <unit> ago|back")
rule("window", between_ahead, "in <number> -|to|or <number> <unit>")
union("anchor", "<plain_day>", "<container>")
rule("shifted", meanings.after_anchor, "[in] <amount> after|from|following [the] <anchor>")
rule("shifted", meanings.before_anchor, "<amount> before [the] <anchor>", "<amount> prior to [the] <anchor>")
words("side", {"before": -1, "after|following": 1})
rule("shifted", unit_beside, "the <one_unit> <side> [the] <anchor>")
rule("shifted", weekday_beside, "the <weekday> <side> [the] <anchor>")
rule("shifted_weekday", shifted_to_weekday, "<shifted> [,] on <weekday>")
rule("shifted_weekday", shifted_to_weekday, "<weekday> [,] <shifted>", order=(1, 0))
rule("shifted_weekday", weekday_in_a_week, "a week on|from|after <weekday>", "<weekday> week")
words("weekdays", PLURAL_WEEKDAYS | WEEKDAYS)
rule("shifted_weekday", weekdays_ago, "<integer> <weekdays> ago|back")
rule("shifted_weekday", weekdays_ahead, "<integer> <weekdays> from now|today", "in <integer> <weekdays>")
rule("window", window, "<relation> <simple_amount>")
rule("window", counted_window, "<number> <relation> <unit>", "<quantity> <relation> <unit>")
rule("window", past_unit, "past <one_unit>")
rule("window", unit_of_the_clock, "<relation> <one_unit>")
rule(
    "window",
    meanings.within_amount,
    "within [the] [next|coming|following] <amount>",
    "less than <amount> from now|today",
)
rule("window", meanings.past_window, "within [the] past|last|previous <amount>", "less than <amount> ago")
rule("window", more_than_ago, "more than <amount> ago", "over <amount> ago")


def _instant(where: Callable[[Period], datetime]) -> meanings.Change:
    def change(period: Period, _: Context) -> Period:
        return Period(where(period), where(period), Unit.INSTANT)

    return change


def two_days_of_month(
    context: Context, months: int, first: int, last: int, of_year: Period | None = None
) -> Period | None:
    """`November 18-19`, `November 18-19, 2015`."""
    begin = month_day(months, first)
    if isinstance(begin, Nothing):
        return None
    found = within(begin, of_year) if of_year else begin
    return between(found, monthly(last), context) if found else None


def two_days_and_month(context: Context, first: int, last: Value) -> Period | None:
    """`between 3 and 12 September`."""
    return between(monthly(first), last, context)


def two_days_of_container(context: Context, first: int, last: int, container: Value) -> Period | None:
    """`from 4 to 22 next month`."""
    begin, finish = within(monthly(first), container), within(monthly(last), container)
    return between(begin, finish, context) if begin and finish else None


def amount_from(context: Context, distance: Amount, value: Value) -> Period | None:
    """`for three days from today`."""
    found = resolve(value, context)
    return Period(found.start, move(found.start, distance), Unit.DAY) if found else None


def amount_up_to(context: Context, distance: Amount, value: Value) -> Period | None:
    """`less than three days before Easter`."""
    found = resolve(value, context)
    return Period(move(found.start, distance, -1), found.start, Unit.DAY) if found else None


def more_than_before(context: Context, distance: Amount, value: Value) -> Period | None:
    """`more than two days before yesterday`."""
    edge = meanings.before_anchor(context, distance, value)
    return before(edge, context) if edge else None


def more_than_after(context: Context, distance: Amount, value: Value) -> Period | None:
    """`more than two days after Easter`."""
    edge = meanings.after_anchor(context, distance, value)
    return after(edge, context) if edge else None


def since_today(context: Context) -> Period:
    """`from now on`."""
    return since(meanings.today(context), context)


def to_date(context: Context) -> Period:
    """`to date`: everything before today."""
    return before(meanings.today(context), context)


_TO = "to|till|until|through|thru|-|~"
rule("edge", meanings.refined(_instant(lambda period: period.start)), "[the] beginning|start of <whole>")
rule("edge", meanings.refined(_instant(lambda period: midnight(period.middle))), "[the] middle of <whole>")
rule("edge", meanings.refined(_instant(lambda period: period.end)), "[the] end of <whole>")
union("edge", "[in|on|the] <moment>")
rule("now", meanings.today, "now|present", "the present")
rule(
    "span",
    meanings.span,
    f"[from|during|between] <edge> {_TO} <edge>",
    f"[from|during|between] <edge> {_TO} <now>",
    f"[from|between] <now> {_TO} <edge>",
    "between <edge> and <edge>",
    "between <edge> and <now>",
    "between <now> and <edge>",
    "<edge> up to <edge>",
)
rule(
    "span",
    two_days_of_month,
    f"[from] <month> [the] <day_of_month> {_TO} [the] <day_of_month>",
    "between <month> [the] <day_of_month> and [the] <day_of_month>",
)
rule("span", two_days_of_month, f"[from] <month> [the] <day_of_month> {_TO} [the] <day_of_month> <of_year>")
rule(
    "span", two_days_and_month, f"[from] [the] <day_of_month> {_TO} <dated>", "between [the] <day_of_month> and <dated>"
)
rule(
    "span",
    two_days_of_container,
    f"[from] [the] <day_of_month> {_TO} [the] <day_of_month> [of|in] <month_container>",
    "between [the] <day_of_month> and [the] <day_of_month> [of|in] <month_container>",
)
rule(
    "span",
    meanings.numbered_days,
    f"from the <ordinal> {_TO} [the] <ordinal>",
    "between the <ordinal> and [the] <ordinal>",
)
rule(
    "span",
    amount_from,
    "for <amount> [,] from|starting|beginning [on|from] <plain_day>",
    "<amount> starting|beginning [on|from] <plain_day>",
    "less than <amount> after <anchor>",
)
rule("span", amount_up_to, "less than <amount> before <anchor>")
rule("span", more_than_before, "more than <amount> before <anchor>")
rule("span", more_than_after, "more than <amount> after|from <anchor>")
rule(
    "span",
    meanings.resolved(since),
    "since [the] <moment>",
    "starting|beginning [on|from|in|with] [the] <moment>",
    "as of <moment>",
    "[from] <moment> onwards|onward|forward",
    "from <moment> on",
    "no|not earlier than <edge>",
    "not before <edge>",
    "as early as <moment>",
    "on or after <moment>",
    "> = <moment>",
    "≥ <moment>",
)
rule("span", since_today, "from now on|onwards|onward|forward")
rule("span", meanings.resolved(since), "<moment> or|and later|greater|after|beyond|above|newer", when=nothing_follows)
rule("span", meanings.resolved(after), "after <edge>", "later|greater|newer than <edge>", "> <edge>")
rule(
    "span",
    meanings.resolved(before),
    "before|until|till|til <edge>",
    "prior to <edge>",
    "up until|till <edge>",
    "earlier|older than <edge>",
    "< <edge>",
)
rule(
    "span",
    meanings.resolved(through),
    "by <edge>",
    "no|not later than <edge>",
    "not after <edge>",
    "as late as <edge>",
    "on or before <moment>",
    "up to and including <edge>",
    "through <edge>",
    "< = <edge>",
    "≤ <edge>",
)
rule("span", meanings.resolved(before), "up to <edge>", when=is_limit)
rule("span", meanings.resolved(through), "<moment> or|and earlier|before|older|below", when=nothing_follows)
rule("span", to_date, "to date", when=to_this_day)

_NOT_DATES = ("weekends", "weekdays", "up-to-date", "up to date", "out of date", "day after day")
words("no_date", dict.fromkeys((*PLURAL_WEEKDAYS, *_NOT_DATES), NOTHING))
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
rule("lone_number", meanings.any_numbered_day, "on <two_figures>", "on the <day_figure>", when=nothing_follows)
union("expression", "<interval>", when=free_after)
union("expression", "<moment>", when=is_english_date)
union("expression", "<span>", when=is_english_range)
union("expression", "for the <this_unit>", when=nothing_follows)
union("expression", "<lone_number>", when=free_after)
union("expression", "on|in <pair_day>", when=free_pair)
union("expression", "<no_date>")
