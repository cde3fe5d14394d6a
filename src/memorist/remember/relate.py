"""A fact told directly, as the claim it makes."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict, Unpack

from memorist.errors import InvalidInput
from memorist.model import Fact, When, instant
from memorist.remember.ledger import Slot, slot_of
from memorist.remember.record import checked_text
from memorist.remember.truth import Claim


class FactFields(TypedDict, total=False):
    """The keywords of `relate`."""

    valid_from: When | None
    valid_to: When | None
    ingested_at: When | None
    source: str | None
    scope: str


def told(fact: Fact, text: str | None, now: datetime, **given: Unpack[FactFields]) -> tuple[Slot, Claim]:
    """What `relate` claims, and of which slot."""
    for part in (fact.subject, fact.relation, fact.object):
        checked_text(part)
    since = _moment(given.get("valid_from")) or now
    until = _moment(given.get("valid_to"))
    if until is not None and until <= since:
        raise InvalidInput("valid_to is not after valid_from", remedy="Give an end that lies after the beginning.")
    claim = Claim(
        fact.object,
        since,
        _moment(given.get("ingested_at")) or now,
        until,
        source=given.get("source"),
        text=None if text is None else checked_text(text),
    )
    return slot_of(fact, given.get("scope", "global")), claim


def _moment(given: When | None) -> datetime | None:
    return None if given is None else instant(given)
