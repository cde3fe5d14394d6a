"""Facts as rows of the store, the claims that they rest on, and the claim that `relate` makes."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Unpack

from memorist.errors import InvalidInput
from memorist.model import (
    CLAIMS,
    REQUIRED,
    USUAL_CLASSIFICATION,
    Fact,
    FactFields,
    Kind,
    Memory,
    Times,
    When,
    Worth,
    beside_the_usual,
    fields_of,
    fingerprint,
    from_data,
    instant,
    is_memory_id,
    isoformat,
    to_data,
)
from memorist.remember.extract.lexicon import word_set
from memorist.remember.record import check_memory_text, record
from memorist.remember.timeline import Claim, Segment, SegmentVersion, fold_value, forms
from memorist.text.facts import sentence

ONE_VALUED = word_set(
    """
    lives_in works_at works_as born_on born_in married_to engaged_to reports_to belongs_to starts_at ends_at opens_at
    closes_at due_on costs
    name nickname title age birthday gender height weight size status
    husband wife spouse partner fiance fiancee mother mum mom father dad
    boss manager supervisor employer job role position occupation profession salary wage
    school university class grade year teacher tutor coach trainer
    landlord landlady tenant owner doctor gp dentist vet therapist lawyer solicitor accountant babysitter nanny cleaner
    plumber
    home hometown city country address postcode residence office desk room
    email phone mobile number username handle website url
    password passcode pin code combination
    car plate reg registration bank insurer insurance provider
    price cost fee rent rate charge budget limit deposit balance discount
    deadline appointment date day weekday time hours schedule
    dose dosage medication_dose version release firmware branch default"""
)
"""Relations that have one value at a time, and last words of such relations: a new value supersedes the old."""
_ONE_OF_A_KIND = ("favourite_", "favorite_", "years_at_", "current_", "main_", "primary_", "best_", "legal_")
"""Prefixes of relations that are one-valued."""


def one_valued(relation: str) -> bool:
    """Whether a relation has one value at a time, by its name or by its last word: `wifi_password`, `piano_teacher`."""
    last = relation.rpartition("_")[2]
    return relation in ONE_VALUED or last in ONE_VALUED or relation.startswith(_ONE_OF_A_KIND)


_SLASH = "\x1f"
"""Stands for a slash in the names of a key: a/b of c is not a of b/c."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one value at a time: a one-valued relation of a subject, or one value of any other relation.

    Facts of different classifications are in different slots: neither ends the other.
    """

    scope: str
    subject: str
    relation: str
    value: str | None = None
    classification: int = USUAL_CLASSIFICATION

    @property
    def key(self) -> str:
        """The key of its memories within their scope."""
        names = (part.replace("/", _SLASH) for part in (fold_value(self.subject), self.relation))
        return "/".join(["fact", *names, *([fold_value(self.value)] if self.value else [])])

    def holds(self, row: Memory) -> bool:
        """Whether a memory with its key is in this slot."""
        return row.scope == self.scope and row.worth.classification == self.classification


def slot_of(fact: Fact, scope: str, classification: int = USUAL_CLASSIFICATION) -> Slot:
    """The slot that a fact fills."""
    value = None if one_valued(fact.relation) else fact.object
    return Slot(scope, fact.subject, fact.relation, value, classification)


def slot_of_row(row: Memory, fact: Fact) -> Slot:
    """The slot that a stored fact is in; one from before its relation became one-valued keeps a slot of its own."""
    slot = slot_of(fact, row.scope, row.worth.classification)
    own = replace(slot, value=fact.object)
    return own if row.origin.key == own.key else slot


def claims_in(rows: Iterable[Memory]) -> list[Claim]:
    """The claims that memories rest on, each claim once."""
    return list(dict.fromkeys(claim for row in rows for claim in _claims(row)))


def earlier(claim: Claim, known: Iterable[Claim]) -> Claim:
    """The known claim of the same source that says the same, else the claim itself.

    A claim that is true from the moment it became known says nothing about its start.
    """
    for stated in known:
        said = stated.same == claim.same and stated.source == claim.source and stated.until == claim.until
        if said and claim.since in (stated.since, claim.known):
            return stated
    return claim


def settle_claims(slot: Slot, claims: Sequence[Claim]) -> list[Memory]:
    """The memories of a slot with these claims; the same claims always give the same memories."""
    found = forms(claims)
    current = _Current([form.segment for form in found if form.retracted_at is None])
    versions = defaultdict[str, list[SegmentVersion]](list)
    for form in sorted(found, key=lambda form: (form.retracted_at is None, form.ingested_at, form.segment.name)):
        versions[_id(slot, current.holding(form.segment))].append(form)
    return [
        _row(slot, form, version, holder, _successor(form.segment, current, slot))
        for holder, history in versions.items()
        for version, form in enumerate(history, 1)
    ]


def _successor(segment: Segment, current: _Current, slot: Slot) -> str | None:
    """The id of the value that replaced it."""
    later = None if segment.end is None else current.replacing(segment.end, segment.name[0])
    return None if later is None else _id(slot, later)


class _Current:
    """The segments of a slot as they are known now."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._names = {segment.name for segment in segments}
        self._lasting = sorted(
            (segment for segment in segments if segment.start != segment.end), key=lambda one: one.start
        )
        self._starts = [segment.start for segment in self._lasting]
        self._replacing = {
            claim.since: segment
            for segment in self._lasting
            for claim in segment.claims
            if claim.replaces and not claim.negated
        }

    def replacing(self, at: datetime, value: str) -> Segment | None:
        """The other value that a claim says to be true from a moment on, in place of those before."""
        found = self._replacing.get(at)
        return None if found is None or found.name[0] == value else found

    def holding(self, segment: Segment) -> Segment:
        """The segment that a form is stored with: its own, else the one that now covers its start."""
        place = bisect_right(self._starts, segment.start)
        if segment.name in self._names or not place:
            return segment
        covering = self._lasting[place - 1]
        return covering if covering.end is None or segment.start < covering.end else segment


def _row(slot: Slot, form: SegmentVersion, version: int, holder: str, successor: str | None) -> Memory:
    segment = form.segment
    newest = max(segment.claims, key=lambda claim: (claim.known, claim.since, claim.source or ""))
    fact = Fact(slot.subject, slot.relation, newest.value)
    expiries = [claim.expires_at for claim in segment.claims]
    memory = record(
        newest.text or sentence(fact.subject, fact.relation, fact.object),
        form.ingested_at,
        kind=Kind.SEMANTIC,
        key=slot.key,
        scope=slot.scope,
        at=segment.start,
        source=segment.claims[0].source,
        confidence=max(claim.confidence for claim in segment.claims),
        trust=max(claim.trust for claim in segment.claims),
        classification=slot.classification,
        flags=[flag for flag in newest.flags if all(flag in claim.flags for claim in segment.claims)],
        expires_at=None if None in expiries else max(filter(None, expiries)),
        metadata={CLAIMS: [claim_to_data(claim) for claim in segment.claims]},
    )
    times = replace(memory.times, valid_to=segment.end, expired_at=form.expired_at, retracted_at=form.retracted_at)
    past = form.retracted_at is not None
    return replace(
        memory,
        id=fingerprint("form", _id(slot, segment), isoformat(form.ingested_at)) if past else holder,
        times=times,
        fact=fact,
        version=version,
        version_of=holder if past else None,
        superseded_by=holder if past else successor,
    )


def fact_id(slot: Slot, value: str, start: datetime) -> str:
    """The id of the memory that says that a slot has a value from a moment on."""
    apart = beside_the_usual(slot.classification)
    return fingerprint("fact", slot.scope, slot.key, fold_value(value), isoformat(start), *apart)


def _id(slot: Slot, segment: Segment) -> str:
    return fact_id(slot, *segment.name)


def claim_to_data(claim: Claim) -> dict[str, Any]:
    """A claim as JSON; fields with their default are left out."""
    return {name: value for name, value in to_data(claim).items() if value != _claim_defaults()[name]}


@cache
def _claim_defaults() -> Mapping[str, Any]:
    return {name: None if one.default is REQUIRED else to_data(one.default) for name, one in fields_of(Claim).items()}


def _claims(row: Memory) -> list[Claim]:
    if CLAIMS in row.metadata:
        return [from_data(Claim, data) for data in row.metadata[CLAIMS]]
    return [] if row.fact is None else [_written_directly(row, row.fact, row.times)]


def _written_directly(row: Memory, fact: Fact, times: Times) -> Claim:
    """The claim of a fact that was written without claims, such as an imported one."""
    until = times.valid_to if times.expired_at is None else None
    return Claim(fact.object, times.valid_from, times.ingested_at, until, source=row.origin.source, text=row.text)


def relation_claim(fact: Fact, text: str | None, now: datetime, **given: Unpack[FactFields]) -> tuple[Slot, Claim]:
    """The claim that `relate` makes, and its slot."""
    for part in (fact.subject, fact.relation, fact.object):
        check_memory_text(part)
    since = _moment(given.get("valid_from")) or now
    until = _moment(given.get("valid_to"))
    if until is not None and until <= since:
        raise InvalidInput("valid_to is not after valid_from", remedy="Give an end after the start.")
    usual = Worth()
    worth = Worth(
        trust=given.get("trust", usual.trust), classification=given.get("classification", usual.classification)
    )
    claim = Claim(
        fact.object,
        since,
        _moment(given.get("ingested_at")) or now,
        until,
        source=given.get("source"),
        text=None if text is None else check_memory_text(text),
        trust=worth.trust,
        classification=worth.classification,
        by="caller",
    )
    return slot_of(fact, given.get("scope", "global"), worth.classification), claim


def _moment(given: When | None) -> datetime | None:
    return None if given is None else instant(given)


def sources_of(memory: Memory) -> tuple[str, ...]:
    """The memories that this one was derived from, by its own account; one that was told directly has none."""
    claims = memory.metadata.get(CLAIMS)
    named = [memory.origin.source] if claims is None else [claim.get("source") for claim in claims]
    return () if None in named else tuple(id for id in named if id and is_memory_id(id))
