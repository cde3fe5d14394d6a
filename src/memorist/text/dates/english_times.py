"""The English grammar of times of day and moments."""

from dataclasses import dataclass, replace
from datetime import timedelta

from memorist.text.dates import meanings
from memorist.text.dates.calendar import Period, Unit, holding, year
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
    in_part,
)
from memorist.text.dates.english import english
from memorist.text.dates.grammar import SWAPPED
from memorist.text.dates.numbers import Share, earlier_in, later_in, rest_of, share_of, so_far
from memorist.text.dates.values import Context, Value, monthly, refine, within
from memorist.text.dates.words import glued

rule, union, words = english.rule, english.union, english.words


def clock_with_half(_: Context, hours: int, minutes: int | None = None, half: Half | None = None) -> ClockTime:
    """`six forty-three`, `ten past nine am`."""
    return clock(hours, minutes, half=half)


def hour(_: Context, number: int, half: Half | None = None) -> ClockTime:
    """`5 pm`, `five o'clock`."""
    return clock(number, half=half)


def time(_: Context, read: ClockTime, half: Half | None) -> ClockTime:
    """`17:30`, `5:30 pm`, `5.30pm`."""
    return replace(read, half=half or read.half)


def quarter_to(_: Context, hours: int, half: Half | None) -> ClockTime:
    """`quarter to seven`."""
    return clock(hours - 1 or 12, 45, half=half)


def early_part(_: Context, part: Stretch) -> Stretch:
    """`early in the morning`."""
    return part.early()


def late_part(_: Context, part: Stretch) -> Stretch:
    """`late afternoon`."""
    return part.late()


rule("clock", hour, "<hour> <half>", "<hour> o'clock [<half>]", "<hour> oclock [<half>]")
words("letter", {"a": "am", "p": "pm"})
rule("clock", hour, "<hour> <letter>", when=glued)
rule("clock", time, "<time> [<half>]", "<time> <letter>", "<point_time> <half>")
rule("clock", clock_with_half, "<hour> <minutes> [minutes] [<half>]")
words("past", {"half past": 30, "a quarter past": 15, "quarter past": 15})
rule("clock", clock_with_half, "<past> <hour> [<half>]", order=(1, 0, 2))
rule("clock", clock_with_half, "<hour> [minutes] past <hour> [o'clock] [<half>]", order=(1, 0, 2))
rule("clock", quarter_to, "[a] quarter to <hour> [<half>]")
words("clock", {"noon|midday|mid-day": clock(12, half="pm"), "midnight|mid-night": clock(12, half="am")})
words("clock", {"mid night": clock(12, half="am")})
union("part", "[in|during] [the] [early] <day_part>")
rule("part", early_part, "early|earlier [in] [the] <day_part>")
rule("part", late_part, "late|later [in] [the] <day_part>")
union("settled_clock", "<clock>")
rule("settled_clock", meanings.clock_in_part, "<clock> [,|at] <part>", "<loose_hour> in|at [the] <part>")
rule("loose_hour", hour, "<hour>")
# Times that only the words around them distinguish from a number: `at 5`.
union("loose_clock", "<settled_clock>", "<loose_hour>", "<point_time>")
rule(
    "stretch",
    meanings.time_range,
    "[from] <loose_clock> to|till|until|-|through|~ <loose_clock> [<part>]",
    "between <loose_clock> and|to|- <loose_clock> [<part>]",
)
words("half_day", {"am|a.m.": MORNING, "pm|p.m.": AFTERNOON})
words("mid_day", {"mid": MIDDAY})


def end_of(context: Context, unit: Unit) -> Period:
    """`EOD`."""
    return share_of(holding(context.now, unit), Share.LATE)


def since_start(context: Context, unit: Unit) -> Period | None:
    """`YTD`."""
    return so_far(holding(context.now, unit), context)


_SHARES = {
    Share.EARLY: ("early", "early in", "early on in", "beginning of", "start of", "the beginning of", "the start of"),
    Share.MID: ("mid", "mid -", "middle of", "the middle of", "midway through", "mid of", "halfway through"),
    Share.LATE: ("late", "late in", "end of", "the end of", "close of"),
}
words("share", {phrase: share for share, phrases in _SHARES.items() for phrase in phrases})
union("whole", "<container>", "<this_unit>")
rule(
    "part_value",
    meanings.share,
    "<share> <whole>",
    "<share> the <container>",
    "<share> <deictic_day>",
    "<share> <weekday_value>",
    "<share> the <weekday_value>",
    order=SWAPPED,
)
words("end_of", {"eod|cob": Unit.DAY, "eow": Unit.WEEK, "eom": Unit.MONTH, "eoy": Unit.YEAR})
rule("part_value", end_of, "[the] <end_of>")
rule("part_value", meanings.refined(earlier_in), "earlier <unit_period>", "earlier <named_year>", "earlier in <whole>")
rule("part_value", meanings.refined(later_in), "later <unit_period>", "later <named_year>", "later in <whole>")
union("part_value", "earlier|later <deictic_day>")
rule("part_value", meanings.refined(rest_of), "[the] rest|remainder of <whole>")
rule(
    "part_value",
    meanings.refined(so_far),
    "<this_unit> to date",
    "so far <unit_period>",
    "<unit_period> so far",
    "<named_year> so far",
)
words("since_start", {"ytd": Unit.YEAR, "mtd": Unit.MONTH})
rule("part_value", since_start, "<since_start>")
union("base", "<container>", "<plain_day>", "<week_value>", "<week_number>", "<part_value>")


@dataclass(frozen=True, slots=True)
class PartOfDay:
    """A part of a certain day."""

    day: Value
    part: Stretch


def part_of_day(_: Context, day: Value, part: Stretch) -> PartOfDay:
    """`tomorrow morning`."""
    return PartOfDay(day, part)


def related_part(context: Context, relation: int, part: Stretch) -> PartOfDay:
    """`last night`, `this morning`."""
    return PartOfDay(meanings.related_day(context, relation), part)


def early_related_part(context: Context, relation: int, part: Stretch) -> PartOfDay:
    """`early this morning`."""
    return related_part(context, relation, part.early())


def late_related_part(context: Context, relation: int, part: Stretch) -> PartOfDay:
    """`late last night`."""
    return related_part(context, relation, part.late())


def tonight(context: Context) -> PartOfDay:
    """`tonight`."""
    return related_part(context, 0, NIGHT)


def part_before_last(context: Context, part: Stretch) -> PartOfDay:
    """`the night before last`."""
    return related_part(context, -2, part)


def nth_weekday_part(context: Context, number: int, weekday: int, part: Stretch, container: Value) -> PartOfDay | None:
    """`the first Monday evening of next month`."""
    day = meanings.nth_weekday_of(context, container, number, weekday)
    return PartOfDay(day, part) if day else None


def during_part(_: Context, named: PartOfDay) -> Value | None:
    """`tomorrow morning`, as a period."""
    return during(named.day, named.part)


def part_and_clock(_: Context, named: PartOfDay, time: ClockTime) -> Value | None:
    """`last night at 8`."""
    small_hours = named.part is NIGHT and time.hour % 12 < 6 and time.half != "pm"
    if not small_hours:
        return at(named.day, in_part(time, named.part))
    day = refine(named.day, lambda period: holding(period.end, Unit.DAY))
    return at(day, replace(time, half="am")) if day else None


def part_and_stretch(_: Context, named: PartOfDay, times: Stretch) -> Value | None:
    """`tomorrow evening from 7 to 9`."""
    return during(named.day, _shifted_into(times, named.part))


def _shifted_into(times: Stretch, part: Stretch) -> Stretch:
    """Ambiguous times, moved by half a day if that makes them overlap the part."""
    if times.half is not None or times.end > part.begin:
        return times
    half_day = timedelta(hours=12)
    return Stretch(times.begin + half_day, times.end + half_day)


def day_clock_and_year(_: Context, day: Value, time: ClockTime, of_year: int) -> Value | None:
    """`Thu Nov 10 09:30:00 2016`."""
    found = within(day, year(of_year))
    return at(found, time) if found else None


def end_of_named_day(_: Context, day: Value) -> Value | None:
    """`by EOD Friday`."""
    return refine(day, lambda found: share_of(found, Share.LATE))


def number_and_time(_: Context, number: int, time: Stretch | ClockTime) -> Value | None:
    """`the 17 between 2 and 4pm`."""
    day = monthly(number)
    return at(day, time) if isinstance(time, ClockTime) else during(day, time)


def nth_weekday_stretch(context: Context, number: int, weekday: int, times: Stretch, container: Value) -> Value | None:
    """`the first Monday 1pm to 3pm of next month`."""
    day = meanings.nth_weekday_of(context, container, number, weekday)
    return during(day, times) if day else None


def right_now(context: Context) -> Period:
    """`right now`."""
    return Period(context.now, context.now + timedelta(seconds=1), Unit.SECOND)


union("moment", "<window>", "<base>", "<shifted_weekday>", "<shifted>")
union("day", "<plain_day>", "<shifted_weekday>", "<shifted>")
rule("part_of_day", part_of_day, "<day> [,] <part>", "<day> <half_day>")
rule("part_of_day", part_of_day, "<part> of|on <day>", "<mid_day> <deictic_day>", order=SWAPPED)
rule("part_of_day", related_part, "<relation> <day_part>")
rule("part_of_day", early_related_part, "early|earlier <relation> <day_part>")
rule("part_of_day", late_related_part, "late|later <relation> <day_part>")
rule("part_of_day", tonight, "tonight|tonite")
rule("part_of_day", part_before_last, "the <day_part> before last")
rule("part_of_day", nth_weekday_part, "<nth> <weekday> <day_part> of|in <container>")
rule("moment", during_part, "<part_of_day>")
rule("moment", part_and_clock, "<part_of_day> [,] [at|around|about] <loose_clock>")
rule(
    "moment",
    part_and_clock,
    "<settled_clock> [,] [on] <part_of_day>",
    "at|around|about <loose_clock> [,] [on] <part_of_day>",
    "<loose_clock> , <part_of_day>",
    order=SWAPPED,
)
rule("moment", part_and_stretch, "<part_of_day> [,] <stretch>")
rule("moment", part_and_stretch, "<stretch> [,] [on] <part_of_day>", order=SWAPPED)
rule(
    "moment",
    meanings.day_and_clock,
    "<day> [,|-] [at|around|about|for] <settled_clock>",
    "<day> [,] at|around|about <loose_clock>",
)
rule("moment", meanings.day_and_clock, "<settled_clock> [,] [on|of|for] <day>", order=SWAPPED)
rule("moment", day_clock_and_year, "<dated> <time> <year>")
rule("moment", end_of_named_day, "[the] eod|cob [on|of|,] <day>", "end of [the] day [on|,] <day>")
rule("moment", meanings.day_and_stretch, "<day> [,] <stretch>")
rule("moment", meanings.day_and_stretch, "<stretch> [,] [on|of|for] <day>", order=SWAPPED)
rule("moment", number_and_time, "the <day_figure> <stretch>", "the <day_figure> at <settled_clock>")
rule("moment", nth_weekday_stretch, "<nth> <weekday> <stretch> of|in <container>")
rule("moment", meanings.day_after_clock, "<day> [,] after|since|from <settled_clock>")
rule("moment", meanings.day_before_clock, "<day> [,] before|until|till|by <settled_clock>")
rule("moment", right_now, "right now", "at present", "at this time|moment", "at the moment")
