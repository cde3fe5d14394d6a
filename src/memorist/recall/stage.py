"""The contract of a stage: what flows between stages, and what a stage may ask of its environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from math import log2
from typing import ClassVar, Literal

from memorist.asking import Asker
from memorist.errors import StoreError
from memorist.model import Candidate, Found, Hit, Query, Reasoned, RecallRequest, Step, Touched
from memorist.ports import Embedder, Reranker, Store, View


@dataclass(frozen=True, slots=True)
class Env:
    """What one recall may use: the store as it stands, the models that are configured, threads.

    `packaged` is the reranker of this machine, there unless somebody chose one or none.
    """

    store: Store
    view: View
    pool: Executor
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    llm: Asker | None = None
    packaged: Reranker | None = None

    @property
    def reader(self) -> Reranker | None:
        """The reranker that is configured, else the packaged one."""
        return self.reranker or self.packaged

    def has(self, service: str) -> bool:
        """Whether an embedder, reranker, reader or llm is there."""
        return getattr(self, service) is not None


@dataclass(frozen=True, slots=True)
class Draft:
    """A recall in the making; each stage returns the next one.

    `found` tells "did not look" (absent, or skipped) from "found nothing" (no hits). `timings` holds the milliseconds
    of phases that are only a part of a stage.
    """

    request: RecallRequest
    query: Query
    found: Mapping[str, Found] = field(default_factory=dict[str, Found])
    candidates: tuple[Candidate, ...] = ()
    context: str = ""
    tokens: int = 0
    reasoned: Reasoned = Reasoned()
    touched: tuple[Touched, ...] = ()
    per_hop: tuple[int, ...] = ()
    abstained: bool = False
    confidence: float | None = None
    notes: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def count(self) -> int:
        """How many memories are in play: the candidates, or before fusion the distinct hits."""
        if self.candidates:
            return len(self.candidates)
        return len({hit.id for found in self.found.values() for hit in found.hits})

    def noting(self, note: str) -> Draft:
        """This draft with a remark for the trace."""
        return replace(self, notes=(*self.notes, note))


class Part(ABC):
    """Anything a recipe is made of: a frozen dataclass of plain parameters with a name.

    `needs` lists services without which a recipe cannot run; without an `optional` one the part is
    skipped, and the trace says so.
    """

    __slots__ = ()
    role: ClassVar[str]
    kind: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()

    def required(self) -> tuple[str, ...]:
        """The services without which a recipe with this part cannot run."""
        return self.needs


Effect = Literal["keeps", "removes", "adds"]


class Stage(Part):
    """One step of a recall. It states which scores it takes and which it gives.

    `effect` is what it may do to the set of candidates: keep it (scores and order may change), only remove
    from it (what stays is left as it was), or also add to it.
    """

    __slots__ = ()
    role = "stage"
    effect: ClassVar[Effect] = "keeps"

    @abstractmethod
    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft after this step."""


class Signal(Part):
    """One way of searching."""

    __slots__ = ()
    role = "signal"

    @abstractmethod
    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """At most `limit` hits, best first, all of them admitted by the request's filter."""


class Factor(Part):
    """A number that multiplies a candidate's score; 1 is neutral."""

    __slots__ = ()
    role = "factor"

    @abstractmethod
    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """The factor of one candidate."""


def missing(part: Part, env: Env) -> str | None:
    """Why a part cannot run here: the first service it wants that is not configured."""
    return next((service for service in (*part.needs, *part.optional) if not env.has(service)), None)


def ranked(candidates: list[Candidate]) -> tuple[Candidate, ...]:
    """Best first, ties by id."""
    return tuple(sorted(candidates, key=lambda one: (-one.score, one.memory.id)))


SMALLEST, LARGEST = 100, 100_000
"""Memories below and above which nothing changes: fitted from 100 to 10,000, continued unmeasured to 100,000."""
POOL_A_DOUBLING = 1 / 3
"""The part of the fixed pool that serves the smallest store, and that each doubling of the store adds."""
MINIMUM_A_DOUBLING = 0.05
"""How much of the fixed minimum each doubling of the store takes away."""


def pool_share(size: int) -> float:
    """The number to multiply a fixed pool by: (1 + log2(size / 100)) / 3."""
    return POOL_A_DOUBLING * (1 + _doublings(size))


def minimum_share(size: int) -> float:
    """The number to multiply a fixed minimum score by: 1 − 0.05 · log2(size / 100)."""
    return 1 - MINIMUM_A_DOUBLING * _doublings(size)


def _doublings(size: int) -> float:
    return log2(min(max(size, SMALLEST), LARGEST) / SMALLEST)


PHASES = {
    **dict.fromkeys(("content", "as_known", "dates", "expand", "mode", "tags", "entities", "embed"), "understand"),
    **dict.fromkeys(("search", "cascade"), "search"),
    **dict.fromkeys(("rrf", "weighted_sum", "first", "best"), "fuse"),
    "nodes": "hop_0",
    "hops": "multi_hop",
    "reason": "reasoning",
}
"""Stages by the phase they belong to; any other stage is a phase by its own name."""
INSIDE = {"refinement": "multi_hop"}
"""Phases that run inside another, whose time is theirs alone."""


def phase_timings(steps: Sequence[Step], inside: Mapping[str, float]) -> dict[str, float]:
    """Milliseconds per phase, in the order they ran; `inside` holds those of phases within a stage."""
    timings: dict[str, float] = {}
    for step in steps:
        if "." not in step.stage:  # a signal's time is part of its search
            phase = PHASES.get(step.stage, step.stage)
            timings[phase] = timings.get(phase, 0.0) + step.ms
    for phase, ms in inside.items():
        timings[phase] = timings.get(phase, 0.0) + ms
        timings[INSIDE[phase]] -= ms
    return timings


@dataclass(frozen=True, slots=True)
class Track(Stage):
    """Count a recall of every memory that contributed, and tell the session what it was shown.

    Those are every hit of the named `signals`; without names, the touched ones, else the answer's. `track=False` on
    the request turns it off.
    """

    kind = "track"
    signals: tuple[str, ...] = ()

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same draft; a store that cannot be written now costs the count, never the answer."""
        request = draft.request
        if not request.track:
            return draft
        shown = [one.memory.id for one in draft.candidates]
        hits = [hit.id for name in self.signals if name in draft.found for hit in draft.found[name].hits]
        used = hits if self.signals else [one.id for one in draft.touched] or shown
        try:
            if used:
                env.store.touch(list(dict.fromkeys(used)), request.now)
            if request.session is not None and shown:
                env.store.show(request.session, shown, request.now)
        except StoreError as error:
            return draft.noting(f"usage not counted: {error.problem}")
        return draft
