"""What `explain` and `why_not` return, and the names that memories mention."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from memorist.model import Doc


@dataclass(frozen=True, slots=True)
class Explanation:
    """A number, its meaning, and the numbers it was computed from."""

    description: str
    value: float | None = None
    details: tuple[Explanation, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self, depth: int = 0) -> list[str]:
        value = "" if self.value is None else f"{self.value:.6g}  "
        own = f"{'  ' * depth}{value}{self.description}"
        return [own, *(line for detail in self.details for line in detail._lines(depth + 1))]


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a memory is not in an answer; `stage` is None if it is in the answer."""

    id: str
    stage: str | None
    reason: str
    score: float | None = None
    enough: float | None = None

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class EntitySummary:
    """A name that memories mention."""

    name: str
    kind: Annotated[str | None, Doc("What it is, such as person or place, if that is known.")]
    aliases: tuple[str, ...]
    memories: Annotated[int, Doc("How many memories mention it.")]
    facts: Annotated[int, Doc("How many facts are about it.")]
    last: Annotated[datetime, Doc("When it was last mentioned.")]


@dataclass(frozen=True, slots=True)
class Support:
    """A memory or fact that an edge rests on."""

    id: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Edge:
    """How two names are related."""

    source: str
    relation: Annotated[str, Doc("The relation of a fact, or mentioned_with.")]
    target: str
    hops: Annotated[int, Doc("How far from the entity it was reached.")]
    count: Annotated[int, Doc("How many facts and memories it rests on.")]
    support: Annotated[tuple[Support, ...], Doc("The newest of them.")]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A name that was reached."""

    name: str
    kind: str | None
    hops: int


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What is related to an entity, nearest first; `known` is False if no memory mentions it."""

    entity: str
    known: bool
    entities: tuple[Neighbour, ...] = ()
    edges: tuple[Edge, ...] = ()
    more: Annotated[bool, Doc("Whether there are more edges than the limit.")] = False
