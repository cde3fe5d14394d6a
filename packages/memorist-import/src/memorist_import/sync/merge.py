"""Writing what arrived: texts through the gates, then what was forgotten, then facts settled from all claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from memorist.errors import Error
from memorist.model import (
    AGENT_TRUST,
    INSTRUCTIONS,
    Entity,
    Memory,
    Tier,
    classification_of_name,
)
from memorist.ports import Batch, Embedded, Entry, Kept, Reader, Record, Store, Vectors
from memorist.remember.entities import entity_named
from memorist.remember.fact_rows import Slot, settle_claims
from memorist.remember.fact_updates import FactChange, facts_stated_by, settle, slots_of
from memorist.remember.forgetting import unmentioned_entities
from memorist.remember.timeline import Claim
from memorist_import.sync.choice import RemoteState
from memorist_import.sync.folder import UNUSABLE, ChangeFile, SharedFolder, Unreadable
from memorist_import.sync.holdings import BATCH, Holdings
from memorist_import.sync.records import (
    Change,
    Mark,
    StatedClaim,
    Text,
    claim_key,
    is_settled,
    is_unmarked,
    place_of,
    text_key,
)
from memorist_import.sync.state import Shared
from memorist_import.sync.texts import TextBatch

T = TypeVar("T")
Admit = Callable[[Sequence[Record]], Sequence[Record]]
"""Passes records through the gates; what they decide comes after them."""
Erase = Callable[[Sequence[str]], object]
"""Forgets memories with everything that rests on them."""


@dataclass(frozen=True, slots=True)
class MergeServices:
    """What a merge needs to write."""

    store: Store
    admit: Admit
    erase: Erase
    can_embed: Callable[[str], bool]
    """Whether the store may adopt vectors of an embedding generation."""
    now: datetime
    trust: int
    """The most that a text of another replica is trusted."""


@dataclass(slots=True)
class Merge:
    """Writes the winning states of records; `refused` counts those that the gates or the limits keep out."""

    services: MergeServices
    shared: Shared
    here: Holdings
    refused: int = 0
    reborn: set[str] = field(default_factory=set[str])
    """The ids of texts that were forgotten elsewhere, and then told again."""
    reached: set[str] = field(default_factory=set[str])
    """The keys of records that could be read again; a file may be gone by now."""
    altered: set[str] = field(default_factory=set[str])
    """The keys of records that need not be held as they came: the gates or the limits may have changed them."""
    moved: dict[str, str] = field(default_factory=dict[str, str])
    """Texts that lost against another edit: the id of each, and that of the past version that it became."""

    def write(self, folder: SharedFolder, winners: Mapping[str, RemoteState], reborn: Sequence[str]) -> None:
        """Write all of them; what was `reborn` was forgotten elsewhere, and then told again."""
        self.reborn = {key.partition(":")[2] for key in reborn if key.startswith("memory:")}
        self._erase(sorted(self.reborn))
        told: list[StatedClaim] = []
        marks: list[Mark] = []
        for batch in _batches(folder, (remote for remote in winners.values() if not remote.stamp.gone)):
            self.reached.update(change.key for change in batch)
            self._texts([change for change in batch if isinstance(change, Text)])
            told += self._claims([change for change in batch if isinstance(change, StatedClaim)])
            marks += [change for change in batch if isinstance(change, Mark) and self._passes(change)]
        gone = [key for key, remote in winners.items() if remote.stamp.gone]
        self.reached.update(gone)
        self._erase([key.partition(":")[2] for key in gone if key.startswith("memory:")])
        self._settle(told, {key for key in gone if key in self.here.slots})
        rows = self.services.store.get([key.partition(":")[2] for key in gone if key.startswith("mark:")])
        self._mark([*marks, *(is_unmarked(row) for row in rows.values() if is_settled(row))])

    def _passes(self, change: Text | StatedClaim | Mark) -> bool:
        passes = self.shared.holds(*place_of(change))
        if not passes:
            self._refuse(change.key)
        return passes

    def _refuse(self, key: str) -> None:
        self.refused += 1
        self.altered.add(key)

    # Texts

    def _texts(self, texts: Sequence[Text]) -> None:
        self._each([text for text in texts if self._passes(text)], self._write_texts, lambda text: [text.key])

    def _each(self, given: Sequence[T], write: Callable[[Sequence[T]], None], keys: Callable[[T], list[str]]) -> None:
        """Write all at once; if that fails because some cannot be used, all but those."""
        if not given:
            return
        try:
            write(given)
        except UNUSABLE:
            if len(given) > 1:
                for item in given:
                    self._each([item], write, keys)
                return
            for key in keys(given[0]):
                self._refuse(key)

    def _write_texts(self, texts: Sequence[Text]) -> None:
        clean, entries = self._admitted(texts)
        made: list[TextBatch] = []
        lost = set[str]()

        def plan(reader: Reader) -> Batch:
            made[:] = [TextBatch(reader, self.shared)]  # the store may run it again
            lost.clear()
            lost.update(self._forgotten([id for text in clean for id in _ids(text.memory)], reader))
            for text in clean:
                if lost.isdisjoint(_ids(text.memory)):
                    made[0].add(text, self.services.now)
            return made[0].batch(entries)

        self.services.store.update(plan)
        self.moved |= made[0].moved
        same = {before.key for before, after in zip(texts, clean, strict=True) if before.digest == after.digest}
        self.altered |= {text.key for text in clean if lost.isdisjoint(_ids(text.memory))} - same
        self.altered |= made[0].unlinking
        for key in made[0].refused:
            self._refuse(key)

    def _forgotten(self, ids: Iterable[str], reader: Reader) -> set[str]:
        """Those that were held when the sync began and are not any more: the next sync tells the others."""
        held = [id for id in ids if text_key(id) in self.here.records and id not in self.reborn]
        return set(held) - reader.get(held).keys()

    def _admitted(self, texts: Sequence[Text]) -> tuple[list[Text], list[Entry]]:
        """Texts as the gates leave them, and what the gates decided."""
        records: list[Record] = []
        for text in texts:
            worth = replace(text.memory.worth, trust=min(text.memory.worth.trust, self.services.trust))
            vectors = self._usable(text.vectors)
            records += [Kept(replace(text.memory, worth=worth), vectors), *text.entities]
        passed = list(self.services.admit(records))
        rest = iter(passed)
        clean: list[Text] = []
        for text in texts:
            kept = next(rest)
            assert isinstance(kept, Kept)
            entities = [record for record in (next(rest) for _ in text.entities) if isinstance(record, Entity)]
            named = tuple(entity for entity in entities if _is_named_so(entity, kept.memory))
            clean.append(replace(text, memory=_unpinned(kept.memory), entities=named, vectors=kept.vectors))
        return clean, [entry for entry in rest if isinstance(entry, Entry)]

    def _usable(self, vectors: Vectors) -> Vectors:
        """Vectors that may be compared with those of the store; others are made anew from the text."""
        if not isinstance(vectors, Embedded) or not vectors:
            return {}
        import numpy as np

        store, dimension = self.services.store, self.here.stats.dimension
        sizes = {vector.size for vector in vectors.values()}
        known = store.embedding
        if known is None and len(sizes) == 1 and self.services.can_embed(vectors.generation):
            store.adopt(vectors.generation, *sizes)
            known, dimension = vectors.generation, next(iter(sizes))
        fits = known == vectors.generation and (dimension is None or sizes == {dimension})
        return vectors if fits and all(np.isfinite(vector).all() for vector in vectors.values()) else {}

    # Forgetting

    def _erase(self, ids: Sequence[str]) -> None:
        known = self.services.store.get(ids)
        found = [id for id, memory in known.items() if self.shared.admits(memory) and not is_settled(memory)]
        if found:
            self.services.erase(found)

    # Facts

    def _claims(self, told: Sequence[StatedClaim]) -> list[StatedClaim]:
        """The claims that the gates leave as they are; another would be another claim."""
        passing = [stated for stated in told if self._passes(stated)]
        self.altered |= {stated.key for stated in told}  # another version may put it into another slot
        kept: list[StatedClaim] = []
        for stated in passing:
            try:
                row = Kept(settle_claims(stated.slot, [stated.claim])[0])
                fits = next(iter(self.services.admit([row]))) == row
            except UNUSABLE:
                fits = False
            if fits:
                kept.append(replace(stated, vectors=self._usable(stated.vectors)))
            else:
                self._refuse(stated.key)
        return kept

    def _settle(self, told: Sequence[StatedClaim], dropped: set[str]) -> None:
        added: dict[Slot, list[StatedClaim]] = {}
        for stated in told:
            added.setdefault(stated.slot, []).append(stated)
        others = [self.here.slots[key] for key in dropped]
        if self.moved:
            others += slots_of(facts_stated_by(list(self.moved), self.services.store))
        together = _together([*added, *others])
        some = [
            (
                min(together[place], key=lambda slot: slot.subject),
                [stated for slot in dict.fromkeys(together[place]) for stated in added.get(slot, ())],
            )
            for place in together
        ]

        def write(part: Sequence[tuple[Slot, Sequence[StatedClaim]]]) -> None:
            self.services.store.update(lambda reader: self._settled(dict(part), dropped, reader))

        for start in range(0, len(some), BATCH):
            self._each(some[start : start + BATCH], write, lambda pair: [stated.key for stated in pair[1]])

    def _settled(self, added: Mapping[Slot, Sequence[StatedClaim]], dropped: set[str], reader: Reader) -> Batch:
        change = FactChange()
        sources = {stated.claim.source for some in added.values() for stated in some if stated.claim.source is not None}
        lost = self._forgotten(sources, reader)
        for slot, some in added.items():
            told = [stated for stated in some if stated.claim.source not in lost]
            fresh = {stated.sentence: stated.vectors for stated in told if stated.vectors}
            claims = {stated.claim for stated in told}

            def amend(claim: Claim, slot: Slot = slot, claims: set[Claim] = claims) -> Claim | None:
                if claim_key(slot, claim) in dropped:
                    return None
                past = None if claim in claims else self.moved.get(claim.source or "")
                return claim if past is None else replace(claim, source=past)

            settled = settle({slot: [stated.claim for stated in told]}, reader, fresh, amend)
            change.revised += settled.revised
            change.erased += settled.erased
            change.vectors |= settled.vectors
        batch = change.batch(reader)
        unmentioned, fewer = unmentioned_entities(change.erased, batch.links, reader)
        named = [entity for entity in batch.entities if entity.id not in unmentioned]
        return replace(batch, erased=[*change.erased, *unmentioned], entities=[*named, *fewer])

    def _mark(self, marks: Sequence[Mark]) -> None:
        self.altered |= {mark.key for mark in marks}  # their fact may not be there, or be untrusted here
        self._each(marks, self._write_marks, lambda mark: [mark.key])

    def _write_marks(self, marks: Sequence[Mark]) -> None:
        def plan(reader: Reader) -> Batch:
            rows = reader.get([mark.id for mark in marks])
            fitting = [
                (rows[mark.id], mark) for mark in marks if mark.id in rows and _fits(mark, rows[mark.id], self.shared)
            ]
            return Batch(revised=[_marked(row, mark) for row, mark in fitting])

        self.services.store.update(plan)


def _together(slots: Iterable[Slot]) -> dict[tuple[str, str, int], list[Slot]]:
    """Slots that differ only in the spelling of their subject, by what they share."""
    found: dict[tuple[str, str, int], list[Slot]] = {}
    for slot in slots:
        found.setdefault((slot.scope, slot.key, slot.classification), []).append(slot)
    return found


def _batches(folder: SharedFolder, incoming: Iterable[RemoteState]) -> Iterator[list[Change]]:
    """The changes, file by file, some at a time."""
    places: dict[ChangeFile, list[int]] = {}
    for remote in incoming:
        places.setdefault(remote.file, []).append(remote.offset)
    for file, offsets in places.items():
        try:
            batch: list[Change] = []
            for change, _ in folder.again(file, sorted(offsets)):
                batch.append(change)
                if len(batch) == BATCH:
                    yield batch
                    batch = []
            yield batch
        except (Unreadable, Error, *UNUSABLE):
            continue  # it was replaced or removed just now


def _ids(memory: Memory) -> list[str]:
    """The ids of a memory and, if it is a past version, of the present one."""
    return [memory.id] if memory.version_of is None else [memory.id, memory.version_of]


def _is_named_so(entity: Entity, memory: Memory) -> bool:
    """Whether an entity's id is that of its name, in the classification of the memory that mentions it."""
    own = memory.worth.classification
    return classification_of_name(entity.id) == own and entity_named(entity.name, own).id == entity.id


def _unpinned(memory: Memory) -> Memory:
    """A memory that is not pinned if nobody would be allowed to pin it unread."""
    unread = memory.worth.trust < AGENT_TRUST or INSTRUCTIONS in memory.worth.flags
    return replace(memory, tier=Tier.WORKING) if unread and memory.tier is Tier.PINNED else memory


def _fits(mark: Mark, row: Memory, shared: Shared) -> bool:
    """Whether marks are about this memory: a fact that is shared."""
    return is_settled(row) and shared.admits(row) and row.worth.classification == mark.classification


def _marked(row: Memory, mark: Mark) -> Memory:
    """A fact with the marks of another replica."""
    flags = dict.fromkeys((*mark.flags, *(flag for flag in row.worth.flags if flag == INSTRUCTIONS)))
    worth = replace(row.worth, relevance=mark.relevance, confidence=mark.confidence, flags=tuple(flags))
    times = row.times if row.version_of is not None else replace(row.times, retracted_at=mark.retracted_at)
    return _unpinned(replace(row, tier=mark.tier, worth=worth, times=times))
