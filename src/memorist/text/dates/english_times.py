"""The English grammar of times of day and moments."""

from dataclasses import dataclass, replace
from datetime import timedelta

from memorist.text.dates import meanings
from memorist.text.dates.calendar import Period, Unit, neighbour, nth_weekday, unit_around, year
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
from memorist.text.dates.english import english
from memorist.text.dates.grammar import SWAPPED
from memorist.text.dates.meanings import change_every
from memorist.text.dates.numbers import Share, earlier_in, later_in, rest_of, share_of, so_far
from memorist.text.dates.values import Context, Value, monthly, refine, resolve, within
from memorist.text.dates.words import DAY_PARTS, is_glued

rule, union, words = english.rule, english.union, english.words


def time(read: ClockTime, half: Half | None) -> ClockTime:
    """`17:30`, `5:30 pm`, `5.30pm`."""
    return replace(read, half=half or read.half)


def minutes_to(minutes: int, hours: int, half: Half | None) -> ClockTime:
    """`quarter to seven`, `ten to seven`."""
    return clock(hours - 1 or 12, 60 - minutes, half=half)


_HOUR_AND_HALF = (0, 3)
rule("clock", clock, "<hour> <half>", "<hour> o'clock [<half>]", "<hour> oclock [<half>]", order=_HOUR_AND_HALF)
words("letter", {"a": "am", "p": "pm"})
rule("clock", clock, "<hour> <letter>", when=is_glued, order=_HOUR_AND_HALF)
rule("clock", time, "<time> [<half>]", "<time> <letter>", "<point_time> <half>")
rule("clock", clock, "<hour> <minutes> [minutes] [<half>]", order=(0, 1, 3))
words("past", {"half past": 30, "a quarter past": 15, "quarter past": 15})
rule("clock", clock, "<past> <hour> [<half>]", order=(1, 0, 3))
rule("clock", clock, "<hour> [minutes] past <hour> [o'clock] [<half>]", order=(1, 0, 3))
words("quarter_hour", {"quarter": 15, "a quarter": 15})
rule("clock", minutes_to, "<quarter_hour> to <hour> [<half>]", "<hour> minutes to <hour> [<half>]")
words("minutes_less", {"five": 5, "ten": 10, "twenty": 20, "twenty-five": 25})  # `five to seven` alone is a stretch
rule("clock", minutes_to, "at <minutes_less> to <hour> [<half>]")
words("clock", {"noon|midday|mid-day": clock(12, half="pm"), "midnight|mid-night": clock(12, half="am")})
words("clock", {"mid night": clock(12, half="am")})
union("part", "[in|during] [the] [early] <day_part>")
rule("part", Stretch.early, "early|earlier [in] [the] <day_part>")
rule("part", Stretch.late, "late|later [in] [the] <day_part>")
union("settled_clock", "<clock>")
rule("settled_clock", in_part, "<clock> [,|at] <part>", "<loose_hour> in|at [the] <part>")
rule("loose_hour", clock, "<hour>")
# Times that only the words around them distinguish from a number: `at 5`.
union("loose_clock", "<settled_clock>", "<loose_hour>", "<point_time>")
rule(
    "stretch",
    from_to,
    "[from] <loose_clock> to|till|until|-|through|~ <loose_clock> [<part>]",
    "between <loose_clock> and|to|- <loose_clock> [<part>]",
)
words("half_day", {"am|a.m.": MORNING, "pm|p.m.": AFTERNOON})
words("mid_day", {"mid": MIDDAY, "first thing": MORNING})


def end_of(period: Period) -> Period:
    """`EOD`, `EOM`."""
    return share_of(period, Share.LATE)


words("share", {"early [in]": Share.EARLY, "early on in": Share.EARLY, "[the] beginning|start of": Share.EARLY})
words("share", {"mid [-]": Share.MID, "[the] mid|middle of": Share.MID, "midway|halfway through": Share.MID})
words("share", {"late [in]": Share.LATE, "[the] end of": Share.LATE, "close of": Share.LATE})
union("whole", "<container>", "<this_unit>")
rule(
    "part_value",
    change_every(share_of),
    "<share> <whole>",
    "<share> the <container>",
    "<share> <deictic_day>",
    "<share> <weekday_value>",
    "<share> the <weekday_value>",
    order=SWAPPED,
)
for unit, shorthand in ((Unit.DAY, "eod|cob"), (Unit.WEEK, "eow"), (Unit.MONTH, "eom"), (Unit.YEAR, "eoy")):
    rule("part_value", meanings.of_this(unit, end_of), f"[the] {shorthand}")
rule("part_value", change_every(earlier_in), "earlier <unit_period>", "earlier <named_year>", "earlier in <whole>")
rule("part_value", change_every(later_in), "later <unit_period>", "later <named_year>", "later in <whole>")
union("part_value", "earlier|later <deictic_day>")
rule("part_value", change_every(rest_of), "[the] rest|remainder of <whole>")
rule(
    "part_value",
    change_every(so_far),
    "<this_unit> to date",
    "so far <unit_period>",
    "<unit_period> so far",
    "<named_year> so far",
)
rule("part_value", meanings.of_this(Unit.YEAR, so_far), "ytd")
rule("part_value", meanings.of_this(Unit.MONTH, so_far), "mtd")
union("base", "<container>", "<plain_day>", "<week_value>", "<week_number>", "<part_value>")


@dataclass(frozen=True, slots=True)
class PartOfDay:
    """A part of a certain day."""

    day: Value
    part: Stretch


def early_part_of_day(day: Value, part: Stretch) -> PartOfDay:
    """`early this morning`."""
    return PartOfDay(day, part.early())


def late_part_of_day(day: Value, part: Stretch) -> PartOfDay:
    """`late last night`."""
    return PartOfDay(day, part.late())


def tonight(context: Context) -> PartOfDay:
    """`tonight`."""
    return PartOfDay(unit_around(context.now, Unit.DAY), NIGHT)


def part_before_last(part: Stretch, context: Context) -> PartOfDay:
    """`the night before last`."""
    return PartOfDay(neighbour(context.now, Unit.DAY, -2), part)


def part_beside(part: Stretch, side: int, anchor: Value, context: Context) -> PartOfDay | None:
    """`the evening before Christmas Eve`."""
    found = resolve(anchor, context)
    return PartOfDay(neighbour(found.start, Unit.DAY, side), part) if found and found.unit is Unit.DAY else None


def parts_ago(count: int, part: Stretch, context: Context) -> PartOfDay:
    """`two nights ago`."""
    return PartOfDay(neighbour(context.now, Unit.DAY, -count), part)


def nth_weekday_part(number: int, weekday: int, part: Stretch, container: Value) -> PartOfDay | None:
    """`the first Monday evening of next month`, `the first Monday 1pm to 3pm of next month`."""
    day = refine(container, lambda period: nth_weekday(period, weekday, number))
    return PartOfDay(day, part) if day else None


def during_part(named: PartOfDay) -> Value | None:
    """`tomorrow morning`, as a period."""
    return during(named.day, named.part)


def part_and_clock(named: PartOfDay, time: ClockTime) -> Value | None:
    """`last night at 8`."""
    small_hours = named.part is NIGHT and time.hour % 12 < 6 and time.half != "pm"
    if not small_hours:
        return at(named.day, in_part(time, named.part))
    day = refine(named.day, lambda period: unit_around(period.end, Unit.DAY))
    return at(day, replace(time, half="am")) if day else None


def part_and_stretch(named: PartOfDay, times: Stretch) -> Value | None:
    """`tomorrow evening from 7 to 9`."""
    return during(named.day, _shifted_into(times, named.part))


def _shifted_into(times: Stretch, part: Stretch) -> Stretch:
    """Ambiguous times, moved by half a day if that makes them overlap the part."""
    if times.half is not None or times.end > part.begin:
        return times
    half_day = timedelta(hours=12)
    return Stretch(times.begin + half_day, times.end + half_day)


def day_clock_and_year(day: Value, time: ClockTime, of_year: int) -> Value | None:
    """`Thu Nov 10 09:30:00 2016`."""
    found = within(day, year(of_year))
    return at(found, time) if found else None


def number_and_time(number: int, time: Stretch | ClockTime) -> Value | None:
    """`the 17 between 2 and 4pm`."""
    day = monthly(number)
    return at(day, time) if isinstance(time, ClockTime) else during(day, time)


def right_now(context: Context) -> Period:
    """`right now`."""
    return Period(context.now, context.now + timedelta(seconds=1), Unit.SECOND)


union("moment", "<window>", "<base>", "<shifted_weekday>", "<shifted>")
union("day", "<plain_day>", "<shifted_weekday>", "<shifted>")
rule("part_of_day", PartOfDay, "<day> [,] <part>", "<day> <half_day>")
rule("part_of_day", PartOfDay, "<part> of|on <day>", "<mid_day> [on] <day>", order=SWAPPED)
rule("near_day", meanings.related(Unit.DAY), "<relation>")
rule("part_of_day", PartOfDay, "<near_day> <day_part>")
rule("part_of_day", early_part_of_day, "early|earlier <near_day> <day_part>", "early [on] <day> <day_part>")
rule("part_of_day", late_part_of_day, "late|later <near_day> <day_part>", "late [on] <day> <day_part>")
rule("part_of_day", tonight, "tonight|tonite")
rule("part_of_day", part_before_last, "the <day_part> before last")
rule("part_of_day", part_beside, "the <day_part> <side> <plain_day>")
words("day_parts", {f"{name}s": DAY_PARTS[name] for name in ("morning", "afternoon", "evening", "night")})
rule("part_of_day", parts_ago, "<integer> <day_parts> ago")
union("time_of_day", "<day_part>", "<stretch>")
rule("part_of_day", nth_weekday_part, "<nth> <weekday> <time_of_day> of|in <container>")
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
rule("moment", at, "<day> [,|-] [at|around|about|for] <settled_clock>", "<day> [,] at|around|about <loose_clock>")
rule("moment", at, "<settled_clock> [,] [on|of|for] <day>", order=SWAPPED)
rule("moment", day_clock_and_year, "<dated> <time> <year>")
rule(
    "moment",
    change_every(end_of),
    "[the] eod|cob|end_of_business|close_of_business [on|of|,] <day>",
    "end of [the] day [on|,] <day>",
)
rule("moment", during, "<day> [,] <stretch>")
rule("moment", during, "<stretch> [,] [on|of|for] <day>", order=SWAPPED)
rule("moment", number_and_time, "the <day_figure> <stretch>", "the <day_figure> at <settled_clock>")
rule("moment", meanings.day_after_clock, "<day> [,] after|since|from <settled_clock>")
rule("moment", meanings.day_before_clock, "<day> [,] before|until|till|by <settled_clock>")
rule("moment", right_now, "right now", "at present", "at this time|moment", "at the moment")
