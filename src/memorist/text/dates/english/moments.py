"""English days with a time: yesterday at 5pm, Monday 9 to 11, tomorrow morning, last night."""

from dataclasses import dataclass, replace
from datetime import timedelta

from memorist.text.dates.calendar import Period, Unit, holding, nth_weekday, year
from memorist.text.dates.clock import NIGHT, Clock, Stretch, at, during, in_part
from memorist.text.dates.english.atoms import english
from memorist.text.dates.shares import Share, share_of
from memorist.text.dates.values import Context, Value, monthly, refine, within

rule = english.rule


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
def part_and_clock(_: Context, named: PartOfDay, time: Clock) -> Value | None:
    """`last night at 8`."""
    small_hours = named.part is NIGHT and time.hour % 12 < 6 and time.half != "pm"
    if not small_hours:
        return at(named.day, in_part(time, named.part))
    day = refine(named.day, lambda period: holding(period.end, Unit.DAY))
    return at(day, replace(time, half="am")) if day else None


@rule("moment", "<settled_clock> [,] [on] <part_of_day>", "at|around|about <loose_clock> [,] [on] <part_of_day>")
def clock_and_part(context: Context, time: Clock, named: PartOfDay) -> Value | None:
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
def day_and_clock(_: Context, day: Value, time: Clock) -> Value | None:
    """`yesterday at 5pm`."""
    return at(day, time)


@rule("moment", "<settled_clock> [,] [on|of|for] <day>")
def clock_and_day(_: Context, time: Clock, day: Value) -> Value | None:
    """`5pm yesterday`."""
    return at(day, time)


@rule("moment", "<dated> <time> <year>")
def day_clock_and_year(_: Context, day: Value, time: Clock, of_year: int) -> Value | None:
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
def number_and_time(_: Context, number: int, time: Stretch | Clock) -> Value | None:
    """`the 17 between 2 and 4pm`."""
    day = monthly(number)
    return at(day, time) if isinstance(time, Clock) else during(day, time)


@rule("moment", "<nth> <weekday> <stretch> of|in <container>")
def nth_weekday_stretch(_: Context, number: int, weekday: int, times: Stretch, container: Value) -> Value | None:
    """`the first Monday 1pm to 3pm of next month`."""
    day = refine(container, lambda period: nth_weekday(period, weekday, number))
    return during(day, times) if day else None


@rule("moment", "<day> [,] after|since|from <settled_clock>")
def day_after_clock(_: Context, day: Value, time: Clock) -> Value | None:
    """`tomorrow after 5pm`: to the end of the day."""
    return during(day, Stretch(time.since_midnight(), timedelta(days=1)))


@rule("moment", "<day> [,] before|until|till|by <settled_clock>")
def day_before_clock(_: Context, day: Value, time: Clock) -> Value | None:
    """`tomorrow before 5pm`: from the beginning of the day."""
    return during(day, Stretch(timedelta(0), time.since_midnight()))


@rule("moment", "right now", "at present", "at this time|moment", "at the moment")
def right_now(context: Context) -> Period:
    """`right now`."""
    return Period(context.now, context.now + timedelta(seconds=1), Unit.SECOND)
