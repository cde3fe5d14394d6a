"""Chinese numbers and figures: what the phrases of the other files are made of."""

import re
from collections.abc import Iterator

from memorist.text.dates import numeric
from memorist.text.dates.chinese.lexicon import (
    DAY_PARTS,
    DAYS,
    ERAS,
    PERIOD_UNITS,
    RELATIONS,
    SEASONS,
    SHARES,
    SHORT_DAY_PARTS,
    SHORT_DAYS,
    UNITS,
    WEEKDAYS,
    YEARS,
)
from memorist.text.dates.clock import clock
from memorist.text.dates.grammar import Grammar, Reading
from memorist.text.dates.holidays import CHINESE_HOLIDAYS
from memorist.text.dates.numbers import CHINESE_NUMERALS, chinese_number, full_year, numeral_run

chinese = Grammar()
"""The rules of Chinese, filled by the files of this package."""

for _name, _table in (
    ("weekday", WEEKDAYS),
    ("unit", UNITS),
    ("period_unit", PERIOD_UNITS),
    ("relation", RELATIONS),
    ("year_word", YEARS),
    ("day_word", DAYS),
    ("short_day", SHORT_DAYS),
    ("day_part", DAY_PARTS),
    ("short_part", SHORT_DAY_PARTS),
    ("season", SEASONS),
    ("share", SHARES),
    ("era", ERAS),
    ("holiday", CHINESE_HOLIDAYS),
):
    chinese.words(_name, _table)

_SHORT = ("#1", "#2")
_NUMERALS = dict.fromkeys(CHINESE_NUMERALS, CHINESE_NUMERALS)
_TIME = re.compile(r"(\d{1,2})[:：](\d\d)(?:[:：](\d\d))?(?!\d)")

Found = Iterator[tuple[int, object]]


@chinese.terminal("number", alone=(*_SHORT, "#3", "#4", *CHINESE_NUMERALS), then=_NUMERALS)
def _number(reading: Reading, place: int) -> Found:
    if reading.key(place).startswith("#"):
        yield place + 1, int(reading.tokens.raw(place))
        return
    stop = numeral_run(reading.tokens.keys, place)
    value = chinese_number("".join(reading.tokens.keys[place:stop]))
    if value is not None:
        yield stop, value


@chinese.terminal("small", alone=(*_SHORT, *CHINESE_NUMERALS), then=_NUMERALS)
def _small(reading: Reading, place: int) -> Found:
    yield from ((stop, value) for stop, value in _number(reading, place) if value in range(60))


def _digits(reading: Reading, place: int, length: int) -> tuple[int, int] | None:
    """A number written with just so many digits, in figures or Chinese signs."""
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
    """A year in two digits that is no count of years: 08, 98."""
    found = _digits(reading, place, 2)
    if found and (found[1] < 10 or found[1] > 60):
        yield found[0], full_year(found[1], reading.context.now.year)


@chinese.terminal("full_date", alone=("#8",), then=dict.fromkeys(("#1", "#2", "#4"), "-/."))
def _full_date(reading: Reading, place: int) -> Found:
    text, begin = reading.tokens.text, reading.tokens.begins[place]
    for offset, value in (*numeric.full_dates(text, begin, reading.context), *numeric.month_dates(text, begin)):
        stop = reading.tokens.place_after(place, offset)
        if stop:
            yield stop, value


@chinese.terminal("slash_day", then=dict.fromkeys(_SHORT, "/"))
def _slash_day(reading: Reading, place: int) -> Found:
    for offset, value in numeric.day_pairs(reading.tokens.text, reading.tokens.begins[place], "/"):
        stop = reading.tokens.place_after(place, offset)
        if stop:
            yield stop, value


@chinese.terminal("time", then=dict.fromkeys(_SHORT, ":"))
def _time(reading: Reading, place: int) -> Found:
    tokens = reading.tokens
    found = _TIME.match(tokens.text, tokens.begins[place])
    stop = tokens.place_after(place, found.end()) if found else None
    if found and stop and int(found[1]) <= 24 and int(found[2]) < 60:
        yield stop, clock(int(found[1]), int(found[2]), int(found[3]) if found[3] else None)
