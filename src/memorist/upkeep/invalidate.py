"""Invalidate: something was true and is so no longer; it stays in its history, on both clocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from memorist.errors import InvalidInput, NotFound
from memorist.model import Memory, fingerprint, isoformat
from memorist.ports import Batch, Entry, Reader, Store
from memorist.remember.fact_rows import CLAIMS, claim_to_data, slot_of
from memorist.remember.fact_updates import settle
from memorist.remember.journal import changes
from memorist.remember.timeline import Claim
from memorist.upkeep.undo import CLAIM, SLOT

VERB = "invalidate"
"""The verb of the journal's entries."""


def invalidate(store: Store, id: str, at: datetime, now: datetime, superseded_by: str | None = None) -> Memory:
    """End a memory's truth at a moment, as known from now on; a fact is denied from then on. Twice is an error."""
    store.update(lambda reader: ending(reader, id, at, now, superseded_by))
    return store.get([id])[id]


def ending(
    reader: Reader,
    id: str,
    at: datetime,
    now: datetime,
    superseded_by: str | None = None,
    *,
    verb: str = VERB,
    more: Mapping[str, Any] | None = None,
) -> Batch:
    """The batch that ends a memory, with its entry of the journal, which may tell `more`."""
    memory = _standing(reader, id, at, now)
    data: dict[str, Any] = {"reason": f"invalidated {id} at {isoformat(at)}", **(more or {})}
    entry = Entry(entry_id(reader, verb, id, now), now, verb, (id,), data)
    if memory.fact is not None and CLAIMS in memory.metadata:
        return _denied(reader, memory, at, now, superseded_by, entry)
    if superseded_by is not None and not reader.get([superseded_by]):
        raise NotFound(f"There is no memory {superseded_by!r}", remedy="Give the id of the one that came after.")
    times = replace(memory.times, valid_to=at, expired_at=now)
    after = replace(memory, times=times, superseded_by=superseded_by or memory.superseded_by)
    return Batch(revised=[after], journal=[replace(entry, data={**data, **changes([(memory, after)])})])


def entry_id(reader: Reader, verb: str, id: str, now: datetime) -> str:
    """The id of the next entry of a verb about a memory, also of two in one moment."""
    return fingerprint(verb, id, now, len(reader.journal(verb, id, limit=10_000)))


def _standing(reader: Reader, id: str, at: datetime, now: datetime) -> Memory:
    memory = reader.get([id]).get(id)
    if memory is None:
        raise NotFound(f"There is no memory {id!r}", remedy="Look it up with list().")
    times = memory.times
    ended = times.valid_to if times.retracted_at is None else times.retracted_at
    if ended is not None:
        raise InvalidInput(f"{id!r} ended on {isoformat(ended)}", remedy="What has ended cannot end again.")
    if at < times.valid_from:
        raise InvalidInput(
            f"{id!r} became true on {isoformat(times.valid_from)}, after {isoformat(at)}",
            remedy="Give a later moment, or forget it if it was never true.",
        )
    if times.ingested_at > now:
        raise InvalidInput(f"{id!r} is not known yet", remedy="Check the clock.")
    return memory


def _denied(
    reader: Reader, memory: Memory, at: datetime, now: datetime, superseded_by: str | None, entry: Entry
) -> Batch:
    """The claim that a fact holds no longer; its timeline then tells the rest."""
    fact, worth = memory.fact, memory.worth
    assert fact is not None
    if superseded_by is not None:
        raise InvalidInput(
            "A fact is superseded by another value of it", remedy="Write that one with relate(); it ends this one."
        )
    claim = Claim(
        value=fact.object,
        since=at,
        known=now,
        negated=True,
        text=memory.text,
        confidence=worth.confidence,
        trust=worth.trust,
        classification=worth.classification,
        expires_at=memory.times.expires_at,
    )
    slot = slot_of(fact, memory.scope)
    data = {**entry.data, CLAIM: claim_to_data(claim), SLOT: asdict(slot)}
    batch = settle({slot: [claim]}, reader).batch(reader)
    return replace(batch, journal=[replace(entry, data=data)])
