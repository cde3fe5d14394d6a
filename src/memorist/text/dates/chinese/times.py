"""Chinese times of the day and days narrowed by them: 明天下午三点, 昨晚, 周一上午九点到十一点."""

from datetime import timedelta

from memorist.text.dates.calendar import Period, Unit, holding
from memorist.text.dates.chinese.atoms import chinese
from memorist.text.dates.clock import Clock, Stretch, at, clock, during, from_to, in_part
from memorist.text.dates.values import Context, Value

rule = chinese.rule

chinese.words("quarters", {"半": 30, "一刻": 15, "三刻": 45, "一 刻钟": 15})


@rule("bare_clock", "<time>")
def time(_: Context, read: Clock) -> Clock:
    """`17:30`."""
    return read


@rule(
    "bare_clock",
    "<small> 点|时 [钟|整]",
    "<small> 点|时 <small> [分]",
    "<small> 点|时 <quarters>",
    "<small> 点 过 <small> 分",
)
def hour(_: Context, hours: int, minutes: int | None = None) -> Clock:
    """`三点`, `三点二十`, `三点半`."""
    return clock(hours, minutes)


@rule("bare_clock", "<small> 点|时 <small> 分 <small> 秒")
def hour_minute_second(_: Context, hours: int, minutes: int, seconds: int) -> Clock:
    """`三点二十分五秒`."""
    return clock(hours, minutes, seconds)


chinese.union("part", "<day_part>")


@rule("clock", "<bare_clock>", "大约|约 <bare_clock>")
def plain_clock(_: Context, read: Clock) -> Clock:
    """A time without the part of the day."""
    return read


@rule("clock", "<part> [的] <bare_clock>", "<part> 大约|约 <bare_clock>")
def clock_in_part(_: Context, named: Stretch, read: Clock) -> Clock:
    """`下午三点`."""
    return in_part(read, named)


@rule("stretch", "[从|在] <clock> 到|至|-|~ <clock> [之间]")
def time_range(_: Context, first: Clock, last: Clock) -> Stretch:
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
def short_part_and_clock(context: Context, days: int, named: Stretch, read: Clock) -> Value | None:
    """`昨晚八点`."""
    return at(_short(context, days), in_part(read, named))


@rule("moment", "<short_day> <short_part> [上|间|里] [从] <bare_clock> 到|至|-|~ <bare_clock>")
def short_part_and_stretch(context: Context, days: int, named: Stretch, first: Clock, last: Clock) -> Value | None:
    """`今晚七点到九点`."""
    return during(_short(context, days), from_to(first, last, named))


@rule("moment", "<day_value> [的|,] <clock>", "<day_value> 大约 <clock>")
def day_and_clock(_: Context, day: Value, read: Clock) -> Value | None:
    """`明天下午三点`."""
    return at(day, read)


@rule("moment", "<day_value> [的|,] <stretch>")
def day_and_stretch(_: Context, day: Value, times: Stretch) -> Value | None:
    """`周一上午九点到十一点`."""
    return during(day, times)


@rule("moment", "<day_value> <clock> [之|以] 后")
def day_after_clock(_: Context, day: Value, read: Clock) -> Value | None:
    """`明天下午三点以后`."""
    return during(day, Stretch(read.since_midnight(), timedelta(days=1)))


@rule("moment", "<day_value> <clock> [之|以] 前")
def day_before_clock(_: Context, day: Value, read: Clock) -> Value | None:
    """`明天下午三点以前`."""
    return during(day, Stretch(timedelta(0), read.since_midnight()))


chinese.union("moment", "<part_of_day>", "<day_value>", "<container>", "<counted>", "<part_value>")
