"""The server itself: whether it lives, which spaces there are, and what it counted."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

import memorist
from memorist.surfaces.rest.door import Caller
from memorist.surfaces.rest.metrics import CONTENT_TYPE
from memorist.surfaces.rest.schemas.upkeep import HealthData, SpacesData
from memorist.surfaces.rest.server import Server

router = APIRouter(tags=["server"])
_NOT_READY: dict[int | str, dict[str, Any]] = {503: {"model": HealthData, "description": "Starting, or about to end."}}


@router.get("/healthz", response_model=HealthData)
async def health() -> Response:
    """That the process answers; needs no key."""
    return JSONResponse({"status": "ok", "version": memorist.__version__})


@router.get("/readyz", response_model=HealthData, responses=_NOT_READY)
async def ready(request: Request) -> Response:
    """Whether requests are taken; needs no key."""
    server: Server = request.app.state.server
    status = "ready" if server.ready else "not ready"
    return JSONResponse({"status": status, "version": memorist.__version__}, 200 if server.ready else 503)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """What this worker has counted, for Prometheus."""
    server: Server = request.app.state.server
    gauges = {
        "memorist_requests_under_way": ("Requests that are being answered.", float(server.room.taken)),
        "memorist_open_spaces": ("Spaces that are open.", float(server.spaces.open)),
    }
    return PlainTextResponse(server.metrics.text(gauges), media_type=CONTENT_TYPE)


@router.get("/v1/spaces", response_model=SpacesData)
async def spaces(request: Request) -> Response:
    """The spaces that the caller may read."""
    server: Server = request.app.state.server
    caller: Caller = request.state.caller
    names = await to_thread.run_sync(server.spaces.names)
    return JSONResponse({"items": [name for name in names if caller.allows(name, "read")]})
