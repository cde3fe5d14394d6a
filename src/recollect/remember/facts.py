"""Facts written directly: subject, relation, object."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TypedDict, Unpack

from recollect.errors import InvalidInput
from recollect.model import Fact, Kind, Memory, When, instant
from recollect.remember.record import checked_text, record

ONE_VALUED = frozenset(("lives_in", "works_at", "name", "age", "born_on", "born_in", "married_to", "current_project"))
"""Relations that have one value at a time: a new one supersedes the old."""


class FactFields(TypedDict, total=False):
    """The keywords of `relate`."""

    valid_from: When | None
    valid_to: When | None
    ingested_at: When | None
    source: str | None
    scope: str


def fact_memory(fact: Fact, text: str | None, now: datetime, **given: Unpack[FactFields]) -> Memory:
    """The memory of a fact. Its key makes the same fact the same memory, and a new value a new version."""
    parts = [checked_text(part) for part in (fact.subject, fact.relation, fact.object)]
    named = [*parts[:2]] if fact.relation in ONE_VALUED else parts
    memory = record(
        text if text is not None else sentence(fact),
        now,
        kind=Kind.SEMANTIC,
        key="/".join(["fact", *(part.casefold() for part in named)]),
        at=given.get("valid_from"),
        ingested_at=given.get("ingested_at"),
        source=given.get("source"),
        scope=given.get("scope", "global"),
    )
    valid_to = given.get("valid_to")
    end = None if valid_to is None else instant(valid_to)
    if end is not None and end <= memory.times.valid_from:
        raise InvalidInput("valid_to is not after valid_from", remedy="Give an end that lies after the beginning.")
    return replace(memory, fact=fact, times=replace(memory.times, valid_to=end))


def sentence(fact: Fact) -> str:
    """A fact in words: `Alice lives in Stockholm.`"""
    return f"{fact.subject} {fact.relation.replace('_', ' ')} {fact.object}."
