"""English times of the day: 5pm, half past three, from 9 to 11, early in the morning."""

from memorist.text.dates.clock import AFTERNOON, MIDDAY, MORNING, Clock, Half, Stretch, clock, from_to, in_part
from memorist.text.dates.english.atoms import english
from memorist.text.dates.english.guards import glued
from memorist.text.dates.values import Context

rule = english.rule


@rule("clock", "<hour> <half>", "<hour> o'clock [<half>]", "<hour> oclock [<half>]")
def hour(_: Context, number: int, half: Half | None) -> Clock:
    """`5 pm`, `five o'clock`."""
    return clock(number, half=half)


english.words("letter", {"a": "am", "p": "pm"})


@rule("clock", "<hour> <letter>", when=glued)
def hour_and_letter(_: Context, number: int, half: Half) -> Clock:
    """`9p`."""
    return clock(number, half=half)


@rule("clock", "<time> [<half>]", "<time> <letter>", "<point_time> <half>")
def time(_: Context, read: Clock, half: Half | None) -> Clock:
    """`17:30`, `5:30 pm`, `5.30pm`."""
    return Clock(read.hour, read.minute, read.second, read.unit, half or read.half)


@rule("clock", "<hour> <minutes> [minutes] [<half>]")
def spelled_time(_: Context, hours: int, minutes: int, half: Half | None) -> Clock:
    """`six forty-three`."""
    return clock(hours, minutes, half=half)


@rule("clock", "half past <hour> [<half>]")
def half_past(_: Context, hours: int, half: Half | None) -> Clock:
    """`half past three`."""
    return clock(hours, 30, half=half)


@rule("clock", "<hour> [minutes] past <hour> [o'clock] [<half>]")
def minutes_past(_: Context, minutes: int, hours: int, half: Half | None) -> Clock:
    """`ten past nine`."""
    return clock(hours, minutes, half=half)


@rule("clock", "[a] quarter past <hour> [<half>]")
def quarter_past(_: Context, hours: int, half: Half | None) -> Clock:
    """`quarter past seven`."""
    return clock(hours, 15, half=half)


@rule("clock", "[a] quarter to <hour> [<half>]")
def quarter_to(_: Context, hours: int, half: Half | None) -> Clock:
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
def plain_clock(_: Context, read: Clock) -> Clock:
    """`5pm`."""
    return read


@rule("settled_clock", "<clock> [,|at] <part>", "<loose_hour> in|at [the] <part>")
def clock_in_part(_: Context, read: Clock, named: Stretch) -> Clock:
    """`five in the morning`."""
    return in_part(read, named)


@rule("loose_hour", "<hour>")
def loose_hour(_: Context, number: int) -> Clock:
    """An hour as a bare number."""
    return clock(number)


@rule("loose_clock", "<settled_clock>", "<loose_hour>", "<point_time>")
def loose_clock(_: Context, read: Clock) -> Clock:
    """A time that only the words around it tell from a number: `at 5`."""
    return read


@rule(
    "stretch",
    "[from] <loose_clock> to|till|until|-|through|~ <loose_clock> [<part>]",
    "between <loose_clock> and|to|- <loose_clock> [<part>]",
)
def time_range(_: Context, first: Clock, last: Clock, named: Stretch | None) -> Stretch:
    """`from 3 to 5pm`."""
    return from_to(first, last, named)


english.words("half_day", {"am|a.m.": MORNING, "pm|p.m.": AFTERNOON})
english.words("mid_day", {"mid": MIDDAY})
