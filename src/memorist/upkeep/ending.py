"""Ending memories: they are no longer true, or softly forgotten. All stay in their history, and `undo` revives them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from memorist.errors import InvalidInput, NotFound, Remedy, VerbCall, no_memory
from memorist.model import Memory, fingerprint, isoformat
from memorist.ports import Batch, Entry, Reader, Store
from memorist.remember.fact_rows import CLAIMS, Slot, claim_to_data, claims_in, slot_of_row
from memorist.remember.fact_updates import facts_stated_by, settle
from memorist.remember.forgetting import dependents
from memorist.remember.timeline import Claim
from memorist.results.upkeep import Change
from memorist.upkeep.change import CLAIM, RUN, SLOT, batch_of, end_memory

INVALIDATE = "invalidate"
"""The verb of the journal entries."""


def invalidate(store: Store, id: str, at: datetime | None, now: datetime, superseded_by: str | None = None) -> Memory:
    """End a memory's validity at a moment, by default now, as known from now on; a fact is denied from then on.

    The memory stays in its history. Invalidating it again is an error.
    """

    def plan(reader: Reader) -> Batch:
        reason = f"invalidated {id} at {isoformat(now if at is None else at)}"
        entry = entry_about(reader, INVALIDATE, id, now, {"reason": reason})
        return end_of(reader, existing_memory(reader, id), at, now, entry, superseded_by)

    store.update(plan)
    return existing_memory(store, id)


def end_all(store: Store, ids: Sequence[str], now: datetime, run: str) -> list[str]:
    """End memories now, with what rests on them alone; returns the ids of those that were current.

    Everything is one write, and every entry names the run, so that one `undo` takes all of it back.
    """
    done: list[str] = []

    def plan(reader: Reader) -> Batch:
        memories = [row for row in _with_dependents(ids, now, reader) if not is_over(row, now)]
        done[:] = sorted(memory.id for memory in memories)
        return _ends(memories, now, run, reader)

    store.update(plan)
    return done


def is_over(memory: Memory, now: datetime) -> bool:
    """Whether a memory is an older version, was taken back, or is not true any more."""
    times = memory.times
    ended = times.valid_to is not None and times.valid_to <= now
    return ended or memory.version_of is not None or times.retracted_at is not None


def refuse_over(memory: Memory) -> None:
    """Refuse to end what has ended."""
    times = memory.times
    end = times.valid_to if times.retracted_at is None else times.retracted_at
    when = "is an older version" if end is None else f"ended on {isoformat(end)}"
    raise InvalidInput(f"{memory.id!r} {when}", remedy="A memory that has ended cannot end again.")


def _with_dependents(ids: Sequence[str], now: datetime, reader: Reader) -> Iterable[Memory]:
    """The memories, what sessions derived from them alone, and the facts that no other current memory states."""
    found = dependents(ids, reader)
    stated = {row.id: row for row in facts_stated_by(set(found), reader)}
    return {
        **found,
        **{id: row for id, row in stated.items() if not _is_stated_elsewhere(row, found, now, reader)},
    }.values()


def _is_stated_elsewhere(fact: Memory, ids: Collection[str], now: datetime, reader: Reader) -> bool:
    sources = {claim.source for claim in claims_in([fact]) if not claim.negated} - {*ids}
    others = reader.get([id for id in sources if id is not None]).values()
    return None in sources or any(not is_over(memory, now) for memory in others)


def _ends(memories: Iterable[Memory], now: datetime, run: str, reader: Reader) -> Batch:
    """The batch that ends memories, which may be facts of the same slot."""
    claims: dict[Slot, list[Claim]] = {}
    plain: list[Batch] = []
    entries: list[Entry] = []
    for memory in memories:
        reason = f"{memory.id} was forgotten softly"
        entry = Entry(fingerprint(run, memory.id), now, INVALIDATE, (memory.id,), {RUN: run, "reason": reason})
        at = max(now, memory.times.valid_from, memory.times.ingested_at)
        if _rests_on_claims(memory):
            slot, claim = _denial(memory, at, now)
            claims.setdefault(slot, []).append(claim)
            entries.append(_denied(entry, slot, claim))
        else:
            plain.append(
                batch_of(Change(INVALIDATE, memory.id, reason, ((memory, end_memory(memory, at, now)),)), entry)
            )
    batch = settle(claims, reader).batch(reader)
    return replace(
        batch,
        revised=[*batch.revised, *(after for part in plain for after in part.revised)],
        journal=[*entries, *(entry for part in plain for entry in part.journal)],
    )


def end_of(
    reader: Reader, memory: Memory, at: datetime | None, now: datetime, entry: Entry, superseded_by: str | None = None
) -> Batch:
    """The batch that ends a memory, with its journal entry; not before it began, even if the clock has gone back."""
    now = max(now, memory.times.ingested_at)
    at = max(now, memory.times.valid_from) if at is None else at
    _check_can_end(memory, at)
    if _rests_on_claims(memory):
        return _deny(reader, memory, at, now, superseded_by, entry)
    if superseded_by is not None and not reader.get([superseded_by]):
        raise NotFound(f"There is no memory {superseded_by!r}", remedy="Pass the id of the memory that came after.")
    after = end_memory(memory, at, now, superseded_by)
    return batch_of(Change(entry.verb, memory.id, entry.data["reason"], ((memory, after),)), entry)


def existing_memory(reader: Reader, id: str) -> Memory:
    """The memory with an id, which must exist."""
    memory = reader.get([id]).get(id)
    if memory is None:
        raise no_memory(id)
    return memory


def entry_about(reader: Reader, verb: str, id: str, now: datetime, data: Mapping[str, Any]) -> Entry:
    """The next journal entry of a verb about a memory; two at the same moment have different ids."""
    earlier = len(reader.journal(verb, id, limit=10_000))
    return Entry(fingerprint(verb, id, now, earlier), now, verb, (id,), data)


def _check_can_end(memory: Memory, at: datetime) -> None:
    id, times = memory.id, memory.times
    if times.valid_to is not None or times.retracted_at is not None:
        refuse_over(memory)
    if at < times.valid_from:
        raise InvalidInput(
            f"{id!r} became true on {isoformat(times.valid_from)}, after {isoformat(at)}",
            remedy="Pass a later moment, or forget the memory if it was never true.",
        )


def _rests_on_claims(memory: Memory) -> bool:
    return memory.fact is not None and CLAIMS in memory.metadata


def _deny(
    reader: Reader, memory: Memory, at: datetime, now: datetime, superseded_by: str | None, entry: Entry
) -> Batch:
    """Add the claim that a fact no longer holds; settling its timeline does the rest."""
    if superseded_by is not None:
        raise InvalidInput(
            "A fact is superseded by another value of it",
            remedy=Remedy("Write that value with ", VerbCall("relate"), "; it ends this one."),
        )
    slot, claim = _denial(memory, at, now)
    batch = settle({slot: [claim]}, reader).batch(reader)
    return replace(batch, journal=[_denied(entry, slot, claim)])


def _denied(entry: Entry, slot: Slot, claim: Claim) -> Entry:
    """The entry, with the claim that `undo` drops."""
    return replace(entry, data={**entry.data, CLAIM: claim_to_data(claim), SLOT: asdict(slot)})


def _denial(memory: Memory, at: datetime, now: datetime) -> tuple[Slot, Claim]:
    """The claim that a fact is no longer true, and its slot."""
    fact, worth = memory.fact, memory.worth
    assert fact is not None
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
        by="caller",
    )
    return slot_of_row(memory, fact), claim
