"""One change to what is claimed, as the batch that brings every slot it touches up to date."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memorist.model import DENIES, STATES, Link, Memory
from memorist.ports import Batch, Reader, Vectors
from memorist.remember.entities import about
from memorist.remember.ledger import Slot, claims_in, settled
from memorist.remember.truth import Claim

Claims = Mapping[Slot, Sequence[Claim]]
DOUBTED = "doubted"
"""The flag of a memory that somebody called wrong."""
Amend = Callable[[Claim], Claim | None]
"""A claim that is already known as it is to be; None drops it."""


NOTHING = Batch()


@dataclass(slots=True)
class Change:
    """What settling slots comes to: rows to write, rows to erase, vectors by row."""

    revised: list[Memory] = field(default_factory=list[Memory])
    erased: list[str] = field(default_factory=list[str])
    vectors: dict[str, Vectors] = field(default_factory=dict[str, Vectors])

    def batch(self, reader: Reader, turns: Batch = NOTHING) -> Batch:
        """This change, written together with the turns it follows from."""
        entities, links = about(self.revised, reader.alike)
        stated = _stated(self.revised, reader, {memory.id for memory in turns.memories})
        return replace(
            turns,
            vectors={**self.vectors, **turns.vectors},
            links=[*turns.links, *links, *stated],
            entities=[*turns.entities, *entities],
            revised=self.revised,
            erased=self.erased,
        )


def settle(
    claims: Claims, reader: Reader, fresh: Mapping[str, Vectors] | None = None, amend: Amend = lambda claim: claim
) -> Change:
    """Amend what is claimed of slots and add to it; `fresh` holds vectors by text."""
    change = Change()
    claims = _together(claims)
    rows = _rows(claims, reader)
    for slot, added in claims.items():
        known = rows[slot.scope, slot.key]
        held = [amended for claim in claims_in(known) if (amended := amend(claim)) is not None]
        subject = known[0].fact.subject if known and known[0].fact else slot.subject
        after = settled(replace(slot, subject=subject), list(dict.fromkeys((*held, *added))))
        _compare(known, after, change)
    _add_vectors(change, [row for known in rows.values() for row in known], reader, fresh or {})
    return change


def _together(claims: Claims) -> dict[Slot, list[Claim]]:
    """Slots that differ only in how they are spelt are one."""
    first: dict[tuple[str, str], Slot] = {}
    made: dict[Slot, list[Claim]] = {}
    for slot, added in claims.items():
        made.setdefault(first.setdefault((slot.scope, slot.key), slot), []).extend(added)
    return made


def _rows(claims: Claims, reader: Reader) -> defaultdict[tuple[str, str], list[Memory]]:
    rows = defaultdict[tuple[str, str], list[Memory]](list)
    for row in reader.keyed(list({slot.key for slot in claims})):
        rows[row.scope, row.origin.key or ""].append(row)
    return rows


def _compare(known: Sequence[Memory], after: Sequence[Memory], change: Change) -> None:
    before = {row.id: row for row in known}
    gone = before.keys() - {row.id for row in after}
    change.erased += sorted(gone)
    for row in after:
        old = before.get(row.id)
        kept = row if old is None else _carried(row, old)
        if kept != old or (row.version_of in gone):
            change.revised.append(kept)


def _carried(row: Memory, old: Memory) -> Memory:
    """A row as settled, with what became of it otherwise: its usage and tier, feedback, and being taken back."""
    worth = replace(row.worth, relevance=old.worth.relevance, flags=old.worth.flags)
    if DOUBTED in old.worth.flags:
        worth = replace(worth, confidence=min(worth.confidence, old.worth.confidence))
    times = row.times
    if row.version_of is None and old.version_of is None:
        times = replace(times, retracted_at=old.times.retracted_at)
    return replace(row, usage=old.usage, tier=old.tier, worth=worth, times=times)


def _add_vectors(change: Change, known: Sequence[Memory], reader: Reader, fresh: Mapping[str, Vectors]) -> None:
    """A row's vectors are those of its text, whichever row had it before."""
    if not change.revised:
        return
    stored = reader.vectors([row.id for row in known])
    by_text = {row.text: stored[row.id] for row in known if row.id in stored} | dict(fresh)
    change.vectors = {row.id: by_text[row.text] for row in change.revised if row.text in by_text}


def _stated(rows: Iterable[Memory], reader: Reader, new: set[str]) -> list[Link]:
    current = [row for row in rows if row.times.retracted_at is None]
    links = dict.fromkeys(
        Link(claim.source, DENIES if claim.negated else STATES, row.id)
        for row in current
        for claim in claims_in([row])
        if claim.source
    )
    there = new | reader.get(list({link.source for link in links})).keys()
    return [link for link in links if link.source in there]
