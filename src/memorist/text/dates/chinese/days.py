"""Chinese days: 十月二日, 上周三, 后天, 农历八月十五, 十月的第一个星期一."""

from datetime import timedelta

from memorist.text.dates.calendar import Period, Unit, holding, nth_weekday, weekday_of_week
from memorist.text.dates.chinese.atoms import chinese
from memorist.text.dates.chinese.guards import at_end, numbers_day
from memorist.text.dates.lunar import chinese_day
from memorist.text.dates.numeric import month_day
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
