"""A recall: its request, its items with their evidence, and its trace; and the graph of entities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import MAXYEAR, MINYEAR, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from memorist.model.arguments import MOST
from memorist.model.fields import Doc, Flat, Hidden, Named, Range, Rounded, keywords_for
from memorist.model.filter import Filter, Filters
from memorist.model.marks import CandidateMark, Outdated
from memorist.model.memory import Entity, Memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Showing:
    """A memory that was shown to a session."""

    session: str
    id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class NoiseText:
    """A text of the noise bank: an utterance without content."""

    text: str


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class FactGraph:
    """Entities as nodes, and an edge per pair that a memory relates; immutable, so that results can be cached.

    Edge i of memory `memories[i]` joins the nodes `source[i]` and `target[i]`.
    """

    nodes: Mapping[str, int]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    memories: Sequence[str]


@dataclass(frozen=True, slots=True)
class Related:
    """Two entities, the relation that facts give them, or None if memories only mention both, and those memories."""

    source: str
    relation: str | None
    target: str
    memories: Sequence[str]
    """Their ids, the latest said first."""


Verbosity = Literal["summary", "detailed"]


@dataclass(frozen=True, slots=True)
class Situation:
    """The moment of asking, for boosts of memories with the same hour, weekday or topic.

    Hour and weekday are the caller's own: `zone` says where, and the times of memories are compared there.
    """

    hour: Annotated[int | None, Range(0, 23), Doc("The hour of the day, from 0 to 23.")] = None
    weekday: Annotated[int | None, Range(0, 6), Doc("The day of the week; 0 is Monday.")] = None
    day_of_week: Annotated[
        int | None, Range(0, 6), Doc("The day of the week as abmind counts it, instead of weekday; 0 is Sunday.")
    ] = None
    topic: Annotated[str | None, Doc("What the conversation is about.")] = None
    zone: Annotated[
        str | None, Doc("The time zone of hour and weekday: an offset such as +08:00 or a name. Default: UTC.")
    ] = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an agent is doing as it asks: the goal of its session, and its last steps in their order.

    `own` are the ids of its steps that no commit has learnt from yet: they are part of the question, not of the answer.
    """

    goal: str = ""
    steps: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()

    @property
    def counted(self) -> str:
        """What it adds to a question: `its goal and 3 steps`; empty if nothing."""
        steps = len(self.steps)
        parts = ("its goal" if self.goal else "", f"{steps} step{'' if steps == 1 else 's'}" if steps else "")
        return " and ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A request for a recall, with every default filled in."""

    query: str
    now: datetime
    limit: Annotated[int, Range(1, MOST), Doc("The most memories to find.")] = 10
    where: Annotated[Filter, Flat()] = Filter()
    entity_hints: Annotated[tuple[str, ...], Doc("People and things that the question is about.")] = ()
    speaker: Annotated[str | None, Doc("Who is asking: the `I` of the question, under the name they speak by.")] = None
    session: Annotated[str | None, Doc("The session that asks; what it is shown is recorded under this name.")] = None
    fresh: Annotated[
        bool | None,
        Doc("Leave out what this session was shown before, for programs that keep the history; mnemo's default."),
    ] = None
    situation: Annotated[Situation | None, Doc("The moment of asking, for recipes that use it.")] = None
    translated: Annotated[bool, Doc("The question was translated into English already.")] = False
    max_tokens: Annotated[int | None, Range(0, MOST), Doc("The longest context, in tokens.")] = None
    min_confidence: Annotated[
        float | None, Range(0, 1), Doc("Only memories that answer with at least this probability; 0 for all.")
    ] = None
    track: Annotated[bool, Doc("Count this recall in the usage of the memories it finds.")] = True
    verbosity: Annotated[Verbosity, Doc("How much of each memory that contributed is returned.")] = "summary"
    surroundings: Annotated[Surroundings, Hidden()] = Surroundings()


@keywords_for(RecallRequest)
class RecallOptions(Filters, total=False):
    """The keywords of `recall`."""

    limit: int
    recipe: Annotated[str | None, Doc("The recipe to search by; the engine's own if left out.")]
    entity_hints: Iterable[str]
    speaker: str | None
    session: str | None
    fresh: bool | None
    situation: Mapping[str, Any] | None
    translated: bool
    max_tokens: int | None
    min_confidence: float | None
    track: bool
    verbosity: Verbosity


@dataclass(frozen=True, slots=True)
class WakeUp:
    """What an agent should know at its start: a context ready for a prompt, and the memories in it, in its order."""

    at: datetime
    context: Annotated[str, Doc("Empty if nothing is known.")]
    tokens: int
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """The question as it is searched; the stages of `recall.prepare` fill in the rest.

    `vector` has a row for each probe: for the question and, within a session, for its goal and steps.
    """

    text: str
    vector: NDArray[np.float32] | None = None
    pending: Future[NDArray[np.float32]] | None = None
    mode: str | None = None
    tags: tuple[str, ...] = ()
    tag_vectors: NDArray[np.float32] | None = None
    expansion: tuple[str, ...] = ()
    windows: tuple[tuple[datetime, datetime], ...] = ()
    dates: tuple[tuple[datetime, datetime], ...] = ()
    entities: tuple[Entity, ...] = ()

    @property
    def window(self) -> tuple[datetime, datetime] | None:
        """The time that the question asks about; the first one if it names several."""
        return self.windows[0] if self.windows else None

    @property
    def is_dated(self) -> bool:
        """Whether the question names a time with a beginning and an end: a day, `last week`, `in May`."""
        return any(start.year > MINYEAR and end.year < MAXYEAR for start, end in self.windows)

    def embedding(self) -> NDArray[np.float32] | None:
        """The query's vectors; waits for an embedding that was started in advance."""
        return self.pending.result() if self.vector is None and self.pending is not None else self.vector

    def settled(self) -> Query:
        """This query with the vector that was made in advance, as soon as it is there; without one if that failed."""
        if self.pending is None or not self.pending.done():
            return self
        made = None if self.pending.exception() else self.pending.result()
        return replace(self, vector=made, pending=None)


Parts = tuple[tuple[str, float], ...]
"""The named numbers that a score is made of."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a signal found, with its score on that signal's own scale, and its parts if it has any."""

    id: str
    score: float
    parts: Parts = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of one signal, best first; `skipped` says why it did not search."""

    hits: tuple[Hit, ...] = ()
    ms: float = 0.0
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one signal says about a candidate: its score, the number that the formula used, and its rank from 1.

    The rank is None if the score was computed for a candidate that the signal itself did not find. `parts` are the
    numbers that the score is made of, for `explain`.
    """

    rank: int | None
    score: float
    norm: float
    parts: Annotated[Parts, Hidden(tuple)] = ()


LIKELY = 0.5
"""The probability from which on a candidate probably answers the question."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may become part of the answer.

    `marks` are what stages found out about it, as data for the stages after them. `notes` are sentences for those who
    read the answer; no stage reads them.
    """

    memory: Memory
    score: float
    evidence: Mapping[str, Evidence] = field(default_factory=dict[str, Evidence])
    phase: str = "initial"
    hop: int = 0
    notes: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    probability: float | None = None
    marks: tuple[CandidateMark, ...] = ()

    @property
    def is_outdated(self) -> bool:
        """Whether a mark says that it is no longer true, or that a later statement differs."""
        return any(isinstance(mark, Outdated) for mark in self.marks)

    @property
    def likely(self) -> bool:
        """Whether it probably answers the question; also if the recipe does not estimate that."""
        return self.probability is None or self.probability >= LIKELY

    def rescored(self, score: float, **parts: float) -> Candidate:
        """This candidate with a new score; `parts` names the numbers it is made of, for `explain`."""
        # `dataclasses.replace` takes five times as long, and a recall does this hundreds of times.
        same = (self.memory, score, self.evidence, self.phase, self.hop, self.notes, parts, self.probability)
        return Candidate(*same, self.marks)

    def known_at(self, moment: datetime | None) -> Candidate:
        """This candidate with its memory as it was known at a moment."""
        memory = self.memory.as_known_at(moment)
        return self if memory is self.memory else replace(self, memory=memory)


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate that is part of the answer."""

    memory: Memory
    score: float
    rank: int
    signals: Mapping[str, Evidence]
    phase: str = "initial"
    hop: int = 0
    notes: tuple[str, ...] = ()
    probability: Annotated[
        float | None, Doc("The probability that this memory answers the question; null means unknown.")
    ] = None


@dataclass(frozen=True, slots=True)
class Touched:
    """A memory that contributed to the answer; `memory` is set only if details were requested."""

    id: str
    kind: str
    score: float
    phase: str = "initial"
    hop: int = 0
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A summary per type of memory; None if nothing of that type was found."""

    episodic: str | None = None
    semantic: str | None = None
    procedural: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The run of one stage, recorded by the runner: its duration and the candidates it left."""

    stage: str
    ms: Annotated[float, Rounded(3)]
    candidates: Annotated[tuple[Candidate, ...], Hidden(tuple)]
    before: int
    after: int
    skipped: Annotated[str | None, Doc("Why it did not run, if it did not.")] = None
    notes: Annotated[tuple[str, ...], Doc("What it has to say about how it ran.")] = ()

    @property
    def signal(self) -> str | None:
        """The signal whose search this is, within the stage that ran it; None for a stage."""
        return self.stage.partition(".")[2] or None


@dataclass(frozen=True, slots=True)
class Spent:
    """The use of language models: calls, and tokens as counted by the vendor, or else estimated."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def plus(self, other: Spent) -> Spent:
        """The sum of both."""
        return Spent(self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)

    def since(self, before: Spent) -> Spent:
        """The difference to an earlier count."""
        return self.plus(Spent(-before.calls, -before.tokens_in, -before.tokens_out))


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that happened in a recall; `explain` and `why_not` are based on it.

    `llm` is None if no language model was used.
    """

    steps: Annotated[tuple[Step, ...], Named("stages")]
    found: Annotated[Mapping[str, Found], Hidden(dict)]
    total_ms: Annotated[float, Rounded(3)]
    mode: str | None = None
    tags: tuple[str, ...] = ()
    candidate_count: int = 0
    candidates_per_hop: tuple[int, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    phase_timings: Annotated[Mapping[str, float], Rounded(3)] = field(default_factory=dict[str, float])
    llm: Spent | None = None


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer: items, a context ready for a prompt, and the trace behind them.

    `confidence` is the probability that the first five items contain an answer; None, for unknown, if no reader judged
    them. `abstained` means that it is too low: the context says so, and the items are only the nearest ones.
    """

    id: str
    query: str
    recipe: str
    now: datetime
    items: tuple[Item, ...]
    context: str
    tokens: int
    reasoned: Reasoned
    touched: tuple[Touched, ...]
    abstained: Annotated[bool, Doc("Whether nothing answers the question; the items are then only the nearest.")]
    trace: Trace
    request: Annotated[RecallRequest, Hidden()]
    confidence: Annotated[
        float | None, Doc("The probability that the first five items contain an answer; null means unknown.")
    ] = None
    shown_before: Annotated[
        tuple[str, ...], Doc("The ids of the best memories, left out because the session was shown them before.")
    ] = ()
    standing: Annotated[
        tuple[Memory, ...], Doc("The pinned memories and standing wishes at the head of the context.")
    ] = ()
    why_abstained: Annotated[
        str | None, Doc("Why nothing answers the question; null if something does, or if no stage says why.")
    ] = None
    remarks: Annotated[
        tuple[str, ...], Doc("What a reader of the answer should know: how the recipe searched, if not as usual.")
    ] = ()
    cites_sources: Annotated[bool, Doc("Whether the context cites the sources of what it says by number.")] = False
