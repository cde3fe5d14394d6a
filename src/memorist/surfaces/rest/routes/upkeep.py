"""Upkeep: tidy, audit, consolidate, reembed, undo, the journal, jobs and stats."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from memorist.surfaces.rest.calls import Reading, Ruling
from memorist.surfaces.rest.routes import SPACE
from memorist.surfaces.rest.schemas.upkeep import (
    AuditBody,
    AuditData,
    ConsolidateBody,
    ConsolidationData,
    EntriesData,
    EntryData,
    JobsData,
    JournalQuery,
    ReembeddingData,
    StatsData,
    TidyBody,
    TidyData,
    UndoBody,
)
from memorist.wire import entry_to_data, job_to_data, stats_to_data

if TYPE_CHECKING:
    from memorist.engine import Engine

router = APIRouter(prefix=SPACE, tags=["upkeep"])


@router.get("/stats", response_model=StatsData)
async def stats(call: Reading) -> Response:
    """How much the space holds."""
    return await call.answer(lambda engine: stats_to_data(engine.stats()))


@router.get("/jobs", response_model=JobsData)
async def jobs(call: Reading) -> Response:
    """What is left to do, the first due first."""
    return await call.answer(lambda engine: {"items": [job_to_data(job) for job in engine.jobs()]})


@router.get("/journal", response_model=EntriesData)
async def journal(call: Ruling, query: Annotated[JournalQuery, Query()]) -> Response:
    """What was decided and changed, the newest first."""
    given = query.given()
    return await call.whole().answer(
        lambda engine: {"items": [entry_to_data(entry) for entry in engine.journal(**given)]}
    )


@router.post("/tidy", response_model=TidyData)
async def tidy(call: Ruling, body: TidyBody) -> Response:
    """What there is to tidy among what was learnt; done only if it is no dry run."""
    return await call.whole().answer(lambda engine: engine.tidy(**body.given()).to_data(), long=True)


@router.post("/audit", response_model=AuditData)
async def audit(call: Ruling, body: AuditBody) -> Response:
    """What is wrong with which memories; mended only where that is asked for."""
    return await call.whole().answer(lambda engine: _audited(engine, body), long=True)


@router.post("/consolidate", response_model=ConsolidationData)
async def consolidate(call: Ruling, body: ConsolidateBody) -> Response:
    """Write the notes of days, weeks and quarters that are over."""
    return await call.answer(lambda engine: engine.consolidate(**body.given()).to_data(), long=True)


@router.post("/reembed", response_model=ReembeddingData)
async def reembed(call: Ruling) -> Response:
    """Make new vectors of everything by the server's embedder; recalls use the old ones until they are complete."""
    return await call.answer(lambda engine: asdict(engine.reembed()), long=True)


@router.post("/undo", response_model=EntryData)
async def undo(call: Ruling, body: UndoBody) -> Response:
    """Take back what an entry of the journal tells of, or all of a tidying, given its run."""
    return await call.whole().answer(lambda engine: entry_to_data(engine.undo(body.entry)))


def _audited(engine: Engine, body: AuditBody) -> dict[str, Any]:
    report = engine.audit(body.kinds, fix=body.fix)
    if body.findings is not None and not body.fix:
        report = engine.mend(report, body.findings)
    return report.to_data()
