"""The Chinese grammar."""

from memorist.text.dates import calendar, meanings, values
from memorist.text.dates.calendar import SUB_DAY, Period, Unit
from memorist.text.dates.clock import at, clock, during, from_to, in_part
from memorist.text.dates.grammar import SWAPPED, only_value
from memorist.text.dates.meanings import change_every, change_preferred, numbered_unit
from memorist.text.dates.numbers import Share, month_day, share_of
from memorist.text.dates.terminals import chinese
from memorist.text.dates.values import Amount, Context, OffsetFromLast, Recurring, Value
from memorist.text.dates.words import begins_chinese_word, is_chinese_date, is_numbered_day, nothing_follows

rule, union, words = chinese.rule, chinese.union, chinese.words


def year_of_era(first: int, number: int = 1) -> Period:
    """`民国三年`."""
    return calendar.year(first + number - 1)


def related_unit(steps: int, unit: Unit, context: Context) -> Period | None:
    """`上个月`, `下下周`."""
    if unit in SUB_DAY:
        return values.rolling(steps, unit, context) if steps else None
    return calendar.neighbour(context.now, unit, steps)


def any_decade(number: int, context: Context) -> Period | None:
    """`九十年代`, `1990年代`."""
    if number >= 1000:
        return calendar.decade(number)
    return meanings.latest_decade(number, context) if number < 100 else None


def decade_of_century(of_century: Period, number: int) -> Period | None:
    """`二十世纪九十年代`."""
    return calendar.decade(of_century.start.year + number) if number <= 90 else None


def third(period: Period, days: tuple[int, int]) -> Period | None:
    """`十月上旬`."""
    if period.unit is not Unit.MONTH:
        return None
    first, last = days
    end = period.start.replace(day=last) if last else period.end
    return Period(period.start.replace(day=first), end, Unit.MONTH)


rule("year", calendar.year, "<four_digits> 年[度|份]", "<sure_short_year> 年[度|份]")
rule("year", meanings.related(Unit.YEAR), "<year_word>")
rule("year", year_of_era, "<era> <number> 年", "<era> 元 年")
union("loose_year", "<year>")
rule("loose_year", calendar.year, "<short_year> 年")
rule("month_number", meanings.up_to(12), "<small> 月[份]")
rule("month", numbered_unit(Unit.MONTH), "<month_number>")
rule("month", numbered_unit(Unit.MONTH), "<loose_year> [的] <month_number>", order=SWAPPED)
rule("unit_period", related_unit, "<relation> <period_unit>")
rule("unit_period", meanings.any_weekend, "周末")
words("half", {"上半": 1, "前半": 1, "下半": 2, "后半": 2})
rule("half_year", meanings.of_this(Unit.YEAR, calendar.half), "<half> 年")
rule("half_year", calendar.half, "<loose_year> [的] <half> 年")
rule("half_year", meanings.of_this(Unit.MONTH, calendar.half), "<half> 月|个月")
rule("half_year", change_every(calendar.half), "<month> [的] <half> 月", "<unit_period> [的] <half> 月")
rule("quarter_number", meanings.up_to(4), "[第] <small> 季度", "q <figure>", "第 <small> 季")
words("quarter_number", {"首季|首季度": 1})
rule("quarter", numbered_unit(Unit.QUARTER), "<quarter_number>")
rule("quarter", numbered_unit(Unit.QUARTER), "<loose_year> [的|,] <quarter_number>", order=SWAPPED)
rule("any_season", meanings.any_season, "<season>")
union("season_value", "<any_season>")
rule("season_value", values.within, "<loose_year> [的] <any_season>", order=SWAPPED)
rule("century", calendar.century, "[第] <number> 世纪")
rule("century", meanings.related(Unit.CENTURY), "<relation> 世纪")
rule("decade", any_decade, "<number> 年代")
rule("decade", decade_of_century, "<century> [的] <number> 年代")
union("container", "<year>", "<month>", "<unit_period>", "<half_year>")
union("container", "<quarter>", "<season_value>", "<century>", "<decade>")
words("last", {"最后一": -1})
rule("counted", change_every(calendar.nth), "<container> [的] 第 <small> [个] <unit>", order=(0, 2, 1))
rule("counted", numbered_unit(Unit.WEEK), "第 <small> [个] 周|星期|礼拜")
rule("counted", change_every(calendar.nth), "<container> [的] <last> [个] <unit>", order=(0, 2, 1))
rule("counted", change_every(meanings.first_units), "<container> [的] 前|头|最初 <number> [个] <unit>")
rule("counted", change_every(meanings.last_units), "<container> [的] 最后|后 <number> [个] <unit>")
rule("part_value", change_every(share_of), "<container> [的] <share>")
words("of_year", {"年初": Share.EARLY, "年中": Share.MID, "年底": Share.LATE, "年末": Share.LATE})
words("of_month", {"月初": Share.EARLY, "月中": Share.MID, "月底": Share.LATE, "月末": Share.LATE})
rule("part_value", meanings.of_this(Unit.YEAR, share_of), "<of_year>")
rule("part_value", meanings.of_this(Unit.MONTH, share_of), "<of_month>")
words("third", {"上旬": (1, 11), "中旬": (11, 21), "下旬": (21, 0)})
rule("part_value", change_every(third), "<month> [的] <third>", "<unit_period> [的] <third>")
rule("part_value", meanings.of_this(Unit.MONTH, third), "<third>")
union("holiday_value", "<holiday>")
rule("holiday_value", values.within, "<loose_year> [的] <holiday>", order=SWAPPED)


def day_of_month(number: int, of_month: Value) -> Value | None:
    """`上个月二号`."""
    is_month = isinstance(of_month, Period) and of_month.unit is Unit.MONTH
    return values.within(values.monthly(number), of_month) if is_month else None


def lunar_date(months: int, number: int) -> Recurring | None:
    """`正月初一`, in the Chinese calendar."""
    return values.yearly(lambda years: calendar.chinese_day(years, months, number)) if 1 <= number <= 30 else None


def lunar_day_of_year(of_year: Period, value: Recurring) -> Period | None:
    """`农历2015年十月初一`: the lunar year may end in the next Gregorian year."""
    return value.pick(of_year.start)


rule("day_figure", meanings.up_to(31), "<small>")
union("day_number", "<day_figure> 日|号")
rule("month_day", month_day, "<month_number> [的] <day_number>")
rule("month_day", month_day, "<month_number> <day_figure>", when=nothing_follows)
union("date", "<month_day>")
rule("date", meanings.date_of_year, "<loose_year> [的] <month_day>", order=SWAPPED)
rule("date", values.within, "<loose_year> <slash_day>", order=SWAPPED)
rule("date", day_of_month, "<unit_period> [的] <day_number>", order=SWAPPED)
rule("any_day", values.monthly, "<day_number>")
union("numbered_day", "<any_day>", when=is_numbered_day)
words("lunar_month", {"正月": 1, "冬月": 11, "腊月": 12})
words("lunar_day", {f"初{sign}": number for number, sign in enumerate("一二三四五六七八九十", 1)})
_LUNAR = "农历|阴历|旧历"
rule("lunar_date", lunar_date, "<month_number> <lunar_day>", "<lunar_month> <lunar_day>", "<lunar_month> <small> [日]")
rule(
    "marked_lunar_date",
    lunar_date,
    "<month_number> <lunar_day>",
    "<month_number> <small> [日]",
    "<lunar_month> <small> [日]",
)
union("date", "<lunar_date>", f"{_LUNAR} <marked_lunar_date>")
rule(
    "date",
    lunar_day_of_year,
    f"[{_LUNAR}] <loose_year> [的] <lunar_date>",
    f"{_LUNAR} <loose_year> [的] <marked_lunar_date>",
    f"<loose_year> {_LUNAR} <marked_lunar_date>",
)
union("date", "<full_date>", "<month_date>", "<slash_day>")
rule("weekday_value", values.weekly, "<weekday>")
rule("weekday_value", meanings.related_weekday, "<relation> <weekday>")
rule("weekday_value", change_every(meanings.weekday_in_week), "<counted> [的] <weekday>")
union("nth", "第 <small> 个")
words("nth", {"最后一个": -1})
rule("weekday_value", change_every(calendar.nth_weekday), "<container> [的] <nth> <weekday>", order=(0, 2, 1))
rule("day_value", meanings.date_and_weekday, "<date> [,] [(] <weekday> [)]")
rule("day_value", meanings.related(Unit.DAY), "<day_word>")
union("day_value", "<date>", "<numbered_day>", "<weekday_value>", "<holiday_value>")
rule("day_value", only_value, "<day_word> [,] <date>", order=(None, 0))

words("quarters", {"半": 30, "一刻": 15, "三刻": 45, "一 刻钟": 15})
union("bare_clock", "<time>")
rule(
    "bare_clock",
    clock,
    "<small> 点|时 [钟|整]",
    "<small> 点|时 <small> [分]",
    "<small> 点|时 <quarters>",
    "<small> 点 过 <small> 分",
    "<small> 点|时 <small> 分 <small> 秒",
)
union("clock", "<bare_clock>", "大约|约 <bare_clock>")
rule("clock", in_part, "<day_part> [的] <bare_clock>", "<day_part> 大约|约 <bare_clock>", order=SWAPPED)
rule("stretch", from_to, "[从|在] <clock> 到|至|-|~ <clock> [之间]")
rule("part_of_day", during, "<day> [的|,] <day_part>", "<day> <short_part>")
rule("near_day", meanings.related(Unit.DAY), "<short_day>")
rule("near_clock", in_part, "<short_part> [上|间|里] <bare_clock>", order=SWAPPED)
rule("near_stretch", from_to, "<short_part> [上|间|里] [从] <bare_clock> 到|至|-|~ <bare_clock>", order=(2, 0, 1))
rule("part_of_day", during, "<near_day> <short_part> [上|间|里]")
rule("moment", at, "<near_day> <near_clock>")
rule("moment", during, "<near_day> <near_stretch>")
rule("moment", at, "<day> [的|,] <clock>", "<day> 大约 <clock>")
rule("moment", during, "<day> [的|,] <stretch>")
rule("moment", meanings.day_after_clock, "<day> <clock> [之|以] 后")
rule("moment", meanings.day_before_clock, "<day> <clock> [之|以] 前")
union("moment", "<part_of_day>", "<day_value>", "<container>", "<counted>", "<part_value>")


def amount(count: int, unit: Unit) -> Amount | None:
    """`三天`, but not 三月, which is March."""
    is_calendar_year = unit is Unit.YEAR and count >= 1000
    return None if unit is Unit.MONTH or is_calendar_year else ((count, unit),)


def half_amount(unit: Unit) -> Amount | None:
    """`半年`."""
    return ((15, Unit.DAY),) if unit is Unit.MONTH else ((0.5, unit),)


def years(first: int, last: int, context: Context) -> Period | None:
    """`1995-1997年`, `1995-97年`."""
    last += first - first % 100 if last < 100 else 0
    return values.between(calendar.year(first), calendar.year(last), context)


def months_of_year(of_year: Period, first: int, last: int, context: Context) -> Period | None:
    """`2016年3到5月`."""
    return values.between(calendar.month(of_year.start.year, first), calendar.month(of_year.start.year, last), context)


_DAY: Amount = ((1, Unit.DAY),)
rule("amount", amount, "<number> [个|多|来] <unit>", "<number> 多 个 <unit>")
words("months", {"个月": Unit.MONTH, "个多月": Unit.MONTH})
rule("amount", meanings.simple_amount, "<number> [多] <months>")
rule("amount", meanings.and_a_half, "<number> [个] <unit> 半", "<number> 个 半 <unit>")
rule("amount", half_amount, "半 [个] <unit>")
words("several", {"几": 3, "数": 3, "好几": 3})
rule("amount", meanings.simple_amount, "<several> [个] <unit>")
rule("distant_day", meanings.ago, "<amount> [之|以] 前", "<amount> 多 前")
rule("distant_day", meanings.ahead, "<amount> [之|以] 后", "再过 <amount>")
rule("distant_day", meanings.same_day, "<year_word> [的] 今天|今日")
rule("weekday_of", change_every(meanings.weekday_near), "<distant_day> 的 <weekday>")
union("shifted", "<distant_day>", "<weekday_of>")
union("day", "<day_value>", "<distant_day>", "<weekday_of>")
rule("shifted", change_preferred(meanings.later), "<day_value> [的] <amount> [之|以] 后", "<day_value> 后 <amount>")
rule("shifted", change_preferred(meanings.sooner), "<day_value> [的] <amount> [之|以] 前", "<day_value> 前 <amount>")
rule("window", meanings.past_window, "过去|最近|近|之前|以前|此前 [的|这] <amount>", "<amount> 来|以来")
rule("window", meanings.coming_window, "未来|接下来|今后|之后|以后|此后|还剩|往后|将来 [的|这] <amount>")
rule("window", meanings.past_window, "上|前 <amount>", when=begins_chinese_word)
rule("window", meanings.coming_window, "下|后 <amount>", when=begins_chinese_word)
rule("window", values.coming, "<amount> [之|以] 内")
union("edge", "<moment>", "<shifted>", "<window>")
rule("edge", meanings.related(Unit.DAY), "现在|今|目前|如今|此刻")
rule(
    "span",
    values.between,
    "[从|自|由|在] <edge> 到|至|-|~|直到 <edge> [之间|期间|为止|止]",
    "[在|从] <edge> 和|与|跟|及 <edge> 之间|期间",
)
rule("span", years, "[从|自] <four_digits> 到|至|-|~ <number> 年 [之间|期间]")
rule("any_month", numbered_unit(Unit.MONTH), "<small>")
rule("any_figure", values.monthly, "<small>")
rule("month_figure", month_day, "<month_number> <day_figure>")
rule("span", values.between, "[从|自] <any_month> 到|至|-|~ <month> [之间|期间]")
rule("span", months_of_year, "[从|自] <loose_year> <small> 到|至|-|~ <month_number> [之间|期间]")
rule("span", values.between, "[从|自] <month_figure> 到|至|-|~|和|与|, <any_day> [之间|期间]")
rule("span", values.between, "<month_day> 到|至|-|~|和|与|, <any_day>")
rule("span", values.between, "[从|自] <any_figure> 到|至|-|~ <any_day> [之间|期间]")
_SINCE = "起|开始|以来|至今"
rule("span", change_preferred(values.since), f"自从|自打|打从|从打 <moment> [{_SINCE}]", f"<moment> {_SINCE}|起至今")
rule("span", change_preferred(values.since), f"自|从|由|打 <moment> {_SINCE}|以后|之后|算起", "不早于|>_=|≥ <moment>")
rule("span", change_preferred(values.since), "<moment> 或|及|和|以及 [其] 之后|以后")
rule("span", change_preferred(values.after), "[在] <moment> 之后|以后|后", "晚于|迟于|> <moment>")
rule(
    "span",
    change_preferred(values.before),
    "[在] <moment> 之前|以前|前",
    "直到|直至 <moment> [为止|止]",
    "早于|< <moment>",
)
rule("span", change_preferred(values.before), "到|至 <moment> 为止|止")
rule("span", change_preferred(values.through), "<moment> 或|及|和|以及 [其] 之前|以前", "不晚于|不迟于|<_=|≤ <moment>")
rule("span", change_preferred(values.through), "截止到|截止|截至|截止至 <moment> [为止|止]")
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
union("expression", "<moment>", "<shifted>", "<window>", "<span>", when=is_chinese_date)
words("told", {"第二天|次日|隔天|后一天": OffsetFromLast(_DAY, 1), "前一天": OffsetFromLast(_DAY, -1)})
union("expression", "<told>", when=begins_chinese_word)
union("expression", "<no_date>")
