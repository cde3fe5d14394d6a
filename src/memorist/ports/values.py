"""What passes between the engine and a store: values without behaviour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from memorist.model import Entity, Link, Memory, Noise, Showing, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

Progress = Callable[[int], None]
TextField = Literal["text", "original"]
Vectors = Mapping[str, "Vector"]
"""A memory's vectors by view name; one view, `text`, is the memory alone."""


class Embedded(dict[str, "Vector"]):
    """A memory's vectors by view name, and the embedding generation that made them: a store takes no other's."""

    __slots__ = ("generation",)

    def __init__(self, generation: str, views: Vectors) -> None:
        super().__init__(views)
        self.generation = generation


@dataclass(frozen=True, slots=True)
class Job:
    """Something left to do, kept until it is done: when it is due, how often it was tried, how that failed."""

    task: str
    subject: str
    due: datetime
    attempts: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the journal: what was decided or changed, about which memories, and what undoing it takes."""

    id: str
    at: datetime
    verb: str
    subjects: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Batch:
    """What is written together or not at all.

    `memories` are put: a known id with another text becomes a new version. `revised` are kept exactly as given, in
    place of any of the same id, whose usage goes on. Vectors go by memory id, then by view. `rewards` are added to a
    memory's history, `usage` replaces it. `erased` names memories, and entities, whose names go before `entities` are
    added. A job takes the place of that task for that subject; `done` names both. A
    journal entry takes the place of one with its id, and goes when any memory it is about is erased.
    """

    memories: Sequence[Memory] = ()
    vectors: Mapping[str, Vectors] = field(default_factory=dict[str, Vectors])
    links: Sequence[Link] = ()
    entities: Sequence[Entity] = ()
    revised: Sequence[Memory] = ()
    erased: Sequence[str] = ()
    unlinked: Sequence[Link] = ()
    rewards: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    usage: Mapping[str, Usage] = field(default_factory=dict[str, Usage])
    jobs: Sequence[Job] = ()
    done: Sequence[tuple[str, str]] = ()
    journal: Sequence[Entry] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a listing, oldest first; `cursor` continues it, None ends it."""

    items: tuple[Memory, ...]
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class StoreStats:
    """How much a store holds."""

    space: str
    memories: int
    versions: int
    links: int
    entities: int
    bytes: int
    generation: int
    embedding: str | None
    kinds: Mapping[str, int]
    scopes: Mapping[str, int]
    dimension: int | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory as a store holds it, with its vectors and what is left to do about it."""

    memory: Memory
    vectors: Vectors = field(default_factory=dict[str, "Vector"])
    jobs: tuple[Job, ...] = ()


Record = Kept | Entity | Link | Job | Entry | Showing | Noise
"""One thing a store holds."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was erased, and when; `pending` while a reader elsewhere still holds the file as it was."""

    forgotten: tuple[str, ...]
    at: datetime
    pending: bool = False
