"""Facts read by a language model, in the background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any

from memorist.asking import Askers
from memorist.asking.facts import BATCH, Extracted, NamedAnswer, facts
from memorist.asking.facts import StatementAnswer as Told
from memorist.asking.query import Source
from memorist.model import Entity, Fact, Memory, fingerprint
from memorist.ports import Batch, Clock, Entry, Job, Store
from memorist.remember.entities import entity_named
from memorist.remember.extract import Statement
from memorist.remember.forgetting import READ as TASK
from memorist.remember.writer import TOLD, Writer
from memorist.text.words import fold

STEP = "facts"


class FactReader:
    """Has a model read new memories, a few at a time; recall never waits for it."""

    def __init__(self, store: Store, clock: Clock, askers: Askers) -> None:
        self._store = store
        self._clock = clock
        self._askers = askers

    def later(self, memories: Sequence[Memory]) -> list[Job]:
        """The jobs that new memories make; none without a model."""
        if self._askers.models.of(STEP) is None:
            return []
        ids = [one.id for one in memories if one.kind in TOLD]
        groups = [ids[start : start + BATCH] for start in range(0, len(ids), BATCH)]
        return [Job(TASK, " ".join(group), self._clock.now()) for group in groups]

    def work(self, job: Job, keeper: Writer) -> None:
        """Have the memories of a job read, and keep what they state."""
        memories = list(self._store.get(job.subject.split()).values())
        known = {one.id: self._known(one) for one in memories}
        unread = [one for one in memories if known[one.id] is None]
        known |= dict(zip([one.id for one in unread], self._read(unread), strict=True))
        for memory in memories:
            read = known[memory.id] or Extracted()
            found = [_statement(one) for one in read.statements]
            keeper.add(memory, found, [_entity(one) for one in read.entities])

    def _read(self, memories: Sequence[Memory]) -> list[Extracted]:
        asker = self._askers.for_extraction()
        if asker is None or not memories:
            return [Extracted()] * len(memories)
        sources = [
            Source(number, one.text, one.times.valid_from, one.origin.speaker) for number, one in enumerate(memories, 1)
        ]
        read = facts(asker, sources)
        parts = [
            Extracted(
                _named_in(source.text, read), tuple(one for one in read.statements if one.number == source.number)
            )
            for source in sources
        ]
        entries = {one.id: self._entry(one, part) for one, part in zip(memories, parts, strict=True)}
        self._store.update(lambda reader: Batch(journal=[entries[id] for id in reader.get(list(entries))]))
        return parts

    def _known(self, memory: Memory) -> Extracted | None:
        """What the same model read out of the same words before."""
        entries = self._store.journal(TASK, self._content(memory), limit=1)
        return _from_data(entries[0].data) if entries else None

    def _entry(self, memory: Memory, read: Extracted) -> Entry:
        content = self._content(memory)
        id = fingerprint(TASK, content, memory.id)
        return Entry(id, self._clock.now(), TASK, (content, memory.id), _to_data(read))

    def _content(self, memory: Memory) -> str:
        model = self._askers.models.of(STEP)
        said = (memory.text, memory.origin.speaker, memory.times.valid_from.date().isoformat())
        return fingerprint(TASK, model and model.name, *said)


def _named_in(text: str, read: Extracted) -> tuple[NamedAnswer, ...]:
    """The entities that a text names, with those of their names that are in it: what it tells goes with it."""
    said = fold(text)
    there = [(one, tuple(alias for alias in one.aliases if fold(alias) in said)) for one in read.entities]
    return tuple(replace(one, aliases=aliases) for one, aliases in there if aliases or fold(one.name) in said)


def _statement(told: Told) -> Statement:
    return Statement(
        Fact(told.subject, told.relation, told.object),
        told.quote,
        negated=told.negated,
        since=_start(told.since),
        until=_start(told.until),
        confidence=told.confidence,
    )


def _entity(named: NamedAnswer) -> Entity:
    return replace(entity_named(named.name), kind=named.kind or None, aliases=named.aliases)


def _start(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def _to_data(read: Extracted) -> dict[str, Any]:
    return {
        "entities": [[one.name, one.kind, list(one.aliases)] for one in read.entities],
        "statements": [
            {
                "fact": [one.subject, one.relation, one.object],
                "quote": one.quote,
                "negated": one.negated,
                "since": one.since and one.since.isoformat(),
                "until": one.until and one.until.isoformat(),
                "confidence": one.confidence,
            }
            for one in read.statements
        ],
    }


def _from_data(data: Mapping[str, Any]) -> Extracted:
    entities = [NamedAnswer(name, kind, tuple(aliases)) for name, kind, aliases in data["entities"]]
    return Extracted(tuple(entities), tuple(map(_told, data["statements"])))


def _told(data: Mapping[str, Any]) -> Told:
    subject, relation, object = data["fact"]
    return Told(
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
