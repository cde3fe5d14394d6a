"""The English grammar of shifts (`three days ago`), ranges (`from May to July`) and whole expressions."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from memorist.text.dates import meanings, values
from memorist.text.dates.calendar import SUB_DAY, Period, Unit, midnight, neighbour, unit_around
from memorist.text.dates.english import relative_time
from memorist.text.dates.english_times import english
from memorist.text.dates.grammar import SWAPPED, Builder, free_after
from memorist.text.dates.holidays import ENGLISH_HOLIDAYS
from memorist.text.dates.meanings import change_every, change_preferred
from memorist.text.dates.numbers import month_day
from memorist.text.dates.values import NOTHING, Amount, Context, OffsetFromLast, Recurring, Value
from memorist.text.dates.words import (
    PLURAL_WEEKDAYS,
    SEASONS,
    WEEKDAYS,
    free_pair,
    is_english_date,
    is_english_range,
    is_limit,
    is_told,
    nothing_follows,
    to_this_day,
)

rule, union, words = english.rule, english.union, english.words


def two_amounts(one: Amount, other: Amount) -> Amount:
    """`two years and three months`."""
    return one + other


def ahead_if_definite(distance: Amount, context: Context) -> Period | None:
    """`in two weeks`; but `in a second` is not a date."""
    return None if distance == ((1, Unit.SECOND),) else meanings.ahead(distance, context)


def between_amounts(sign: int) -> Builder:
    """The meaning of `four or five months ago` (-1) or `in two or three weeks` (1)."""

    def build(first: float, last: float, unit: Unit, context: Context) -> Period | None:
        one, other = (values.from_now(((count, unit),), context, sign) for count in (first, last))
        begin, finish = (one, other) if sign > 0 else (other, one)
        return Period(begin.start, finish.end, unit) if begin.start < finish.end else None

    return build


def unit_beside(anchor: Period, unit: Unit, side: int) -> Period | None:
    """`the week before 9 June`."""
    return None if unit in SUB_DAY else neighbour(anchor.start, unit, side)


def beside(anchor: Period, value: Recurring, side: int, number: int | None = None) -> Period | None:
    """`the Friday before 15 July`, `the second Saturday after Easter`."""
    return values.occurrence(value, side * (number or 1), anchor) if number != -1 else None


def weekday_from(day: Period, weekday: int) -> Period | None:
    """`two months from today on Tuesday`: the first one from then on."""
    return values.earliest(values.weekly(weekday), day.start)


def counted(sign: int) -> Builder:
    """The meaning of `two Fridays ago` (-1) or `in three weekends` (1)."""

    def build(count: float, value: Recurring, context: Context) -> Value | None:
        return relative_time(sign * int(count), value, context)

    return build


def from_coming(distance: Amount, weekday: Recurring, context: Context) -> Period | None:
    """`a week on Tuesday`, `3 days from Tuesday`: from the first Tuesday after today."""
    day = values.occurrence(weekday, 1, unit_around(context.now, Unit.DAY))
    return values.from_day(day, distance, 1) if day else None


def same_time(relation: int, unit: Unit, context: Context) -> Period:
    """`this time last year`."""
    return values.from_now(((1, unit),), context, relation)


def related_window(relation: int, distance: Amount, context: Context) -> Period | None:
    """`the past two months`."""
    return meanings.window(distance, context, relation)


def counted_window(count: float, relation: int, unit: Unit, context: Context) -> Period | None:
    """`two upcoming months`."""
    return values.rolling(relation * count, unit, context) if relation and count > 1 else None


def past_unit(unit: Unit, context: Context) -> Period | None:
    """`the past week`: counted back from today, unlike last week."""
    return values.rolling(-1, unit, context) if unit in (Unit.WEEK, Unit.MONTH, Unit.YEAR) else None


def unit_of_the_clock(relation: int, unit: Unit, context: Context) -> Period | None:
    """`the last hour`."""
    return values.rolling(relation, unit, context) if unit in SUB_DAY and relation else None


rule("simple_amount", meanings.simple_amount, "<number> <unit>", "<quantity> <unit>")
rule(
    "simple_amount",
    meanings.and_a_half,
    "<number> and a half <unit>",
    "<number> <unit> and a half",
    "<quantity> <unit> and a half",
)
_ABOUT = "[just] [about|around|roughly|approximately|exactly|precisely|almost|nearly|only|some|over|under] [a good]"
union("amount", f"{_ABOUT} <simple_amount>")
rule("amount", two_amounts, f"{_ABOUT} <simple_amount> [,|and] <simple_amount>")
words("plural", {name: values.weekly(number) for name, number in (PLURAL_WEEKDAYS | WEEKDAYS).items()})
words("plural", {f"{name}s": meanings.any_season(first) for name, first in SEASONS.items()})
words("plural", {"weekends": meanings.any_weekend(), "christmases": ENGLISH_HOLIDAYS["christmas"]})
rule("shifted", counted(-1), "<integer> <plural> ago|back", "<quantity> <plural> ago|back")
rule("shifted", counted(1), "<integer> <plural> from now|today", "in <integer> <plural>")
rule("shifted", relative_time, "[the] <recurring> <beyond>", order=SWAPPED)
words("weeks", {"week": ((1, Unit.WEEK),), "fortnight": ((2, Unit.WEEK),)})
rule("shifted", from_coming, "<amount> on|from <any_weekday>")
rule("shifted", from_coming, "<any_weekday> <weeks>", order=SWAPPED)
rule("shifted", meanings.ago, "<amount> ago|back [today]", "today <amount> ago", "<amount> before|prior [to] now")
rule("shifted", ahead_if_definite, "in <amount>", "in <amount> ' [s] time", "<amount> from|after now", "<amount> hence")
rule("window", between_amounts(-1), "<number> -|to|or <number> <unit> ago|back")
rule("window", between_amounts(1), "in <number> -|to|or <number> <unit>")
union("anchor", "<plain_day>", "<container>")
rule("shifted", change_preferred(meanings.later), "[in] <amount> after|from|following [the] <anchor>", order=SWAPPED)
rule(
    "shifted",
    change_preferred(meanings.sooner),
    "<amount> before [the] <anchor>",
    "<amount> prior to [the] <anchor>",
    order=SWAPPED,
)
words("side", {"before": -1, "after|following": 1})
rule("shifted", change_preferred(unit_beside), "[the] <one_unit> <side> [the] <anchor>", order=(1, 2, 0))
rule("shifted", change_preferred(beside), "[the] <recurring> <side> [the] <anchor>", order=(1, 2, 0))
rule("shifted", change_preferred(beside), "<nth> <recurring> <side> [the] <anchor>", order=(3, 1, 2, 0))
rule("shifted", change_preferred(meanings.later), "<deictic_day> <weeks>")
rule("shifted", same_time, "this|same time|day <relation> <one_unit>")
rule("shifted_weekday", change_every(weekday_from), "<shifted> [,] on <weekday>")
rule("shifted_weekday", change_every(weekday_from), "<weekday> [,] <shifted>", order=SWAPPED)
rule("window", related_window, "<relation> <simple_amount>")
rule("window", counted_window, "<number> <relation> <unit>", "<quantity> <relation> <unit>")
rule("window", past_unit, "past <one_unit>")
rule("window", unit_of_the_clock, "<relation> <one_unit>")
rule("window", values.coming, "within [the] [next|coming|following] <amount>", "less than <amount> from now|today")
rule("window", meanings.past_window, "within [the] past|last|previous <amount>", "less than <amount> ago")
rule("past_day", meanings.ago, "<amount> ago")
rule("window", values.before, "more than <past_day>", "over <past_day>")


def _instant(where: Callable[[Period], datetime]) -> Builder:
    def change(period: Period) -> Period:
        return Period(where(period), where(period), Unit.INSTANT)

    return change_every(change)


def days_of_year(first: Value, last: Value, of_year: Period, context: Context) -> Period | None:
    """`November 18-19, 2015`."""
    begin = values.within(first, of_year)
    return values.between(begin, last, context) if begin else None


def days_of_month(first: Value, last: Value, of_month: Value, context: Context) -> Period | None:
    """`from 4 to 22 next month`."""
    begin, finish = values.within(first, of_month), values.within(last, of_month)
    return values.between(begin, finish, context) if begin and finish else None


def amount_from(day: Period, distance: Amount) -> Period:
    """`for three days from today`."""
    return Period(day.start, values.move(day.start, distance), Unit.DAY)


def amount_up_to(day: Period, distance: Amount) -> Period:
    """`less than three days before Easter`."""
    return Period(values.move(day.start, distance, -1), day.start, Unit.DAY)


_DAY: Amount = ((1, Unit.DAY),)
_TO = "to|till|until|through|thru|-|~"
rule("edge", _instant(lambda period: period.start), "[the] beginning|start of <whole>")
rule("edge", _instant(lambda period: midnight(period.middle)), "[the] middle of <whole>")
rule("edge", _instant(lambda period: period.end), "[the] end of <whole>")
union("edge", "[in|on|the] <moment>")
rule("now", meanings.related(Unit.DAY), "now|present", "the present")
rule("any_day", values.monthly, "<day_of_month>")
rule("any_ordinal_day", values.monthly, "<ordinal>")
rule("day_in_month", month_day, "<month> [the] <day_of_month>")
rule(
    "span",
    values.between,
    f"[from|during|between] <edge> {_TO} <edge>",
    f"[from|during|between] <edge> {_TO} <now>",
    f"[from|between] <now> {_TO} <edge>",
    "between <edge> and <edge>",
    "between <edge> and <now>",
    "between <now> and <edge>",
    "<edge> up to <edge>",
    f"[from] <day_in_month> {_TO} [the] <any_day>",
    "<day_in_month> and|& [the] <any_ordinal_day>",
    "between <day_in_month> and [the] <any_day>",
)
rule("span", days_of_year, f"[from] <day_in_month> {_TO} [the] <any_day> <of_year>")
rule("span", values.between, f"[from] [the] <any_day> {_TO}|and|or|& <dated>", "between [the] <any_day> and <dated>")
rule(
    "span",
    days_of_month,
    f"[from] [the] <any_day> {_TO} [the] <any_day> [of|in] <month_container>",
    "between [the] <any_day> and [the] <any_day> [of|in] <month_container>",
)
rule(
    "span",
    values.between,
    f"from the <any_ordinal_day> {_TO} [the] <any_ordinal_day>",
    "between the <any_ordinal_day> and [the] <any_ordinal_day>",
)
rule(
    "span",
    change_preferred(amount_from),
    "for <amount> [,] from|starting|beginning [on|from] <plain_day>",
    "<amount> starting|beginning [on|from] <plain_day>",
    "less than <amount> after <anchor>",
    order=SWAPPED,
)
rule("span", change_preferred(amount_up_to), "less than <amount> before <anchor>", order=SWAPPED)
rule("day_before", change_preferred(meanings.sooner), "<amount> before <anchor>", order=SWAPPED)
rule("day_after", change_preferred(meanings.later), "<amount> after|from <anchor>", order=SWAPPED)
rule("span", values.before, "more than <day_before>")
rule("span", values.after, "more than <day_after>")
rule(
    "span",
    change_preferred(values.since),
    "since|starting|beginning|as_of|as_early_as|on_or_after|>_=|≥ [the] <moment>",
)
rule("span", change_preferred(values.since), "starting|beginning on|from|in|with [the] <moment>", "from <moment> on")
rule("span", change_preferred(values.since), "[from] <moment> onwards|onward|forward")
rule("span", change_preferred(values.since), "no_earlier_than|not_earlier_than|not_before <edge>")
rule("span", meanings.of_this(Unit.DAY, values.since), "from now on|onwards|onward|forward")
rule(
    "span",
    change_preferred(values.since),
    "<moment> or|and later|greater|after|beyond|above|newer",
    when=nothing_follows,
)
rule("span", change_preferred(values.after), "after|later_than|greater_than|newer_than|> <edge>")
_BEFORE = "before|until|till|til|prior_to|up_until|up_till|earlier_than|older_than|<"
_THROUGH = "by|through|no_later_than|not_later_than|not_after|as_late_as|on_or_before|up_to_and_including|<_=|≤"
rule("span", change_preferred(values.before), f"{_BEFORE} <edge>")
rule("span", change_preferred(values.through), f"{_THROUGH} <edge>")
rule("span", change_preferred(values.before), "up to <edge>", when=is_limit)
rule("span", change_preferred(values.through), "<moment> or|and earlier|before|older|below", when=nothing_follows)
rule("span", meanings.of_this(Unit.DAY, values.before), "to date", when=to_this_day)

rule("told", partial(OffsetFromLast, sign=1), "<amount> later", when=is_told)
rule("told", partial(OffsetFromLast, sign=-1), "<amount> earlier", when=is_told)
rule("told", partial(OffsetFromLast, sign=1), "<amount> after|afterwards", when=nothing_follows)
rule("told", partial(OffsetFromLast, sign=-1), "<amount> before|beforehand", when=nothing_follows)
words("told", {"the next|following day": OffsetFromLast(_DAY, 1), "the previous day": OffsetFromLast(_DAY, -1)})
words("neighbour", {"the day after": OffsetFromLast(_DAY, 1), "the day before": OffsetFromLast(_DAY, -1)})
union("told", "<neighbour>", when=nothing_follows)
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
    "a|an|any <weekday> [<day_part>]",
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
union("expression", "<told>")
union("expression", "<no_date>")
