"""The values that pass between the engine and a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Literal

from memorist.model import Entity, Link, Memory, NoiseText, Showing, Usage
from memorist.results.records import Entry, Job

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

TextField = Literal["text", "original"]
Vectors = Mapping[str, "Vector"]
"""A memory's vectors by view name; the view `text` is the memory alone."""


class Embedded(dict[str, "Vector"]):
    """A memory's vectors by view name, with their embedding generation; a store refuses those of another one."""

    __slots__ = ("generation",)

    def __init__(self, generation: str, views: Vectors) -> None:
        super().__init__(views)
        self.generation = generation


@dataclass(frozen=True, slots=True)
class Batch:
    """A set of changes that is written completely or not at all.

    `memories` are put: a known id with another text or a later version becomes a new version. `revised` memories
    are kept exactly as given and replace those of the same id, except for their usage. `vectors` are by memory id,
    then by view. `rewards` are added to a memory's history; `usage` replaces it. `erased` names memories and
    entities; the names of an erased entity are removed before `entities` are added. A job replaces an earlier job
    of the same task and subject; `done` names finished jobs by task and subject. A journal entry replaces an
    earlier one with its id, and is removed when any memory that it is about is erased.
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
class Damage:
    """A problem of a store's file, in words.

    `of_words` are memories that are searched by other words than those of their text; to write them again repairs it.
    """

    problem: str
    of_words: bool = False

    def __str__(self) -> str:
        return self.problem


@dataclass(frozen=True, slots=True)
class Tally:
    """How many memories a filter admits, by each label, most first, and by the day on which they became known."""

    memories: int
    kinds: Mapping[str, int]
    tiers: Mapping[str, int]
    scopes: Mapping[str, int]
    classifications: Mapping[int, int]
    days: Mapping[date, int]


@dataclass(frozen=True, slots=True)
class Held:
    """How much was written up to a content counter: memories in every form, and the bytes of their texts."""

    generation: int
    memories: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory as a store holds it, with its vectors and pending jobs."""

    memory: Memory
    vectors: Vectors = field(default_factory=dict[str, "Vector"])
    jobs: tuple[Job, ...] = ()


Record = Kept | Entity | Link | Job | Entry | Showing | NoiseText
"""One record of a store."""


SCRUB = "scrub"
"""The task of removing the bytes of erased data from the files, where that could not be done at once."""
