"""English parts of a period: early, mid, late, the end of; the rest of it, later in it."""

from memorist.text.dates.calendar import Period, Unit, holding
from memorist.text.dates.english.atoms import english
from memorist.text.dates.shares import Share, earlier_in, later_in, rest_of, share_of, so_far
from memorist.text.dates.values import Context, Value, refine

rule = english.rule

_SHARES = {
    Share.EARLY: ("early", "early in", "early on in", "beginning of", "start of", "the beginning of", "the start of"),
    Share.MID: ("mid", "mid -", "middle of", "the middle of", "midway through", "mid of", "halfway through"),
    Share.LATE: ("late", "late in", "end of", "the end of", "close of"),
}
english.words("share", {phrase: share for share, phrases in _SHARES.items() for phrase in phrases})

english.union("whole", "<container>", "<this_unit>")


@rule(
    "part_value",
    "<share> <whole>",
    "<share> the <container>",
    "<share> <deictic_day>",
    "<share> <weekday_value>",
    "<share> the <weekday_value>",
)
def share(_: Context, part: Share, value: Value) -> Value | None:
    """`early 2016`, `the end of next month`."""
    return refine(value, lambda period: share_of(period, part))


english.words("end_of", {"eod|cob": Unit.DAY, "eow": Unit.WEEK, "eom": Unit.MONTH, "eoy": Unit.YEAR})


@rule("part_value", "[the] <end_of>")
def end_of(context: Context, unit: Unit) -> Period:
    """`EOD`."""
    return share_of(holding(context.now, unit), Share.LATE)


@rule("part_value", "earlier <unit_period>", "earlier <named_year>", "earlier in <whole>")
def earlier(context: Context, value: Value) -> Value | None:
    """`earlier this month`."""
    return refine(value, lambda period: earlier_in(period, context))


@rule("part_value", "later <unit_period>", "later <named_year>", "later in <whole>")
def later(context: Context, value: Value) -> Value | None:
    """`later this week`."""
    return refine(value, lambda period: later_in(period, context))


english.union("part_value", "earlier|later <deictic_day>")


@rule("part_value", "[the] rest|remainder of <whole>")
def rest(context: Context, value: Value) -> Value | None:
    """`the rest of the week`."""
    return refine(value, lambda period: rest_of(period, context))


@rule("part_value", "<this_unit> to date", "so far <unit_period>", "<unit_period> so far", "<named_year> so far")
def to_date(context: Context, value: Value) -> Value | None:
    """`year to date`."""
    return refine(value, lambda period: so_far(period, context))


english.words("since_start", {"ytd": Unit.YEAR, "mtd": Unit.MONTH})


@rule("part_value", "<since_start>")
def since_start(context: Context, unit: Unit) -> Period | None:
    """`YTD`."""
    return so_far(holding(context.now, unit), context)


english.union("base", "<container>", "<plain_day>", "<week_value>", "<week_number>", "<part_value>")
