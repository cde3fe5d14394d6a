"""English numbers, years and figures: what the phrases of the other files are made of."""

import re
from collections.abc import Iterator

from memorist.text.dates import numbers
from memorist.text.dates.clock import ClockTime, clock
from memorist.text.dates.english.lexicon import (
    DAY_PARTS,
    DECADE_WORDS,
    DEICTICS,
    HALVES,
    MONTHS,
    QUANTITIES,
    RELATIONS,
    SEASONS,
    SINGULAR_UNITS,
    UNITS,
    WEEKDAYS,
)
from memorist.text.dates.grammar import Grammar, Reading
from memorist.text.dates.holidays import ENGLISH_HOLIDAYS
from memorist.text.dates.numbers import CARDINALS, ORDINAL_SUFFIXES, ORDINALS, full_year, intervals, spelled
from memorist.text.dates.values import Context
from memorist.text.patterns import lazy

english = Grammar()
"""The rules of English, filled by the files of this package."""

for _name, _table in (
    ("month", MONTHS),
    ("weekday", WEEKDAYS),
    ("unit", UNITS),
    ("one_unit", SINGULAR_UNITS),
    ("season", SEASONS),
    ("holiday", ENGLISH_HOLIDAYS),
    ("relation", RELATIONS),
    ("deictic", DEICTICS),
    ("quantity", QUANTITIES),
    ("day_part", DAY_PARTS),
    ("half", HALVES),
    ("decade_word", DECADE_WORDS),
):
    english.words(_name, _table)

_SHORT = ("#1", "#2")
_FIGURES = (*_SHORT, "#3", "#4")
_DATE_SIGNS: dict[str, str] = dict.fromkeys(("#1", "#2", "#4"), "-/.")
_SPELLED = dict.fromkeys(CARDINALS, (*CARDINALS, *ORDINALS, "-", "and", "hundred", "thousand"))
_TIME = lazy(r"(\d{1,2})[:：](\d\d)(?:[:：](\d\d))?(?!\d)")
_POINT_TIME = lazy(r"(\d{1,2})\.(\d\d)(?!\d)")
_DECIMAL = lazy(r"\d{1,6}\.\d{1,4}(?!\d)")

Found = Iterator[tuple[int, object]]


def _aligned(reading: Reading, place: int, found: Iterator[numbers.Found]) -> Found:
    for offset, value in found:
        stop = reading.tokens.place_after(place, offset)
        if stop:
            yield stop, value


@english.terminal("integer", alone=(*_FIGURES, *CARDINALS), then=_SPELLED)
def _integer(reading: Reading, place: int) -> Iterator[tuple[int, int]]:
    tokens = reading.tokens
    if reading.key(place).startswith("#"):
        yield place + 1, int(tokens.raw(place))
    else:
        yield from ((stop, value) for stop, value, ordinal in spelled(tokens.keys, place) if not ordinal)


@english.terminal("number", alone=(*_FIGURES, *CARDINALS), then=_SPELLED | dict.fromkeys(_FIGURES, "."))
def _number(reading: Reading, place: int) -> Found:
    tokens = reading.tokens
    decimal = _DECIMAL.match(tokens.text, tokens.begins[place])
    stop = tokens.place_after(place, decimal.end()) if decimal else None
    if decimal and stop:
        yield stop, float(decimal[0])
    yield from _integer(reading, place)


@english.terminal("ordinal_figure", then=dict.fromkeys(_SHORT, ORDINAL_SUFFIXES))
def _ordinal_figure(reading: Reading, place: int) -> Iterator[tuple[int, int]]:
    if reading.key(place + 1) in ORDINAL_SUFFIXES and reading.tokens.glued(place + 1):
        yield place + 2, int(reading.tokens.raw(place))


@english.terminal("ordinal", alone=ORDINALS, then=_SPELLED | dict.fromkeys(_SHORT, ORDINAL_SUFFIXES))
def _ordinal(reading: Reading, place: int) -> Found:
    if reading.key(place).startswith("#"):
        yield from _ordinal_figure(reading, place)
    else:
        yield from ((stop, value) for stop, value, ordinal in spelled(reading.tokens.keys, place) if ordinal)


@english.terminal("day_figure", alone=(*_SHORT, *CARDINALS), then=_SPELLED)
def _day_figure(reading: Reading, place: int) -> Found:
    yield from ((stop, value) for stop, value in _integer(reading, place) if value in range(1, 32))


@english.terminal("year", alone=("#4",), then=_SPELLED)
def _year(reading: Reading, place: int) -> Found:
    keys = reading.tokens.keys
    if reading.key(place) == "#4":
        value = int(reading.tokens.raw(place))
        if 1000 <= value < 3000:
            yield place + 1, value
        return
    for stop, value, ordinal in spelled(keys, place):
        if not ordinal and 1000 <= value < 3000:
            yield stop, value
        if 10 < value <= 20 and not ordinal:  # nineteen ninety-six
            rest = spelled(keys, stop)
            yield from ((end, 100 * value + tail) for end, tail, last in rest if 10 <= tail < 100 and not last)


@english.terminal("two_figures", alone=("#2",))
def _two_figures(reading: Reading, place: int) -> Found:
    yield place + 1, int(reading.tokens.raw(place))


@english.rule("short_year", "' <two_figures>", "<two_figures>")
def _short_year(context: Context, number: int) -> int:
    return full_year(number, context.now.year)


@english.rule("marked_year", "' <two_figures>")
def _marked_year(context: Context, number: int) -> int:
    return full_year(number, context.now.year)


@english.terminal("full_date", alone=("#8",), then=_DATE_SIGNS)
def _full_date(reading: Reading, place: int) -> Found:
    tokens = reading.tokens
    return _aligned(reading, place, numbers.full_dates(tokens.text, tokens.begins[place], reading.context))


@english.terminal("month_date", then=_DATE_SIGNS)
def _month_date(reading: Reading, place: int) -> Found:
    return _aligned(reading, place, numbers.month_dates(reading.tokens.text, reading.tokens.begins[place]))


@english.terminal("interval", then={"#4": "-", ".": "."})
def _interval(reading: Reading, place: int) -> Found:
    return _aligned(reading, place, intervals(reading.tokens.text, reading.tokens.begins[place]))


@english.terminal("slash_day", then=dict.fromkeys(_SHORT, "/"))
def _slash_day(reading: Reading, place: int) -> Found:
    return _aligned(reading, place, numbers.day_pairs(reading.tokens.text, reading.tokens.begins[place], "/"))


@english.terminal("pair_day", then=dict.fromkeys(_SHORT, "/.-"))
def _pair_day(reading: Reading, place: int) -> Found:
    return _aligned(reading, place, numbers.day_pairs(reading.tokens.text, reading.tokens.begins[place], "/.-"))


@english.terminal("time", then=dict.fromkeys(_SHORT, ":"))
def _time(reading: Reading, place: int) -> Found:
    return _clock_figures(reading, place, _TIME)


@english.terminal("point_time", then=dict.fromkeys(_SHORT, "."))
def _point_time(reading: Reading, place: int) -> Found:
    return _clock_figures(reading, place, _POINT_TIME)


def _clock_figures(reading: Reading, place: int, pattern: re.Pattern[str]) -> Found:
    tokens = reading.tokens
    found = pattern.match(tokens.text, tokens.begins[place])
    stop = tokens.place_after(place, found.end()) if found else None
    if not found or not stop:
        return
    hour, minute, *second = (int(group) for group in found.groups() if group)
    if hour <= 24 and minute < 60:
        half = "24h" if found[1].startswith("0") else None
        read = clock(hour, minute, second[0] if second else None)
        yield stop, ClockTime(read.hour, read.minute, read.second, read.unit, half)


@english.terminal("hour", alone=(*_SHORT, *CARDINALS), then=_SPELLED)
def _hour(reading: Reading, place: int) -> Found:
    yield from ((stop, value) for stop, value in _integer(reading, place) if value in range(25))


@english.terminal("minutes", alone=CARDINALS, then=_SPELLED)
def _minutes(reading: Reading, place: int) -> Found:
    yield from ((stop, value) for stop, value in _integer(reading, place) if value in range(10, 60))
