"""The prompts that extract facts from texts and write notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from memorist.asking.query import Source, must_cite
from memorist.asking.wording import TRUTH, clip, maybe, number, record, several, text, whole

if TYPE_CHECKING:
    from memorist.asking.asker import LLMAsker

BATCH = 8
"""How many texts are read per call."""
LONGEST_TEXT = 4000
_ENTITY = record(name=text(120), kind=text(40), aliases=several(text(120), 0, 8))
_STATEMENT = record(
    number=whole(1, 1_000_000),
    subject=text(120),
    relation=text(60),
    object=text(300),
    quote=text(600),
    negated=TRUTH,
    since=maybe(text(10)),
    until=maybe(text(10)),
    confidence=number(0, 1),
)
_SCHEMA = record(entities=several(_ENTITY, 0, 60), statements=several(_STATEMENT, 0, 80))


@dataclass(frozen=True, slots=True)
class NamedAnswer:
    """An entity that the texts mention, with its other names."""

    name: str
    kind: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementAnswer:
    """A triple that the text with this number states or denies; `quote` is a verbatim part of the text."""

    number: int
    subject: str
    relation: str
    object: str
    quote: str
    negated: bool = False
    since: date | None = None
    until: date | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Extracted:
    """The entities that the texts mention and the facts that they state."""

    entities: tuple[NamedAnswer, ...] = ()
    statements: tuple[StatementAnswer, ...] = ()


def facts(asker: LLMAsker, sources: Sequence[Source]) -> Extracted:
    """Entities and statements of the texts, eight texts per call. Statements without a verbatim quote are dropped."""
    read = [_batch(asker, sources[start : start + BATCH]) for start in range(0, len(sources), BATCH)]
    entities = [entity for part in read for entity in part.entities]
    return Extracted(_merged(entities), tuple(statement for part in read for statement in part.statements))


def _batch(asker: LLMAsker, sources: Sequence[Source]) -> Extracted:
    texts = {source.number: _plain(source.text) for source in sources}
    data = {"texts": [source.to_data(LONGEST_TEXT) for source in sources]}
    return asker.ask("facts", data, _SCHEMA, lambda answer: _extracted(answer, texts))


def _extracted(answer: dict[str, Any], texts: Mapping[int, str]) -> Extracted:
    entities = [_named(entity_data) for entity_data in answer["entities"]]
    statements = [_statement(statement_data) for statement_data in answer["statements"]]
    grounded = [
        statement
        for statement in statements
        if statement.quote and _plain(statement.quote) in texts.get(statement.number, "")
    ]
    return Extracted(
        tuple(entity for entity in entities if entity.name),
        tuple(reply for reply in grounded if reply.subject and reply.relation and reply.object),
    )


def _named(given: dict[str, Any]) -> NamedAnswer:
    name = given["name"].strip()
    aliases = dict.fromkeys(alias.strip() for alias in given["aliases"])
    return NamedAnswer(
        name, given["kind"].strip().casefold(), tuple(other for other in aliases if other and other != name)
    )


def _statement(given: dict[str, Any]) -> StatementAnswer:
    return StatementAnswer(
        number=given["number"],
        subject=given["subject"].strip(),
        relation="_".join(given["relation"].casefold().split()),
        object=given["object"].strip(),
        quote=given["quote"].strip(),
        negated=given["negated"],
        since=_date(given["since"]),
        until=_date(given["until"]),
        confidence=float(given["confidence"]),
    )


def _merged(entities: Sequence[NamedAnswer]) -> tuple[NamedAnswer, ...]:
    """Entities with the same name, ignoring case, merged into one with all aliases."""
    merged: dict[str, NamedAnswer] = {}
    for entity in entities:
        known = merged.setdefault(entity.name.casefold(), entity)
        aliases = dict.fromkeys((*known.aliases, *entity.aliases))
        merged[entity.name.casefold()] = NamedAnswer(known.name, known.kind, tuple(aliases))
    return tuple(merged.values())


def _date(given: str | None) -> date | None:
    try:
        return date.fromisoformat(given) if given else None
    except ValueError:
        return None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


MOST_TEXTS = 60


@dataclass(frozen=True, slots=True)
class Note:
    """A note in Markdown and the numbers of the texts that it cites."""

    text: str
    cites: tuple[int, ...]


def note(asker: LLMAsker, subject: str, sources: Sequence[Source]) -> Note:
    """A note on a subject, written from the first 60 texts. It cites their numbers and no others."""
    shown = sources[:MOST_TEXTS]
    data = {"subject": clip(subject, 200), "texts": [source.to_data() for source in shown]}
    numbers = {source.number for source in shown}

    def made(answer: Any) -> Note:
        written = answer["note"].strip()
        return Note(written, must_cite(written, numbers))

    return asker.ask("note", data, record(note=text(6000)), made)
