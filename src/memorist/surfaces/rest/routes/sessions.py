"""Routes of sessions, and of the server itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anyio import to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

import memorist
from memorist.errors import NotFound
from memorist.remember.sessions.run import run_of
from memorist.serialize import commit_to_data, memory_to_data, session_to_data
from memorist.surfaces.rest.auth import Caller
from memorist.surfaces.rest.calls import ReadCall, WriteCall
from memorist.surfaces.rest.routes import SPACE
from memorist.surfaces.rest.routes.memories import recalled
from memorist.surfaces.rest.schemas.memories import MemoryData
from memorist.surfaces.rest.schemas.recalls import (
    CommitData,
    RecallBody,
    RecallData,
    SessionBody,
    SessionData,
    StepBody,
)
from memorist.surfaces.rest.schemas.upkeep import HealthData, SpacesData
from memorist.surfaces.rest.server import Server
from memorist.surfaces.rest.watch import CONTENT_TYPE

if TYPE_CHECKING:
    from memorist.engine.engine import Engine
    from memorist.remember.sessions import Session


router = APIRouter(prefix=f"{SPACE}/sessions", tags=["sessions"])


@router.post("", status_code=201, response_model=SessionData)
async def open_session(call: WriteCall, body: SessionBody) -> Response:
    """Open a session; an id that is known goes on with that one."""
    return await call.answer(lambda engine: session_to_data(engine.session(**body.given())), status=201, makes=True)


@router.post("/{id}/steps", status_code=201, response_model=MemoryData)
async def step(call: WriteCall, id: str, body: StepBody) -> Response:
    """Keep what was observed and what was then done; it can be found at once."""
    return await call.answer(lambda engine: memory_to_data(_known(engine, id).step(**body.given())), status=201)


@router.post("/{id}/commit", response_model=CommitData)
async def commit(call: WriteCall, id: str) -> Response:
    """Learn from the steps so far and close the session; another step opens it again."""
    return await call.answer(lambda engine: commit_to_data(_known(engine, id).commit()), long=True)


@router.post("/{id}/recall", response_model=RecallData)
async def recall_in_context(call: ReadCall, id: str, body: RecallBody) -> Response:
    """Find, with the session's goal and last steps before the question; plainly where there is no such session."""
    options = call.capped(body.given("query", "details"))
    return await call.answer(
        lambda engine: recalled(engine, engine.recall_in_context(id, body.query, **options), body.details)
    )


def _known(engine: Engine, id: str) -> Session:
    """A session that was opened: a misspelt id must not begin another."""
    if run_of(engine.store, id) is None:
        raise NotFound(f"There is no session {id!r}", remedy="Open one first.")
    return engine.session(id=id)


server_router = APIRouter(tags=["server"])
_NOT_READY: dict[int | str, dict[str, Any]] = {503: {"model": HealthData, "description": "Starting, or about to end."}}


@server_router.get("/healthz", response_model=HealthData)
async def health() -> Response:
    """That the process answers; needs no key."""
    return JSONResponse({"status": "ok", "version": memorist.__version__})


@server_router.get("/readyz", response_model=HealthData, responses=_NOT_READY)
async def ready(request: Request) -> Response:
    """Whether requests are taken; needs no key."""
    server: Server = request.app.state.server
    status = "ready" if server.ready else "not ready"
    return JSONResponse({"status": status, "version": memorist.__version__}, 200 if server.ready else 503)


@server_router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """What this worker has counted, for Prometheus."""
    server: Server = request.app.state.server
    gauges = {
        "memorist_requests_under_way": ("Requests that are being answered.", float(server.room.taken)),
        "memorist_open_spaces": ("Spaces that are open.", float(server.spaces.open)),
    }
    return PlainTextResponse(server.metrics.text(gauges), media_type=CONTENT_TYPE)


@server_router.get("/v1/spaces", response_model=SpacesData)
async def spaces(request: Request) -> Response:
    """The spaces that the caller may read."""
    server: Server = request.app.state.server
    caller: Caller = request.state.caller
    names = await to_thread.run_sync(server.spaces.names)
    return JSONResponse({"items": [name for name in names if caller.allows(name, "read")]})
