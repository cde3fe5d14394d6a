"""Writing what arrived: texts through the gates, then what was forgotten, then facts settled from all claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memorist.errors import Error, InvalidInput
from memorist.model import (
    AGENT_TRUST,
    INSTRUCTIONS,
    Entity,
    Link,
    Memory,
    Tier,
    Times,
    Usage,
    fingerprint,
    marked_classification,
)
from memorist.ports import Batch, Embedded, Entry, Kept, Reader, Record, Store, Vectors
from memorist.remember.entities import entity_named
from memorist.remember.fact_rows import Slot, settled
from memorist.remember.fact_updates import FactChange, facts_stated_by, settle, slots_of
from memorist.remember.forgetting import unmentioned_entities
from memorist.remember.jobs import FACTS_TASK
from memorist.remember.timeline import Claim
from memorist.upkeep.sync.choice import Incoming
from memorist.upkeep.sync.folder import ChangeFile, Folder, Unreadable
from memorist.upkeep.sync.holdings import BATCH, Holdings
from memorist.upkeep.sync.records import (
    OWN_LINKS,
    Change,
    Mark,
    Text,
    Told,
    claim_key,
    is_settled,
    place_of,
    unmarked,
)
from memorist.upkeep.sync.state import Shared

Admit = Callable[[Sequence[Record]], Sequence[Record]]
"""Passes records through the gates; what they decide comes after them."""
Erase = Callable[[Sequence[str]], object]
"""Forgets memories with everything that rests on them."""


@dataclass(frozen=True, slots=True)
class Means:
    """What writing takes."""

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

    means: Means
    shared: Shared
    here: Holdings
    refused: int = 0
    reached: set[str] = field(default_factory=set[str])
    """The keys of records that could be read again; a file may be gone by now."""
    altered: set[str] = field(default_factory=set[str])
    """The keys of records that need not be held as they came: the gates or the limits may have changed them."""
    moved: dict[str, str] = field(default_factory=dict[str, str])
    """Texts that lost against another edit: the id of each, and that of the past version that it became."""

    def write(self, folder: Folder, winners: Mapping[str, Incoming], reborn: Sequence[str]) -> None:
        """Write all of them; what was `reborn` was forgotten elsewhere, and then told again."""
        self._erase([key.partition(":")[2] for key in reborn if key.startswith("memory:")])
        told: list[Told] = []
        marks: list[Mark] = []
        for batch in _batches(folder, (one for one in winners.values() if not one.stamp.gone)):
            self.reached.update(one.key for one in batch)
            self._texts([one for one in batch if isinstance(one, Text)])
            told += self._claims([one for one in batch if isinstance(one, Told)])
            marks += [one for one in batch if isinstance(one, Mark) and self._passes(one)]
        gone = [key for key, one in winners.items() if one.stamp.gone]
        self.reached.update(gone)
        self._erase([key.partition(":")[2] for key in gone if key.startswith("memory:")])
        self._settle(told, {key for key in gone if key in self.here.slots})
        rows = self.means.store.get([key.partition(":")[2] for key in gone if key.startswith("mark:")])
        self._mark([*marks, *(unmarked(row) for row in rows.values() if is_settled(row))])

    def _passes(self, change: Text | Told | Mark) -> bool:
        passes = self.shared.holds(*place_of(change))
        if not passes:
            self._refuse(change.key)
        return passes

    def _refuse(self, key: str) -> None:
        self.refused += 1
        self.altered.add(key)

    # Texts

    def _texts(self, texts: Sequence[Text]) -> None:
        passing = [one for one in texts if self._passes(one)]
        if not passing:
            return
        try:
            self._write_texts(passing)
        except Error as error:
            if len(passing) == 1:
                if not isinstance(error, InvalidInput):
                    raise
                self._refuse(passing[0].key)
                return
            for one in passing:  # one of them is refused; the others are welcome
                self._texts([one])

    def _write_texts(self, texts: Sequence[Text]) -> None:
        clean, entries = self._admitted(texts)
        made: list[_TextBatch] = []

        def plan(reader: Reader) -> Batch:
            made[:] = [_TextBatch(reader, self.shared)]  # the store may run it again
            for text in clean:
                made[0].add(text, self.means.now)
            return made[0].batch(entries)

        self.means.store.update(plan)
        self.moved |= made[0].moved
        self.altered |= {one.key for one, after in zip(texts, clean, strict=True) if one.digest != after.digest}
        self.altered |= made[0].unlinking
        for key in made[0].refused:
            self._refuse(key)

    def _admitted(self, texts: Sequence[Text]) -> tuple[list[Text], list[Entry]]:
        """Texts as the gates leave them, and what the gates decided."""
        records: list[Record] = []
        for text in texts:
            worth = replace(text.memory.worth, trust=min(text.memory.worth.trust, self.means.trust))
            vectors = self._usable(text.vectors)
            records += [Kept(replace(text.memory, worth=worth), vectors), *text.entities]
        passed = list(self.means.admit(records))
        rest = iter(passed)
        clean: list[Text] = []
        for text in texts:
            kept = next(rest)
            assert isinstance(kept, Kept)
            entities = [one for one in (next(rest) for _ in text.entities) if isinstance(one, Entity)]
            named = tuple(one for one in entities if _is_named_so(one, kept.memory))
            clean.append(replace(text, memory=_unpinned(kept.memory), entities=named, vectors=kept.vectors))
        return clean, [one for one in rest if isinstance(one, Entry)]

    def _usable(self, vectors: Vectors) -> Vectors:
        """Vectors that may be compared with those of the store; others are made anew from the text."""
        if not isinstance(vectors, Embedded) or not vectors:
            return {}
        import numpy as np

        store, dimension = self.means.store, self.here.stats.dimension
        sizes = {one.size for one in vectors.values()}
        known = store.embedding
        if known is None and len(sizes) == 1 and self.means.can_embed(vectors.generation):
            store.adopt(vectors.generation, *sizes)
            known, dimension = vectors.generation, next(iter(sizes))
        fits = known == vectors.generation and (dimension is None or sizes == {dimension})
        return vectors if fits and all(np.isfinite(one).all() for one in vectors.values()) else {}

    # Forgetting

    def _erase(self, ids: Sequence[str]) -> None:
        known = self.means.store.get(ids)
        found = [id for id, one in known.items() if self.shared.admits(one) and not is_settled(one)]
        if found:
            self.means.erase(found)

    # Facts

    def _claims(self, told: Sequence[Told]) -> list[Told]:
        """The claims that the gates leave as they are; another would be another claim."""
        passing = [one for one in told if self._passes(one)]
        self.altered |= {one.key for one in told}  # another version may put it into another slot
        kept: list[Told] = []
        for one in passing:
            row = Kept(settled(one.slot, [one.claim])[0])
            try:
                (clean, *_) = self.means.admit([row])
            except InvalidInput:
                clean = None
            if clean == row:
                kept.append(replace(one, vectors=self._usable(one.vectors)))
            else:
                self._refuse(one.key)
        return kept

    def _settle(self, told: Sequence[Told], dropped: set[str]) -> None:
        added: dict[Slot, list[Told]] = {}
        for one in told:
            added.setdefault(one.slot, []).append(one)
        others = [self.here.slots[key] for key in dropped]
        if self.moved:
            others += slots_of(facts_stated_by(list(self.moved), self.means.store))
        together = _together([*added, *others])
        places = list(together)
        for start in range(0, len(places), BATCH):
            some = {
                min(together[place], key=lambda slot: slot.subject): [
                    one for slot in dict.fromkeys(together[place]) for one in added.get(slot, ())
                ]
                for place in places[start : start + BATCH]
            }
            self.means.store.update(lambda reader, some=some: self._settled(some, dropped, reader))

    def _settled(self, added: Mapping[Slot, Sequence[Told]], dropped: set[str], reader: Reader) -> Batch:
        change = FactChange()
        for slot, told in added.items():
            fresh = {one.sentence: one.vectors for one in told if one.vectors}
            claims = {one.claim for one in told}

            def amend(claim: Claim, slot: Slot = slot, claims: set[Claim] = claims) -> Claim | None:
                if claim_key(slot, claim) in dropped:
                    return None
                past = None if claim in claims else self.moved.get(claim.source or "")
                return claim if past is None else replace(claim, source=past)

            one = settle({slot: [one.claim for one in told]}, reader, fresh, amend)
            change.revised += one.revised
            change.erased += one.erased
            change.vectors |= one.vectors
        batch = change.batch(reader)
        unmentioned, fewer = unmentioned_entities(change.erased, batch.links, reader)
        named = [one for one in batch.entities if one.id not in unmentioned]
        return replace(batch, erased=[*change.erased, *unmentioned], entities=[*named, *fewer])

    def _mark(self, marks: Sequence[Mark]) -> None:
        def plan(reader: Reader) -> Batch:
            rows = reader.get([mark.id for mark in marks])
            fitting = [(rows[one.id], one) for one in marks if one.id in rows and _fits(one, rows[one.id], self.shared)]
            return Batch(revised=[_marked(row, one) for row, one in fitting])

        if marks:
            self.means.store.update(plan)
            self.altered |= {mark.key for mark in marks}  # their fact may not be there, or be untrusted here


def _together(slots: Iterable[Slot]) -> dict[tuple[str, str, int], list[Slot]]:
    """Slots that differ only in the spelling of their subject, by what they share."""
    found: dict[tuple[str, str, int], list[Slot]] = {}
    for slot in slots:
        found.setdefault((slot.scope, slot.key, slot.classification), []).append(slot)
    return found


def _batches(folder: Folder, incoming: Iterable[Incoming]) -> Iterator[list[Change]]:
    """The changes, file by file, some at a time."""
    places: dict[ChangeFile, list[int]] = {}
    for one in incoming:
        places.setdefault(one.file, []).append(one.offset)
    for file, offsets in places.items():
        try:
            batch: list[Change] = []
            for change, _ in folder.again(file, sorted(offsets)):
                batch.append(change)
                if len(batch) == BATCH:
                    yield batch
                    batch = []
            yield batch
        except (Unreadable, ValueError, KeyError, TypeError):
            continue  # it was replaced or removed just now


class _TextBatch:
    """One write of texts."""

    def __init__(self, reader: Reader, shared: Shared) -> None:
        self._reader = reader
        self._shared = shared
        self._revised: dict[str, Memory] = {}
        self._vectors: dict[str, Vectors] = {}
        self._links: list[Link] = []
        self._unlinked: list[Link] = []
        self._entities: dict[str, Entity] = {}
        self._journal: list[Entry] = []
        self.moved: dict[str, str] = {}
        self.refused: list[str] = []
        self.unlinking: set[str] = set()
        """The keys of texts that lost links to memories which are not shared."""

    def add(self, text: Text, now: datetime) -> None:
        """Add a text, unless it would touch a memory that is not shared."""
        memory, reader = text.memory, self._reader
        ends = [memory.id, memory.version_of or memory.id, *(link.target for link in text.links)]
        known = reader.get(ends)
        own = [known[id] for id in ends[:2] if id in known]
        if any(not self._shared.admits(one) or is_settled(one) for one in own):
            self.refused.append(text.key)
            return
        old = known.get(memory.id)
        if old is not None:
            self._replace(old, text)
        self._revised[memory.id] = replace(memory, usage=Usage() if old is None else old.usage)
        if text.vectors:
            self._vectors[memory.id] = text.vectors
        links = [link for link in text.links if link.target not in known or self._shared.admits(known[link.target])]
        self._links += links
        if len(links) < len(text.links):
            self.unlinking.add(text.key)
        for entity in text.entities:
            there = self._entities.get(entity.id) or next(iter(reader.named([entity.id])), None)
            self._entities[entity.id] = entity if there is None else _also_called(there, entity)
        if text.names:
            read = {"entities": [[name, kind or None, list(more)] for name, kind, *more in text.names]}
            data = {**read, "statements": []}
            self._journal.append(Entry(fingerprint(FACTS_TASK, "sync", memory.id), now, FACTS_TASK, (memory.id,), data))

    def _replace(self, old: Memory, text: Text) -> None:
        """Take back what follows from the old text; keep it as a past version if it is in nobody's history."""
        links = [link for link in self._reader.links([old.id]) if link.source == old.id]
        wanted = {(link.relation, link.target) for link in text.links}
        differs = old.text != text.memory.text
        lost = (link for link in links if (link.relation, link.target) not in wanted)
        self._unlinked += [link for link in lost if link.relation not in OWN_LINKS]
        if not differs or self._is_past(old):
            return
        current = old.version_of or old.id
        past = old.archived(text.memory) if old.version_of is None else old
        past = replace(past, id=fingerprint("version", current, old.version, old.text))
        self.moved[old.id] = past.id
        if past.id in self._revised or self._reader.get([past.id]):
            return  # another replica has kept it already
        self._revised[past.id] = past
        if views := self._reader.vectors([old.id]).get(old.id):
            self._vectors[past.id] = views
        self._links += [replace(link, source=past.id) for link in links if link.relation not in OWN_LINKS]

    def _is_past(self, old: Memory) -> bool:
        """Whether a version with this text is among the past ones already, as after an ordinary edit."""
        if old.version_of is not None:
            return False
        id = old.archived(old).id
        past = self._revised.get(id) or self._reader.get([id]).get(id)
        return past is not None and past.text == old.text

    def batch(self, entries: Sequence[Entry]) -> Batch:
        """The batch; decisions of the gates only about what it writes."""
        return Batch(
            revised=list(self._revised.values()),
            vectors=self._vectors,
            links=self._links,
            unlinked=self._unlinked,
            entities=list(self._entities.values()),
            journal=[*self._journal, *(one for one in entries if self._revised.keys() & set(one.subjects))],
        )


def _is_named_so(entity: Entity, memory: Memory) -> bool:
    """Whether an entity's id is that of its name, in the classification of the memory that mentions it."""
    own = memory.worth.classification
    return marked_classification(entity.id) == own and entity_named(entity.name, own).id == entity.id


def _also_called(known: Entity, other: Entity) -> Entity:
    """A known entity with the aliases and the kind that another replica knows; it stays spelt as it is."""
    more = (name for name in other.aliases if name.casefold() != known.name.casefold())
    return Entity(known.id, known.name, known.kind or other.kind, tuple(dict.fromkeys((*known.aliases, *more))))


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
    times: Times = row.times
    if row.version_of is None:
        times = replace(times, retracted_at=mark.retracted_at)
    return _unpinned(replace(row, tier=mark.tier, worth=worth, times=times))
