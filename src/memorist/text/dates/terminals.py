"""The numbers, years and figures that phrases are made of, in both languages."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from memorist.text.dates import words
from memorist.text.dates.clock import ClockTime, clock
from memorist.text.dates.grammar import Grammar, ParseState, Terminal, call_builder
from memorist.text.dates.holidays import CHINESE_HOLIDAYS, ENGLISH_HOLIDAYS
from memorist.text.dates.numbers import (
    CARDINALS,
    CHINESE_NUMERALS,
    ORDINAL_SUFFIXES,
    ORDINALS,
    chinese_number,
    day_pairs,
    full_dates,
    full_year,
    intervals,
    month_dates,
    numeral_run,
    spelled_numbers,
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


def _with_words(tables: Mapping[str, Mapping[str, object]]) -> Grammar:
    grammar = Grammar()
    for category, table in tables.items():
        grammar.words(category, table)
    return grammar


english = _with_words(_ENGLISH_WORDS)
"""The English grammar; the rules are added by english.py and english_ranges.py."""
chinese = _with_words(_CHINESE_WORDS)
"""The Chinese grammar; the rules are added by chinese.py."""

_SHORT = ("#1", "#2")
_FIGURES = (*_SHORT, "#3", "#4")
_DATE_SIGNS: dict[str, str] = dict.fromkeys(("#1", "#2", "#4"), "-/.")
_NUMERALS = dict.fromkeys(CHINESE_NUMERALS, CHINESE_NUMERALS)
_SPELLED = dict.fromkeys(CARDINALS, (*CARDINALS, *ORDINALS, "-", "and", "hundred", "thousand"))
_TIME = lazy(r"(\d{1,2})[:：](\d\d)(?:[:：](\d\d))?(?!\d)")
_POINT_TIME = lazy(r"(\d{1,2})\.(\d\d)(?!\d)")
_DECIMAL = lazy(r"\d{1,6}\.\d{1,4}(?!\d)")
_YEARS = range(1000, 3000)
_NOT_DIGITS = frozenset("十百千万廿卅两")

Found = Iterator[tuple[int, object]]


def _aligned(read: Callable[..., Iterator[tuple[int, object]]]) -> Terminal:
    """The terminal for a function that reads values from an offset of the text on and gives where each stops."""

    def terminal(reading: ParseState, place: int) -> Found:
        tokens = reading.tokens
        for offset, value in call_builder(read, reading.context, tokens.text, tokens.begins[place]):
            stop = tokens.place_after(place, offset)
            if stop:
                yield stop, value

    return terminal


def _limited(read: Callable[[ParseState, int], Iterator[tuple[int, int]]], allowed: range) -> Terminal:
    """The terminal for the numbers in a range."""

    def terminal(reading: ParseState, place: int) -> Found:
        return ((stop, value) for stop, value in read(reading, place) if value in allowed)

    return terminal


def _figure(reading: ParseState, place: int) -> Iterator[tuple[int, int]]:
    yield place + 1, int(reading.tokens.raw(place))


english.terminal("two_figures", alone=("#2",))(_figure)
chinese.terminal("figure", alone=_SHORT)(_figure)


@english.terminal("integer", alone=(*_FIGURES, *CARDINALS), then=_SPELLED)
def _integer(reading: ParseState, place: int) -> Iterator[tuple[int, int]]:
    if reading.key(place).startswith("#"):
        return _figure(reading, place)
    return ((stop, value) for stop, value, ordinal in spelled_numbers(reading.tokens.keys, place) if not ordinal)


english.terminal("day_figure", alone=(*_SHORT, *CARDINALS), then=_SPELLED)(_limited(_integer, range(1, 32)))
english.terminal("hour", alone=(*_SHORT, *CARDINALS), then=_SPELLED)(_limited(_integer, range(25)))
english.terminal("minutes", alone=CARDINALS, then=_SPELLED)(_limited(_integer, range(10, 60)))


@english.terminal("number", alone=(*_FIGURES, *CARDINALS), then=_SPELLED | dict.fromkeys(_FIGURES, "."))
def _number(reading: ParseState, place: int) -> Found:
    yield from _decimal(reading, place)
    yield from _integer(reading, place)


@_aligned
def _decimal(text: str, begin: int) -> Iterator[tuple[int, float]]:
    found = _DECIMAL.match(text, begin)
    if found:
        yield found.end(), float(found[0])


@english.terminal("ordinal_figure", then=dict.fromkeys(_SHORT, ORDINAL_SUFFIXES))
def _ordinal_figure(reading: ParseState, place: int) -> Iterator[tuple[int, int]]:
    if reading.key(place + 1) in ORDINAL_SUFFIXES and reading.tokens.glued(place + 1):
        yield place + 2, int(reading.tokens.raw(place))


@english.terminal("ordinal", alone=ORDINALS, then=_SPELLED | dict.fromkeys(_SHORT, ORDINAL_SUFFIXES))
def _ordinal(reading: ParseState, place: int) -> Found:
    if reading.key(place).startswith("#"):
        return _ordinal_figure(reading, place)
    return ((stop, value) for stop, value, ordinal in spelled_numbers(reading.tokens.keys, place) if ordinal)


@english.terminal("year", alone=("#4",), then=_SPELLED)
def _year(reading: ParseState, place: int) -> Found:
    for stop, value in _integer(reading, place):
        if value in _YEARS:
            yield stop, value
        if 10 < value <= 20:  # nineteen ninety-six
            rest = spelled_numbers(reading.tokens.keys, stop)
            yield from ((end, 100 * value + tail) for end, tail, last in rest if 10 <= tail < 100 and not last)


def _short_year(number: int, context: Context) -> int:
    return full_year(number, context.now.year)


english.rule("short_year", _short_year, "' <two_figures>", "<two_figures>")
english.rule("marked_year", _short_year, "' <two_figures>")

for grammar in (english, chinese):
    grammar.terminal("full_date", alone=("#8",), then=_DATE_SIGNS)(_aligned(full_dates))
    grammar.terminal("month_date", then=_DATE_SIGNS)(_aligned(month_dates))
    grammar.terminal("slash_day", then=dict.fromkeys(_SHORT, "/"))(_aligned(partial(day_pairs, signs="/")))
english.terminal("pair_day", then=dict.fromkeys(_SHORT, "/.-"))(_aligned(partial(day_pairs, signs="/.-")))
english.terminal("interval", then={"#4": "-", ".": "."})(_aligned(intervals))


def _times(text: str, begin: int, pattern: re.Pattern[str], *, leading_zero: bool) -> Iterator[tuple[int, ClockTime]]:
    """Times in figures; in English, a leading zero says that it is a time of 24 hours."""
    found = pattern.match(text, begin)
    if found:
        hour, minute, *second = (int(group) for group in found.groups() if group)
        time = clock(hour, minute, second[0] if second else None)
        yield found.end(), replace(time, half="24h") if leading_zero and found[1].startswith("0") else time


english.terminal("time", then=dict.fromkeys(_SHORT, ":"))(_aligned(partial(_times, pattern=_TIME, leading_zero=True)))
english.terminal("point_time", then=dict.fromkeys(_SHORT, "."))(
    _aligned(partial(_times, pattern=_POINT_TIME, leading_zero=True))
)
chinese.terminal("time", then=dict.fromkeys(_SHORT, ":"))(_aligned(partial(_times, pattern=_TIME, leading_zero=False)))


@chinese.terminal("number", alone=(*_FIGURES, *CHINESE_NUMERALS), then=_NUMERALS)
def _chinese_integer(reading: ParseState, place: int) -> Iterator[tuple[int, int]]:
    if reading.key(place).startswith("#"):
        yield from _figure(reading, place)
        return
    stop = numeral_run(reading.tokens.keys, place)
    value = chinese_number("".join(reading.tokens.keys[place:stop]))
    if value is not None:
        yield stop, value


chinese.terminal("small", alone=(*_SHORT, *CHINESE_NUMERALS), then=_NUMERALS)(_limited(_chinese_integer, range(60)))


def _digits(length: int) -> Callable[[ParseState, int], Iterator[tuple[int, int]]]:
    """Reads a number with exactly this many digits, in figures or Chinese numerals."""

    def read(reading: ParseState, place: int) -> Iterator[tuple[int, int]]:
        for stop, value in _chinese_integer(reading, place):
            keys = reading.tokens.keys[place:stop]
            if keys == [f"#{length}"] or (len(keys) == length and _NOT_DIGITS.isdisjoint(keys)):
                yield stop, value

    return read


chinese.terminal("four_digits", alone=("#4",), then=_NUMERALS)(_limited(_digits(4), _YEARS))
chinese.terminal("two_digits", alone=("#2",), then=_NUMERALS)(_digits(2))


def _sure_short_year(number: int, context: Context) -> int | None:
    """A year in two digits that cannot be a number of years: 08, 98."""
    return full_year(number, context.now.year) if number < 10 or number > 60 else None


chinese.rule("short_year", _short_year, "<two_digits>")
chinese.rule("sure_short_year", _sure_short_year, "<two_digits>")
