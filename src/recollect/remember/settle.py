"""One change to what is claimed, as the batch that brings every slot it touches up to date."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.model import DENIES, STATES, Link, Memory
from recollect.ports import Batch, Reader, Vectors
from recollect.remember.entities import Find, about
from recollect.remember.extract import entities
from recollect.remember.ledger import Slot, claims_in, settled
from recollect.remember.truth import Claim

Claims = Mapping[Slot, Sequence[Claim]]
Amend = Callable[[Claim], Claim | None]
"""A claim that is already known as it is to be; None drops it."""


@dataclass(slots=True)
class Change:
    """What settling slots comes to: rows to write, rows to erase, vectors by row."""

    revised: list[Memory] = field(default_factory=list[Memory])
    erased: list[str] = field(default_factory=list[str])
    vectors: dict[str, Vectors] = field(default_factory=dict[str, Vectors])

    def batch(
        self,
        reader: Reader,
        memories: Sequence[Memory] = (),
        vectors: Mapping[str, Vectors] | None = None,
        find: Find = entities,
    ) -> Batch:
        """This change, written together with memories of its own."""
        spoken_of, links = about([*memories, *self.revised], reader.alike, find)
        stated = _stated(self.revised, reader, {memory.id for memory in memories})
        return Batch(
            memories=memories,
            vectors={**self.vectors, **(vectors or {})},
            links=[*links, *stated],
            entities=spoken_of,
            revised=self.revised,
            erased=self.erased,
        )


def settle(
    claims: Claims, reader: Reader, fresh: Mapping[str, Vectors] | None = None, amend: Amend = lambda claim: claim
) -> Change:
    """Amend what is claimed of slots and add to it; `fresh` holds vectors by text."""
    change = Change()
    rows = _rows(claims, reader)
    for slot, added in claims.items():
        known = rows[slot.scope, slot.key]
        held = [amended for claim in claims_in(known) if (amended := amend(claim)) is not None]
        subject = known[0].fact.subject if known and known[0].fact else slot.subject
        after = settled(replace(slot, subject=subject), list(dict.fromkeys((*held, *added))))
        _compare(known, after, change)
    _add_vectors(change, [row for known in rows.values() for row in known], reader, fresh or {})
    return change


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
        kept = row if old is None else replace(row, usage=old.usage)
        if kept != old or (row.version_of in gone):
            change.revised.append(kept)


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
