"""Questions and answers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from memorist.model import Kind, Tier, Verbosity
from memorist.surfaces.rest.schemas.base import RequestModel, ResponseModel, Share, Text
from memorist.surfaces.rest.schemas.memories import MOST_LISTED, FactData, FiltersBody, MemoryData
from memorist.upkeep.feedback import Verdict


class SituationBody(RequestModel):
    """The moment of asking."""

    hour: Annotated[int, Field(ge=0, le=23)] | None = None
    weekday: Annotated[int, Field(ge=0, le=6)] | None = None
    topic: Text | None = None


class RecallOptionsBody(FiltersBody):
    """A question, with every keyword of `recall`."""

    query: str
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 10
    recipe: Text | None = None
    entity_hints: list[Text] = Field(default_factory=list)
    session: Text | None = Field(None, description="The session that asks; what it was shown is not shown again.")
    repeat: bool = False
    situation: SituationBody | None = None
    translated: bool = False
    max_tokens: Annotated[int, Field(ge=0, le=10**9)] | None = None
    track: bool = True
    verbosity: Verbosity = "summary"


class RecallBody(RecallOptionsBody):
    """A question."""

    model_config = ConfigDict(json_schema_extra={"example": {"query": "Where does Alice live?", "limit": 5}})

    details: bool = Field(False, description="Add each item's whole memory, and the explanation of its place.")


class ExplainBody(RecallOptionsBody):
    """A question, and the item of its answer to explain."""

    model_config = ConfigDict(json_schema_extra={"example": {"query": "Where does Alice live?", "id": "5f…"}})

    id: Text


class FeedbackItem(ResponseModel):
    """An item of a recall, by its id."""

    model_config = ConfigDict(extra="ignore")

    id: str


class FeedbackRecall(ResponseModel):
    """The recall that feedback is about, as it was answered; only this much of it is read."""

    model_config = ConfigDict(extra="ignore")

    id: str
    query: str
    now: str
    items: list[FeedbackItem]


class FeedbackBody(RequestModel):
    """What a memory was worth."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": "5f…", "verdict": "useful"}})

    id: Text
    verdict: Verdict
    recall: FeedbackRecall | None = None


class SessionBody(RequestModel):
    """A session to open, or to go on with."""

    model_config = ConfigDict(json_schema_extra={"example": {"goal": "Book a table for four."}})

    goal: Text | None = None
    id: Text | None = None
    scope: Text | None = None


class StepBody(RequestModel):
    """What was observed, and what was then done."""

    model_config = ConfigDict(json_schema_extra={"example": {"observation": "The form asks for a date.", "reward": 1}})

    observation: Text
    action: Text | None = None
    reward: Share | None = None


class SessionData(ResponseModel):
    """An open session."""

    id: str
    goal: str | None


class CommitData(ResponseModel):
    """How a session was learnt from."""

    session: str
    state: str
    steps: int
    trajectories: int
    by: str | None
    memories: list[MemoryData]
    counts: dict[str, int]
    error: str | None
    note: str | None


class SignalData(ResponseModel):
    """One signal's word on an item; no rank where the score was computed for it."""

    rank: int | None
    score: float
    norm: float


class ExplanationData(ResponseModel):
    """A number, what it is, and the numbers it was made of."""

    description: str
    value: float | None
    details: list[ExplanationData]


class ItemData(ResponseModel):
    """An item of an answer."""

    id: str
    rank: int
    score: float
    text: str
    kind: Kind
    scope: str
    tier: Tier
    importance: float
    confidence: float
    topic: str | None
    emotion_tags: list[str]
    flags: list[str]
    speaker: str | None
    session: str | None
    fact: FactData | None
    valid_from: str
    valid_to: str | None
    ingested_at: str
    source: str | None
    signals: dict[str, SignalData]
    phase: str
    hop: int
    notes: list[str]
    memory: MemoryData | None = Field(None, description="The whole memory, where details were asked for.")
    explanation: ExplanationData | None = Field(None, description="Where details were asked for.")


class TouchedData(ResponseModel):
    """A memory that contributed to an answer."""

    id: str
    kind: str
    score: float
    phase: str
    hop: int
    memory: MemoryData | None


class ReasonedData(ResponseModel):
    """A summary per type of memory."""

    episodic: str | None
    semantic: str | None
    procedural: str | None


class StageData(ResponseModel):
    """One stage's run."""

    stage: str
    ms: float
    before: int
    after: int
    skipped: str | None


class SpentData(ResponseModel):
    """What language models were asked."""

    calls: int
    tokens_in: int
    tokens_out: int


class TraceData(ResponseModel):
    """What happened in a recall."""

    stages: list[StageData]
    total_ms: float
    mode: str | None
    tags: list[str]
    candidate_count: int
    candidates_per_hop: list[int]
    scores: dict[str, float]
    phase_timings: dict[str, float]
    llm: SpentData | None


class RecallData(ResponseModel):
    """An answer."""

    id: str
    query: str
    recipe: str
    now: str
    abstained: bool = Field(description="Nothing answers the question; the items are only what came nearest.")
    confidence: float | None = Field(description="The chance that the items answer it, where the recipe can tell.")
    tokens: int
    context: str
    reasoned: ReasonedData
    items: list[ItemData]
    touched: list[TouchedData]
    trace: TraceData


class AbsenceData(ResponseModel):
    """Why a memory is not in an answer; no stage when it is."""

    id: str
    stage: str | None
    reason: str
    score: float | None
    enough: float | None


class RecipeData(ResponseModel):
    """A recipe as data."""

    model_config = ConfigDict(extra="allow")

    name: str
    stages: list[dict[str, Any]]
