"""Chinese ranges: 从三月到五月, 1995-1997年, 2018年之前, 自从去年."""

from memorist.text.dates.calendar import Period, Unit, holding, month, year
from memorist.text.dates.chinese.atoms import chinese
from memorist.text.dates.values import (
    Context,
    Value,
    after,
    before,
    between,
    monthly,
    resolve,
    since,
    through,
    yearly,
)

rule = chinese.rule

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
