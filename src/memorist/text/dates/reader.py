"""Texts read by the grammars: the expressions found, left to right, the longest first."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC

from memorist.text.dates.calendar import OPEN_END, OPEN_START, Period
from memorist.text.dates.chinese import chinese
from memorist.text.dates.english import english
from memorist.text.dates.grammar import Grammar, Reading
from memorist.text.dates.guards import free_before
from memorist.text.dates.hints import has_chinese, may_hold_dates
from memorist.text.dates.span import DateSpan
from memorist.text.dates.tokens import Tokens, tokenise
from memorist.text.dates.values import Context, Nothing, Value, resolve


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
