"""The writer: the one way in for every text. Check, gates, known?, embed, extract, settle, write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar, cast

from memorist.errors import Error, failures_of, no_memory
from memorist.model import Entity, Kind, Memory, Outcome, Remembered, new_or_changed
from memorist.models.embedding_text import TurnsAround, alone, number_turns, text_without_speaker
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import Batch, Entry, Job, Kept, Reader, Record, Store, Vectors
from memorist.remember.entities import Find, about, names
from memorist.remember.extract import Statement, entities, mentions, statements
from memorist.remember.fact_rows import Slot, claims_in, earlier, settle_claims, slot_of
from memorist.remember.fact_updates import (
    FACT_KINDS,
    NewVersions,
    by_slot,
    claims_of,
    says_the_same,
    settle,
    unopposed_claims,
)
from memorist.remember.gates import BY_GATES, CONTENT, EDITS, IN_ORDER, Checked, Gate, Gates
from memorist.remember.gates.checks import instructions, size
from memorist.remember.incoming import Incoming, with_followers, without
from memorist.remember.record import is_unchanged
from memorist.remember.rereading import is_as_read, until_current
from memorist.remember.timeline import Claim, fold_value
from memorist.text.chatter import is_filler
from memorist.text.facts import sentence

T = TypeVar("T", bound=Record)
R = TypeVar("R")
NEW = (Outcome.KEPT, Outcome.MERGED)
"""The outcomes of texts that were written."""
FollowUpJobs = Callable[[Sequence[Memory]], Sequence[Job]]
"""The jobs that new memories make, such as having a language model read them."""


@dataclass(frozen=True, slots=True)
class Written:
    """The answer for each memory given, the ids of those that were new or changed, and whether they make jobs."""

    memories: list[Remembered]
    new: frozenset[str]
    has_jobs: bool = False


@dataclass(slots=True)
class _Decided:
    """What a write found in the store: which memories are new there, and which another process had written."""

    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    written: dict[str, Memory] = field(default_factory=dict[str, Memory])
    """The new memories as the store keeps them."""
    known: dict[str, str] = field(default_factory=dict[str, str])
    """The id that answers for each memory that another process was faster to write, by its own id."""
    has_jobs: bool = False


class Writer:
    """Writes memories and facts to one store; every write happens as a whole or not at all. Thread-safe."""

    def __init__(
        self,
        store: Store,
        embedder: StoreEmbedder | None,
        gates: Gates,
        *,
        extract: bool = True,
        tags: bool = False,
        find: Find = names,
        follow_up_jobs: FollowUpJobs = lambda memories: (),
    ) -> None:
        self._store = store
        self.embedder = embedder
        self._extract = extract
        """Whether facts, names, dates and tags are read from texts."""
        self._tags = tags and extract
        self._find = find
        self._follow_up_jobs = follow_up_jobs
        self._gates = gates
        self._lenient_gates = gates.never_refusing()

    def check(self, memories: Sequence[Memory]) -> Checked:
        """Pass texts through the gates; raises if one is refused."""
        return self._checked(memories, IN_ORDER)

    def keep(self, memories: Sequence[Memory], checked: Checked | None = None) -> Written:
        """Keep texts as the gates leave them, with the dates they name and the facts they state.

        What is known already is left as it is. Texts that were checked before are not checked again.
        """
        passed = self.check(memories) if checked is None else checked
        return self.retry_if_reembedded(lambda: self._kept(passed, gated=True))

    def edit(self, id: str, change: Callable[[Memory], Memory]) -> Remembered:
        """Keep the next version of a memory, as the gates leave it; nothing is written if nothing changes.

        It follows the memory as the store has it when it is written: one that is forgotten meanwhile stays forgotten.
        """
        return self.retry_if_reembedded(lambda: self._edited(id, change))

    def _edited(self, id: str, change: Callable[[Memory], Memory]) -> Remembered:
        before = self._store.get([id]).get(id)
        if before is None:
            raise no_memory(id)
        after = change(before)
        if after.text != before.text:
            flags = tuple(flag for flag in after.worth.flags if flag not in BY_GATES)
            after = replace(after, worth=replace(after.worth, flags=flags))
        checked = self._checked([after], EDITS)
        if checked.memories and is_unchanged(before, checked.memories[0]):
            return Remembered.of(before, Outcome.KNOWN)
        return self._kept(checked, read=[before]).memories[0]

    def restore(self, memory: Memory, before: Entry, after: Entry) -> Memory:
        """Keep a memory without the gates, because the entry that withheld it is undone, which replaces that entry."""
        return self._kept(Checked.ungated(memory, after), undone=[before]).memories[0]

    def relate(self, slot: Slot, claim: Claim, *, once: bool = False) -> Remembered:
        """Keep one claim; returns the fact that now rests on it, and whether the claim was new.

        With `once`, a claim of the same source that differs only in when it became known is the same claim.
        """
        slot = replace(slot, subject=self._canonical([slot.subject])[slot.subject])
        checked = self._checked(settle_claims(slot, [claim])[:1], CONTENT)
        slot, claim = _as_checked(claim, checked.memories[0])
        outcome = Outcome.KEPT

        def write() -> None:
            fresh, with_tags = self._fact_vectors([(slot, claim)]), self._tagging(Batch(), [(slot, claim)])

            def plan(reader: Reader) -> Batch:
                nonlocal claim, outcome
                known = claims_in(filter(slot.holds, reader.by_key([slot.key])))
                if once:
                    claim = earlier(claim, known)
                outcome = Outcome.KNOWN if claim in known else Outcome.KEPT
                entries = () if claim in known else checked.entries
                return with_tags(replace(settle({slot: [claim]}, reader, fresh).batch(reader), journal=entries))

            self._store.update(plan)

        self.retry_if_reembedded(write)
        resting = [row for row in filter(slot.holds, self._store.by_key([slot.key])) if claim in claims_in([row])]
        there = sorted(resting, key=lambda row: row.times.retracted_at is not None)
        fact = there[0] if there else checked.memories[0]  # forgotten since
        return Remembered.of(fact, outcome, checked.answers[0].decisions)

    def add_facts(self, memory: Memory, found: Sequence[Statement], named: Sequence[Entity] = ()) -> None:
        """Keep the facts that a model read in a stored memory; where the rules read another value, theirs stays."""
        claims = [self._clean(*pair) for pair in self._claims_of(memory, found)]

        def write() -> None:
            fresh, with_tags = self._fact_vectors(claims), self._tagging(Batch(), claims)

            def plan(reader: Reader) -> Batch:
                if not is_as_read(memory, reader):
                    return Batch()  # forgotten or changed meanwhile
                batch = settle(by_slot(unopposed_claims(claims, reader)), reader, fresh).batch(reader)
                return with_tags(replace(batch, entities=[*named, *batch.entities]))

            self._store.update(plan)

        self.retry_if_reembedded(write)

    def retry_if_reembedded(self, write: Callable[[], R]) -> R:
        """Embed and write; if the store is re-embedded, or what was read is changed in between, do both again."""
        embedder = self.embedder
        return until_current(write if embedder is None else lambda: embedder.retry_if_reembedded(write))

    def prepare(self, memories: Sequence[Memory], *, derived: bool = False, embed: bool = True) -> Incoming:
        """Memories ready for a caller's own write: steps, lessons and notes, which are never repeats of others.

        They pass the gates on content; no facts are read in them. `derived` ones were made from stored texts: they
        are masked or marked where the policy is to refuse, because nobody is there to be told.
        """
        return self._prepared(self._checked(memories, CONTENT, derived=derived), embed=embed)

    def derived_record(self, record: T) -> T:
        """A record that was made from stored texts, as the gates leave it."""
        return cast("T", self._lenient_gates.record(record))

    def derived_text(self, text: str) -> str:
        """A text that was made from stored texts, as the gates leave it."""
        return self._lenient_gates.text(text)

    def admission(self) -> Callable[[Sequence[Record]], list[Record]]:
        """Passes the records of another store through the gates, batch by batch; adds their decisions."""
        return partial(self._admitted, {})

    def _admitted(self, secrets: dict[str, str], records: Sequence[Record]) -> list[Record]:
        clean = [self._gates.record(record, secrets) for record in records]
        checked = self._checked([row.memory for row in clean if isinstance(row, Kept)], (size, instructions))
        marked = {memory.id: memory for memory in checked.memories}
        entries: list[Record] = list(checked.entries)
        for place, (given, record) in enumerate(zip(records, clean, strict=True)):
            if isinstance(given, Kept) and isinstance(record, Kept):
                if record.memory != given.memory:
                    entries.append(self._gates.masking(given.memory, record.memory))
                changed = record.memory.text != given.memory.text
                vectors = self._vectors_of(record.memory) if changed and given.vectors else given.vectors
                clean[place] = replace(record, memory=marked[record.memory.id], vectors=vectors)
        return [*clean, *entries]

    def text(self, text: str) -> str:
        """A text that is stored beside memories, such as a question or a session's id, as the gates leave it."""
        return self._gates.text(text)

    def _checked(self, memories: Sequence[Memory], gates: Sequence[Gate], *, derived: bool = False) -> Checked:
        chosen = self._lenient_gates if derived else self._gates
        checked = chosen.check(memories, self._store, gates)
        if checked.refusal is not None:
            self._store.put(Batch(journal=checked.entries))
            raise checked.refusal
        return checked

    def _prepared(self, checked: Checked, *, embed: bool = True) -> Incoming:
        known = checked.known
        asked = [memory.id for memory in checked.memories if memory.id not in known]
        known = {**{id: one for id, one in known.items() if one}, **(self._store.get(asked) if asked else {})}
        new = list(number_turns(new_or_changed(checked.memories, known), self._store))
        if self._extract:
            new = list(map(_dated, new))
        near = TurnsAround(new if self.embedder and embed else (), self._store)
        vectors = self.embedder.vectors(new, known, near) if self.embedder and embed and new else {}
        alike: list[Entity] = []

        def noted(names: Sequence[str]) -> list[Entity]:
            alike.extend(self._store.entities_by_prefix(names))
            return alike

        entities, links = about(new, noted, self._find) if self._extract and new else ([], [])
        names = [entity for entity in alike if entity.id in {link.target for link in links}]
        return Incoming(checked, tuple(new), vectors, entities, links, near.all, names)

    def _kept(
        self, checked: Checked, *, gated: bool = False, read: Sequence[Memory] = (), undone: Sequence[Entry] = ()
    ) -> Written:
        incoming = self._prepared(checked)
        incoming = replace(incoming, read=[*incoming.read, *read], undone=undone)
        done = self._write(incoming, gated=gated) if incoming.memories or incoming.entries else _Decided()
        ids = {answer.id: done.known.get(answer.id, answer.id) for answer in checked.answers}
        unread = [id for id in ids.values() if id not in done.written]
        there = {**done.written, **(self._store.get(unread) if unread else {})}
        answers: list[Remembered] = []
        for answer in checked.answers:
            id = ids[answer.id]
            if answer.withheld or id not in there:
                answers.append(Remembered.of(answer.memory, Outcome.WITHHELD, answer.decisions))
            else:
                outcome = done.outcomes.pop(id, Outcome.KNOWN)  # the next one with this id repeats it
                answers.append(Remembered.of(there[id], outcome, answer.decisions))
        if self._tags and (known := [reply for reply in answers if reply.outcome is Outcome.KNOWN]):
            from memorist.remember.tags import tag_known

            tag_known(known, self._store, self.embedder, self._find)
        return Written(answers, frozenset(answer.id for answer in answers if answer.outcome in NEW), done.has_jobs)

    def _write(self, incoming: Incoming, *, gated: bool) -> _Decided:
        memories, done = incoming.memories, _Decided()
        before = self._store.get([memory.id for memory in memories if memory.version > 1])
        read = [
            memory for memory in memories if memory.id not in before or not says_the_same(before[memory.id], memory)
        ]
        stated = self._stated(read)
        claimed = [pair for found in stated.values() for pair in found]
        texts = replace(incoming.batch(), jobs=self._follow_up_jobs(read))
        done.has_jobs = bool(texts.jobs)
        fresh, with_tags = self._fact_vectors(claimed), self._tagging(texts, claimed)

        def plan(reader: Reader) -> Batch:
            incoming.check(reader)
            known = reader.get([memory.id for memory in memories])  # another process may have been faster
            new = new_or_changed(memories, known)
            batch = texts
            if gated:
                again = self._gates.check_again(new, reader)
                done.known = {answer.memory.id: answer.id for answer in again.answers if answer.id != answer.memory.id}
                new, batch = list(again.memories), without(texts, done.known.keys(), again.entries)
            done.outcomes = {memory.id: Outcome.MERGED if memory.id in known else Outcome.KEPT for memory in new}
            versions = NewVersions(new, known, reader)
            claims = by_slot([pair for memory in new for pair in stated.get(memory.id, ())])
            change = settle(versions.slots(claims), reader, fresh, versions.amend)
            batch = change.batch(reader, versions.batch(batch, reader))
            return with_tags(with_followers(batch, reader))

        written = self._store.update(plan, with_tags(texts))
        done.written = {memory.id: memory for memory in written if done.outcomes.get(memory.id) is Outcome.KEPT}
        self._learn_noise([memory for memory in memories if not stated.get(memory.id)])
        return done

    def _learn_noise(self, memories: Sequence[Memory]) -> None:
        """Add to the noise bank what was said without content: no fact, no name, no date, and only stop words."""
        unflagged = [
            memory
            for memory in memories
            if memory.kind is Kind.EPISODIC and not memory.mentions and not memory.worth.flags
        ]
        empty = [said for memory in unflagged if is_filler(said := text_without_speaker(memory)) and not entities(said)]
        if empty and self.embedder:
            from memorist.models.noise_bank import learn_noise

            with suppress(Error), failures_of("The embedder"):  # the memories are written; the bank can wait
                learn_noise(self._store, self.embedder.making(self._store.embedding), empty)

    def _stated(self, memories: Sequence[Memory]) -> dict[str, list[tuple[Slot, Claim]]]:
        """The claims that the rules read in texts, by the id of the text."""
        found = {
            memory.id: statements(memory.text, speaker=memory.origin.speaker, at=memory.times.valid_from)
            for memory in memories
            if self._extract and memory.kind in FACT_KINDS
        }
        names = self._canonical([statement.fact.subject for some in found.values() for statement in some])
        return {memory.id: claims_of(memory, found.get(memory.id, ()), names, "rules") for memory in memories}

    def _claims_of(self, memory: Memory, found: Sequence[Statement]) -> list[tuple[Slot, Claim]]:
        return claims_of(memory, found, self._canonical([statement.fact.subject for statement in found]), "model")

    def _clean(self, slot: Slot, claim: Claim) -> tuple[Slot, Claim]:
        """A claim that a model read, as the gates leave it."""
        row = settle_claims(slot, [claim])[0]
        clean = self.derived_record(Kept(row)).memory
        return (slot, claim) if clean is row else _as_checked(claim, clean)

    def _canonical(self, names: Sequence[str]) -> dict[str, str]:
        """The name that each entity goes by, for each of its names; a name of its own is nobody else's alias."""
        entities = self._store.entities(names) if names else []
        known = defaultdict[str, set[str]](set)
        for entity in entities:
            for alias in entity.aliases:
                known[fold_value(alias)].add(entity.name)
        for entity in entities:
            known[fold_value(entity.name)] = set()
        called = {name: known.get(fold_value(name), ()) for name in names}
        return {name: next(iter(one)) if len(one) == 1 else name for name, one in called.items()}

    def _fact_vectors(self, claims: Sequence[tuple[Slot, Claim]]) -> dict[str, Vectors]:
        texts = [claim.text or sentence(slot.subject, slot.relation, claim.value) for slot, claim in claims]
        return self.embedder.of_texts(texts) if self.embedder and texts else {}

    def _tagging(self, texts: Batch, claims: Sequence[tuple[Slot, Claim]]) -> Callable[[Batch], Batch]:
        """Adds the tags of new memories and facts to their batch, if a recipe follows tags."""
        if not self._tags:
            return lambda batch: batch
        from memorist.remember.tags import names_in, tags_of, with_tags

        facts = (settle_claims(slot, [claim])[0] for slot, claim in claims)
        rows = tags_of([*texts.memories, *facts], names_in(texts.entities, texts.links)).rows.values()
        return partial(with_tags, vectors=self.embedder.vectors(list(rows)) if self.embedder else {})

    def _vectors_of(self, memory: Memory) -> Vectors:
        text = alone(memory)
        return self.embedder.of_texts([text])[text] if self.embedder else {}


def _dated(memory: Memory) -> Memory:
    """A memory with the dates that its text mentions."""
    found = mentions(memory.text, memory.times.valid_from)
    return memory if found == memory.mentions else replace(memory, mentions=found)


def _as_checked(claim: Claim, row: Memory) -> tuple[Slot, Claim]:
    """A claim, and the slot it fills, as the gates left the fact that it makes."""
    fact, worth = row.fact, row.worth
    assert fact is not None
    text = None if claim.text is None else row.text
    claim = replace(claim, value=fact.object, source=row.origin.source, text=text, trust=worth.trust, flags=worth.flags)
    return slot_of(fact, row.scope, worth.classification), claim
