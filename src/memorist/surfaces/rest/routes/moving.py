"""What goes in and out as a whole: ingest, export, import and backup."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from memorist.errors import InvalidInput
from memorist.ports import Progress
from memorist.surfaces.rest.calls import Ruling, Writing
from memorist.surfaces.rest.routes import SPACE
from memorist.surfaces.rest.schemas.upkeep import FileQuery, ImportedData, ImportQuery, IngestBody, IngestData
from memorist.surfaces.rest.streams import EVENTS, download, received, with_progress
from memorist.wire import report_to_data

router = APIRouter(prefix=SPACE, tags=["moving"])
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


@router.post("/ingest", response_model=IngestData, responses=_PROGRESS)
async def ingest(call: Writing, body: IngestBody) -> Response:
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


@router.post("/ingest/file", response_model=IngestData, responses=_PROGRESS, openapi_extra=_body(BYTES))
async def ingest_file(call: Writing, query: Annotated[FileQuery, Query()]) -> Response:
    """Keep the texts of a file: a chat, notes, a log or an export of another product."""
    path = await received(call.request, _plain_name(query.name))
    given = query.given("name")

    async def work(progress: Progress) -> Response:
        try:
            return await call.once(lambda engine: report_to_data(engine.ingest(path, progress=progress, **given)))
        finally:
            shutil.rmtree(path.parent, ignore_errors=True)

    return await with_progress(call.request, work)


@router.get("/export", response_class=Response, responses=_file(JSON_LINES, "Everything, as lines of JSON."))
async def export(call: Ruling) -> Response:
    """Everything the space holds, vectors included, as lines of JSON."""
    whole = call.whole()

    async def make(path: Path) -> object:
        return await whole.run(lambda engine: engine.export(path), long=True)

    return await download(make, f"{call.space}.jsonl", JSON_LINES)


@router.get("/backup", response_class=Response, responses=_file(SQLITE, "The space's file, checked."))
async def backup(call: Ruling) -> Response:
    """A copy of the space's file as of one moment, which `memorist restore` takes back."""
    whole = call.whole()

    async def make(path: Path) -> object:
        return await whole.run(lambda engine: engine.backup(path), long=True)

    return await download(make, f"{call.space}.db", SQLITE)


@router.post("/import", response_model=ImportedData, openapi_extra=_body(BYTES))
async def import_(call: Ruling, query: Annotated[ImportQuery, Query()]) -> Response:
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
