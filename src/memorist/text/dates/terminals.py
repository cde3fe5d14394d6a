"""The numbers, years and figures that phrases are made of, in both languages."""

import re
from collections.abc import Iterator, Mapping

from memorist.text.dates import numbers, words
from memorist.text.dates.clock import ClockTime, clock
from memorist.text.dates.grammar import Grammar, Reading
from memorist.text.dates.holidays import CHINESE_HOLIDAYS, ENGLISH_HOLIDAYS
from memorist.text.dates.numbers import (
    CARDINALS,
    CHINESE_NUMERALS,
    ORDINAL_SUFFIXES,
    ORDINALS,
    chinese_number,
    full_year,
    intervals,
    numeral_run,
    spelled,
)
from memorist.text.dates.values import Context
from memorist.text.patterns import lazy

_ENGLISH_WORDS: Mapping[str, Mapping[str, object]] = {
    "month": words.MONTHS,
    "weekday": words.WEEKDAYS,
    "unit": words.UNITS,
    "one_unit": words.SINGULAR_UNITS,
    "season": words.SEASONS,
    "holiday": ENGLISH_HOLIDAYS,
    "relation": words.RELATIONS,
    "deictic": words.DEICTICS,
    "quantity": words.QUANTITIES,
    "day_part": words.DAY_PARTS,
    "half": words.HALVES,
    "decade_word": words.DECADE_WORDS,
}
_CHINESE_WORDS: Mapping[str, Mapping[str, object]] = {
    "weekday": words.CHINESE_WEEKDAYS,
    "unit": words.CHINESE_UNITS,
    "period_unit": words.CHINESE_PERIOD_UNITS,
    "relation": words.CHINESE_RELATIONS,
    "year_word": words.CHINESE_YEARS,
    "day_word": words.CHINESE_DAYS,
    "short_day": words.CHINESE_SHORT_DAYS,
    "day_part": words.CHINESE_DAY_PARTS,
    "short_part": words.CHINESE_SHORT_DAY_PARTS,
    "season": words.CHINESE_SEASONS,
    "share": words.CHINESE_SHARES,
    "era": words.CHINESE_ERAS,
    "holiday": CHINESE_HOLIDAYS,
}


def _grammar(tables: Mapping[str, Mapping[str, object]]) -> Grammar:
    grammar = Grammar()
    for category, table in tables.items():
        grammar.words(category, table)
    return grammar


english = _grammar(_ENGLISH_WORDS)
"""The English grammar; the rules are added by english.py and english_ranges.py."""
chinese = _grammar(_CHINESE_WORDS)
"""The Chinese grammar; the rules are added by chinese.py."""

_SHORT = ("#1", "#2")
_FIGURES = (*_SHORT, "#3", "#4")
_DATE_SIGNS: dict[str, str] = dict.fromkeys(("#1", "#2", "#4"), "-/.")
_NUMERALS = dict.fromkeys(CHINESE_NUMERALS, CHINESE_NUMERALS)
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


def _short_year(number: int, context: Context) -> int:
    return full_year(number, context.now.year)


english.rule("short_year", _short_year, "' <two_figures>", "<two_figures>")
english.rule("marked_year", _short_year, "' <two_figures>")


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


@chinese.terminal("slash_day", then=dict.fromkeys(_SHORT, "/"))
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


@chinese.terminal("number", alone=(*_SHORT, "#3", "#4", *CHINESE_NUMERALS), then=_NUMERALS)
def _chinese_integer(reading: Reading, place: int) -> Found:
    if reading.key(place).startswith("#"):
        yield place + 1, int(reading.tokens.raw(place))
        return
    stop = numeral_run(reading.tokens.keys, place)
    value = chinese_number("".join(reading.tokens.keys[place:stop]))
    if value is not None:
        yield stop, value


@chinese.terminal("small", alone=(*_SHORT, *CHINESE_NUMERALS), then=_NUMERALS)
def _small(reading: Reading, place: int) -> Found:
    yield from ((stop, value) for stop, value in _chinese_integer(reading, place) if value in range(60))


def _digits(reading: Reading, place: int, length: int) -> tuple[int, int] | None:
    """A number with exactly this many digits, in figures or Chinese numerals."""
    tokens = reading.tokens
    if reading.key(place) == f"#{length}":
        return place + 1, int(tokens.raw(place))
    stop = numeral_run(tokens.keys, place)
    signs = "".join(tokens.keys[place:stop])
    if len(signs) != length or any(sign in "十百千万廿卅两" for sign in signs):
        return None
    value = chinese_number(signs)
    return None if value is None else (stop, value)


@chinese.terminal("figure", alone=_SHORT)
def _figure(reading: Reading, place: int) -> Found:
    yield place + 1, int(reading.tokens.raw(place))


@chinese.terminal("four_digits", alone=("#4",), then=_NUMERALS)
def _four_digits(reading: Reading, place: int) -> Found:
    found = _digits(reading, place, 4)
    if found and 1000 <= found[1] < 3000:
        yield found


@chinese.terminal("two_digits", alone=("#2",), then=_NUMERALS)
def _two_digits(reading: Reading, place: int) -> Found:
    """A year in two digits."""
    found = _digits(reading, place, 2)
    if found:
        yield found[0], full_year(found[1], reading.context.now.year)


@chinese.terminal("sure_two_digits", alone=("#2",), then=_NUMERALS)
def _sure_two_digits(reading: Reading, place: int) -> Found:
    """A year in two digits that cannot be a number of years: 08, 98."""
    found = _digits(reading, place, 2)
    if found and (found[1] < 10 or found[1] > 60):
        yield found[0], full_year(found[1], reading.context.now.year)


@chinese.terminal("full_date", alone=("#8",), then=_DATE_SIGNS)
def _chinese_date(reading: Reading, place: int) -> Found:
    yield from _full_date(reading, place)
    yield from _month_date(reading, place)


@chinese.terminal("time", then=dict.fromkeys(_SHORT, ":"))
def _chinese_time(reading: Reading, place: int) -> Found:
    tokens = reading.tokens
    found = _TIME.match(tokens.text, tokens.begins[place])
    stop = tokens.place_after(place, found.end()) if found else None
    if found and stop and int(found[1]) <= 24 and int(found[2]) < 60:
        yield stop, clock(int(found[1]), int(found[2]), int(found[3]) if found[3] else None)
