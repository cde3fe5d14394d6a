"""Chinese: ranges, shifts, and what counts as a date."""

from memorist.text.dates.calendar import Period, Unit, holding, month, year
from memorist.text.dates.chinese.atoms import begins_word, chinese, clear
from memorist.text.dates.values import (
    Amount,
    Context,
    Value,
    after,
    before,
    between,
    coming,
    from_day,
    from_now,
    monthly,
    resolve,
    rolling,
    since,
    through,
    yearly,
)

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


chinese.union("edge", "<moment>", "<shifted>", "<window>")


@rule("edge", "现在|今|目前|如今|此刻")
def now(context: Context) -> Period:
    """`现在`, as the edge of a range: today."""
    return holding(context.now, Unit.DAY)


@rule(
    "span",
    "[从|自|由|在] <edge> 到|至|-|~|直到 <edge> [之间|期间|为止|止]",
    "[在|从] <edge> 和|与|跟|及 <edge> 之间|期间",
)
def span(context: Context, first: Value, last: Value) -> Period | None:
    """`从三月到五月`."""
    return between(first, last, context)


@rule("span", "[从|自] <four_digits> 到|至|-|~ <number> 年 [之间|期间]")
def years(context: Context, first: int, last: int) -> Period | None:
    """`1995-1997年`, `1995-97年`."""
    last += first - first % 100 if last < 100 else 0
    return between(year(first), year(last), context)


@rule("span", "[从|自] <small> 到|至|-|~ <month> [之间|期间]")
def months(context: Context, first: int, last: Value) -> Period | None:
    """`3到5月`."""
    return between(yearly(lambda years: month(years, first)), last, context) if 1 <= first <= 12 else None


@rule("span", "[从|自] <loose_year> <small> 到|至|-|~ <month_number> [之间|期间]")
def months_of_year(context: Context, of_year: Period, first: int, last: int) -> Period | None:
    """`2016年3到5月`."""
    if not 1 <= first <= 12:
        return None
    return between(month(of_year.start.year, first), month(of_year.start.year, last), context)


@rule("span", "[从|自] <month_number> <small> 到|至|-|~ <day_number> [之间|期间]")
def days_of_month(context: Context, months_: int, first: int, last: int) -> Period | None:
    """`3月1到5日`."""
    return between(
        yearly(lambda years: holding(month(years, months_).start.replace(day=first), Unit.DAY)), monthly(last), context
    )


@rule("span", "[从|自] <small> 到|至|-|~ <day_number> [之间|期间]")
def numbered_days(context: Context, first: int, last: int) -> Period | None:
    """`1到3号`."""
    return between(monthly(first), monthly(last), context) if 1 <= first <= 31 else None


@rule(
    "span",
    "自从|自打|打从|从打 <moment> [起|开始|以来|至今]",
    "自|从|由|打 <moment> 起|开始|以来|以后|之后|至今|算起",
    "<moment> 起|开始|以来|至今|起至今",
    "<moment> 或|及|和|以及 [其] 之后|以后",
    "不早于 <moment>",
    "> = <moment>",
    "≥ <moment>",
)
def open_since(context: Context, value: Value) -> Period | None:
    """`自从去年`."""
    found = resolve(value, context)
    return since(found) if found else None


@rule("span", "<moment> 之后|以后|后", "晚于|迟于 <moment>", "在 <moment> 之后|以后|后", "> <moment>")
def open_after(context: Context, value: Value) -> Period | None:
    """`2018年之后`."""
    found = resolve(value, context)
    return after(found, context) if found else None


@rule(
    "span",
    "<moment> 之前|以前|前",
    "早于 <moment>",
    "直到|直至 <moment> [为止|止]",
    "到|至 <moment> 为止|止",
    "在 <moment> 之前|以前|前",
    "< <moment>",
)
def open_before(context: Context, value: Value) -> Period | None:
    """`2018年之前`."""
    found = resolve(value, context)
    return before(found) if found else None


@rule(
    "span",
    "<moment> 或|及|和|以及 [其] 之前|以前",
    "不晚于|不迟于 <moment>",
    "截止到|截止|截至|截止至 <moment> [为止|止]",
    "< = <moment>",
    "≤ <moment>",
)
def open_through(context: Context, value: Value) -> Period | None:
    """`2018年及以前`."""
    found = resolve(value, context)
    return through(found, context) if found else None


chinese.ignore(
    "no_date",
    "每|每个|每一|每逢|每隔 <weekday>",
    "每|每个|每一|每逢|每隔 <unit>",
    "每|每隔 <amount>",
    "每 <day_part>",
    "每 月|年|周 <day_value>",
    "每 <holiday>",
    "每 日|晚|早",
    "《 <moment>",
    "今日头条|明日之后",
    "马上|立刻|以上|以下|一下",
    "公元前 <number> 年|世纪",
)

chinese.union("expression", "<moment>", "<shifted>", "<window>", "<span>", when=clear)
chinese.union("expression", "<no_date>")
