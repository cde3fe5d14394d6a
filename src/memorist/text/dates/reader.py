"""From text to dates."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC

from memorist.text.dates.calendar import OPEN_END, OPEN_START, Period
from memorist.text.dates.chinese import chinese
from memorist.text.dates.english import english
from memorist.text.dates.english.lexicon import (
    DAY_PARTS,
    DECADE_WORDS,
    DEICTICS,
    MONTHS,
    PLURAL_WEEKDAYS,
    SEASONS,
    UNITS,
    WEEKDAYS,
)
from memorist.text.dates.grammar import Grammar, Reading, free_before
from memorist.text.dates.holidays import CHINESE_HOLIDAYS, ENGLISH_HOLIDAYS
from memorist.text.dates.numbers import CARDINALS, CHINESE_NUMERALS
from memorist.text.dates.tokens import CJK, DIGITS, VARIANTS, Tokens, tokenise
from memorist.text.dates.values import Context, DateSpan, Nothing, Value, resolve
from memorist.text.patterns import lazy

_WORD = lazy(r"[a-z]+")
_OTHER_WORDS = "tonight tonite midnight eod eom eoy eow cob ytd mtd now moment present date time hundred thousand"
_HINTS = {
    *(
        max(_WORD.findall(phrase), key=len)
        for table in (MONTHS, WEEKDAYS, PLURAL_WEEKDAYS, UNITS, SEASONS, DECADE_WORDS, DEICTICS, DAY_PARTS)
        for phrase in (*table, *ENGLISH_HOLIDAYS)
    ),
    *(word for word, number in CARDINALS.items() if number > 10),
    *_OTHER_WORDS.split(),
}
_NUMERAL_HOLIDAYS = "五一|六一"
_PLAIN_SIGNS = {
    *"年月日号天周期礼纪季昨今明午夜晚早点时旬钟秒末",
    *(next((sign for sign in reversed(name) if sign not in CHINESE_NUMERALS), name[0]) for name in CHINESE_HOLIDAYS),
}
_SIGNS = _PLAIN_SIGNS | {variant for variant, plain in VARIANTS.items() if plain in _PLAIN_SIGNS}
_SIGN = lazy(f"[{DIGITS}{''.join(sorted(_SIGNS))}]|{_NUMERAL_HOLIDAYS}")
_CHINESE = lazy(f"[{CJK}]")


def may_hold_dates(text: str) -> bool:
    """Whether a text has a figure or a word that dates are made of; false for most texts without one."""
    return bool(_SIGN.search(text)) or not _HINTS.isdisjoint(_WORD.findall(text.lower()))


def has_chinese(text: str) -> bool:
    """Whether a text has Chinese characters."""
    return bool(_CHINESE.search(text))


def read(text: str, context: Context) -> list[DateSpan]:
    """Every date in a text, in order and without overlap."""
    if not may_hold_dates(text):
        return []
    tokens = tokenise(text)
    if not has_chinese(text):
        return list(scan(english, Reading(tokens, context)))
    context = replace(context, year_first=True)
    found = [*scan(english, Reading(tokens, context)), *scan(chinese, Reading(tokens, context))]
    return _longest(sorted(found, key=lambda span: (span.begin, -span.stop)))


def _longest(spans: list[DateSpan]) -> list[DateSpan]:
    kept: list[DateSpan] = []
    for span in spans:
        if not kept or span.begin >= kept[-1].stop:
            kept.append(span)
        elif span.stop - span.begin > kept[-1].stop - kept[-1].begin:
            kept[-1] = span
    return kept


def scan(grammar: Grammar, reading: Reading) -> Iterator[DateSpan]:
    """The dates one grammar finds."""
    tokens = reading.tokens
    place = 0
    while place < len(tokens.begins):
        stop, period = _best(grammar, reading, place)
        if period:
            yield _span(tokens, place, stop, period)
        place = stop


def _best(grammar: Grammar, reading: Reading, place: int) -> tuple[int, Period | None]:
    """The longest expression from a place on and where it stops; words understood as no date are skipped."""
    if not free_before(reading, place):
        return place + 1, None
    for stop, value in grammar.matches(reading, "expression", place):
        if isinstance(value, Nothing):
            return stop, None
        period = _resolved(value, reading.context)
        if period and period.start < period.end and (period.start, period.end) != (OPEN_START, OPEN_END):
            return stop, period
    return place + 1, None


def _resolved(value: object, context: Context) -> Period | None:
    try:
        return resolve(value, context) if isinstance(value, Value) else None
    except (ValueError, OverflowError):  # beyond the years 1 to 9999
        return None


def _span(tokens: Tokens, place: int, stop: int, period: Period) -> DateSpan:
    begin, end = tokens.begins[place], tokens.stops[stop - 1]
    return DateSpan(
        period.start.replace(tzinfo=UTC), period.end.replace(tzinfo=UTC), tokens.text[begin:end], begin, end
    )
