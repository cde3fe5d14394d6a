"""When what a clause says holds: now, since then, no longer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from memorist.remember.extract.heads import Verb
from memorist.remember.extract.rules import Rule
from memorist.remember.extract.when import Times, times

UPDATE = re.compile(
    r"\b(?:actually|now|no\s+longer|any\s?more|these\s+days|nowadays|currently|moved|moving|instead|changed|switched|quit"
    r"|left|lost\s+my|recently|used\s+to|from\s+now\s+on|as\s+of|correction|stopped|not\s+\w+\s+but"
    r"|just\s+(?:moved|started|got|joined|turned|became|finished|adopted|bought|quit|left))\b",
    re.IGNORECASE,
)
"""Wording by which people say that something has changed."""
_ANY_MORE = re.compile(r"\bany\s?more\b", re.IGNORECASE)


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


def _lasting(named: Times, *, past: bool, perfect: bool, update: bool) -> Held | None:
    """A state: in the past if its end is told, in the perfect if its beginning is (`I have lived in …` is a memory)."""
    if past:
        over = named.until is not None and named.open_since is None
        return Held(update=update, since=named.since, until=named.until) if over else None
    if perfect and named.open_since is None:
        return None
    return Held(update=update, since=named.open_since)
