"""Reads the dates in a text."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from memorist.text.dates.calendar import OPEN_END, OPEN_START, Period
from memorist.text.dates.grammar import Grammar, ParseState, free_before
from memorist.text.dates.holidays import CHINESE_HOLIDAYS, ENGLISH_HOLIDAYS
from memorist.text.dates.numbers import CARDINALS, CHINESE_NUMERALS
from memorist.text.dates.tokens import DIGITS, VARIANTS, Tokens, tokenise
from memorist.text.dates.values import Context, DateSpan, Edges, Nothing, OffsetFromLast, Value, from_now, resolve
from memorist.text.dates.words import (
    DAY_PARTS,
    DECADE_WORDS,
    DEICTICS,
    MONTHS,
    PLURAL_WEEKDAYS,
    SEASONS,
    UNITS,
    WEEKDAYS,
    tense_around,
)
from memorist.text.patterns import lazy
from memorist.text.words import has_chinese

_WORD = lazy(r"[a-z]+")
_OTHER_WORDS = (
    "tonight tonite midnight eod eom eoy eow cob ytd mtd now moment present date time hundred thousand"
    " springs summers autumns falls winters christmases later earlier mornings afternoons evenings nights"
)
_WORD_TABLES = (MONTHS, WEEKDAYS, PLURAL_WEEKDAYS, UNITS, SEASONS, DECADE_WORDS, DEICTICS, DAY_PARTS, ENGLISH_HOLIDAYS)
_CHARACTERS = "年月日号天周期礼纪季昨今明午夜晚早点时旬钟秒末"
_NUMERAL_HOLIDAYS = "五一|六一"


_Placed = Mapping[tuple[int, int], DateSpan]


def may_hold_dates(text: str) -> bool:
    """Whether a text contains a digit, word or character that may be part of a date; no grammar is needed."""
    return bool(_hint_pattern().search(text)) or not _hint_words().isdisjoint(_WORD.findall(text.lower()))


@cache
def _hint_words() -> frozenset[str]:
    """The longest word of each English phrase, one of which every date in words contains."""
    longest = (max(_WORD.findall(phrase), key=len) for table in _WORD_TABLES for phrase in table)
    numbers = (word for word, number in CARDINALS.items() if number > 10)
    return frozenset((*longest, *numbers, *_OTHER_WORDS.split()))


@cache
def _hint_pattern() -> re.Pattern[str]:
    """Digits, and the characters one of which every Chinese date contains."""
    holidays = (next((sign for sign in reversed(name) if sign not in CHINESE_NUMERALS), name[0])
                for name in CHINESE_HOLIDAYS)  # fmt: skip
    plain = {*_CHARACTERS, *holidays}
    variants = {variant for variant, meant in VARIANTS.items() if meant in plain}
    return lazy(f"[{DIGITS}{''.join(sorted(plain | variants))}]|{_NUMERAL_HOLIDAYS}")


def read(text: str, context: Context) -> list[DateSpan]:
    """Every date in a text, in order and without overlap."""
    return _read(tokenise(text), context) if may_hold_dates(text) else []


def _read(tokens: Tokens, context: Context) -> list[DateSpan]:
    from memorist.text.dates.english_ranges import english  # the grammars are built for the first text with a hint

    if not has_chinese(tokens.text):
        return list(scan(english, ParseState(tokens, context)))
    from memorist.text.dates.chinese import chinese

    context = replace(context, year_first=True)
    found = [*scan(english, ParseState(tokens, context)), *scan(chinese, ParseState(tokens, context))]
    return _longest(sorted(found, key=lambda span: (span.begin, -span.stop)))


def read_by_tense(text: str, now: datetime, edges: Edges) -> list[DateSpan]:
    """Every date in a text; one that may be past or to come is the one that the verb beside it speaks of."""
    if not may_hold_dates(text):
        return []
    tokens, context = tokenise(text), Context(now, "past", edges)
    past = _read(tokens, context)
    if not past or not context.chosen:
        return past
    future = {(span.begin, span.stop): span for span in _read(tokens, Context(now, "future", edges))}
    if all(span == future.get((span.begin, span.stop), span) for span in past):
        return past
    nearest = {(span.begin, span.stop): span for span in _read(tokens, Context(now, "nearest", edges))}
    return [_chosen(text, span, future, nearest) for span in past]


def _chosen(text: str, past: DateSpan, future: _Placed, nearest: _Placed) -> DateSpan:
    place = past.begin, past.stop
    tense = tense_around(text, *place)
    return past if tense == "past" else (future if tense == "future" else nearest).get(place, past)


def _longest(spans: list[DateSpan]) -> list[DateSpan]:
    kept: list[DateSpan] = []
    for span in spans:
        if not kept or span.begin >= kept[-1].stop:
            kept.append(span)
        elif span.stop - span.begin > kept[-1].stop - kept[-1].begin:
            kept[-1] = span
    return kept


def scan(grammar: Grammar, reading: ParseState) -> Iterator[DateSpan]:
    """The dates that one grammar finds."""
    tokens, told = reading.tokens, reading.context
    passed = 0
    for place in grammar.places(reading, "expression"):
        if place < passed:
            continue
        stop, period = _best(grammar, reading, place, told)
        if period:
            told = told if period.start == OPEN_START else replace(told, now=period.start)
            yield _span(tokens, place, stop, period)
        passed = stop


def _best(grammar: Grammar, reading: ParseState, place: int, told: Context) -> tuple[int, Period | None]:
    """The longest expression from a place on, and where to go on; phrases known not to be dates are skipped."""
    if not free_before(reading, place):
        return place + 1, None
    for stop, value in grammar.matches(reading, "expression", place):
        if isinstance(value, Nothing):
            return stop, None
        period = _resolved(value, told if isinstance(value, OffsetFromLast) else reading.context)
        if period and period.start < period.end and (period.start, period.end) != (OPEN_START, OPEN_END):
            return stop, period
    return place + 1, None


def _resolved(value: object, context: Context) -> Period | None:
    try:
        if isinstance(value, OffsetFromLast):
            return from_now(value.distance, context, value.sign)
        return resolve(value, context) if isinstance(value, Value) else None
    except (ValueError, OverflowError):  # beyond the years 1 to 9999
        return None


def _span(tokens: Tokens, place: int, stop: int, period: Period) -> DateSpan:
    begin, end = tokens.begins[place], tokens.stops[stop - 1]
    return DateSpan(
        period.start.replace(tzinfo=UTC), period.end.replace(tzinfo=UTC), tokens.text[begin:end], begin, end
    )
