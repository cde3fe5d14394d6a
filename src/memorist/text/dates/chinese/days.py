"""Chinese: days and times of day."""

from datetime import timedelta

from memorist.text.dates.calendar import Period, Unit, chinese_day, holding, nth_weekday, weekday_of_week
from memorist.text.dates.chinese.atoms import at_end, chinese, numbers_day
from memorist.text.dates.clock import ClockTime, Stretch, at, clock, during, from_to, in_part
from memorist.text.dates.numbers import month_day
from memorist.text.dates.values import (
    NOTHING,
    Context,
    Nothing,
    Recurring,
    Value,
    monthly,
    on_weekday,
    refine,
    weekly,
    within,
    yearly,
)

rule = chinese.rule


@rule("day_number", "<small> 日|号")
def day_number(_: Context, number: int) -> int | None:
    """`二日`."""
    return number if 1 <= number <= 31 else None


@rule("date", "<month_number> [的] <day_number>")
def day_of_month(_: Context, months: int, number: int) -> Value | Nothing | None:
    """`十月二日`."""
    return month_day(months, number) if 1 <= number <= 31 else None


@rule("date", "<loose_year> [的] <month_number> <day_number>")
def day_of_year(_: Context, of_year: Period, months: int, number: int) -> Value | Nothing:
    """`2016年10月2日`."""
    value = month_day(months, number)
    return value if isinstance(value, Nothing) else within(value, of_year) or NOTHING


rule("date", "<month_number> <small>", when=at_end)(day_of_month)
rule("date", "<loose_year> <month_number> <small>", when=at_end)(day_of_year)


@rule("date", "<loose_year> <slash_day>")
def slash_day_of_year(_: Context, of_year: Period, value: Value) -> Value | None:
    """`今年10/2`."""
    return within(value, of_year)


@rule("date", "<unit_period> [的] <day_number>")
def day_of_related_month(_: Context, value: Value, number: int) -> Value | None:
    """`上个月二号`."""
    return within(monthly(number), value) if isinstance(value, Period) and value.unit is Unit.MONTH else None


@rule("numbered_day", "<day_number>", when=numbers_day)
def numbered_day(_: Context, number: int) -> Recurring:
    """`二号`."""
    return monthly(number)


chinese.words("lunar_month", {"正月": 1, "冬月": 11, "腊月": 12})
chinese.words("lunar_day", {f"初{sign}": number for number, sign in enumerate("一二三四五六七八九十", 1)})


@rule("lunar_date", "<month_number> <lunar_day>", "<lunar_month> <lunar_day>", "<lunar_month> <small> [日]")
def lunar_date(_: Context, months: int, number: int) -> Recurring | None:
    """`正月初一`, by the Chinese calendar."""
    return yearly(lambda years: chinese_day(years, months, number)) if 1 <= number <= 30 else None


@rule("marked_lunar_date", "<month_number> <lunar_day>", "<month_number> <small> [日]", "<lunar_month> <small> [日]")
def marked_lunar_date(_: Context, months: int, number: int) -> Recurring | None:
    """`八月十五` after 农历."""
    return lunar_date(_, months, number)


@rule("date", "<lunar_date>", "农历|阴历|旧历 <marked_lunar_date>")
def lunar_day(_: Context, value: Recurring) -> Recurring:
    """`农历八月十五`."""
    return value


@rule(
    "date",
    "[农历|阴历|旧历] <loose_year> [的] <lunar_date>",
    "农历|阴历|旧历 <loose_year> [的] <marked_lunar_date>",
    "<loose_year> 农历|阴历|旧历 <marked_lunar_date>",
)
def lunar_day_of_year(_: Context, of_year: Period, value: Recurring) -> Period | None:
    """`农历2015年十月初一`: the lunar year may end in the next of ours."""
    return value.pick(of_year.start)


chinese.union("date", "<full_date>", "<slash_day>")


@rule("weekday_value", "<weekday>")
def any_weekday(_: Context, number: int) -> Recurring:
    """`周三`."""
    return weekly(number)


@rule("weekday_value", "<relation> <weekday>")
def related_weekday(context: Context, weeks: int, number: int) -> Period:
    """`上周三`."""
    return weekday_of_week(context.now, number, weeks)


@rule("weekday_value", "<counted> [的] <weekday>")
def weekday_of_counted_week(_: Context, value: Value, number: int) -> Value | None:
    """`第三周的周五`."""

    def change(period: Period) -> Period | None:
        return weekday_of_week(period.start, number) if period.unit is Unit.WEEK else None

    return refine(value, change)


@rule("nth", "第 <small> 个")
def nth_number(_: Context, number: int) -> int:
    """`第一个`."""
    return number


chinese.words("nth", {"最后一个": -1})


@rule("weekday_value", "<container> [的] <nth> <weekday>")
def nth_weekday_of(_: Context, value: Value, number: int, weekday: int) -> Value | None:
    """`十月的第一个星期一`."""
    return refine(value, lambda period: nth_weekday(period, weekday, number))


@rule("day_value", "<date> [,] [(] <weekday> [)]")
def date_and_weekday(context: Context, value: Value, weekday: int) -> Value:
    """`10月12号，星期一`: the weekday decides between the years where it can."""
    return on_weekday(value, weekday, context) or value


@rule("day_value", "<day_word>")
def related_day(context: Context, days: int) -> Period:
    """`后天`."""
    return holding(context.today + timedelta(days=days), Unit.DAY)


chinese.union("day_value", "<date>", "<numbered_day>", "<weekday_value>", "<holiday_value>")


@rule("day_value", "<day_word> [,] <date>")
def day_word_and_date(_: Context, __: int, value: Value) -> Value:
    """`明天（10月2日）`."""
    return value


chinese.words("quarters", {"半": 30, "一刻": 15, "三刻": 45, "一 刻钟": 15})


@rule("bare_clock", "<time>")
def time(_: Context, read: ClockTime) -> ClockTime:
    """`17:30`."""
    return read


@rule(
    "bare_clock",
    "<small> 点|时 [钟|整]",
    "<small> 点|时 <small> [分]",
    "<small> 点|时 <quarters>",
    "<small> 点 过 <small> 分",
)
def hour(_: Context, hours: int, minutes: int | None = None) -> ClockTime:
    """`三点`, `三点二十`, `三点半`."""
    return clock(hours, minutes)


@rule("bare_clock", "<small> 点|时 <small> 分 <small> 秒")
def hour_minute_second(_: Context, hours: int, minutes: int, seconds: int) -> ClockTime:
    """`三点二十分五秒`."""
    return clock(hours, minutes, seconds)


chinese.union("part", "<day_part>")


@rule("clock", "<bare_clock>", "大约|约 <bare_clock>")
def plain_clock(_: Context, read: ClockTime) -> ClockTime:
    """A time without the part of the day."""
    return read


@rule("clock", "<part> [的] <bare_clock>", "<part> 大约|约 <bare_clock>")
def clock_in_part(_: Context, named: Stretch, read: ClockTime) -> ClockTime:
    """`下午三点`."""
    return in_part(read, named)


@rule("stretch", "[从|在] <clock> 到|至|-|~ <clock> [之间]")
def time_range(_: Context, first: ClockTime, last: ClockTime) -> Stretch:
    """`上午九点到十一点`."""
    return from_to(first, last)


@rule("part_of_day", "<day_value> [的|,] <part>", "<day_value> <short_part>")
def part_of_day(_: Context, day: Value, named: Stretch) -> Value | None:
    """`明天下午`."""
    return during(day, named)


def _short(context: Context, days: int) -> Period:
    return holding(context.today + timedelta(days=days), Unit.DAY)


@rule("part_of_day", "<short_day> <short_part> [上|间|里]")
def short_part_of_day(context: Context, days: int, named: Stretch) -> Value | None:
    """`昨晚`."""
    return during(_short(context, days), named)


@rule("moment", "<short_day> <short_part> [上|间|里] <bare_clock>")
def short_part_and_clock(context: Context, days: int, named: Stretch, read: ClockTime) -> Value | None:
    """`昨晚八点`."""
    return at(_short(context, days), in_part(read, named))


@rule("moment", "<short_day> <short_part> [上|间|里] [从] <bare_clock> 到|至|-|~ <bare_clock>")
def short_part_and_stretch(
    context: Context, days: int, named: Stretch, first: ClockTime, last: ClockTime
) -> Value | None:
    """`今晚七点到九点`."""
    return during(_short(context, days), from_to(first, last, named))


@rule("moment", "<day_value> [的|,] <clock>", "<day_value> 大约 <clock>")
def day_and_clock(_: Context, day: Value, read: ClockTime) -> Value | None:
    """`明天下午三点`."""
    return at(day, read)


@rule("moment", "<day_value> [的|,] <stretch>")
def day_and_stretch(_: Context, day: Value, times: Stretch) -> Value | None:
    """`周一上午九点到十一点`."""
    return during(day, times)


@rule("moment", "<day_value> <clock> [之|以] 后")
def day_after_clock(_: Context, day: Value, read: ClockTime) -> Value | None:
    """`明天下午三点以后`."""
    return during(day, Stretch(read.since_midnight(), timedelta(days=1)))


@rule("moment", "<day_value> <clock> [之|以] 前")
def day_before_clock(_: Context, day: Value, read: ClockTime) -> Value | None:
    """`明天下午三点以前`."""
    return during(day, Stretch(timedelta(0), read.since_midnight()))


chinese.union("moment", "<part_of_day>", "<day_value>", "<container>", "<counted>", "<part_value>")
