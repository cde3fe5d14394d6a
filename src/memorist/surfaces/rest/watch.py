"""The outermost layer: gives each request an id, answers what nobody caught, and writes and counts how it went."""

from __future__ import annotations

import re
from time import perf_counter
from typing import Any
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorist.surfaces.rest.logs import failure, note
from memorist.surfaces.rest.metrics import Metrics
from memorist.surfaces.rest.problems import INTERNAL, Refusal, of_sort

HEADER = "x-request-id"
_ID = re.compile(r"[\w.:-]{1,64}", re.ASCII)
NO_ROUTE = "none"


class Watch:
    """Watches every request from its first byte to its last."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and write what became of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        id = _request_id(Headers(scope=scope).get(HEADER))
        scope.setdefault("state", {})["request_id"] = id
        started, status = perf_counter(), 0

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = id
            await send(message)

        try:
            await self._app(scope, receive, told)
        except Refusal as refusal:
            await _answer(of_sort(refusal.sort, id, refusal.detail, refusal.headers), scope, receive, told)
        except Exception as error:
            failure("request failed", error, request_id=id, route=_route(scope))
            if status:
                raise  # the answer has begun: all that is left is to break it off
            await _answer(of_sort(INTERNAL, id), scope, receive, told)
        finally:
            self._write(scope, status, perf_counter() - started)

    def _write(self, scope: Scope, status: int, seconds: float) -> None:
        route, state = _route(scope), scope["state"]
        caller = state.get("caller")
        self._metrics.count(scope["method"], route, status, seconds)
        note(
            "request",
            request_id=state["request_id"],
            method=scope["method"],
            route=route,
            status=status,
            ms=round(seconds * 1000, 3),
            key=caller and caller.id,
            space=scope.get("path_params", {}).get("space"),
        )


async def _answer(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    await response(scope, receive, send)


def _request_id(given: str | None) -> str:
    """The caller's own id, unless it could not stand in a log as it is."""
    return given if given and _ID.fullmatch(given) else uuid4().hex


def _route(scope: Scope) -> str:
    """The template of the path: paths themselves may hold names and ids."""
    route: Any = scope.get("route")
    return getattr(route, "path_format", None) or getattr(route, "path", NO_ROUTE)
