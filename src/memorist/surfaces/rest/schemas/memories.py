"""Memories, and what can be said when one is kept or looked for."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from memorist.model import Kind, Tier
from memorist.surfaces.rest.schemas.base import Classification, Moment, RequestModel, ResponseModel, Share, Text, Whole

MOST_LISTED = 1000
MOST_TOGETHER = 10_000
Feeling = Annotated[float, Field(ge=-5, le=5)]


class RememberBody(RequestModel):
    """A text to keep, word for word, and what is known about it."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"text": "Alice moved to Stockholm.", "at": "2024-06-03", "speaker": "Alice"}}
    )

    text: Text
    at: Moment | None = None
    ingested_at: Moment | None = None
    kind: Kind = Kind.EPISODIC
    scope: Text = "global"
    topic: Text | None = None
    tier: Tier = Tier.WORKING
    importance: Share = 0.5
    confidence: Share = 1.0
    salience: Share = 0.0
    trust: Annotated[int, Field(ge=0, le=3)] = 3
    credibility: Annotated[int, Field(ge=1, le=6)] = 6
    classification: Classification = 1
    emotion: Feeling = 0.0
    emotion_tags: list[Text] = Field(default_factory=list)
    flags: list[Text] = Field(default_factory=list)
    keywords: list[Text] = Field(default_factory=list)
    original: Text | None = None
    source: Text | None = None
    session: Text | None = None
    position: Whole | None = None
    speaker: Text | None = None
    expires_at: Moment | None = None
    key: Text | None = None
    metadata: dict[str, Any] | None = None


class RememberManyBody(RequestModel):
    """Texts to keep together."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"memories": [{"text": "Alice lives in Oslo."}, {"text": "Bob rows."}]}}
    )

    memories: Annotated[list[RememberBody], Field(max_length=MOST_TOGETHER)]


class RelateBody(RequestModel):
    """A fact."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"subject": "Alice", "relation": "lives_in", "object": "Stockholm"}}
    )

    subject: Text
    relation: Text
    object: Text
    text: Text | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    ingested_at: Moment | None = None
    source: Text | None = None
    scope: Text = "global"


class FiltersBody(RequestModel):
    """Which memories: those that meet everything that is given."""

    as_of: Moment | None = Field(None, description="Those that were true at this moment.")
    known_at: Moment | None = Field(None, description="Those that were known at this moment.")
    scope: list[Text] | None = Field(None, description="Those of one of these scopes.")
    kinds: list[Kind] | None = Field(None, description="Those of one of these kinds.")
    topic: Text | None = Field(None, description="Those about this topic.")
    tier: Tier | None = Field(None, description="Those of this tier.")
    since: Moment | None = Field(None, description="Those said or true from this moment on.")
    until: Moment | None = Field(None, description="Those said or true up to this moment.")
    max_classification: Classification = Field(2, description="Those no more secret than this.")
    include_expired: bool = Field(False, description="Those no longer true as well.")


class ListQuery(FiltersBody):
    """Which memories to list, and from where on."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 100
    cursor: str | None = Field(None, description="Where the page before ended.")


class ForgetBody(FiltersBody):
    """Which memories to erase for good: those that meet everything that is given, whatever their time or tier."""

    model_config = ConfigDict(json_schema_extra={"example": {"scope": ["user:ann"]}})

    max_classification: Classification = Field(3, description="Those no more secret than this.")


class InvalidateBody(RequestModel):
    """When a memory ceased to be true."""

    at: Moment | None = None
    superseded_by: Text | None = Field(None, description="The id of the memory that came after it.")


class FactData(ResponseModel):
    """What a memory states."""

    subject: str
    relation: str
    object: str


class MentionData(ResponseModel):
    """A date named in a text: start inclusive, end exclusive."""

    text: str
    start: str
    end: str


class UsageData(ResponseModel):
    """How often and when a memory was recalled, and how well that went."""

    recalls: int
    last_recall: str | None
    recall_times: list[str]
    reward_count: int
    reward_total: float


class MemoryData(ResponseModel):
    """One thing remembered."""

    id: str
    text: str
    original: str | None
    keywords: list[str]
    kind: Kind
    scope: str
    topic: str | None
    tier: Tier
    valid_from: str
    valid_to: str | None
    ingested_at: str
    expired_at: str | None
    expires_at: str | None
    retracted_at: str | None
    importance: float
    confidence: float
    salience: float
    trust: int
    credibility: int
    classification: int
    emotion: float
    emotion_tags: list[str]
    flags: list[str]
    relevance: float
    usage: UsageData | None
    source: str | None
    session: str | None
    position: int | None
    speaker: str | None
    key: str | None
    mentions: list[MentionData]
    fact: FactData | None
    metadata: dict[str, Any]
    version: int
    version_of: str | None
    superseded_by: str | None


class MemoriesData(ResponseModel):
    """Several memories."""

    items: list[MemoryData]


class PageData(ResponseModel):
    """Part of a listing, the oldest first; `cursor` continues it, null ends it."""

    items: list[MemoryData]
    cursor: str | None


class ReceiptData(ResponseModel):
    """What was erased, and when."""

    forgotten: list[str]
    at: str
    pending: bool = Field(False, description="Whether a reader elsewhere still holds the file as it was.")
