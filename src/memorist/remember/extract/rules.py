"""Extraction rules: a pattern for a predicate, the objects in it, and when the fact holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypedDict, Unpack

from memorist.remember.extract.clauses import Verb
from memorist.remember.extract.spans import Matcher
from memorist.text.dates import find_dates
from memorist.text.patterns import lazy


@dataclass(frozen=True, slots=True)
class ObjectSlot:
    """A group of a pattern that contains an object; `{topic}`, `{kin}` and `{word}` in the relation are filled in."""

    group: str
    relation: str
    matcher: Matcher
    negated: bool = False
    required: bool = True
    """If a required slot has no object, the rule does not apply."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A predicate: its pattern, matched where the predicate begins, and a slot for each object."""

    pattern: re.Pattern[str]
    slots: tuple[ObjectSlot, ...]
    past: bool = False
    """The verb itself is in the past tense."""
    event: bool = False
    """It reports a change, which happens at a moment, rather than a state, which lasts."""
    personal: bool = False
    """Does not apply to `we`."""
    affirmative: bool = False
    """Its negation states nothing: `not 22` is not an age."""
    timeless: bool = False
    """It stays true forever, so the past tense states it as well: born, studied."""


class RuleOptions(TypedDict, total=False):
    """The flags of a `Rule` as keyword arguments."""

    past: bool
    event: bool
    personal: bool
    affirmative: bool
    timeless: bool


def rule(pattern: str, *slots: ObjectSlot, **options: Unpack[RuleOptions]) -> Rule:
    """A rule for a state; a space in the pattern matches any whitespace."""
    return Rule(lazy(pattern.replace(" ", r"\s+"), re.IGNORECASE), slots, **options)


def event(pattern: str, *slots: ObjectSlot, personal: bool = False) -> Rule:
    """A rule for a verb in the past tense that reports a change: moved, joined."""
    return rule(pattern, *slots, event=True, past=True, personal=personal)


def once(pattern: str, *slots: ObjectSlot) -> Rule:
    """A rule for a verb in the past tense whose result stays true: studied, founded."""
    return rule(pattern, *slots, past=True, timeless=True)


def by_word(table: Mapping[str, Iterable[Rule]]) -> dict[str, tuple[Rule, ...]]:
    """Index rules by word; each key of the table lists words separated by spaces."""
    found: dict[str, tuple[Rule, ...]] = {}
    for words, rules in table.items():
        for word in words.split():
            found[word] = (*found.get(word, ()), *rules)
    return found


_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
}  # fmt: skip
_DAYS, _MONTHS = {"day": 1, "week": 7}, {"month": 1, "year": 12, "decade": 120}
DURATION = lazy(
    r"\bfor\s+(?:about\s+|over\s+|around\s+|more\s+than\s+|the\s+(?:past|last)\s+)?(?:an?\s+(?=couple))?"
    rf"(?P<number>\d{{1,2}}|{'|'.join(_NUMBERS)})(?:\s+of)?\s+(?P<unit>day|week|month|year|decade)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ClauseTimes:
    """The times that a clause mentions: a period, and the beginning of something that still lasts."""

    since: datetime | None = None
    until: datetime | None = None
    open_since: datetime | None = None
    future: bool = False


def clause_times(clause: str, at: datetime) -> ClauseTimes:
    """The beginning and end of the date in a clause; `since 2019` and `for five years` give an open beginning.

    If there are two dates, one must contain the other: `in the winter two years ago` gives no beginning.
    """
    spans = find_dates(clause, at)
    past = sorted((span for span in spans if span.start <= at), key=lambda span: span.end - span.start)
    if not past or not all(span.start <= past[0].start and past[0].end <= span.end for span in past):
        return ClauseTimes(open_since=_begun(clause, at), future=bool(spans) and not past)
    first = past[0]
    since = first.start if first.start > _FIRST else None
    until = first.end if first.end < _LAST else None
    opened = since if until is None else None
    return ClauseTimes(since, until if until and until <= at else None, opened or _begun(clause, at))


def _begun(clause: str, at: datetime) -> datetime | None:
    found = DURATION.search(clause)
    if not found:
        return None
    number, unit = found["number"].lower(), found["unit"].lower()
    count = int(number) if number.isdigit() else _NUMBERS[number]
    today = at.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if unit in _DAYS:
            return today - timedelta(days=count * _DAYS[unit])
        months = today.year * 12 + today.month - 1 - count * _MONTHS[unit]
        return today.replace(year=months // 12, month=months % 12 + 1, day=min(today.day, 28))
    except (ValueError, OverflowError):  # before the year 1
        return None


_UPDATE = lazy(
    r"\b(?:actually|now|no\s+longer|any\s?more|these\s+days|nowadays|currently|moved|moving|instead|changed|switched|quit"
    r"|left|lost\s+my|recently|used\s+to|from\s+now\s+on|as\s+of|correction|stopped|not\s+\w+\s+but"
    r"|just\s+(?:moved|started|got|joined|turned|became|finished|adopted|bought|quit|left))\b",
    re.IGNORECASE,
)
"""Wording that signals a change."""
_ANY_MORE = lazy(r"\bany\s?more\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Validity:
    """Whether and when a fact holds; the fields mean the same as in `Statement`."""

    negated: bool = False
    update: bool = False
    since: datetime | None = None
    until: datetime | None = None


def validity(rule: Rule, verb: Verb, clause: str, at: datetime) -> Validity | None:
    """When the fact of a matched rule holds; None if the tense means that it does not hold."""
    update = bool(_UPDATE.search(clause))
    if rule.event:
        named = clause_times(clause, at)
        if verb.negated or named.future or not (rule.past or verb.past or verb.perfect):
            return None
        return Validity(update=update, since=named.since)
    if rule.timeless:
        return None if verb.negated else Validity(update=update)
    if verb.used_to:
        return Validity(negated=True, update=True)
    past = verb.past or (rule.past and not verb.perfect)
    if verb.negated:
        ended = verb.ended or bool(_ANY_MORE.search(clause))
        return None if past or verb.perfect else Validity(negated=True, update=update or ended)
    perfect = verb.perfect and (verb.be or rule.past)
    return _state_validity(clause_times(clause, at), past=past, perfect=perfect, update=update)


def _state_validity(named: ClauseTimes, *, past: bool, perfect: bool, update: bool) -> Validity | None:
    """A past state needs an end, a perfect one a beginning: `I have lived in Oslo` may be over."""
    if past:
        over = named.until is not None and named.open_since is None
        return Validity(update=update, since=named.since, until=named.until) if over else None
    if perfect and named.open_since is None:
        return None
    return Validity(update=update, since=named.open_since)
