"""Sessions: open, step, commit, and ask from within one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.responses import Response

from memorist.errors import NotFound
from memorist.remember.sessions.run import run_of
from memorist.surfaces.rest.calls import Reading, Writing
from memorist.surfaces.rest.routes import SPACE
from memorist.surfaces.rest.routes.recalls import recalled
from memorist.surfaces.rest.schemas.memories import MemoryData
from memorist.surfaces.rest.schemas.recalls import (
    CommitData,
    RecallBody,
    RecallData,
    SessionBody,
    SessionData,
    StepBody,
)
from memorist.wire import commit_to_data, memory_to_data, session_to_data

if TYPE_CHECKING:
    from memorist.engine import Engine
    from memorist.remember.sessions import Session

router = APIRouter(prefix=f"{SPACE}/sessions", tags=["sessions"])


@router.post("", status_code=201, response_model=SessionData)
async def open_session(call: Writing, body: SessionBody) -> Response:
    """Open a session; an id that is known goes on with that one."""
    return await call.answer(lambda engine: session_to_data(engine.session(**body.given())), status=201, makes=True)


@router.post("/{id}/steps", status_code=201, response_model=MemoryData)
async def step(call: Writing, id: str, body: StepBody) -> Response:
    """Keep what was observed and what was then done; it can be found at once."""
    return await call.answer(lambda engine: memory_to_data(_known(engine, id).step(**body.given())), status=201)


@router.post("/{id}/commit", response_model=CommitData)
async def commit(call: Writing, id: str) -> Response:
    """Learn from the steps so far and close the session; another step opens it again."""
    return await call.answer(lambda engine: commit_to_data(_known(engine, id).commit()), long=True)


@router.post("/{id}/recall", response_model=RecallData)
async def recall_in_context(call: Reading, id: str, body: RecallBody) -> Response:
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
