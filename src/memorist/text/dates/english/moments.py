"""English: times of day and moments."""

from dataclasses import dataclass, replace
from datetime import timedelta

from memorist.text.dates.calendar import Period, Unit, holding, nth_weekday, year
from memorist.text.dates.clock import (
    AFTERNOON,
    MIDDAY,
    MORNING,
    NIGHT,
    ClockTime,
    Half,
    Stretch,
    at,
    clock,
    during,
    from_to,
    in_part,
)
from memorist.text.dates.english.atoms import english
from memorist.text.dates.english.lexicon import glued
from memorist.text.dates.numbers import Share, earlier_in, later_in, rest_of, share_of, so_far
from memorist.text.dates.values import Context, Value, monthly, refine, within

rule = english.rule


@rule("clock", "<hour> <half>", "<hour> o'clock [<half>]", "<hour> oclock [<half>]")
def hour(_: Context, number: int, half: Half | None) -> ClockTime:
    """`5 pm`, `five o'clock`."""
    return clock(number, half=half)


english.words("letter", {"a": "am", "p": "pm"})


@rule("clock", "<hour> <letter>", when=glued)
def hour_and_letter(_: Context, number: int, half: Half) -> ClockTime:
    """`9p`."""
    return clock(number, half=half)


@rule("clock", "<time> [<half>]", "<time> <letter>", "<point_time> <half>")
def time(_: Context, read: ClockTime, half: Half | None) -> ClockTime:
    """`17:30`, `5:30 pm`, `5.30pm`."""
    return ClockTime(read.hour, read.minute, read.second, read.unit, half or read.half)


@rule("clock", "<hour> <minutes> [minutes] [<half>]")
def spelled_time(_: Context, hours: int, minutes: int, half: Half | None) -> ClockTime:
    """`six forty-three`."""
    return clock(hours, minutes, half=half)


@rule("clock", "half past <hour> [<half>]")
def half_past(_: Context, hours: int, half: Half | None) -> ClockTime:
    """`half past three`."""
    return clock(hours, 30, half=half)


@rule("clock", "<hour> [minutes] past <hour> [o'clock] [<half>]")
def minutes_past(_: Context, minutes: int, hours: int, half: Half | None) -> ClockTime:
    """`ten past nine`."""
    return clock(hours, minutes, half=half)


@rule("clock", "[a] quarter past <hour> [<half>]")
def quarter_past(_: Context, hours: int, half: Half | None) -> ClockTime:
    """`quarter past seven`."""
    return clock(hours, 15, half=half)


@rule("clock", "[a] quarter to <hour> [<half>]")
def quarter_to(_: Context, hours: int, half: Half | None) -> ClockTime:
    """`quarter to seven`."""
    return clock(hours - 1 or 12, 45, half=half)


english.words("clock", {"noon|midday|mid-day": clock(12, half="pm"), "midnight|mid-night": clock(12, half="am")})
english.words("clock", {"mid night": clock(12, half="am")})


@rule("part", "[in|during] [the] [early] <day_part>")
def part(_: Context, named: Stretch) -> Stretch:
    """`in the morning`."""
    return named


@rule("part", "early|earlier [in] [the] <day_part>")
def early_part(_: Context, named: Stretch) -> Stretch:
    """`early in the morning`."""
    return named.early()


@rule("part", "late|later [in] [the] <day_part>")
def late_part(_: Context, named: Stretch) -> Stretch:
    """`late afternoon`."""
    return named.late()


@rule("settled_clock", "<clock>")
def plain_clock(_: Context, read: ClockTime) -> ClockTime:
    """`5pm`."""
    return read


@rule("settled_clock", "<clock> [,|at] <part>", "<loose_hour> in|at [the] <part>")
def clock_in_part(_: Context, read: ClockTime, named: Stretch) -> ClockTime:
    """`five in the morning`."""
    return in_part(read, named)


@rule("loose_hour", "<hour>")
def loose_hour(_: Context, number: int) -> ClockTime:
    """An hour as a bare number."""
    return clock(number)


@rule("loose_clock", "<settled_clock>", "<loose_hour>", "<point_time>")
def loose_clock(_: Context, read: ClockTime) -> ClockTime:
    """A time that only the words around it tell from a number: `at 5`."""
    return read


@rule(
    "stretch",
    "[from] <loose_clock> to|till|until|-|through|~ <loose_clock> [<part>]",
    "between <loose_clock> and|to|- <loose_clock> [<part>]",
)
def time_range(_: Context, first: ClockTime, last: ClockTime, named: Stretch | None) -> Stretch:
    """`from 3 to 5pm`."""
    return from_to(first, last, named)


english.words("half_day", {"am|a.m.": MORNING, "pm|p.m.": AFTERNOON})
english.words("mid_day", {"mid": MIDDAY})


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


@dataclass(frozen=True, slots=True)
class PartOfDay:
    """A part of a certain day."""

    day: Value
    part: Stretch


english.union("moment", "<window>", "<base>", "<shifted_weekday>", "<shifted>")
english.union("day", "<plain_day>", "<shifted_weekday>", "<shifted>")


@rule("part_of_day", "<day> [,] <part>", "<day> <half_day>")
def part_of_day(_: Context, day: Value, part: Stretch) -> PartOfDay:
    """`tomorrow morning`."""
    return PartOfDay(day, part)


@rule("part_of_day", "<part> of|on <day>", "<mid_day> <deictic_day>")
def part_before_day(_: Context, part: Stretch, day: Value) -> PartOfDay:
    """`on the morning of 2 October`."""
    return PartOfDay(day, part)


@rule("part_of_day", "<relation> <day_part>")
def related_part(context: Context, relation: int, part: Stretch) -> PartOfDay:
    """`last night`, `this morning`."""
    return PartOfDay(holding(context.today + timedelta(days=relation), Unit.DAY), part)


@rule("part_of_day", "early|earlier <relation> <day_part>")
def early_related_part(context: Context, relation: int, part: Stretch) -> PartOfDay:
    """`early this morning`."""
    return related_part(context, relation, part.early())


@rule("part_of_day", "late|later <relation> <day_part>")
def late_related_part(context: Context, relation: int, part: Stretch) -> PartOfDay:
    """`late last night`."""
    return related_part(context, relation, part.late())


@rule("part_of_day", "tonight|tonite")
def tonight(context: Context) -> PartOfDay:
    """`tonight`."""
    return related_part(context, 0, NIGHT)


@rule("part_of_day", "the <day_part> before last")
def part_before_last(context: Context, part: Stretch) -> PartOfDay:
    """`the night before last`."""
    return related_part(context, -2, part)


@rule("part_of_day", "<nth> <weekday> <day_part> of|in <container>")
def nth_weekday_part(_: Context, number: int, weekday: int, part: Stretch, container: Value) -> PartOfDay | None:
    """`the first Monday evening of next month`."""
    day = refine(container, lambda period: nth_weekday(period, weekday, number))
    return PartOfDay(day, part) if day else None


@rule("moment", "<part_of_day>")
def during_part(_: Context, named: PartOfDay) -> Value | None:
    """The part as it is."""
    return during(named.day, named.part)


@rule("moment", "<part_of_day> [,] [at|around|about] <loose_clock>")
def part_and_clock(_: Context, named: PartOfDay, time: ClockTime) -> Value | None:
    """`last night at 8`."""
    small_hours = named.part is NIGHT and time.hour % 12 < 6 and time.half != "pm"
    if not small_hours:
        return at(named.day, in_part(time, named.part))
    day = refine(named.day, lambda period: holding(period.end, Unit.DAY))
    return at(day, replace(time, half="am")) if day else None


@rule("moment", "<settled_clock> [,] [on] <part_of_day>", "at|around|about <loose_clock> [,] [on] <part_of_day>")
def clock_and_part(context: Context, time: ClockTime, named: PartOfDay) -> Value | None:
    """`8am tomorrow morning`, `at 8 tomorrow morning`."""
    return part_and_clock(context, named, time)


rule("moment", "<loose_clock> , <part_of_day>")(clock_and_part)


@rule("moment", "<part_of_day> [,] <stretch>")
def part_and_stretch(_: Context, named: PartOfDay, times: Stretch) -> Value | None:
    """`tomorrow evening from 7 to 9`."""
    return during(named.day, _shifted_into(times, named.part))


@rule("moment", "<stretch> [,] [on] <part_of_day>")
def stretch_and_part(_: Context, times: Stretch, named: PartOfDay) -> Value | None:
    """`from 7 to 9 tomorrow evening`."""
    return part_and_stretch(_, named, times)


def _shifted_into(times: Stretch, part: Stretch) -> Stretch:
    """Times left open, moved by half a day to where they overlap the part."""
    if times.half is not None or times.end > part.begin:
        return times
    half_day = timedelta(hours=12)
    return Stretch(times.begin + half_day, times.end + half_day)


@rule(
    "moment",
    "<day> [,|-] [at|around|about|for] <settled_clock>",
    "<day> [,] at|around|about <loose_clock>",
)
def day_and_clock(_: Context, day: Value, time: ClockTime) -> Value | None:
    """`yesterday at 5pm`."""
    return at(day, time)


@rule("moment", "<settled_clock> [,] [on|of|for] <day>")
def clock_and_day(_: Context, time: ClockTime, day: Value) -> Value | None:
    """`5pm yesterday`."""
    return at(day, time)


@rule("moment", "<dated> <time> <year>")
def day_clock_and_year(_: Context, day: Value, time: ClockTime, of_year: int) -> Value | None:
    """`Thu Nov 10 09:30:00 2016`."""
    found = within(day, year(of_year))
    return at(found, time) if found else None


@rule("moment", "[the] eod|cob [on|of|,] <day>", "end of [the] day [on|,] <day>")
def end_of_named_day(_: Context, day: Value) -> Value | None:
    """`by EOD Friday`."""
    return refine(day, lambda found: share_of(found, Share.LATE))


@rule("moment", "<day> [,] <stretch>")
def day_and_stretch(_: Context, day: Value, times: Stretch) -> Value | None:
    """`Monday 9 to 11`."""
    return during(day, times)


@rule("moment", "<stretch> [,] [on|of|for] <day>")
def stretch_and_day(_: Context, times: Stretch, day: Value) -> Value | None:
    """`between 9 and 11 on Monday`."""
    return during(day, times)


@rule("moment", "the <day_figure> <stretch>", "the <day_figure> at <settled_clock>")
def number_and_time(_: Context, number: int, time: Stretch | ClockTime) -> Value | None:
    """`the 17 between 2 and 4pm`."""
    day = monthly(number)
    return at(day, time) if isinstance(time, ClockTime) else during(day, time)


@rule("moment", "<nth> <weekday> <stretch> of|in <container>")
def nth_weekday_stretch(_: Context, number: int, weekday: int, times: Stretch, container: Value) -> Value | None:
    """`the first Monday 1pm to 3pm of next month`."""
    day = refine(container, lambda period: nth_weekday(period, weekday, number))
    return during(day, times) if day else None


@rule("moment", "<day> [,] after|since|from <settled_clock>")
def day_after_clock(_: Context, day: Value, time: ClockTime) -> Value | None:
    """`tomorrow after 5pm`: to the end of the day."""
    return during(day, Stretch(time.since_midnight(), timedelta(days=1)))


@rule("moment", "<day> [,] before|until|till|by <settled_clock>")
def day_before_clock(_: Context, day: Value, time: ClockTime) -> Value | None:
    """`tomorrow before 5pm`: from the beginning of the day."""
    return during(day, Stretch(timedelta(0), time.since_midnight()))


@rule("moment", "right now", "at present", "at this time|moment", "at the moment")
def right_now(context: Context) -> Period:
    """`right now`."""
    return Period(context.now, context.now + timedelta(seconds=1), Unit.SECOND)
