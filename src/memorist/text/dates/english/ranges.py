"""English ranges: from May to July, between the 3rd and the 12th, since 2015, before Easter."""

from collections.abc import Callable
from datetime import datetime

from memorist.text.dates.calendar import Period, Unit, holding, midnight
from memorist.text.dates.english.atoms import english
from memorist.text.dates.english.lexicon import at_end, is_limit, to_this_day
from memorist.text.dates.numbers import month_day
from memorist.text.dates.values import (
    Amount,
    Context,
    Nothing,
    Value,
    after,
    before,
    between,
    from_day,
    monthly,
    move,
    refine,
    resolve,
    since,
    through,
    within,
)

rule = english.rule
_TO = "to|till|until|through|thru|-|~"


def _instant(where: Callable[[Period], datetime]) -> Callable[[Context, Value], Value | None]:
    def change(period: Period) -> Period:
        return Period(where(period), where(period), Unit.INSTANT)

    def build(_: Context, value: Value) -> Value | None:
        return refine(value, change)

    return build


rule("edge", "[the] beginning|start of <whole>")(_instant(lambda period: period.start))
rule("edge", "[the] middle of <whole>")(_instant(lambda period: midnight(period.middle)))
rule("edge", "[the] end of <whole>")(_instant(lambda period: period.end))
english.union("edge", "[in|on|the] <moment>")


@rule("now", "now|present", "the present")
def now(context: Context) -> Period:
    """`now`, as the edge of a range: today."""
    return holding(context.now, Unit.DAY)


@rule(
    "span",
    f"[from|during|between] <edge> {_TO} <edge>",
    f"[from|during|between] <edge> {_TO} <now>",
    f"[from|between] <now> {_TO} <edge>",
    "between <edge> and <edge>",
    "between <edge> and <now>",
    "between <now> and <edge>",
    "<edge> up to <edge>",
)
def span(context: Context, first: Value, last: Value) -> Period | None:
    """`from May to July`."""
    return between(first, last, context)


@rule(
    "span",
    f"[from] <month> [the] <day_of_month> {_TO} [the] <day_of_month>",
    "between <month> [the] <day_of_month> and [the] <day_of_month>",
)
def two_days_of_month(context: Context, months: int, first: int, last: int) -> Period | None:
    """`November 18-19`."""
    begin = month_day(months, first)
    return None if isinstance(begin, Nothing) else between(begin, monthly(last), context)


@rule("span", f"[from] <month> [the] <day_of_month> {_TO} [the] <day_of_month> <of_year>")
def two_days_of_year(context: Context, months: int, first: int, last: int, of_year: Period) -> Period | None:
    """`November 18-19, 2015`."""
    begin = month_day(months, first)
    found = None if isinstance(begin, Nothing) else within(begin, of_year)
    return between(found, monthly(last), context) if found else None


@rule(
    "span",
    f"[from] [the] <day_of_month> {_TO} <dated>",
    "between [the] <day_of_month> and <dated>",
)
def two_days_and_month(context: Context, first: int, last: Value) -> Period | None:
    """`between 3 and 12 September`."""
    return between(monthly(first), last, context)


@rule(
    "span",
    f"[from] [the] <day_of_month> {_TO} [the] <day_of_month> [of|in] <month_container>",
    "between [the] <day_of_month> and [the] <day_of_month> [of|in] <month_container>",
)
def two_days_of_container(context: Context, first: int, last: int, container: Value) -> Period | None:
    """`from 4 to 22 next month`."""
    begin, finish = within(monthly(first), container), within(monthly(last), container)
    return between(begin, finish, context) if begin and finish else None


@rule("span", f"from the <ordinal> {_TO} [the] <ordinal>", "between the <ordinal> and [the] <ordinal>")
def two_numbered_days(context: Context, first: int, last: int) -> Period | None:
    """`between the 21st and the 23rd`."""
    return between(monthly(first), monthly(last), context)


@rule(
    "span",
    "for <amount> [,] from|starting|beginning [on|from] <plain_day>",
    "<amount> starting|beginning [on|from] <plain_day>",
    "less than <amount> after <anchor>",
)
def amount_from(context: Context, distance: Amount, value: Value) -> Period | None:
    """`for three days from today`."""
    found = resolve(value, context)
    return Period(found.start, move(found.start, distance), Unit.DAY) if found else None


@rule("span", "less than <amount> before <anchor>")
def amount_up_to(context: Context, distance: Amount, value: Value) -> Period | None:
    """`less than three days before Easter`."""
    found = resolve(value, context)
    return Period(move(found.start, distance, -1), found.start, Unit.DAY) if found else None


@rule("span", "more than <amount> before <anchor>")
def more_than_before(context: Context, distance: Amount, value: Value) -> Period | None:
    """`more than two days before yesterday`."""
    found = resolve(value, context)
    edge = from_day(found, distance, -1) if found else None
    return before(edge) if edge else None


@rule("span", "more than <amount> after|from <anchor>")
def more_than_after(context: Context, distance: Amount, value: Value) -> Period | None:
    """`more than two days after Easter`."""
    found = resolve(value, context)
    edge = from_day(found, distance, 1) if found else None
    return after(edge, context) if edge else None


@rule(
    "span",
    "since [the] <moment>",
    "starting|beginning [on|from|in|with] [the] <moment>",
    "as of <moment>",
    "[from] <moment> onwards|onward|forward",
    "from <moment> on",
    "from now on|onwards|onward|forward",
    "no|not earlier than <edge>",
    "not before <edge>",
    "as early as <moment>",
    "on or after <moment>",
    "> = <moment>",
    "≥ <moment>",
)
def open_since(context: Context, value: Value | None = None) -> Period | None:
    """`since August`, `from now on`."""
    found = resolve(value, context) if value else holding(context.now, Unit.DAY)
    return since(found) if found else None


rule("span", "<moment> or|and later|greater|after|beyond|above|newer", when=at_end)(open_since)


@rule("span", "after <edge>", "later|greater|newer than <edge>", "> <edge>")
def open_after(context: Context, value: Value) -> Period | None:
    """`after 2010`."""
    found = resolve(value, context)
    return after(found, context) if found else None


@rule(
    "span",
    "before|until|till|til <edge>",
    "prior to <edge>",
    "up until|till <edge>",
    "earlier|older than <edge>",
    "< <edge>",
)
def open_before(context: Context, value: Value) -> Period | None:
    """`before 2018`."""
    found = resolve(value, context)
    return before(found) if found else None


@rule(
    "span",
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
def open_through(context: Context, value: Value) -> Period | None:
    """`by Friday`."""
    found = resolve(value, context)
    return through(found, context) if found else None


rule("span", "up to <edge>", when=is_limit)(open_before)
rule("span", "<moment> or|and earlier|before|older|below", when=at_end)(open_through)


@rule("span", "to date", when=to_this_day)
def to_date(context: Context) -> Period:
    """`to date`: all before today."""
    return before(holding(context.now, Unit.DAY))
