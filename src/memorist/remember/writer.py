"""The writer: the one way in for every text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from memorist.model import DENIES, STATES, Entity, Fact, Kind, Memory
from memorist.ports import Batch, Entry, Job, Reader, Store, Vectors
from memorist.remember.entities import Find, about, names
from memorist.remember.extract import Statement, mentions, statements
from memorist.remember.fact_rows import Slot, claims_in, sentence, slot_of
from memorist.remember.fact_updates import Claims, FactChange, settle
from memorist.remember.forgetting import (
    bound,
    emptied,
    jobs_without,
    read_alone,
    reread,
    unlearn,
    unnamed,
    without_basis,
)
from memorist.remember.gates import Checked, Gates
from memorist.remember.timeline import Claim

MOST_FACTS = 20
"""Facts taken from one text; a whole book would state hundreds."""


TOLD = (Kind.EPISODIC, Kind.SEMANTIC)
"""Kinds of memory whose text states facts: turns, and pieces of documents."""
Later = Callable[[Sequence[Memory]], Sequence[Job]]
"""What is left to do about new memories."""


class Embedding(Protocol):
    """Gives texts and memories their vectors."""

    def vectors(self, memories: Sequence[Memory]) -> dict[str, Vectors]:
        """Vectors of the memories that need them, and of kept turns that come to stand after one, by id."""
        ...

    def of_texts(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Vectors of texts, by text."""
        ...


class Writer:
    """Writes memories and facts to one store; every write is whole or not at all."""

    def __init__(
        self,
        store: Store,
        embedding: Embedding | None,
        *,
        facts: bool = True,
        find: Find = names,
        later: Later = lambda memories: (),
        gates: Gates | None = None,
    ) -> None:
        self._store = store
        self._embedding = embedding
        self._facts = facts
        self._find = find
        self._later = later
        self._gates = gates

    def keep(self, memories: Sequence[Memory]) -> list[Memory]:
        """Keep texts as the gates leave them, the dates they name and the facts they state.

        Returns what answers for each of them; what is known already is left as it is.
        """
        checked = Checked.unseen(memories) if self._gates is None else self._gates.check(memories, self._store)
        if checked.refusal is not None:
            self._store.put(Batch(journal=checked.entries))
            checked.require()
        return self._kept(checked)

    def keep_back(self, memory: Memory) -> Memory:
        """Keep a memory past the gates, because what they decided was undone."""
        return self._kept(Checked.unseen([memory]))[0]

    def _kept(self, checked: Checked) -> list[Memory]:
        known = self._store.get([*checked.known, *(one.id for one in checked.memories)])
        new = [_dated(one) for one in checked.memories if one.id not in known or known[one.id].text != one.text]
        if new or checked.entries:
            known |= {one.id: one for one in self._write(new, checked)}
        return checked.answers(known)

    def _write(self, memories: Sequence[Memory], checked: Checked) -> list[Memory]:
        vectors = self._embedding.vectors(memories) if self._embedding else {}
        claims = {one.id: self._claims(one) for one in memories}
        fresh = self._fresh([pair for found in claims.values() for pair in found])
        named, links = about(memories, self._store.alike, self._find)
        turns = Batch(memories, vectors, links, named, jobs=self._later(memories), journal=checked.entries)

        def plan(reader: Reader) -> Batch:
            known = reader.get([one.id for one in memories])  # another process may have been faster
            new = [one for one in memories if one.id not in known or known[one.id].text != one.text]
            past = {one.id: known[one.id].archived(one).id for one in new if one.id in known}
            stated = _by_slot([pair for one in new for pair in claims[one.id]])
            slots = {**dict.fromkeys(_slots(_facts(past, reader)), ()), **stated}
            batch = settle(slots, reader, fresh, lambda claim: _moved(claim, past)).batch(reader, turns)
            return _with_followers(batch, reader)

        return self._store.update(plan, turns)

    def add(self, memory: Memory, found: Sequence[Statement], named: Sequence[Entity] = ()) -> None:
        """Keep what a model read out of a memory that is there; where the rules read another value, theirs stays."""
        claims = self._claimed(memory, found)
        fresh = self._fresh(claims)

        def plan(reader: Reader) -> Batch:
            if memory.id not in reader.get([memory.id]):
                return Batch()  # forgotten meanwhile
            batch = settle(_by_slot(_unopposed(claims, reader)), reader, fresh).batch(reader)
            return replace(batch, entities=[*named, *batch.entities])

        self._store.update(plan)

    def relate(self, slot: Slot, claim: Claim) -> Memory:
        """Keep one claim; returns the fact that now rests on it."""
        slot = replace(slot, subject=self._canonical([slot.subject])[slot.subject])
        fresh = self._fresh([(slot, claim)])
        self._store.update(lambda reader: settle({slot: [claim]}, reader, fresh).batch(reader))
        resting = [
            row for row in self._store.keyed([slot.key]) if row.scope == slot.scope and claim in claims_in([row])
        ]
        return min(resting, key=lambda row: row.times.retracted_at is not None)

    def bound(self, ids: Sequence[str]) -> set[str]:
        """What `erase` would take with these memories, facts aside."""
        return set(bound(ids, self._store))

    def erase(self, ids: Sequence[str], held: Sequence[Entry] = ()) -> list[str]:
        """Erase memories and what only they support: facts, lessons, names, jobs; returns the ids that went.

        `held` are entries of the journal whose texts, which were never kept, go too.
        """
        gone: dict[str, Memory] = {}

        def plan(reader: Reader) -> Batch:
            gone.clear()
            gone.update(bound(ids, reader))
            change = self._without(set(gone), reader)
            gone.update(reader.get(change.erased))
            return _erasure(gone, change.batch(reader), [emptied(entry) for entry in held], reader)

        self._store.update(plan)
        unlearn(self._store, [one.text for one in gone.values()])
        return sorted({*gone, *(entry.subjects[0] for entry in held)})

    def _without(self, erased: set[str], reader: Reader) -> FactChange:
        facts = _facts(erased, reader)
        slots = dict.fromkeys(_slots(facts), ())
        dropped = set(claims_in(row for row in facts if row.id in erased))
        for slot in slots:
            claims = claims_in(row for row in reader.keyed([slot.key]) if row.scope == slot.scope)
            dropped |= without_basis(claims, {one for one in claims if one in dropped or one.source in erased})
        return settle(slots, reader, amend=lambda claim: None if claim in dropped else claim)

    def _claims(self, memory: Memory) -> list[tuple[Slot, Claim]]:
        if not self._facts or memory.kind not in TOLD:
            return []
        return self._claimed(memory, statements(memory.text, speaker=memory.origin.speaker, at=memory.times.valid_from))

    def _claimed(self, memory: Memory, found: Sequence[Statement]) -> list[tuple[Slot, Claim]]:
        names = self._canonical([one.fact.subject for one in found]) if found else {}
        named = [(one, names[one.fact.subject]) for one in found[:MOST_FACTS]]
        return [_claim(memory, one, subject, order) for order, (one, subject) in enumerate(named)]

    def _canonical(self, names: Sequence[str]) -> dict[str, str]:
        """Each name as its entity is called."""
        known = {name.casefold(): entity.name for entity in self._store.entities(names) for name in entity.aliases}
        return {name: known.get(name.casefold(), name) for name in names}

    def _fresh(self, claims: Sequence[tuple[Slot, Claim]]) -> dict[str, Vectors]:
        texts = [claim.text or sentence(Fact(slot.subject, slot.relation, claim.value)) for slot, claim in claims]
        return self._embedding.of_texts(texts) if self._embedding and texts else {}


def _claim(memory: Memory, statement: Statement, subject: str, order: int) -> tuple[Slot, Claim]:
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
    )
    return slot_of(fact, memory.scope), claim


def _dated(memory: Memory) -> Memory:
    return replace(memory, mentions=mentions(memory.text, memory.times.valid_from))


def _moved(claim: Claim, past: Mapping[str, str]) -> Claim:
    """A claim whose source has a new text rests on the version that said it."""
    return replace(claim, source=past.get(claim.source or "", claim.source))


def _with_followers(batch: Batch, reader: Reader) -> Batch:
    """Turns that are kept and have new vectors, because another stands before them now, are written too."""
    written = {one.id for one in (*batch.memories, *batch.revised)}
    kept = reader.get([id for id in batch.vectors if id not in written])
    gone = batch.vectors.keys() - written - kept.keys()
    vectors = {id: views for id, views in batch.vectors.items() if id not in gone}
    return replace(batch, vectors=vectors, revised=[*batch.revised, *kept.values()])


def _erasure(gone: Mapping[str, Memory], batch: Batch, entries: Sequence[Entry], reader: Reader) -> Batch:
    """A batch that settles facts, with all else that erasing memories takes."""
    nobody, fewer = unnamed(gone, batch.links, reader)
    jobs, done = jobs_without(gone, reader)
    after, vectors = read_alone(gone, reader)
    changed = {one.id: one for one in (*after, *reread(gone, reader))}
    return replace(
        batch,
        erased=[*gone, *nobody],
        entities=[*(one for one in batch.entities if one.id not in nobody), *fewer],
        revised=[*batch.revised, *changed.values()],
        vectors={**batch.vectors, **vectors},
        jobs=jobs,
        done=done,
        journal=entries,
    )


def _facts(ids: Collection[str], reader: Reader) -> list[Memory]:
    """The facts among these memories, and those that they state or deny."""
    links = reader.links(sorted(ids)) if ids else []
    told = [link.target for link in links if link.relation in (STATES, DENIES)]
    return [row for row in reader.get([*told, *ids]).values() if row.fact is not None]


def _slots(facts: Sequence[Memory]) -> list[Slot]:
    return [slot_of(row.fact, row.scope) for row in facts if row.fact is not None]


def _unopposed(claims: Sequence[tuple[Slot, Claim]], reader: Reader) -> list[tuple[Slot, Claim]]:
    """Those whose slot the same source has not filled with something else."""
    rows = reader.keyed([slot.key for slot, _ in claims])
    said = {(row.scope, row.origin.key, claim.source): claim.same for row in rows for claim in claims_in([row])}
    return [
        (slot, claim)
        for slot, claim in claims
        if said.get((slot.scope, slot.key, claim.source), claim.same) == claim.same
    ]


def _by_slot(pairs: Sequence[tuple[Slot, Claim]]) -> Claims:
    slots = defaultdict[Slot, list[Claim]](list)
    for slot, claim in pairs:
        slots[slot].append(claim)
    return slots
