"""Chinese periods longer than a day: 今年, 十月, 上个季度, 九十年代, 去年夏天, 年底."""

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
    nth,
    quarter,
    season,
    several,
    year,
)
from memorist.text.dates.chinese.atoms import chinese
from memorist.text.dates.numbers import Share, share_of
from memorist.text.dates.values import Context, Recurring, Value, refine, rolling, within, yearly

rule = chinese.rule


@rule("year", "<four_digits> 年[度|份]", "<sure_two_digits> 年[度|份]")
def numbered_year(_: Context, number: int) -> Period:
    """`2016年`, `98年`."""
    return year(number)


@rule("year", "<year_word>")
def related_year(context: Context, steps: int) -> Period:
    """`去年`."""
    return neighbour(context.now, Unit.YEAR, steps)


@rule("year", "<era> <number> 年", "<era> 元 年")
def year_of_era(_: Context, first: int, number: int = 1) -> Period:
    """`民国三年`."""
    return year(first + number - 1)


@rule("loose_year", "<year>")
def firm_year(_: Context, value: Period) -> Period:
    """A year sure without more."""
    return value


@rule("loose_year", "<two_digits> 年")
def short_year(_: Context, number: int) -> Period:
    """`18年`, where a month follows."""
    return year(number)


@rule("month_number", "<small> 月[份]")
def month_number(_: Context, number: int) -> int | None:
    """`十月`."""
    return number if 1 <= number <= 12 else None


@rule("month", "<month_number>")
def any_month(_: Context, number: int) -> Recurring:
    """`十月`."""
    return yearly(lambda years: month(years, number))


@rule("month", "<loose_year> [的] <month_number>")
def month_of_year(_: Context, of_year: Period, number: int) -> Period:
    """`2016年10月`."""
    return month(of_year.start.year, number)


@rule("unit_period", "<relation> <period_unit>")
def related_unit(context: Context, steps: int, unit: Unit) -> Period | None:
    """`上个月`, `下下周`."""
    if unit in SUB_DAY:
        return rolling(steps, unit, context) if steps else None
    return neighbour(context.now, unit, steps)


@rule("unit_period", "周末")
def weekend(_: Context) -> Recurring:
    """`周末`."""
    return Recurring(Unit.WEEK, lambda base: holding(base, Unit.WEEKEND))


chinese.words("half", {"上半": 1, "前半": 1, "下半": 2, "后半": 2})


@rule("half_year", "<half> 年")
def half_of_this_year(context: Context, number: int) -> Period | None:
    """`上半年`."""
    return half(context.now.year, number)


@rule("half_year", "<loose_year> [的] <half> 年")
def half_of_year(_: Context, of_year: Period, number: int) -> Period | None:
    """`去年下半年`."""
    return half(of_year.start.year, number)


def _half_month(period: Period, number: int) -> Period:
    middle = period.start.replace(day=16)
    edges = (period.start, middle) if number == 1 else (middle, period.end)
    return Period(*edges, Unit.MONTH)


@rule("half_year", "<half> 月|个月")
def half_of_this_month(context: Context, number: int) -> Period:
    """`上半月`."""
    return _half_month(holding(context.now, Unit.MONTH), number)


@rule("half_year", "<month> [的] <half> 月", "<unit_period> [的] <half> 月")
def half_of_month(_: Context, value: Value, number: int) -> Value | None:
    """`十月上半月`."""
    return refine(value, lambda period: _half_month(period, number))


@rule("quarter_number", "[第] <small> 季度", "q <figure>", "第 <small> 季")
def quarter_number(_: Context, number: int) -> int | None:
    """`第一季度`."""
    return number if 1 <= number <= 4 else None


chinese.words("quarter_number", {"首季|首季度": 1})


@rule("quarter", "<quarter_number>")
def any_quarter(_: Context, number: int) -> Recurring:
    """`第一季度`."""
    return yearly(lambda years: quarter(years, number))


@rule("quarter", "<loose_year> [的|,] <quarter_number>")
def quarter_of_year(_: Context, of_year: Period, number: int) -> Period | None:
    """`2019年第一季度`."""
    return quarter(of_year.start.year, number)


@rule("season_value", "<season>")
def anyseason(_: Context, first_month: int) -> Recurring:
    """`夏天`."""
    return yearly(lambda years: season(years, first_month))


@rule("season_value", "<loose_year> [的] <season>")
def season_of_year(_: Context, of_year: Period, first_month: int) -> Period:
    """`去年夏天`."""
    return season(of_year.start.year, first_month)


@rule("century", "[第] <number> 世纪")
def numbered_century(_: Context, number: int) -> Period:
    """`二十一世纪`."""
    return century(number)


@rule("century", "<relation> 世纪")
def related_century(context: Context, steps: int) -> Period:
    """`上个世纪`."""
    return neighbour(context.now, Unit.CENTURY, steps)


@rule("decade", "<number> 年代")
def any_decade(context: Context, number: int) -> Period | None:
    """`九十年代`, `1990年代`."""
    if number >= 1000:
        return decade(number)
    return latest_decade(number, context.now) if number < 100 else None


@rule("decade", "<century> [的] <number> 年代")
def decade_of_century(_: Context, of_century: Period, number: int) -> Period | None:
    """`二十世纪九十年代`."""
    return decade(of_century.start.year + number) if number <= 90 else None


chinese.union(
    "container",
    "<year>",
    "<month>",
    "<unit_period>",
    "<half_year>",
    "<quarter>",
    "<season_value>",
    "<century>",
    "<decade>",
)


@rule("counted", "<container> [的] 第 <small> [个] <unit>")
def nth_unit(_: Context, container: Value, number: int, unit: Unit) -> Value | None:
    """`2021年的第三个月`."""
    return refine(container, lambda period: nth(period, unit, number))


@rule("counted", "第 <small> [个] 周|星期|礼拜")
def nth_week_of_this_year(_: Context, number: int) -> Recurring:
    """`第十周`."""
    return yearly(lambda years: nth(year(years), Unit.WEEK, number))


@rule("counted", "<container> [的] 最后 一 [个] <unit>")
def last_unit(_: Context, container: Value, unit: Unit) -> Value | None:
    """`今年最后一周`."""
    return refine(container, lambda period: nth(period, unit, -1))


@rule("counted", "<container> [的] 前|头|最初 <number> [个] <unit>")
def first_units(_: Context, container: Value, count: int, unit: Unit) -> Value | None:
    """`2021年的前两周`."""
    return refine(container, lambda period: several(period, unit, 1, count))


@rule("counted", "<container> [的] 最后|后 <number> [个] <unit>")
def last_units(_: Context, container: Value, count: int, unit: Unit) -> Value | None:
    """`今年的最后三周`."""
    return refine(container, lambda period: several(period, unit, -count, -1))


@rule("part_value", "<container> [的] <share>")
def share(_: Context, value: Value, part: Share) -> Value | None:
    """`去年年底`, `十月初`."""
    return refine(value, lambda period: share_of(period, part))


chinese.words("of_year", {"年初": Share.EARLY, "年中": Share.MID, "年底": Share.LATE, "年末": Share.LATE})
chinese.words("of_month", {"月初": Share.EARLY, "月中": Share.MID, "月底": Share.LATE, "月末": Share.LATE})


@rule("part_value", "<of_year>")
def share_of_this_year(context: Context, part: Share) -> Period:
    """`年底`."""
    return share_of(holding(context.now, Unit.YEAR), part)


@rule("part_value", "<of_month>")
def share_of_this_month(context: Context, part: Share) -> Period:
    """`月底`."""
    return share_of(holding(context.now, Unit.MONTH), part)


chinese.words("third", {"上旬": (1, 11), "中旬": (11, 21), "下旬": (21, 0)})


def _third(period: Period, days: tuple[int, int]) -> Period | None:
    if period.unit is not Unit.MONTH:
        return None
    first, last = days
    end = period.start.replace(day=last) if last else period.end
    return Period(period.start.replace(day=first), end, Unit.MONTH)


@rule("part_value", "<month> [的] <third>", "<unit_period> [的] <third>")
def third(_: Context, value: Value, days: tuple[int, int]) -> Value | None:
    """`十月上旬`."""
    return refine(value, lambda period: _third(period, days))


@rule("part_value", "<third>")
def third_of_this_month(context: Context, days: tuple[int, int]) -> Period | None:
    """`上旬`."""
    return _third(holding(context.now, Unit.MONTH), days)


@rule("holiday_value", "<holiday>")
def any_holiday(_: Context, value: Recurring) -> Recurring:
    """`春节`."""
    return value


@rule("holiday_value", "<loose_year> [的] <holiday>")
def holiday_of_year(_: Context, of_year: Period, value: Recurring) -> Value | None:
    """`去年春节`."""
    return within(value, of_year)
