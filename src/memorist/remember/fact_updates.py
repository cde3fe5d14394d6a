"""How new claims change the facts in the store: rows that begin, end, or are taken back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memorist.model import DENIES, DOUBTED, MEMBERSHIP, STATES, Kind, Link, Memory
from memorist.ports import Batch, Reader, Vectors
from memorist.remember.entities import about
from memorist.remember.extract import Statement
from memorist.remember.fact_rows import Slot, claims_in, settle_claims, slot_of, slot_of_row
from memorist.remember.timeline import Claim, ClaimedBy

MOST_FACTS = 20
"""Facts taken from one text; a whole book would state hundreds."""
FACT_KINDS = (Kind.EPISODIC, Kind.SEMANTIC)
"""Kinds of memory whose text states facts: turns, and pieces of documents."""
Claims = Mapping[Slot, Sequence[Claim]]
Amend = Callable[[Claim], Claim | None]
"""Changes a known claim; None drops it."""
NOTHING = Batch()


@dataclass(slots=True)
class FactChange:
    """The rows to write, the rows to erase, and vectors by row."""

    revised: list[Memory] = field(default_factory=list[Memory])
    erased: list[str] = field(default_factory=list[str])
    vectors: dict[str, Vectors] = field(default_factory=dict[str, Vectors])

    def batch(self, reader: Reader, texts: Batch = NOTHING) -> Batch:
        """This change, to be written together with the texts it follows from."""
        entities, links = about(self.revised, reader.entities_by_prefix) if self.revised else ([], [])
        stated = _stated(self.revised, reader, {memory.id for memory in texts.memories})
        return replace(
            texts,
            vectors={**self.vectors, **texts.vectors},
            links=[*texts.links, *links, *stated],
            entities=[*texts.entities, *entities],
            revised=self.revised,
            erased=self.erased,
        )


def settle(
    claims: Claims, reader: Reader, fresh: Mapping[str, Vectors] | None = None, amend: Amend = lambda claim: claim
) -> FactChange:
    """Amend the known claims of slots and add new ones; `fresh` holds vectors by text."""
    change = FactChange()
    claims = _together(claims)
    rows = _rows(claims, reader)
    for slot, added in claims.items():
        known = rows[_place(slot)]
        known_claims = [amended for claim in claims_in(known) if (amended := amend(claim)) is not None]
        subject = known[0].fact.subject if known and known[0].fact else slot.subject
        after = settle_claims(replace(slot, subject=subject), list(dict.fromkeys((*known_claims, *added))))
        _compare(known, after, change)
    _add_vectors(change, [row for known in rows.values() for row in known], reader, fresh or {})
    return change


def _together(claims: Claims) -> dict[Slot, list[Claim]]:
    """Claims by slot, with slots that differ only in spelling made one."""
    first: dict[Place, Slot] = {}
    made: dict[Slot, list[Claim]] = {}
    for slot, added in claims.items():
        made.setdefault(first.setdefault(_place(slot), slot), []).extend(added)
    return made


Place = tuple[str, str, int]
"""A slot as rows name it: scope, key and classification."""


def _place(slot: Slot) -> Place:
    return slot.scope, slot.key, slot.classification


def _rows(claims: Claims, reader: Reader) -> defaultdict[Place, list[Memory]]:
    rows = defaultdict[Place, list[Memory]](list)
    for row in reader.by_key(list({slot.key for slot in claims})) if claims else ():
        rows[row.scope, row.origin.key or "", row.worth.classification].append(row)
    return rows


def _compare(known: Sequence[Memory], after: Sequence[Memory], change: FactChange) -> None:
    before = {row.id: row for row in known}
    gone = before.keys() - {row.id for row in after}
    change.erased += sorted(gone)
    for row in after:
        old = before.get(row.id)
        kept = row if old is None else _carried(row, old)
        if kept != old or (row.version_of in gone):
            change.revised.append(kept)


def _carried(row: Memory, old: Memory) -> Memory:
    """A settled row with what the old row had besides: usage, tier, feedback, and whether it was taken back."""
    worth = replace(row.worth, relevance=old.worth.relevance, flags=old.worth.flags)
    if DOUBTED in old.worth.flags:
        worth = replace(worth, confidence=min(worth.confidence, old.worth.confidence))
    times = row.times
    if row.version_of is None and old.version_of is None:
        times = replace(times, retracted_at=old.times.retracted_at)
    return replace(row, usage=old.usage, tier=old.tier, worth=worth, times=times)


def _add_vectors(change: FactChange, known: Sequence[Memory], reader: Reader, fresh: Mapping[str, Vectors]) -> None:
    """A row's vectors are those of its text, whichever row had it before; a reworded row keeps its own."""
    if not change.revised:
        return
    stored = reader.vectors([row.id for row in known])
    by_text = {row.text: stored[row.id] for row in known if row.id in stored} | dict(fresh)
    found = {row.id: by_text.get(row.text) or stored.get(row.id) for row in change.revised}
    change.vectors = {id: views for id, views in found.items() if views}


def _stated(rows: Iterable[Memory], reader: Reader, new: set[str]) -> list[Link]:
    current = [row for row in rows if row.times.retracted_at is None]
    links = dict.fromkeys(
        Link(claim.source, DENIES if claim.negated else STATES, row.id)
        for row in current
        for claim in claims_in([row])
        if claim.source
    )
    others = {link.source for link in links} - new
    there = new | reader.get(list(others)).keys() if others else new
    return [link for link in links if link.source in there]


class NewVersions:
    """The memories of a write that follow stored ones, and what becomes of the facts that these state.

    A claim rests on the version that said it. An edit that leaves the words as they are keeps its claims; one that
    changes them denies what it says no longer and nobody else says.
    """

    def __init__(self, new: Iterable[Memory], known: Mapping[str, Memory], reader: Reader) -> None:
        pairs = [(known[memory.id], memory) for memory in new if memory.id in known]
        self.relabelled = {one.id: one for before, one in pairs if says_the_same(before, one)}
        self._past = {one.id: before.archived(one).id for before, one in pairs if one.id not in self.relabelled}
        self._edits = {one.id: one for before, one in pairs if one.version > before.version}
        self._facts = facts_stated_by([one.id for _, one in pairs], reader)

    def slots(self, claims: Claims) -> Claims:
        """The slots to settle: those of the old texts, and these claims of the new ones."""
        told = [(slot, claim) for slot, some in claims.items() for claim in some]
        stated = {(_place(slot), claim.same) for slot, claim in told}
        denials = [pair for row in self._facts for pair in self._denials(row)]
        denied = [(slot, claim) for slot, claim in denials if (_place(slot), claim.same) not in stated]
        return {**dict.fromkeys(slots_of(self._facts), ()), **by_slot([*denied, *told])}

    def _denials(self, row: Memory) -> list[tuple[Slot, Claim]]:
        said = [claim for claim in claims_in([row]) if not claim.negated]
        sources = {claim.source for claim in said}
        edit = self._edits.get(said[0].source or "") if len(sources) == 1 else None
        if edit is None or edit.id in self.relabelled or row.fact is None or row.times.valid_to is not None:
            return []
        denial = replace(said[0], since=edit.times.valid_from, known=edit.times.ingested_at, until=None, negated=True)
        denial = replace(denial, update=True)  # the edit is the change
        return [(slot_of(row.fact, row.scope, row.worth.classification), denial)]

    def amend(self, claim: Claim) -> Claim:
        """A known claim after this write."""
        edit = self.relabelled.get(claim.source or "")
        if edit is None:
            return replace(claim, source=self._past.get(claim.source or "", claim.source))
        worth = edit.worth
        sure = min(claim.confidence, worth.confidence)
        return replace(claim, confidence=sure, trust=worth.trust, expires_at=edit.times.expires_at)

    def batch(self, batch: Batch, reader: Reader) -> Batch:
        """A batch with the links of edits: what their words state stays linked, and tags are made anew."""
        if not self._edits:
            return batch
        links = [link for link in reader.links(list(self._edits)) if link.source in self._edits]
        stated = [link for link in links if link.relation in (STATES, DENIES) and link.source in self.relabelled]
        tagged = [link for link in links if link.relation == MEMBERSHIP]
        return replace(batch, links=[*batch.links, *stated], unlinked=[*batch.unlinked, *tagged])


def says_the_same(before: Memory, after: Memory) -> bool:
    """Whether a text says the same: words, speaker and the time that its dates count from."""
    return (before.text, before.origin.speaker, before.times.valid_from) == (
        after.text,
        after.origin.speaker,
        after.times.valid_from,
    )


def claims_of(
    memory: Memory, found: Sequence[Statement], names: Mapping[str, str], by: ClaimedBy
) -> list[tuple[Slot, Claim]]:
    """The claims that a memory makes, with their slots; `names` gives the name that each subject goes by.

    A denial that rules read without a word of change ("I am not from Oslo") ends nothing, so that it is no claim.
    """
    told = [statement for statement in found if by != "rules" or statement.update or not statement.negated][:MOST_FACTS]
    return [_claim(memory, one, names[one.fact.subject], by, order) for order, one in enumerate(told)]


def _claim(memory: Memory, statement: Statement, subject: str, by: ClaimedBy, order: int) -> tuple[Slot, Claim]:
    fact = replace(statement.fact, subject=subject)
    worth, times = memory.worth, memory.times
    since = statement.since or times.valid_from
    claim = Claim(
        value=fact.object,
        since=since if statement.until is None else min(since, statement.until),
        known=times.ingested_at,
        until=statement.until,
        negated=statement.negated,
        update=statement.update,
        order=(memory.origin.position or 0) * MOST_FACTS + order,
        source=memory.id,
        confidence=min(statement.confidence, worth.confidence),
        trust=worth.trust,
        classification=worth.classification,
        expires_at=times.expires_at,
        by=by,
    )
    return slot_of(fact, memory.scope, worth.classification), claim


def by_slot(pairs: Sequence[tuple[Slot, Claim]]) -> Claims:
    """Claims grouped by the slot that they fill."""
    slots = defaultdict[Slot, list[Claim]](list)
    for slot, claim in pairs:
        slots[slot].append(claim)
    return slots


def unopposed_claims(claims: Sequence[tuple[Slot, Claim]], reader: Reader) -> list[tuple[Slot, Claim]]:
    """The claims whose slot the same source has not filled with another value."""
    rows = reader.by_key([slot.key for slot, _ in claims])
    said = {(row.scope, row.origin.key, claim.source): claim.same for row in rows for claim in claims_in([row])}
    return [
        (slot, claim)
        for slot, claim in claims
        if said.get((slot.scope, slot.key, claim.source), claim.same) == claim.same
    ]


def facts_stated_by(ids: Collection[str], reader: Reader) -> list[Memory]:
    """The facts among these memories, and those that they state or deny."""
    links = reader.links(sorted(ids)) if ids else []
    stated = [link.target for link in links if link.relation in (STATES, DENIES)]
    return [row for row in reader.get([*stated, *ids]).values() if row.fact is not None]


def slots_of(facts: Sequence[Memory]) -> list[Slot]:
    """The slots that facts fill."""
    return [slot_of_row(row, row.fact) for row in facts if row.fact is not None]
