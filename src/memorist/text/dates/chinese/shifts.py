"""Chinese distances from now or from a day: 三天前, 两周后, 过去三个月, 一周之内."""

from memorist.text.dates.calendar import Period, Unit
from memorist.text.dates.chinese.atoms import chinese
from memorist.text.dates.chinese.guards import begins_word
from memorist.text.dates.shifts import Amount, coming, from_day, from_now
from memorist.text.dates.values import Context, Value, resolve, rolling

rule = chinese.rule


@rule("amount", "<number> [个|多|来] <unit>", "<number> 多 个 <unit>")
def amount(_: Context, count: int, unit: Unit) -> Amount | None:
    """`三天`, but not 三月, which is March."""
    is_calendar_year = unit is Unit.YEAR and count >= 1000
    return None if unit is Unit.MONTH or is_calendar_year else ((count, unit),)


@rule("amount", "<number> [多] 个 [多] 月")
def months_amount(_: Context, count: int) -> Amount:
    """`三个月`."""
    return ((count, Unit.MONTH),)


@rule("amount", "<number> [个] <unit> 半", "<number> 个 半 <unit>")
def and_a_half(_: Context, count: int, unit: Unit) -> Amount:
    """`三年半`, `两个半小时`."""
    return ((count + 0.5, unit),)


@rule("amount", "半 [个] <unit>")
def half(_: Context, unit: Unit) -> Amount | None:
    """`半年`."""
    return ((15, Unit.DAY),) if unit is Unit.MONTH else ((0.5, unit),)


chinese.words("several", {"几": 3, "数": 3, "好几": 3})


@rule("amount", "<several> [个] <unit>")
def several(_: Context, count: int, unit: Unit) -> Amount:
    """`几天`."""
    return ((count, unit),)


@rule("shifted", "<amount> [之|以] 前", "<amount> 多 前")
def ago(context: Context, distance: Amount) -> Period:
    """`三天前`."""
    return from_now(distance, context, -1)


@rule("shifted", "<amount> [之|以] 后", "再过 <amount>")
def ahead(context: Context, distance: Amount) -> Period:
    """`三天后`."""
    return from_now(distance, context, 1)


@rule("shifted", "<day_value> [的] <amount> [之|以] 后", "<day_value> 后 <amount>")
def after_day(context: Context, value: Value, distance: Amount) -> Value | None:
    """`国庆节三天后`."""
    found = resolve(value, context)
    return from_day(found, distance, 1) if found else None


@rule("shifted", "<day_value> [的] <amount> [之|以] 前", "<day_value> 前 <amount>")
def before_day(context: Context, value: Value, distance: Amount) -> Value | None:
    """`国庆节三天前`."""
    found = resolve(value, context)
    return from_day(found, distance, -1) if found else None


@rule("window", "过去|最近|近|之前|以前|此前 [的|这] <amount>", "<amount> 来|以来")
def past_window(context: Context, distance: Amount) -> Period:
    """`过去三天`."""
    return rolling(-distance[0][0], distance[0][1], context)


@rule("window", "未来|接下来|今后|之后|以后|此后|还剩|往后|将来 [的|这] <amount>")
def coming_window(context: Context, distance: Amount) -> Period:
    """`未来三天`."""
    return rolling(distance[0][0], distance[0][1], context)


rule("window", "上|前 <amount>", when=begins_word)(past_window)
rule("window", "下|后 <amount>", when=begins_word)(coming_window)


@rule("window", "<amount> [之|以] 内")
def within_amount(context: Context, distance: Amount) -> Period:
    """`三天内`: from now on."""
    return coming(distance, context)
