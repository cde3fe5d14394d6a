"""Times of day and parts of the day."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from memorist.text.dates.calendar import Period, Unit, add
from memorist.text.dates.values import Value, refine

Half = Literal["am", "pm"]
_DAY = timedelta(days=1)
_HALF_DAY = timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day; `half` is None if the words do not tell morning from afternoon."""

    hour: int
    minute: int = 0
    second: int = 0
    unit: Unit = Unit.HOUR
    half: Half | Literal["24h"] | None = None

    def since_midnight(self) -> timedelta:
        """The time since midnight; ambiguous hours are waking hours: 7 to 12 as they are, 1 to 6 in the afternoon."""
        hour = self.hour
        if self.half == "am":
            hour %= 12
        elif self.half == "pm" or (self.half is None and 1 <= hour <= 6):
            hour = hour % 12 + 12 if hour <= 12 else hour
        return timedelta(hours=hour, minutes=self.minute, seconds=self.second)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the day as times since midnight; `half` settles an ambiguous time in it."""

    begin: timedelta
    end: timedelta
    half: Half | None = None

    def early(self) -> "Stretch":
        """Its first half."""
        return replace(self, end=self.begin + (self.end - self.begin) / 2)

    def late(self) -> "Stretch":
        """Its second half."""
        return replace(self, begin=self.begin + (self.end - self.begin) / 2)


def stretch(begin: float, end: float, half: Half | None = None) -> Stretch:
    """A part of the day from its first and last hour."""
    return Stretch(timedelta(hours=begin), timedelta(hours=end), half)


DAWN = stretch(0, 8, "am")
MORNING = stretch(8, 12, "am")
NOON = stretch(11, 13)
AFTERNOON = stretch(12, 16, "pm")
EVENING = stretch(16, 20, "pm")
NIGHT = stretch(20, 24, "pm")
DAYTIME = stretch(8, 18)
MIDDAY = stretch(10, 14)


def clock(hour: int, minute: int | None = None, second: int | None = None, half: Half | None = None) -> ClockTime:
    """A time of day; raises ValueError if there is no such time."""
    if hour > 24 or (minute or 0) > 59 or (second or 0) > 59 or (hour == 24 and minute):
        raise ValueError("no such time of day")
    unit = Unit.HOUR if minute is None else Unit.MINUTE if second is None else Unit.SECOND
    return ClockTime(hour, minute or 0, second or 0, unit, half)


def in_part(time: ClockTime, part: Stretch) -> ClockTime:
    """A time whose ambiguity is settled by the part of the day."""
    if time.half or part.half is None or time.hour > 12:
        return time
    return replace(time, half=part.half)


def from_to(first: ClockTime, last: ClockTime, part: Stretch | None = None) -> Stretch:
    """The part of the day between two times; an ambiguous one follows the other ("3 to 5pm")."""
    if part:
        first, last = in_part(first, part), in_part(last, part)
    if first.half is None and last.half in ("am", "pm") and first.hour <= 12:
        same = replace(first, half=last.half)
        other = replace(first, half="am" if last.half == "pm" else "pm")
        first = same if same.since_midnight() < last.since_midnight() else other
    begin, end = first.since_midnight(), last.since_midnight()
    if last.half is None and last.hour <= 12:
        end = timedelta(hours=last.hour % 12, minutes=last.minute, seconds=last.second)
        while end <= begin:
            end += _HALF_DAY
    return Stretch(begin, end if end > begin else end + _DAY)


def at(day: Value, time: ClockTime) -> Value | None:
    """A day narrowed to a time, with the precision of that time."""

    def narrow(period: Period) -> Period | None:
        if period.unit is not Unit.DAY:
            return None
        start = period.start + time.since_midnight()
        return Period(start, add(start, 1, time.unit), time.unit)

    return refine(day, narrow)


def during(day: Value, part: Stretch) -> Value | None:
    """A day narrowed to a part of it."""

    def narrow(period: Period) -> Period | None:
        if period.unit is not Unit.DAY:
            return None
        return Period(period.start + part.begin, period.start + part.end, Unit.PART_OF_DAY)

    return refine(day, narrow)
