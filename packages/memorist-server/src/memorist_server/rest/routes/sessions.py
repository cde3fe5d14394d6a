"""Routes of sessions, and of the server itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

import memorist
from memorist.engine.engine import Engine
from memorist.engine.vocabulary import Session, run_of
from memorist.errors import NotFound
from memorist.model import Doc, GateDecision
from memorist.verbs import SessionVerbs, Verbs
from memorist_server.rest.auth import Caller
from memorist_server.rest.calls import ReadCall, WriteCall
from memorist_server.rest.metrics import CONTENT_TYPE
from memorist_server.rest.routes import SPACE
from memorist_server.rest.routes.memories import RecallBody, recall_json
from memorist_server.rest.schemas import ResponseModel, answer_of, body_of, example, items_of, response_type
from memorist_server.rest.server import Server

router = APIRouter(prefix=f"{SPACE}/sessions", tags=["sessions"])


class SessionBody(body_of(Verbs.session)):
    """A session to open or continue."""

    model_config = example(goal="Book a table for four.")


class StepBody(body_of(SessionVerbs.step)):
    """An observation, and the action that followed."""

    model_config = example(observation="The form asks for a date.", reward=1)

    reward: Annotated[float, Field(ge=0, le=1)] | None = None
    number: Annotated[int, Field(ge=1, lt=2**31)] | None = Field(
        None, description="The number of the step, counted from 1; the same step is kept once."
    )


@dataclass(frozen=True, slots=True)
class SessionData:
    """An open session."""

    id: str
    goal: str | None
    gates: Annotated[tuple[GateDecision, ...], Doc("What gates decided about the goal.")]


@router.post("", status_code=201, response_model=response_type(SessionData))
async def open_session(call: WriteCall, body: SessionBody) -> Any:
    """Open a session; a known id continues that session."""
    return await call.answer(lambda engine: _told(engine.session(**body.given())), makes=True)


@router.post("/{id:path}/steps", status_code=201, response_model=answer_of(SessionVerbs.step))
async def step(call: WriteCall, id: str, body: StepBody) -> Any:
    """Keep an observation and the action that followed; it can be found at once."""
    return await call.answer(lambda engine: _known(engine, id).step(**body.given()), adds=True)


@router.post("/{id:path}/commit", response_model=answer_of(SessionVerbs.commit))
async def commit(call: WriteCall, id: str) -> Any:
    """Learn from the steps so far and close the session; another step opens it again."""
    return await call.answer(lambda engine: _known(engine, id).commit(), long=True, adds=True)


@router.post("/{id:path}/discard", response_model=answer_of(SessionVerbs.discard))
async def discard(call: WriteCall, id: str) -> Any:
    """Erase the steps that were not committed, and close the session; nothing is learnt from them."""
    return await call.answer(lambda engine: _known(engine, id).discard(), long=True, erases=True)


@router.post("/{id:path}/recall", response_model=answer_of(Verbs.recall_in_context), response_model_exclude_unset=True)
async def recall_in_context(call: ReadCall, id: str, body: RecallBody) -> Any:
    """Recall with the session's goal and last steps before the question; a plain recall for an unknown session."""
    options = body.given("query", "details")
    query, details = body.query, body.details
    return await call.answer(
        lambda engine: recall_json(engine, engine.recall_in_context(id, query, **options), details)
    )


def _told(session: Session) -> SessionData:
    return SessionData(session.id, session.goal, session.gates)


def _known(engine: Engine, id: str) -> Session:
    """A session that was opened before: a misspelt id must not start another."""
    if run_of(engine.store, id) is None:
        raise NotFound(f"There is no session {id!r}", remedy="Open one first.")
    return engine.session(id=id)


server_router = APIRouter(tags=["server"])


class HealthData(ResponseModel):
    """The state of the server."""

    status: str
    version: str


_NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {"model": HealthData, "description": "Starting, shutting down, or without its database."}
}


@server_router.get("/healthz", response_model=HealthData)
async def health() -> Any:
    """Whether the process responds; needs no key."""
    return {"status": "ok", "version": memorist.__version__}


@server_router.get("/readyz", response_model=HealthData, responses=_NOT_READY)
async def ready(request: Request, response: Response) -> Any:
    """Whether requests are accepted and the database answers; needs no key."""
    server: Server = request.app.state.server
    lacking = f"no {server.home.catalogue.kind}"
    status = "stopping" if not server.accepting else "ready" if await server.readiness.reached() else lacking
    response.status_code = 200 if status == "ready" else 503
    return {"status": status, "version": memorist.__version__}


@server_router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """The counters of this worker, for Prometheus."""
    server: Server = request.app.state.server
    return PlainTextResponse(server.measured(), media_type=CONTENT_TYPE)


@server_router.get("/v1/spaces", response_model=items_of(str))
async def spaces(request: Request) -> Any:
    """The spaces that the caller may read."""
    server: Server = request.app.state.server
    caller: Caller = request.state.caller
    names = await to_thread.run_sync(server.home.catalogue.names)
    return {"items": [name for name in names if caller.allows(name, "read")]}
