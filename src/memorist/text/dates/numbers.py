"""Numbers in words and figures, dates in figures, parts of periods, and ISO 8601."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from enum import Enum

from memorist.text.dates.calendar import OPEN_END, OPEN_START, Period, Unit, add, day, month
from memorist.text.dates.values import NOTHING, Context, Nothing, Value, yearly
from memorist.text.patterns import lazy

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_SMALL_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS_ORDINALS = "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"

CARDINALS = {word: number for number, word in enumerate(_SMALL.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), 2)
}
ORDINALS = {word: number for number, word in enumerate(_SMALL_ORDINALS.split(), 1)} | {
    word: 10 * number for number, word in enumerate(_TENS_ORDINALS.split(), 2)
}
ORDINAL_SUFFIXES = frozenset({"st", "nd", "rd", "th"})
_LONGEST_SPELLING = 10

_CHINESE_DIGITS = {sign: number for number, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "元": 1,  # the first year of an era
    "廿": 20,
    "卅": 30,
}
_CHINESE_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
CHINESE_NUMERALS = frozenset(_CHINESE_DIGITS) - {"元"} | frozenset(_CHINESE_SCALES)
_LONGEST_NUMERAL = 9


def spelled_numbers(keys: Sequence[str], place: int) -> Iterator[tuple[int, int, bool]]:
    """Numbers in English words from a place on: where each stops, its value, and whether it is an ordinal.

    "two thousand and fifteen" gives 2, 2000 and 2015; "twenty-first" gives 20 and (ordinal) 21.
    """
    total, current, room = 0, 0, 1_000_000  # the next word must be worth less than `room`
    for stop in range(place, min(place + _LONGEST_SPELLING, len(keys))):
        word = keys[stop]
        value = CARDINALS.get(word, ORDINALS.get(word))
        if value is not None and value < room:
            current += value
            room = 10 if value >= 20 else 0
        elif word == "hundred" and 0 < current < 100:
            current, room = 100 * current, 100
        elif word == "thousand" and not total and current:
            total, current, room = 1000 * current, 0, 1000
        elif (word == "-" and room == 10) or (word == "and" and room in (100, 1000)):
            continue
        else:
            return
        yield stop + 1, total + current, word in ORDINALS
        if word in ORDINALS:
            return


def chinese_number(numeral: str) -> int | None:
    """The value of Chinese numerals: by scales (二十三, 两千零五) or digit by digit (二零一六)."""
    if not any(sign in _CHINESE_SCALES for sign in numeral):
        return _by_digits(numeral)
    total, current = 0, 0
    for sign in numeral:
        scale = _CHINESE_SCALES.get(sign)
        if scale is None:
            current += _CHINESE_DIGITS[sign]
        elif scale == 10_000:
            total, current = (total + current) * scale, 0
        else:
            total, current = total + (current or 1) * scale, 0
    return total + current


def _by_digits(numeral: str) -> int | None:
    digits = [_CHINESE_DIGITS[sign] for sign in numeral]
    if len(digits) == 2 and digits[0] in (20, 30):
        return sum(digits)
    if len(digits) > 1 and max(digits) > 9:
        return None
    return int("".join(map(str, digits)))


def numeral_run(keys: Sequence[str], place: int) -> int:
    """Where the run of Chinese numerals that begins at a place stops."""
    stop = place
    while stop < len(keys) and keys[stop] in CHINESE_NUMERALS and stop - place < _LONGEST_NUMERAL:
        stop += 1
    return stop


def full_year(number: int, now: int) -> int:
    """The full form of a two-digit year: at most twenty years after `now`, otherwise in the past."""
    if number >= 100:
        return number
    century = now - now % 100
    return century + number if century + number <= now + 20 else century + number - 100


_TRIPLE = lazy(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{4}|\d{1,2})(?!\d)")
_PAIR = lazy(r"(\d{1,4})([-/.])(\d{4}|\d{1,2})(?!\d)")
_ISO_TIME = lazy(r"[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?)?(?!\d)(Z|[+-]\d\d:?\d\d(?!\d))?", re.IGNORECASE)
_COMPACT = lazy(r"(?:19|20)\d{6}(?!\d)")

Found = tuple[int, Value | Nothing]


def full_dates(text: str, begin: int, context: Context) -> Iterator[Found]:
    """Days with a year that begin at an offset: where each stops, and the day."""
    compact = _COMPACT.match(text, begin)
    if compact:
        digits = compact[0]
        yield compact.end(), day_or_nothing(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    found = _TRIPLE.match(text, begin)
    if not found:
        return
    first, sign, second, third = found.groups()
    fields = _order(first, sign, second, third, context)
    if fields:
        date = day_or_nothing(*fields)
        if isinstance(date, Period) and len(first) == 4 and sign == "-":
            yield from _with_iso_time(text, found.end(), date)
        yield found.end(), date


def _order(first: str, sign: str, second: str, third: str, context: Context) -> tuple[int, int, int] | None:
    """Year, month and day: a four-digit year comes first, else the month, or the day if separated by dots."""
    one, two, three = int(first), int(second), int(third)
    if len(first) == 4:
        return (one, two, three) if len(third) < 3 else None
    if len(first) == 3 or (sign == "." and len(third) < 4):
        return None
    if context.year_first and len(third) == 2 and sign != ".":
        return full_year(one, context.now.year), two, three
    months, days = (two, one) if (sign == "." or one > 12) and two <= 12 else (one, two)
    if months > 12:
        return None
    return full_year(three, context.now.year), months, days


def day_or_nothing(years: int, months: int, days: int) -> Period | Nothing:
    """A day; `NOTHING` if there is no such day."""
    try:
        return day(years, months, days)
    except ValueError:
        return NOTHING


def _with_iso_time(text: str, begin: int, date: Period) -> Iterator[Found]:
    found = _ISO_TIME.match(text, begin)
    if not found or (found[0].startswith(" ") and not found[2]):
        return
    hours, minutes, seconds, zone = found.groups()
    unit = Unit.SECOND if seconds else Unit.MINUTE if minutes else Unit.HOUR
    if int(hours) > 23 or int(minutes or 0) > 59 or int(seconds or 0) > 59:
        return
    start = date.start.replace(hour=int(hours), minute=int(minutes or 0), second=int(seconds or 0))
    start -= _offset(zone)
    yield found.end(), Period(start, add(start, 1, unit), unit)


def _offset(zone: str | None) -> timedelta:
    if not zone or zone in "Zz":
        return timedelta(0)
    sign = -1 if zone[0] == "-" else 1
    return sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))


def month_dates(text: str, begin: int) -> Iterator[Found]:
    """Months with a year: 2015-12, 12/2015."""
    found = _PAIR.match(text, begin)
    if not found or found[2] == ".":
        return
    first, _, second = found.groups()
    years, months = (first, second) if len(first) == 4 else (second, first)
    if len(years) == 4 and len(months) <= 2 and 1900 <= int(years) < 2100 and 1 <= int(months) <= 12:
        yield found.end(), month(int(years), int(months))


def day_pairs(text: str, begin: int, signs: str) -> Iterator[Found]:
    """Days without a year, month first unless that is impossible: 4/22, 22/04."""
    found = _PAIR.match(text, begin)
    if not found or found[2] not in signs or len(found[1]) > 2 or len(found[3]) > 2 or found[0] == "24/7":
        return
    first, second = int(found[1]), int(found[3])
    months, days = (second, first) if first > 12 else (first, second)
    if 1 <= months <= 12 and 1 <= days <= 31:
        yield found.end(), month_day(months, days)


def month_day(months: int, days: int) -> Value | Nothing:
    """A day without a year; `NOTHING` if no year has such a day."""
    try:
        datetime(2000, months, days)  # a leap year has every possible day
    except ValueError:
        return NOTHING
    return yearly(lambda years: day(years, months, days))


class Share(Enum):
    """A part of a period."""

    EARLY = 0
    MID = 1
    LATE = 2


_Cuts = tuple[tuple[datetime, datetime], tuple[datetime, datetime], tuple[datetime, datetime]]


def share_of(period: Period, share: Share) -> Period:
    """A part of a period: halves of days and months (the middle overlaps both), thirds of other periods."""
    begin, end = _cuts(period)[share.value]
    unit = Unit.SECOND if end - begin <= timedelta(seconds=1) else Unit.MONTH
    return Period(begin, end, unit)


def _cuts(period: Period) -> _Cuts:
    start, end = period.start, period.end
    if period.unit is Unit.DAY:
        last_second = end - timedelta(seconds=1)  # "the end of the day" is a deadline
        return (start, _hour(start, 12)), (_hour(start, 10), _hour(start, 14)), (last_second, end)
    if period.unit is Unit.MONTH:
        half = start.replace(day=16)
        return (start, half), (start.replace(day=10), start.replace(day=20)), (half, end)
    if period.unit is Unit.WEEK:
        days = [start + timedelta(days=number) for number in range(8)]
        return (start, days[3]), (days[1], days[4]), (days[3], end)
    return _thirds(period)


def _hour(day: datetime, hour: int) -> datetime:
    return datetime.combine(day.date(), time(hour))


def _thirds(period: Period) -> _Cuts:
    start, end = period.start, period.end
    months = 12 * (end.year - start.year) + end.month - start.month
    if months >= 3:
        first, second = (add(start, number * months // 3, Unit.MONTH) for number in (1, 2))
    else:
        first, second = start + (end - start) / 3, end - (end - start) / 3
    return (start, first), (first, second), (second, end)


def earlier_in(period: Period, context: Context) -> Period | None:
    """`earlier this month`: up to today."""
    end = min(period.end, context.today)
    return Period(period.start, end, Unit.MONTH) if period.start < end else None


def later_in(period: Period, context: Context) -> Period | None:
    """`later this month`: its second half, but not before today."""
    start = max(_second_half(period), context.today)
    return Period(start, period.end, Unit.MONTH) if start < period.end else None


def _second_half(period: Period) -> datetime:
    if period.unit is Unit.YEAR:
        return add(period.start, 6, Unit.MONTH)
    return _cuts(period)[2][0]


def rest_of(period: Period, context: Context) -> Period | None:
    """The rest of a period, including today."""
    start = max(period.start, context.today)
    return Period(start, period.end, Unit.DAY) if start < period.end else None


def so_far(period: Period, context: Context) -> Period | None:
    """A period up to and including today."""
    end = min(period.end, context.today + timedelta(days=1))
    return Period(period.start, end, Unit.DAY) if period.start < end else None


_INSTANT = r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?"
_INTERVAL = lazy(rf"(\.\.|{_INSTANT})/(\.\.|{_INSTANT})(?![\d:])")
_GRANULES = (
    (timedelta(days=1), "%H:%M:%S", "00:00:00", 10),
    (timedelta(hours=1), "%M:%S", "00:00", 13),
    (timedelta(minutes=1), "%S", "00", 16),
    (timedelta(seconds=1), "", "", 19),
)


def iso(start: datetime, end: datetime) -> str:
    """A day, hour, minute or second in its own form, anything else as `start/end` with `..` for an open edge."""
    for length, rest, zero, digits in _GRANULES:
        if end - start == length and start.strftime(rest) == zero:
            return start.isoformat()[:digits]
    first = ".." if start.replace(tzinfo=None) == OPEN_START else _instant(start)
    last = ".." if end.replace(tzinfo=None) == OPEN_END else _instant(end)
    return f"{first}/{last}"


def _instant(moment: datetime) -> str:
    written = moment.isoformat()[:19]
    return written.removesuffix(":00").removesuffix("T00:00")


def intervals(text: str, begin: int) -> Iterator[tuple[int, Period]]:
    """An interval such as `2016-10-01/2016-11-01` at an offset: where it stops, and the period without its end."""
    found = _INTERVAL.match(text, begin)
    if not found:
        return
    try:
        start = OPEN_START if found[1] == ".." else datetime.fromisoformat(found[1])
        end = OPEN_END if found[2] == ".." else datetime.fromisoformat(found[2])
    except ValueError:  # no such day or time
        return
    if start < end:
        yield found.end(), Period(start, end, Unit.DAY)
