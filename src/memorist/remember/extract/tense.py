"""When a stated fact holds: tense, negation and the dates in a clause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from memorist.remember.extract.clauses import Verb
from memorist.text.dates import find_dates
from memorist.text.patterns import lazy

Tense = Literal["state", "past", "event", "always"]
"""Of a rule: a present state, a state in the past tense, a past change (moved), or a fact that stays true (born)."""
_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
DURATION = lazy(
    r"\bfor\s+(?:(?:about|over|around|more\s+than|the\s+(?:past|last))\s+)?"
    r"(?P<number>\d{1,2}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty)\s+"
    r"(?P<unit>day|week|month|year|decade)s?\b",
    re.IGNORECASE,
)
_UPDATE = lazy(
    r"\b(?:actually|now|no\s+longer|any\s?more|these\s+days|nowadays|currently|moved|instead|changed|switched|quit"
    r"|left|lost\s+my|recently|used\s+to|as\s+of|correction|stopped"
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


def validity(tense: Tense, verb: Verb, clause: str, at: datetime) -> Validity | None:
    """When the fact of a matched rule holds; None if the tense means that it does not hold.

    A past state needs an end, and a perfect one a beginning: `I have lived in Oslo` may be over.
    """
    update = bool(_UPDATE.search(clause))
    past = verb.past or (tense == "past" and not verb.perfect)
    if verb.used_to:
        return Validity(negated=True, update=True)
    if verb.negated:
        ended = verb.ended or bool(_ANY_MORE.search(clause))
        present = tense == "state" and not past and not verb.perfect
        return Validity(negated=True, update=update or ended) if present else None
    if tense == "always":
        return Validity(update=update)
    times = _clause_times(clause, at)
    if tense == "event":
        return None if times.future else Validity(update=update, since=times.since)
    if past:
        over = times.until is not None and times.open_since is None
        return Validity(update=update, since=times.since, until=times.until) if over else None
    if verb.perfect and (verb.be or tense == "past") and times.open_since is None:
        return None
    return Validity(update=update, since=times.open_since)


@dataclass(frozen=True, slots=True)
class _ClauseTimes:
    """The times that a clause mentions: a period, and the beginning of something that still lasts."""

    since: datetime | None = None
    until: datetime | None = None
    open_since: datetime | None = None
    future: bool = False


def _clause_times(clause: str, at: datetime) -> _ClauseTimes:
    """The beginning and end of the date in a clause; `since 2019` and `for five years` give an open beginning.

    If there are two dates, one must contain the other: `in the winter two years ago` gives no beginning.
    """
    lasted = DURATION.search(clause)
    ago = find_dates(f"{lasted['number']} {lasted['unit']}s ago", at) if lasted else []
    begun = ago[0].start if ago else None
    spans = find_dates(clause, at)
    past = sorted((span for span in spans if span.start <= at), key=lambda span: span.end - span.start)
    if not past or not all(span.start <= past[0].start and past[0].end <= span.end for span in past):
        return _ClauseTimes(open_since=begun, future=bool(spans) and not past)
    first = past[0]
    since = first.start if first.start > _FIRST else None
    until = first.end if first.end < _LAST else None
    return _ClauseTimes(since, until if until and until <= at else None, begun if until else since)
