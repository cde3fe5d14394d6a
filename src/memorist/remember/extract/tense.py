"""When a stated fact holds: tense, negation and the dates in a clause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from memorist.remember.extract.clauses import Verb
from memorist.text.change import changes
from memorist.text.dates import find_dates
from memorist.text.patterns import lazy

Tense = Literal["state", "past", "event", "plan", "always"]
"""Of a rule: a present state, a state in the past tense, a past change (moved), a coming one (moves), or a fact that
stays true (born)."""
_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
DURATION = lazy(
    r"\bfor\s+(?:(?:about|over|around|more\s+than|the\s+(?:past|last))\s+)?"
    r"(?P<number>\d{1,2}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty)\s+"
    r"(?P<unit>day|week|month|year|decade)s?\b",
    re.IGNORECASE,
)
_NEWLY = lazy(
    r"\b(?:actually|now|these\s+days|nowadays|currently|moved|changed|left|lost\s+my|recently|quit"
    r"|just\s+(?:started|got|joined|turned|became|finished|adopted|bought))\b",
    re.IGNORECASE,
)
"""Words that say that something is new, beside those that announce a change."""
_FROM = lazy(r"\b(?:from|as\s+of|starting|beginning|effective|next)\b", re.IGNORECASE)
"""Words before a date from which a state will hold; `since` is about the past."""
_PER = lazy(r"(?<=\d)\s+(?:an?|per)\s+(?:hour|day|week|month|year)\b", re.IGNORECASE)
"""The unit of a price, which is no time."""
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

    A past state needs an end, and a perfect one a beginning: `I have lived in Oslo` may be over. A plan needs a date,
    and holds from then on.
    """
    update = bool(_NEWLY.search(clause)) or changes(clause) is not None
    past = verb.past or (tense == "past" and not verb.perfect)
    if verb.used_to:
        return Validity(negated=True, update=True)
    if verb.negated:
        ended = verb.ended or bool(_ANY_MORE.search(clause))
        present = tense == "state" and not past and not verb.perfect
        return Validity(negated=True, update=update or ended) if present else None
    if tense == "always":
        return Validity(update=update)
    if tense == "plan" or verb.future:
        begins = _coming(clause, at)
        return None if begins is None or past or verb.perfect else Validity(update=True, since=begins)
    times = _clause_times(clause, at)
    if tense == "event":
        return None if times.future else Validity(update=update, since=times.since)
    if past:
        over = times.until is not None and times.open_since is None
        return Validity(update=update, since=times.since, until=times.until) if over else None
    if verb.perfect and (verb.be or tense == "past") and times.open_since is None:
        return None
    since = times.open_since or (_coming(clause, at) if _FROM.search(clause) and not verb.perfect else None)
    return Validity(update=update, since=since)


def _coming(clause: str, at: datetime) -> datetime | None:
    """The beginning of the one date in a clause that is not over; None without such a date."""
    spans = [span for span in find_dates(_PER.sub(" ", clause), at, prefer="future") if span.end > at]
    return spans[0].start if len(spans) == 1 and spans[0].start > _FIRST else None


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
