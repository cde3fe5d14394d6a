"""The contracts of recall: what a stage, a signal and a factor are, and what flows between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from memorist.asking import Asker
from memorist.model import Candidate, Found, Hit, Query, Reasoned, RecallRequest, Touched
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
