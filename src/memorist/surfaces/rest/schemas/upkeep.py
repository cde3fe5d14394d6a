"""Upkeep, moving, and the server itself."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from memorist.remember.ingest import FORMATS
from memorist.surfaces.rest.schemas.base import RequestModel, ResponseModel, Text
from memorist.upkeep.audit import KINDS
from memorist.upkeep.consolidate.notes import PeriodKind

Format = Annotated[
    str, Field(description="How to read it, where it is not seen.", json_schema_extra={"enum": list(FORMATS)})
]


class IngestBody(RequestModel):
    """Chat messages, or other objects that `ingest` reads."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"messages": [{"role": "user", "content": "I moved to Oslo."}], "session": "s1"}}
    )

    messages: Annotated[list[dict[str, Any]], Field(max_length=100_000)]
    session: Text | None = None
    format: Format | None = None


class FileQuery(RequestModel):
    """What a file is called, which is where its memories will say that they come from, and how to read it."""

    name: Annotated[str, Field(min_length=1, max_length=200, examples=["notes.md"])]
    session: Text | None = None
    format: Format | None = None


class TidyBody(RequestModel):
    """Whether to do it, or only to tell."""

    dry_run: bool = True


class AuditBody(RequestModel):
    """What to look for, and what to mend of it."""

    kinds: list[Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]] | None = None
    fix: bool = Field(False, description="Mend everything that can be mended.")
    findings: list[str] | None = Field(None, description="Mend these findings only, by their ids.")


class ConsolidateBody(RequestModel):
    """Which notes to write."""

    period: PeriodKind | None = Field(None, description="All of them if left out.")


class UndoBody(RequestModel):
    """An entry of the journal, or a run of tidying."""

    model_config = ConfigDict(json_schema_extra={"example": {"entry": "5f…"}})

    entry: Text


class JournalQuery(RequestModel):
    """Which entries."""

    verb: Text | None = None
    subject: Text | None = Field(None, description="A memory's id.")
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class ImportQuery(RequestModel):
    """How to take an export in."""

    without_vectors: bool = Field(False, description="Leave its vectors out, and embed its texts anew.")


class SkippedData(ResponseModel):
    """Something that was not kept, or not as it stood: where, and why."""

    where: str
    reason: str


class IngestData(ResponseModel):
    """What became of what was ingested."""

    kept: int
    known: int
    facts: int
    files: int
    sessions: int
    skipped: list[SkippedData]
    skipped_by_reason: dict[str, int]
    cleaned: list[SkippedData]
    cleaned_by_reason: dict[str, int]


class StatsData(ResponseModel):
    """How much a space holds."""

    space: str
    memories: int
    versions: int
    links: int
    entities: int
    bytes: int
    generation: int
    embedding: str | None
    kinds: dict[str, int]
    scopes: dict[str, int]
    dimension: int | None


class JobData(ResponseModel):
    """Something left to do."""

    task: str
    subject: str
    due: str
    attempts: int
    error: str | None


class JobsData(ResponseModel):
    """What is left to do, the first due first."""

    items: list[JobData]


class EntryData(ResponseModel):
    """A line of the journal."""

    id: str
    at: str
    verb: str
    subjects: list[str]
    data: dict[str, Any]


class EntriesData(ResponseModel):
    """Lines of the journal, the newest first."""

    items: list[EntryData]


class ChangeData(ResponseModel):
    """One thing that tidying does."""

    rule: str
    id: str
    reason: str
    changes: dict[str, Any]


class TidyData(ResponseModel):
    """What there is to tidy, or was tidied; `run` is what undo takes."""

    at: str
    run: str | None
    counts: dict[str, int]
    changes: list[ChangeData]


class FindingData(ResponseModel):
    """Something wrong."""

    id: str
    kind: str
    ids: list[str]
    reason: str
    severity: str
    fix: str | None
    undoable: bool
    fixed: str | None


class AuditData(ResponseModel):
    """What an audit found."""

    at: str
    checked: int
    counts: dict[str, int]
    findings: list[FindingData]


class NoteData(ResponseModel):
    """A note that was written."""

    period: str
    name: str
    path: str | None
    version: int
    by: str
    lines: int
    sources: int


class ConsolidationData(ResponseModel):
    """Notes that were written."""

    at: str
    written: list[NoteData]
    unchanged: int
    dropped: list[str]


class ReembeddingData(ResponseModel):
    """What new vectors were made."""

    embedding: str
    dimension: int
    previous: str | None
    embedded: int
    memories: int


class ImportedData(ResponseModel):
    """What an import did."""

    space: str
    lines: int
    added: int
    known: int
    updated: int
    conflicts: list[str]


class SpacesData(ResponseModel):
    """The spaces that the caller may read."""

    items: list[str]


class HealthData(ResponseModel):
    """That it answers."""

    status: str
    version: str
