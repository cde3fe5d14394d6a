"""Rules: a verb or noun, its subject, its object, and when that holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypedDict, Unpack

from memorist.remember.extract.clause_subjects import Verb
from memorist.remember.extract.spans import Shape
from memorist.text.dates import find_dates
from memorist.text.patterns import lazy


@dataclass(frozen=True, slots=True)
class Say:
    """A group of a rule's pattern whose beginning is an object; `{topic}` in a relation is that group's words."""

    group: str
    relation: str
    shape: Shape
    negated: bool = False
    needed: bool = True
    """Without an object for it the rule says nothing."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a predicate says: its pattern, matched where the meaning begins, and an object for each of `says`."""

    pattern: re.Pattern[str]
    says: tuple[Say, ...]
    past: bool = False
    """Its verb is in the past by itself."""
    event: bool = False
    """It tells a change, which has a moment, rather than a state, which lasts."""
    negative: str | None = None
    """The relation to which a negation turns it: not to like is to dislike."""
    personal: bool = False
    """Not said of `we`."""
    plain: bool = False
    """A negation says nothing: not to be 22 is no age."""
    timeless: bool = False
    """True for good, so that the past tense says it as well: born, studied."""


class How(TypedDict, total=False):
    """The keywords of `rule`: the fields of `Rule` after its pattern and what it says."""

    past: bool
    event: bool
    negative: str | None
    personal: bool
    plain: bool
    timeless: bool


def rule(pattern: str, *says: Say, **how: Unpack[How]) -> Rule:
    """A rule from the words of its pattern; a blank stands for any blanks."""
    return Rule(lazy(pattern.replace(" ", r"\s+"), re.IGNORECASE), says, **how)


def by_word(table: Iterable[tuple[str, Iterable[Rule]]]) -> dict[str, tuple[Rule, ...]]:
    """Rules by each of the words, parted by blanks, that their predicate may begin with."""
    found: dict[str, tuple[Rule, ...]] = {}
    for words, rules in table:
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
class StatementTimes:
    """The times that a clause names: dates begun by its moment, and how long something has lasted."""

    since: datetime | None = None
    until: datetime | None = None
    open_since: datetime | None = None
    future: bool = False


def times(clause: str, at: datetime) -> StatementTimes:
    """The date of a clause as beginning and end; `since 2019` and `for five years` as an open beginning.

    Of two dates one must lie within the other: `in the winter two years ago` tells no beginning.
    """
    spans = find_dates(clause, at)
    past = sorted((span for span in spans if span.start <= at), key=lambda span: span.end - span.start)
    if not past or not all(span.start <= past[0].start and past[0].end <= span.end for span in past):
        return StatementTimes(open_since=_begun(clause, at), future=bool(spans) and not past)
    first = past[0]
    since = first.start if first.start > _FIRST else None
    until = first.end if first.end < _LAST else None
    opened = since if until is None else None
    return StatementTimes(since, until if until and until <= at else None, opened or _begun(clause, at))


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


UPDATE = lazy(
    r"\b(?:actually|now|no\s+longer|any\s?more|these\s+days|nowadays|currently|moved|moving|instead|changed|switched|quit"
    r"|left|lost\s+my|recently|used\s+to|from\s+now\s+on|as\s+of|correction|stopped|not\s+\w+\s+but"
    r"|just\s+(?:moved|started|got|joined|turned|became|finished|adopted|bought|quit|left))\b",
    re.IGNORECASE,
)
"""Wording by which people say that something has changed."""
_ANY_MORE = lazy(r"\bany\s?more\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Held:
    """Whether and when something holds; the fields of a `Statement` of the same names."""

    negated: bool = False
    update: bool = False
    since: datetime | None = None
    until: datetime | None = None


def held(rule: Rule, verb: Verb, clause: str, at: datetime) -> Held | None:
    """When a matched rule holds; None where its tense says that it does not."""
    update = bool(UPDATE.search(clause))
    if rule.event:
        named = times(clause, at)
        if verb.negated or named.future or not (rule.past or verb.past or verb.perfect):
            return None
        return Held(update=update, since=named.since)
    if rule.timeless:
        return None if verb.negated else Held(update=update)
    if verb.used_to:
        return Held(negated=True, update=True)
    past = verb.past or (rule.past and not verb.perfect)
    if verb.negated:
        ended = verb.ended or bool(_ANY_MORE.search(clause))
        return None if past or verb.perfect else Held(negated=True, update=update or ended)
    return _lasting(times(clause, at), past=past, perfect=verb.perfect and (verb.be or rule.past), update=update)


def _lasting(named: StatementTimes, *, past: bool, perfect: bool, update: bool) -> Held | None:
    """A state: in the past if its end is told, in the perfect if its beginning is (`I have lived in …` is a memory)."""
    if past:
        over = named.until is not None and named.open_since is None
        return Held(update=update, since=named.since, until=named.until) if over else None
    if perfect and named.open_since is None:
        return None
    return Held(update=update, since=named.open_since)
