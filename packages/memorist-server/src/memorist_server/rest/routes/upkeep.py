"""Routes of upkeep, and of moving memories in and out."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from memorist.engine.engine import Engine
from memorist.engine.vocabulary import PeriodKind, format_names
from memorist.errors import InvalidInput
from memorist.results.upkeep import AUDIT_KINDS
from memorist.verbs import Verbs
from memorist_server.rest.calls import (
    EVENTS,
    AdminCall,
    Progress,
    ReadCall,
    WriteCall,
    download,
    receive_file,
    with_progress,
)
from memorist_server.rest.routes import SPACE
from memorist_server.rest.schemas import RequestModel, Text, answer_of, body_of, example

router = APIRouter(prefix=SPACE, tags=["upkeep"])


class TidyBody(body_of(Verbs.tidy)):
    """Whether to make the changes or only list them."""


class SleepBody(body_of(Verbs.sleep)):
    """Whether to make the changes or only list them."""


class AuditBody(RequestModel):
    """What to look for, and what to mend."""

    kinds: list[Annotated[str, Field(json_schema_extra={"enum": list(AUDIT_KINDS)})]] | None = None
    fix: bool = Field(False, description="Mend every finding that can be mended.")
    findings: list[str] | None = Field(None, description="Mend only these findings, by their ids.")


class ConsolidateBody(RequestModel):
    """Which notes to write."""

    period: PeriodKind | None = Field(None, description="All of them if left out.")


class UndoBody(body_of(Verbs.undo)):
    """An entry of the journal, or the run of a tidying or sleep."""

    model_config = example(entry="5f…")


class JournalQuery(body_of(Verbs.journal)):
    """Which entries."""

    subject: Text | None = Field(None, description="A memory's id.")
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    cursor: Text | None = Field(None, description="The id of the last entry of the page before.")


@router.get("/stats", response_model=answer_of(Verbs.stats))
async def stats(call: ReadCall) -> Any:
    """How much the space holds."""
    return await call.answer(lambda engine: engine.stats())


@router.get("/jobs", response_model=answer_of(Verbs.jobs))
async def jobs(call: ReadCall) -> Any:
    """Pending jobs, earliest due first."""
    return await call.answer(lambda engine: {"items": engine.jobs()})


@router.get("/journal", response_model=answer_of(Verbs.journal))
async def journal(call: AdminCall, query: Annotated[JournalQuery, Query()]) -> Any:
    """What was decided and changed, newest first."""
    given = query.given()
    return await call.answer(lambda engine: {"items": engine.journal(**given)})


@router.post("/tidy", response_model=answer_of(Verbs.tidy))
async def tidy(call: AdminCall, body: TidyBody) -> Any:
    """List what there is to tidy; make the changes unless it is a dry run."""
    return await call.answer(lambda engine: engine.tidy(**body.given()), long=True)


@router.post("/audit", response_model=answer_of(Verbs.audit))
async def audit(call: AdminCall, body: AuditBody) -> Any:
    """Find problems with memories; mend them only on request."""
    return await call.answer(lambda engine: _audited(engine, body), long=True)


@router.post("/consolidate", response_model=answer_of(Verbs.consolidate))
async def consolidate(call: AdminCall, body: ConsolidateBody) -> Any:
    """Write the notes of days, weeks and quarters that are over."""
    return await call.answer(lambda engine: engine.consolidate(**body.given()), long=True)


@router.post("/sleep", response_model=answer_of(Verbs.sleep))
async def sleep(call: AdminCall, body: SleepBody) -> Any:
    """Consolidate, tidy and audit as one run that can be undone; only list the changes in a dry run."""
    return await call.answer(lambda engine: engine.sleep(**body.given()), long=True)


@router.post("/reembed", response_model=answer_of(Verbs.reembed))
async def reembed(call: AdminCall) -> Any:
    """Embed every memory anew with the server's embedder; recalls use the old vectors until all are done."""
    return await call.answer(lambda engine: engine.reembed(), long=True)


@router.post("/undo", response_model=answer_of(Verbs.undo))
async def undo(call: AdminCall, body: UndoBody) -> Any:
    """Undo an entry of the journal, or a whole tidying or sleep, given its run."""
    return await call.answer(lambda engine: engine.undo(**body.given()))


def _audited(engine: Engine, body: AuditBody) -> object:
    report = engine.audit(body.kinds, fix=body.fix)
    if body.findings is not None and not body.fix:
        report = engine.mend(report, body.findings)
    return report


moving_router = APIRouter(prefix=SPACE, tags=["moving"])
BYTES = "application/octet-stream"
JSON_LINES = "application/x-ndjson"
SQLITE = "application/vnd.sqlite3"
_PROGRESS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The result; a stream of events for a caller that accepts them.",
        "content": {EVENTS: {"schema": {"type": "string"}, "example": 'event: progress\ndata: {"done":256}\n\n'}},
    }
}


def _binary(media_type: str) -> dict[str, Any]:
    return {media_type: {"schema": {"type": "string", "format": "binary"}}}


def _body(media_type: str) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": _binary(media_type)}}


def _file(media_type: str, what: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": what, "content": _binary(media_type)}}


def _name_formats(schema: dict[str, Any]) -> None:
    schema["enum"] = list(format_names())  # imports the readers, which only the description needs


Format = Annotated[str, Field(description="The format; detected if left out.", json_schema_extra=_name_formats)]


class IngestBody(RequestModel):
    """Chat messages, or other objects that `ingest` reads."""

    model_config = example(messages=[{"role": "user", "content": "I moved to Oslo."}], session="s1")

    messages: Annotated[list[dict[str, Any]], Field(max_length=100_000)]
    session: Text | None = None
    format: Format | None = None


class FileQuery(RequestModel):
    """The name of a file, which becomes the source of its memories, and how to read it."""

    name: Annotated[str, Field(min_length=1, max_length=200, examples=["notes.md"])]
    session: Text | None = None
    format: Format | None = None


class ImportQuery(body_of(Verbs.import_, "path")):
    """How to import."""

    without_vectors: bool = Field(False, description="Ignore the vectors, and embed the texts anew.")


@moving_router.post("/ingest", response_model=answer_of(Verbs.ingest), responses=_PROGRESS)
async def ingest(call: WriteCall, body: IngestBody) -> Any:
    """Keep chat messages; known ones add nothing."""
    given = body.given("messages")

    async def work(progress: Progress) -> Any:
        return await call.answer(
            lambda engine: engine.ingest(body.messages, progress=progress, **given), long=True, makes=True
        )

    return await with_progress(call.request, work)


@moving_router.post(
    "/ingest/file", response_model=answer_of(Verbs.ingest), responses=_PROGRESS, openapi_extra=_body(BYTES)
)
async def ingest_file(call: WriteCall, query: Annotated[FileQuery, Query()]) -> Any:
    """Keep the texts of a file: a chat, notes, a log or an export of another product."""
    path, scratch = await receive_file(call, _plain_name(query.name))
    given = query.given("name")

    async def work(progress: Progress) -> Any:
        try:
            return await call.answer(
                lambda engine: engine.ingest(path, progress=progress, **given), long=True, makes=True
            )
        finally:
            scratch.close()

    return await with_progress(call.request, work)


@moving_router.get("/export", response_class=Response, responses=_file(JSON_LINES, "Everything, as lines of JSON."))
async def export(call: AdminCall) -> Response:
    """Everything the space holds, vectors included, as lines of JSON."""

    async def make(path: Path) -> object:
        return await call.run(lambda engine: engine.export(path), long=True)

    return await download(call, make, f"{call.space}.jsonl", JSON_LINES)


@moving_router.get("/backup", response_class=Response, responses=_file(SQLITE, "The space's file, checked."))
async def backup(call: AdminCall) -> Response:
    """A consistent copy of the space's file, which `memorist restore` restores."""

    async def make(path: Path) -> object:
        return await call.run(lambda engine: engine.backup(path), long=True)

    return await download(call, make, f"{call.space}.db", SQLITE)


@moving_router.post("/import", response_model=answer_of(Verbs.import_), openapi_extra=_body(BYTES))
async def import_(call: AdminCall, query: Annotated[ImportQuery, Query()]) -> Any:
    """Import an export; known memories stay as they are."""
    path, scratch = await receive_file(call, "import.jsonl")
    try:
        return await call.answer(lambda engine: engine.import_(path, **query.given()), long=True, makes=True)
    finally:
        scratch.close()


def _plain_name(name: str) -> str:
    """A file name without folders that is valid on any system."""
    last = PurePosixPath(name.replace("\\", "/")).name
    if not last.isprintable() or last in ("", ".", "..") or len(last.encode("utf-8", "replace")) > 200:
        raise InvalidInput("The name is not a file name", remedy="Give a plain one, such as notes.md.")
    return last
