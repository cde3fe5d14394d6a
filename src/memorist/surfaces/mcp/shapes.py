"""What the tools take and give, as schemas."""

from __future__ import annotations

from typing import Any, Literal, cast

from pydantic import BaseModel

from memorist.model import Fact, Memory, isoformat
from memorist.recall.assemble import shortened

NULL = {"type": "null"}


def slim(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without titles, without null where an argument may be left out, and without null defaults."""
    return cast("dict[str, Any]", _slim(schema))


def _slim(node: object, *, names: bool = False) -> object:
    if isinstance(node, list):
        return [_slim(one) for one in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    given = cast("dict[str, object]", node)
    if names:  # a mapping from the names of properties: one may be called title
        return {name: _slim(one) for name, one in given.items()}
    kept = {
        word: _slim(value, names=word in ("properties", "$defs"))
        for word, value in given.items()
        if word != "title" and not (word == "default" and value is None)
    }
    return _without_null(kept)


def _without_null(schema: dict[str, object]) -> dict[str, object]:
    options = cast("list[object]", schema.get("anyOf", []))
    real = [one for one in options if one != NULL]
    if len(real) == 1 and len(options) == 2 and isinstance(real[0], dict):
        rest = {word: value for word, value in schema.items() if word != "anyOf"}
        return {**cast("dict[str, object]", real[0]), **rest}
    return schema


Trust = Literal["untrusted", "peer", "self", "owner"]
TRUST: tuple[Trust, ...] = ("untrusted", "peer", "self", "owner")
"""Whose word a memory is, by the number that the store keeps."""
LONGEST = 1200
"""Characters of a text that a recall shows; the resource of a memory has all of it."""


class Triple(BaseModel):
    """A fact's parts."""

    subject: str
    relation: str
    object: str


class Told(BaseModel):
    """A memory, with whose word it is and where it comes from."""

    id: str
    text: str
    at: str
    until: str | None = None
    kind: str
    trust: Trust
    source: str | None = None
    speaker: str | None = None
    topic: str | None = None
    flags: list[str] | None = None
    fact: Triple | None = None


class Version(Told):
    """A memory as it was known for a while."""

    version: int
    known_from: str
    known_until: str | None = None


class Kept(BaseModel):
    """What was kept; the text only if it is not the one that was given."""

    id: str
    version: int
    at: str
    kind: str
    text: str | None = None
    flags: list[str] | None = None


class Recalled(BaseModel):
    """What was found, the best first."""

    notice: str
    memories: list[Told]
    abstained: bool
    held_back: int


class Versions(BaseModel):
    """Everything that was ever known, the newest knowledge first."""

    notice: str
    versions: list[Version]


class Judged(BaseModel):
    """A memory after a verdict."""

    id: str
    verdict: str
    relevance: float


class Forgotten(BaseModel):
    """What was erased."""

    forgotten: list[str]
    at: str


class Status(BaseModel):
    """How much the space holds."""

    space: str
    memories: int
    versions: int
    entities: int
    kinds: dict[str, int]
    max_classification: int
    may_write: bool


def told(memory: Memory, *, longest: int | None = LONGEST) -> Told:
    """A memory as a tool tells it."""
    end = memory.times.valid_to
    return Told(
        id=memory.id,
        text=memory.text if longest is None or len(memory.text) <= longest else shortened(memory.text, longest),
        at=isoformat(memory.times.valid_from),
        until=end and isoformat(end),
        kind=str(memory.kind),
        trust=TRUST[memory.worth.trust],
        source=memory.origin.source,
        speaker=memory.origin.speaker,
        topic=memory.topic,
        flags=list(memory.worth.flags) or None,
        fact=_triple(memory.fact),
    )


def version(memory: Memory) -> Version:
    """A version with the time it was known."""
    times = memory.times
    return Version(
        **told(memory, longest=None).model_dump(),
        version=memory.version,
        known_from=isoformat(times.ingested_at),
        known_until=times.expired_at and isoformat(times.expired_at),
    )


def kept(memory: Memory, given: str | None) -> Kept:
    """What became of a text that was to be kept."""
    return Kept(
        id=memory.id,
        version=memory.version,
        at=isoformat(memory.times.valid_from),
        kind=str(memory.kind),
        text=None if memory.text == given else memory.text,
        flags=list(memory.worth.flags) or None,
    )


def plain(shape: BaseModel) -> dict[str, Any]:
    """Its JSON form, without what it does not have."""
    return shape.model_dump(mode="json", exclude_none=True)


def _triple(fact: Fact | None) -> Triple | None:
    return fact and Triple(subject=fact.subject, relation=fact.relation, object=fact.object)
