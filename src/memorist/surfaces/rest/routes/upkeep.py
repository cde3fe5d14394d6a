"""Routes of upkeep, and of moving memories in and out."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from memorist.errors import InvalidInput
from memorist.ports import Progress
from memorist.serialize import entry_to_data, job_to_data, report_to_data, stats_to_data
from memorist.surfaces.rest.calls import AdminCall, ReadCall, WriteCall
from memorist.surfaces.rest.routes import SPACE
from memorist.surfaces.rest.schemas.upkeep import (
    AuditBody,
    AuditData,
    ConsolidateBody,
    ConsolidationData,
    EntriesData,
    EntryData,
    FileQuery,
    ImportedData,
    ImportQuery,
    IngestBody,
    IngestData,
    JobsData,
    JournalQuery,
    ReembeddingData,
    StatsData,
    TidyBody,
    TidyData,
    UndoBody,
)
from memorist.surfaces.rest.streams import EVENTS, download, received, with_progress

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


router = APIRouter(prefix=SPACE, tags=["upkeep"])


@router.get("/stats", response_model=StatsData)
async def stats(call: ReadCall) -> Response:
    """How much the space holds."""
    return await call.answer(lambda engine: stats_to_data(engine.stats()))


@router.get("/jobs", response_model=JobsData)
async def jobs(call: ReadCall) -> Response:
    """What is left to do, the first due first."""
    return await call.answer(lambda engine: {"items": [job_to_data(job) for job in engine.jobs()]})


@router.get("/journal", response_model=EntriesData)
async def journal(call: AdminCall, query: Annotated[JournalQuery, Query()]) -> Response:
    """What was decided and changed, the newest first."""
    given = query.given()
    return await call.whole().answer(
        lambda engine: {"items": [entry_to_data(entry) for entry in engine.journal(**given)]}
    )


@router.post("/tidy", response_model=TidyData)
async def tidy(call: AdminCall, body: TidyBody) -> Response:
    """What there is to tidy among what was learnt; done only if it is no dry run."""
    return await call.whole().answer(lambda engine: engine.tidy(**body.given()).to_data(), long=True)


@router.post("/audit", response_model=AuditData)
async def audit(call: AdminCall, body: AuditBody) -> Response:
    """What is wrong with which memories; mended only where that is asked for."""
    return await call.whole().answer(lambda engine: _audited(engine, body), long=True)


@router.post("/consolidate", response_model=ConsolidationData)
async def consolidate(call: AdminCall, body: ConsolidateBody) -> Response:
    """Write the notes of days, weeks and quarters that are over."""
    return await call.answer(lambda engine: engine.consolidate(**body.given()).to_data(), long=True)


@router.post("/reembed", response_model=ReembeddingData)
async def reembed(call: AdminCall) -> Response:
    """Make new vectors of everything by the server's embedder; recalls use the old ones until they are complete."""
    return await call.answer(lambda engine: asdict(engine.reembed()), long=True)


@router.post("/undo", response_model=EntryData)
async def undo(call: AdminCall, body: UndoBody) -> Response:
    """Take back what an entry of the journal tells of, or all of a tidying, given its run."""
    return await call.whole().answer(lambda engine: entry_to_data(engine.undo(body.entry)))


def _audited(engine: Engine, body: AuditBody) -> dict[str, Any]:
    report = engine.audit(body.kinds, fix=body.fix)
    if body.findings is not None and not body.fix:
        report = engine.mend(report, body.findings)
    return report.to_data()


moving_router = APIRouter(prefix=SPACE, tags=["moving"])
BYTES = "application/octet-stream"
JSON_LINES = "application/x-ndjson"
SQLITE = "application/vnd.sqlite3"
_PROGRESS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "What became of it; as events for a caller that accepts them.",
        "content": {EVENTS: {"schema": {"type": "string"}, "example": 'event: progress\ndata: {"done":256}\n\n'}},
    }
}


def _binary(media_type: str) -> dict[str, Any]:
    return {media_type: {"schema": {"type": "string", "format": "binary"}}}


def _body(media_type: str) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": _binary(media_type)}}


def _file(media_type: str, what: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": what, "content": _binary(media_type)}}


@moving_router.post("/ingest", response_model=IngestData, responses=_PROGRESS)
async def ingest(call: WriteCall, body: IngestBody) -> Response:
    """Keep chat messages; what is known already adds nothing."""
    given = body.given("messages")
    return await with_progress(
        call.request,
        lambda progress: call.answer(
            lambda engine: report_to_data(engine.ingest(body.messages, progress=progress, **given)),
            long=True,
            makes=True,
        ),
    )


@moving_router.post("/ingest/file", response_model=IngestData, responses=_PROGRESS, openapi_extra=_body(BYTES))
async def ingest_file(call: WriteCall, query: Annotated[FileQuery, Query()]) -> Response:
    """Keep the texts of a file: a chat, notes, a log or an export of another product."""
    path = await received(call.request, _plain_name(query.name))
    given = query.given("name")

    async def work(progress: Progress) -> Response:
        try:
            return await call.once(lambda engine: report_to_data(engine.ingest(path, progress=progress, **given)))
        finally:
            shutil.rmtree(path.parent, ignore_errors=True)

    return await with_progress(call.request, work)


@moving_router.get("/export", response_class=Response, responses=_file(JSON_LINES, "Everything, as lines of JSON."))
async def export(call: AdminCall) -> Response:
    """Everything the space holds, vectors included, as lines of JSON."""
    whole = call.whole()

    async def make(path: Path) -> object:
        return await whole.run(lambda engine: engine.export(path), long=True)

    return await download(make, f"{call.space}.jsonl", JSON_LINES)


@moving_router.get("/backup", response_class=Response, responses=_file(SQLITE, "The space's file, checked."))
async def backup(call: AdminCall) -> Response:
    """A copy of the space's file as of one moment, which `memorist restore` takes back."""
    whole = call.whole()

    async def make(path: Path) -> object:
        return await whole.run(lambda engine: engine.backup(path), long=True)

    return await download(make, f"{call.space}.db", SQLITE)


@moving_router.post("/import", response_model=ImportedData, openapi_extra=_body(BYTES))
async def import_(call: AdminCall, query: Annotated[ImportQuery, Query()]) -> Response:
    """Take in an export; what is known already stays as it is."""
    whole, path = call.whole(), await received(call.request, "import.jsonl")

    try:
        return await whole.once(lambda engine: asdict(engine.import_(path, **query.given())))
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)


def _plain_name(name: str) -> str:
    """A file's name without folders, that any system can keep."""
    last = PurePosixPath(name.replace("\\", "/")).name
    if not last.isprintable() or last in ("", ".", "..") or len(last.encode("utf-8", "replace")) > 200:
        raise InvalidInput("The name cannot name a file", remedy="Give a plain one, such as notes.md.")
    return last
