"""Facts read by a language model, in the background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any

from memorist.asking import Askers
from memorist.asking.facts import BATCH, Extracted, NamedAnswer, StatementAnswer, facts
from memorist.asking.query import Source
from memorist.model import Entity, Fact, Memory, fingerprint
from memorist.ports import Batch, Clock, Entry, Job, Store
from memorist.remember.entities import entity_named
from memorist.remember.extract import Statement
from memorist.remember.fact_updates import FACT_KINDS
from memorist.remember.jobs import FACTS_TASK
from memorist.remember.rereading import is_as_read
from memorist.remember.writer import Writer
from memorist.text.words import fold

STEP = "facts"


class FactReader:
    """Has a language model read facts in new memories, a few at a time; recall never waits for it."""

    def __init__(self, store: Store, clock: Clock, askers: Askers) -> None:
        self._store = store
        self._clock = clock
        self._askers = askers

    def follow_up_jobs(self, memories: Sequence[Memory]) -> list[Job]:
        """The jobs that have new memories read; none without a model."""
        if self._askers.models.of(STEP) is None:
            return []
        ids = [memory.id for memory in memories if memory.kind in FACT_KINDS]
        groups = [ids[start : start + BATCH] for start in range(0, len(ids), BATCH)]
        return [Job(FACTS_TASK, " ".join(group), self._clock.now()) for group in groups]

    def work(self, job: Job, writer: Writer) -> None:
        """Have the memories of a job read, and keep the facts that they state."""
        memories = list(self._store.get(job.subject.split()).values())
        known = {memory.id: self._known(memory) for memory in memories}
        unread = [memory for memory in memories if known[memory.id] is None]
        known |= dict(zip([row.id for row in unread], self._read(unread, writer), strict=True))
        for memory in memories:
            read = known[memory.id] or Extracted()
            found = [_statement(statement) for statement in read.statements]
            writer.add_facts(
                memory, found, [writer.derived_record(_entity(entity, memory)) for entity in read.entities]
            )

    def _read(self, memories: Sequence[Memory], writer: Writer) -> list[Extracted]:
        asker = self._askers.for_extraction()
        if asker is None or not memories:
            return [Extracted()] * len(memories)
        sources = [
            Source(number, one.text, one.times.valid_from, one.origin.speaker) for number, one in enumerate(memories, 1)
        ]
        read = facts(asker, sources)
        parts = [
            Extracted(
                _named_in(source.text, read),
                tuple(statement for statement in read.statements if statement.number == source.number),
            )
            for source in sources
        ]
        entries = {
            one.id: writer.derived_record(self._entry(one, part)) for one, part in zip(memories, parts, strict=True)
        }
        self._store.update(
            lambda reader: Batch(journal=[entries[memory.id] for memory in memories if is_as_read(memory, reader)])
        )
        return parts

    def _known(self, memory: Memory) -> Extracted | None:
        """The answer that the same model gave about the same words before."""
        entries = self._store.journal(FACTS_TASK, self._content(memory), limit=1)
        return _from_data(entries[0].data) if entries else None

    def _entry(self, memory: Memory, read: Extracted) -> Entry:
        content = self._content(memory)
        id = fingerprint(FACTS_TASK, content, memory.id)
        return Entry(id, self._clock.now(), FACTS_TASK, (content, memory.id), _to_data(read))

    def _content(self, memory: Memory) -> str:
        model = self._askers.models.of(STEP)
        said = (memory.text, memory.origin.speaker, memory.times.valid_from.date().isoformat())
        return fingerprint(FACTS_TASK, model and model.name, *said)


def _named_in(text: str, read: Extracted) -> tuple[NamedAnswer, ...]:
    """The entities that a text names, each with the names that occur in the text: they are forgotten with it."""
    said = fold(text)
    there = [(entity, tuple(alias for alias in entity.aliases if fold(alias) in said)) for entity in read.entities]
    return tuple(replace(one, aliases=aliases) for one, aliases in there if aliases or fold(one.name) in said)


def _statement(answer: StatementAnswer) -> Statement:
    return Statement(
        Fact(answer.subject, answer.relation, answer.object),
        answer.quote,
        negated=answer.negated,
        since=_start(answer.since),
        until=_start(answer.until),
        confidence=answer.confidence,
    )


def _entity(named: NamedAnswer, memory: Memory) -> Entity:
    entity = entity_named(named.name, memory.worth.classification)
    return replace(entity, kind=named.kind or None, aliases=named.aliases)


def _start(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def _to_data(read: Extracted) -> dict[str, Any]:
    return {
        "entities": [[entity.name, entity.kind, list(entity.aliases)] for entity in read.entities],
        "statements": [
            {
                "fact": [statement.subject, statement.relation, statement.object],
                "quote": statement.quote,
                "negated": statement.negated,
                "since": statement.since and statement.since.isoformat(),
                "until": statement.until and statement.until.isoformat(),
                "confidence": statement.confidence,
            }
            for statement in read.statements
        ],
    }


def _from_data(data: Mapping[str, Any]) -> Extracted:
    entities = [NamedAnswer(name, kind, tuple(aliases)) for name, kind, aliases in data["entities"]]
    return Extracted(tuple(entities), tuple(map(_answer, data["statements"])))


def _answer(data: Mapping[str, Any]) -> StatementAnswer:
    subject, relation, object = data["fact"]
    return StatementAnswer(
        number=1,
        subject=subject,
        relation=relation,
        object=object,
        quote=data["quote"],
        negated=data["negated"],
        since=_day(data["since"]),
        until=_day(data["until"]),
        confidence=data["confidence"],
    )


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
