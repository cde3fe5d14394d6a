"""What a store holds of what travels, as of one moment: a digest and a time of change for each record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, cast

from memorist.model import DENIES, STATES, Link, Memory
from memorist.models.embedding_text import TEXT
from memorist.ports import Entry, Kept, Reader, Store, StoreStats, Vectors
from memorist.remember.fact_rows import Slot, claims_in
from memorist.remember.jobs import FACTS_TASK
from memorist_import.sync.records import (
    HELD,
    OWN_LINKS,
    Change,
    Gone,
    Mark,
    Names,
    Stamp,
    StatedClaim,
    Text,
    base_digest,
    claim_key,
    is_own,
    is_settled,
    is_unmarked,
    mark_key,
    mark_of,
    slot_of_fact,
    text_digest,
    text_key,
)
from memorist_import.sync.state import Shared, State

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class HeldRecord(NamedTuple):
    """A record that a store holds."""

    digest: str
    version: int = 0
    at: int = 0


@dataclass(slots=True)
class Holdings:
    """Everything of a store that travels."""

    stats: StoreStats
    records: dict[str, HeldRecord] = field(default_factory=dict[str, HeldRecord])
    private: set[str] = field(default_factory=set[str])
    """Keys of what is in the store but not shared: it is neither sent nor forgotten."""
    slots: dict[str, Slot] = field(default_factory=dict[str, Slot])
    """The slot of each claim, by the claim's key."""
    facts: dict[str, str] = field(default_factory=dict[str, str])
    """A fact that holds the claim, by the claim's key."""
    names: dict[str, Names] = field(default_factory=dict[str, Names])
    """The names that a language model read in a text, by the id of its memory."""
    unlinked: list[Link] = field(default_factory=list[Link])
    """Links from texts to the facts that they state which are not there: a text may come after its facts."""
    outdated: list[Link] = field(default_factory=list[Link])
    """Links from texts to facts that they do not state: another edit of the text won."""


def holdings(store: Store, shared: Shared) -> Holdings:
    """Read a store. Takes time in proportion to its size."""
    with closing(store.records()) as records:
        found = Holdings(cast("StoreStats", next(records)))
        reading = _Reading(found, shared)
        for record in records:
            reading.take(record)
    reading.finish()
    return found


class _Reading:
    def __init__(self, found: Holdings, shared: Shared) -> None:
        self._found = found
        self._shared = shared
        self._bases: dict[str, tuple[tuple[str, bytes], int, int]] = {}
        self._links: dict[str, list[Link]] = {}
        self._changed: dict[str, int] = {}
        self._marks: list[Mark] = []
        self._facts: set[str] = set()
        self._stated: set[Link] = set()
        self._stating: set[Link] = set()

    def take(self, record: object) -> None:
        match record:
            case Kept():
                self._memory(record.memory)
            case Link(relation=relation) if relation in (STATES, DENIES):
                self._stated.add(record)
            case Link(source=source, relation=relation) if source in self._bases and relation not in OWN_LINKS:
                self._links.setdefault(source, []).append(record)
            case Entry():
                self._entry(record)
            case _:
                pass

    def _memory(self, memory: Memory) -> None:
        if not self._shared.admits(memory) or is_own(memory):
            self._found.private.update(_keys(memory))
        elif is_settled(memory):
            self._fact(memory)
        else:
            times = memory.times
            moments = (times.ingested_at, times.expired_at, times.retracted_at)
            latest = max(micros(moment) for moment in moments if moment is not None)
            self._bases[memory.id] = base_digest(memory), memory.version, latest

    def _fact(self, row: Memory) -> None:
        slot, claims = slot_of_fact(row), claims_in([row])
        for claim in claims:
            key = claim_key(slot, claim)
            self._found.records[key] = HeldRecord(HELD)
            self._found.slots[key] = slot
            self._found.facts[key] = row.id
            if claim.source is not None and row.version_of is None:
                self._stating.add(Link(claim.source, DENIES if claim.negated else STATES, row.id))
        self._facts.add(row.id)
        if (mark := mark_of(row)) != is_unmarked(row):
            self._marks.append(mark)

    def _entry(self, entry: Entry) -> None:
        for id in entry.subjects:
            self._changed[id] = max(self._changed.get(id, 0), micros(entry.at))
        if entry.verb == FACTS_TASK:
            for id in entry.subjects:
                self._found.names[id] = names_of([entry], self._found.names.get(id, ()))

    def finish(self) -> None:
        records = self._found.records
        for id, (base, version, at) in self._bases.items():
            digest = text_digest(base, self._links.get(id, ()), self._found.names.get(id, ()))
            records[text_key(id)] = HeldRecord(digest, version, max(at, self._changed.get(id, 0)))
        for mark in self._marks:
            records[mark.key] = HeldRecord(mark.digest, 0, self._changed.get(mark.id, 0))
        self._found.unlinked = [link for link in self._stating - self._stated if link.source in self._bases]
        self._found.outdated = [
            link for link in self._stated - self._stating if link.source in self._bases and link.target in self._facts
        ]


def _keys(memory: Memory) -> Iterator[str]:
    """The keys of everything that a memory would be sent as."""
    if is_settled(memory):
        slot = slot_of_fact(memory)
        yield from (claim_key(slot, claim) for claim in claims_in([memory]))
        yield mark_key(memory.id)
    else:
        yield text_key(memory.id)


def names_of(entries: Iterable[Entry], known: Names = ()) -> Names:
    """The names that a language model read in a text, from the journal's entries about it."""
    read = {*known}
    for entry in entries:
        for name, kind, aliases in cast("Sequence[Any]", entry.data.get("entities", ())):
            read.add((name, kind or "", *aliases))
    return tuple(sorted(read))


def micros(moment: datetime) -> int:
    """A moment as microseconds since 1970; 0 for those before."""
    return max(0, (moment - _EPOCH) // timedelta(microseconds=1))


# Reading records to send

BATCH = 256
"""Records that are read together."""


def changes(store: Store, keys: Sequence[str], state: State, here: Holdings) -> Iterator[tuple[Change, Stamp]]:
    """The records with these keys and their stamps, as the store holds them now."""
    for start in range(0, len(keys), BATCH):
        some = keys[start : start + BATCH]
        ids = {key: key.partition(":")[2] for key in some}
        rows = store.get([here.facts.get(key, id) for key, id in ids.items()])
        texts = [id for key, id in ids.items() if key.startswith("memory:") and id in rows]
        read = _texts([rows[id] for id in texts], here.names, store)
        vectors = store.vectors([*texts, *(here.facts[key] for key in some if key in here.facts)])
        for key in some:
            change = _change(key, ids[key], state, here, rows, read, vectors)
            if change is not None:
                yield change, state.records[key].stamp


def _change(
    key: str,
    id: str,
    state: State,
    here: Holdings,
    rows: Mapping[str, Memory],
    texts: Mapping[str, Text],
    vectors: Mapping[str, Vectors],
) -> Change | None:
    """A record as it is sent; None if it was changed or erased meanwhile, which the next sync sees."""
    if state.records[key].stamp.gone:
        return Gone(key)
    if key.startswith("memory:"):
        text = texts.get(id)
        return text and Text(text.memory, text.links, text.entities, text.names, _sent(vectors.get(id)))
    if key.startswith("mark:"):
        return mark_of(rows[id]) if id in rows else None
    row = rows.get(here.facts[key])
    slot = here.slots[key]
    claim = next((held for held in claims_in([row] if row else []) if claim_key(slot, held) == key), None)
    if row is None or claim is None:
        return None
    told = StatedClaim(slot, claim)
    return StatedClaim(slot, claim, _sent(vectors.get(row.id))) if told.sentence == row.text else told


def _texts(memories: Sequence[Memory], names: Mapping[str, Names], reader: Reader) -> dict[str, Text]:
    ids = [memory.id for memory in memories]
    links: dict[str, list[Link]] = {id: [] for id in ids}
    for link in reader.links(ids):
        if link.source in links and link.relation not in OWN_LINKS:
            links[link.source].append(link)
    entities = {
        entity.id: entity for entity in reader.entities_by_id([link.target for some in links.values() for link in some])
    }
    made: dict[str, Text] = {}
    for memory in memories:
        named = dict.fromkeys(entities[link.target] for link in links[memory.id] if link.target in entities)
        read = names.get(memory.id, ())
        made[memory.id] = Text(memory, tuple(links[memory.id]), tuple(named), read)
    return made


def _sent(vectors: Vectors | None) -> Vectors:
    """The vectors that are sent: none if one was made with the text of another memory, which may be forgotten."""
    return vectors if vectors is not None and set(vectors) == {TEXT} else {}
