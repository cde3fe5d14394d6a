"""The inspector beside REST: one server, two applications, chosen by the path."""

from __future__ import annotations

import logging
import os
import secrets
from dataclasses import replace

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from memorist.errors import Error
from memorist_server.inspector.access import Door
from memorist_server.inspector.pages import STATIC, error_page, page_of
from memorist_server.inspector.sessions import SECRET, BrowserSessions
from memorist_server.inspector.views import ROUTERS, VIEWS
from memorist_server.rest.app import VARIABLE
from memorist_server.rest.app import create_app as create_rest
from memorist_server.rest.app import serve as serve_rest
from memorist_server.rest.auth import Caller
from memorist_server.rest.logs import set_up
from memorist_server.rest.metrics import RequestObserver
from memorist_server.rest.problems import Refusal, Sort
from memorist_server.rest.server import Server, Settings
from memorist_server.rest.tracing import NO_TELEMETRY, request_spans, start_exporting

FACTORY, QUIET_FACTORY = f"{__name__}:from_environment", f"{__name__}:quiet_from_environment"
SECRET_VARIABLE = "MEMORIST_SESSION_SECRET"  # noqa: S105
"""The environment variable with a secret that several servers share, so that each knows the sessions of the others."""
OWN = ("/inspect/", "/static/")
OWN_PAGES = ("/", "/login", "/logout")
FOR_GOOD = "public, max-age=31536000, immutable"


class Both:
    """The inspector at its own paths, and REST at all others, exactly as without an inspector."""

    def __init__(self, settings: Settings) -> None:
        self.server = Server.started(settings)
        self.rest = create_rest(settings, self.server)
        self.inspector = create_inspector(self.server)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; the start and the end of the process are told to REST, which closes the server."""
        path = str(scope.get("path", ""))
        own = scope["type"] == "http" and (path in OWN_PAGES or path.startswith(OWN))
        await (self.inspector if own else self.rest)(scope, receive, send)


def create_app(settings: Settings) -> Both:
    """REST and the inspector for a folder, a database or a file."""
    return Both(settings)


def create_inspector(server: Server) -> FastAPI:
    """The inspector alone, on a server that another application starts and closes."""
    sessions = BrowserSessions(server)
    app = FastAPI(
        title="Memorist inspector",
        openapi_url=None,
        telemetry=NO_TELEMETRY,
        middleware=[*request_spans(), Middleware(RequestObserver, server.metrics), Middleware(Door, server, sessions)],
    )
    app.state.server, app.state.sessions, app.state.views = server, sessions, VIEWS
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", _kept(StaticFiles(directory=STATIC)))
    for kind, handler in ((Error, _told), (Refusal, _refused), (HTTPException, _by_status)):
        app.add_exception_handler(kind, handler)  # pyright: ignore[reportArgumentType]  # each takes its own kind
    app.add_exception_handler(RequestValidationError, _misshapen)  # pyright: ignore[reportArgumentType]
    return app


def _kept(files: ASGIApp) -> ASGIApp:
    """Static files that a browser may keep for good: their addresses change with their content."""

    async def serve_file(scope: Scope, receive: Receive, send: Send) -> None:
        async def kept(message: dict[str, object]) -> None:
            if message["type"] == "http.response.start" and message["status"] in (200, 304):
                message["headers"] = [*message["headers"], (b"cache-control", FOR_GOOD.encode())]  # pyright: ignore
            await send(message)

        await files(scope, receive, kept)  # pyright: ignore[reportArgumentType]

    return serve_file


async def _told(request: Request, error: Error) -> Response:
    return page_of(request, error)


async def _refused(request: Request, refusal: Refusal) -> Response:
    return error_page(request, refusal.sort, refusal.detail, refusal.headers)


async def _by_status(request: Request, error: HTTPException) -> Response:
    title = "There is no such page" if error.status_code == 404 else "This cannot be done here"
    before, _, space = request.url.path.partition("/inspect/")
    space = space.partition("/")[0]
    caller: Caller | None = request.state.caller
    if space and not before and caller is not None and caller.allows(space, "read"):
        request.scope["path_params"] = {"space": space}  # an address that leads nowhere keeps its menu
        return error_page(request, Sort("", error.status_code, title, title, "Choose a view in the menu."))
    return error_page(request, Sort("", error.status_code, title, title, "Choose a space."))


async def _misshapen(request: Request, error: RequestValidationError) -> Response:
    fields = ", ".join(dict.fromkeys(str(fault["loc"][-1]) for fault in error.errors()[:3]))
    sort = Sort("", 422, "The address is not valid", f"These are not valid: {fields}", "Correct or remove them.")
    return error_page(request, sort)


def serve(settings: Settings, workers: int = 1) -> None:
    """Serve REST and the inspector until a signal to stop."""
    serve_rest(with_secret(settings), workers, FACTORY)


def with_secret(settings: Settings) -> Settings:
    """Settings with a secret for sessions, the same in every worker: that of the environment, or a random one."""
    return replace(settings, session_secret=os.environ.get(SECRET_VARIABLE) or secrets.token_urlsafe(SECRET))


def quiet_from_environment() -> Both:
    """The application on somebody's own terminal, which shows only what goes wrong."""
    return from_environment(logging.WARNING)


def from_environment(level: int = logging.INFO) -> Both:
    """The application of a worker."""
    set_up(level)
    start_exporting()
    app = create_app(Settings.from_text(os.environ[VARIABLE]))
    app.server.owns_process = True
    return app
