"""The contract of a stage: the draft that flows between stages, their environment, and a few shared helpers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from math import exp, log2
from typing import TYPE_CHECKING, ClassVar, Literal

from memorist.model import Candidate, Found, Hit, Memory, Query, Reasoned, RecallRequest, Touched
from memorist.ports import Embedder, Reranker, Store, View

if TYPE_CHECKING:
    from memorist.asking import LLMAsker


@dataclass(frozen=True, slots=True)
class Env:
    """The services of one recall: the store, a consistent view of its index, the configured models, and threads."""

    store: Store
    view: View
    pool: Executor
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    llm: LLMAsker | None = None

    def has(self, service: str) -> bool:
        """Whether a service (`embedder`, `reranker` or `llm`) is available."""
        return getattr(self, service) is not None


@dataclass(frozen=True, slots=True)
class GraphWalk:
    """What the stages of mnemosyne-graph add to a draft: nodes found per hop, summaries, and the nodes they are about.

    `refinement_ms` is the part of the hops that went into bridge phrases; None if they looked for none.
    """

    per_hop: tuple[int, ...] = ()
    refinement_ms: float | None = None
    reasoned: Reasoned = Reasoned()
    touched: tuple[Touched, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A recall in progress. Each stage takes a draft and returns the next one.

    `found` distinguishes a signal that did not search (absent or skipped) from one that found nothing (no hits). `head`
    is a block that stands before the memories in the context, and `standing` are the memories in it, which the assembly
    does not repeat; `shown` are the ids of the memories in the context. `held_back` are the best candidates that the
    session was shown before. `walk` is mnemosyne-graph's own part. `notes` are for the trace; those among them that
    explain an abstention are also `doubts`, and those that a reader of the answer should know also `remarks`.
    """

    request: RecallRequest
    query: Query
    found: Mapping[str, Found] = field(default_factory=dict[str, Found])
    candidates: tuple[Candidate, ...] = ()
    head: str = ""
    standing: tuple[Memory, ...] = ()
    context: str = ""
    tokens: int = 0
    shown: tuple[str, ...] | None = None
    held_back: tuple[Candidate, ...] = ()
    walk: GraphWalk = GraphWalk()
    abstained: bool = False
    confidence: float | None = None
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    cites_sources: bool = False

    @property
    def count(self) -> int:
        """The number of candidates or, before fusion, of distinct hits."""
        if self.candidates:
            return len(self.candidates)
        return len({hit.id for found in self.found.values() for hit in found.hits})

    def as_touched(self) -> tuple[Touched, ...]:
        """The current candidates, recorded as memories that contributed."""
        return tuple(
            Touched(candidate.memory.id, candidate.memory.kind, candidate.score, candidate.phase, candidate.hop)
            for candidate in self.candidates
        )

    def noting(self, note: str) -> Draft:
        """This draft with one more note for the trace."""
        return replace(self, notes=(*self.notes, note))

    def doubting(self, note: str) -> Draft:
        """This draft with a note that says why nothing may answer the question."""
        return replace(self.noting(note), doubts=(*self.doubts, note))

    def remarking(self, note: str) -> Draft:
        """This draft with a note that a reader of the answer should know."""
        return replace(self.noting(note), remarks=(*self.remarks, note))


class Part(ABC):
    """Any building block of a recipe: a named, frozen dataclass of plain parameters.

    A recipe cannot run without the services in `needs`. Without a service in `optional`, the part is skipped and the
    trace says so. Where the configured recipe has a part that `follows_tags`, new memories are written with tags.
    """

    __slots__ = ()
    role: ClassVar[str]
    kind: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()
    follows_tags: ClassVar[bool] = False

    def required(self) -> tuple[str, ...]:
        """The services that a recipe with this part cannot run without."""
        return self.needs


Effect = Literal["keeps", "removes", "adds"]
Form = Literal["question", "hits", "candidates", "context"]
"""How far a draft has come: a question to be searched, the hits of its signals, candidates, candidates with context."""


class Stage(Part):
    """One step of a recall. Its docstring states the scale of the scores it takes and gives.

    `effect` states how it may change the set of candidates: `keeps` the set (scores and order may change), only
    `removes` (the remaining candidates do not change), or also `adds`. `takes` lists the forms of a draft that it can
    work on, any if it lists none; `gives` is the form after it, the same if it is None.
    """

    __slots__ = ()
    role = "stage"
    effect: ClassVar[Effect] = "keeps"
    takes: ClassVar[tuple[Form, ...]] = ()
    gives: ClassVar[Form | None] = None

    @abstractmethod
    def __call__(self, draft: Draft, env: Env) -> Draft:
        """Return the draft after this step."""


class Signal(Part):
    """One way of searching.

    One that `waits`, for a server or another process, runs beside the others in a store of any size.
    """

    __slots__ = ()
    role = "signal"
    waits: ClassVar[bool] = False

    @abstractmethod
    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """Return at most `limit` hits, best first, all admitted by the request's filter."""

    def place(self, draft: Draft, env: Env, id: str) -> tuple[int, float] | None:
        """The rank and the score of one memory among all that it finds; None if it does not find that one."""
        hits = self.search(draft, env, max(env.view.size, 1))
        return next(((rank, hit.score) for rank, hit in enumerate(hits, 1) if hit.id == id), None)


def followed_rank(hits: list[Hit]) -> tuple[int, float] | None:
    """The rank and the score of the memory that a view follows."""
    return next(((int(dict(hit.parts)["rank"]), hit.score) for hit in hits), None)


class Factor(Part):
    """A number that multiplies a candidate's score; 1 is neutral."""

    __slots__ = ()
    role = "factor"

    @abstractmethod
    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """Return the factor of one candidate."""


def missing_service(part: Part, env: Env) -> str | None:
    """The first service that a part uses and that is not configured, if any."""
    return next((service for service in (*part.needs, *part.optional) if not env.has(service)), None)


def ranked(candidates: list[Candidate]) -> tuple[Candidate, ...]:
    """Best first, ties by id."""
    return tuple(sorted(candidates, key=lambda one: (-one.score, one.memory.id)))


def sigmoid(logit: float) -> float:
    """1 / (1 + e^−x), safe for large numbers."""
    if logit >= 0:
        return 1 / (1 + exp(-min(logit, 700)))
    return exp(max(logit, -700)) / (1 + exp(max(logit, -700)))


SMALLEST, LARGEST = 100, 100_000
"""Store sizes between which the shares change: fitted from 100 to 3,000 memories, extrapolated to 100,000."""
SMALLEST_POOL, POOL_PER_DOUBLING = 12 / 15, 2 / 15
"""The share of the fixed pool for the smallest store, and the share that each doubling of the store adds."""
MINIMUM_PER_DOUBLING = 0.05
"""The share of the fixed minimum that each doubling of the store subtracts."""


def pool_for(base: int, asked: int, size: int, *, adaptive: bool) -> int:
    """A pool: `base`, or if `adaptive` its share for a store of this size; never fewer than the caller asked for."""
    return max(asked, round(base * pool_share(size)) if adaptive else base)


def pool_share(size: int) -> float:
    """The multiplier of a fixed pool: 0.8 + 2/15 · log2(size / 100), so 24 + 4 · log2(size / 100) for a pool of 30."""
    return SMALLEST_POOL + POOL_PER_DOUBLING * _doublings(size)


def minimum_share(size: int) -> float:
    """The multiplier of a fixed minimum score: 1 − 0.05 · log2(size / 100)."""
    return 1 - MINIMUM_PER_DOUBLING * _doublings(size)


def _doublings(size: int) -> float:
    return log2(min(max(size, SMALLEST), LARGEST) / SMALLEST)
