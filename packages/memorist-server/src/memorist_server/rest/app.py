"""The application, and the server processes that run it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import FrameType

import uvicorn
from anyio import to_thread
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from uvicorn.supervisors import Multiprocess

import memorist
from memorist.errors import Error, InvalidInput
from memorist_server.access.home import Catalogue, catalogue_of, key_ring
from memorist_server.rest.auth import Auth
from memorist_server.rest.connections import uvicorn_config
from memorist_server.rest.description import describe, page
from memorist_server.rest.logs import log_private, set_up
from memorist_server.rest.metrics import RequestObserver
from memorist_server.rest.problems import TYPE, Refusal, of_error, of_sort, of_status, problem, problem_responses
from memorist_server.rest.routes import memories, sessions, upkeep
from memorist_server.rest.server import Server, Settings, note_migrated
from memorist_server.rest.threads import end_soon
from memorist_server.rest.tracing import NO_TELEMETRY, flush, request_spans, start_exporting

ABOUT = """The memory of AI agents, over HTTP. Writes accept an `Idempotency-Key`, every response has an
`X-Request-Id`, and errors are `application/problem+json` documents with a remedy."""
MOST_SHOWN = 3
"""The number of invalid fields that a problem names."""


def create_app(settings: Settings, server: Server | None = None) -> FastAPI:
    """The application for a folder or a database of spaces; another application may share its `server`."""
    server = server or Server.started(settings)
    app = FastAPI(
        title="Memorist",
        version=memorist.__version__,
        description=ABOUT,
        lifespan=_life,
        docs_url=None,
        redoc_url=None,
        responses=problem_responses(),
        telemetry=NO_TELEMETRY,
        middleware=[*request_spans(), Middleware(RequestObserver, server.metrics), Middleware(Auth, server)],
    )
    app.state.server = server
    for router in (
        sessions.server_router,
        memories.router,
        memories.recall_router,
        sessions.router,
        upkeep.router,
        upkeep.moving_router,
    ):
        app.include_router(router)
    for kind, handler in ((Error, _told), (Refusal, _refused), (HTTPException, _by_status)):
        app.add_exception_handler(kind, handler)  # pyright: ignore[reportArgumentType]  # each takes its own kind
    app.add_exception_handler(RequestValidationError, _misshapen)  # pyright: ignore[reportArgumentType]
    describe(app)
    app.add_route("/docs", _page, include_in_schema=False)
    return app


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncGenerator[None]:
    server: Server = app.state.server
    server.accepting = True
    if server.owns_process:
        drain_on_signal(server)
    try:
        yield
    finally:
        if server.owns_process:
            end_soon()
        await to_thread.run_sync(server.close)
        if server.owns_process:
            await flush()


async def _page(request: Request) -> Response:
    return HTMLResponse(page(request.app.openapi()))


async def _told(request: Request, error: Error) -> Response:
    log_private(error, request.state.request_id)
    return of_error(error, request.state.request_id)


async def _refused(request: Request, refusal: Refusal) -> Response:
    return of_sort(refusal.sort, request.state.request_id, refusal.detail, refusal.headers)


async def _by_status(request: Request, error: HTTPException) -> Response:
    return of_status(error.status_code, request.state.request_id, error.headers)


async def _misshapen(request: Request, error: RequestValidationError) -> Response:
    """Name the invalid fields and the reason, but not their values, which may be private."""
    faults = [
        f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].removeprefix('Value error, ')}" for fault in error.errors()
    ]
    shown = "; ".join(faults[:MOST_SHOWN])
    remedy = "See /docs for the form of this request."
    title = "Invalid request"
    return problem(422, f"{TYPE}invalid-input", title, shown, remedy, request.state.request_id)


VARIABLE = "MEMORIST_SERVER"
"""The environment variable that gives worker processes their settings."""
PATIENCE = 30
"""Seconds that running requests have to finish after the signal to stop."""


def prepare(settings: Settings) -> Catalogue:
    """Where the spaces are, created or migrated; refuses what cannot be served, before any worker starts."""
    catalogue = check_locked(settings)
    migrated = catalogue.prepare()
    set_up()
    start_exporting()
    note_migrated(migrated)
    return catalogue


def serve(settings: Settings, workers: int = 1, factory: str = f"{__name__}:from_environment") -> None:
    """Serve until a signal to stop; then finish the running requests and close every space."""
    with listening_socket(settings.host, settings.port) as door:
        serve_on(door, settings, workers, factory)


def serve_on(door: socket.socket, settings: Settings, workers: int, factory: str) -> None:
    """`serve`, on a socket that listens; each worker runs the application that the factory makes."""
    os.environ[VARIABLE] = settings.to_text()
    config = uvicorn_config(
        factory,
        settings.of_connections,
        factory=True,
        workers=workers,
        log_config=None,
        timeout_graceful_shutdown=PATIENCE,
    )
    if workers > 1:
        Multiprocess(config, sockets=[door]).run()
    else:
        uvicorn.Server(config).run(sockets=[door])


def listening_socket(host: str, port: int) -> socket.socket:
    """A listening socket.

    It states its protocol because asyncio disables Nagle's algorithm only for TCP; with it, each response would wait
    40 ms for the client's acknowledgement.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        door = socket.socket(family, kind, socket.IPPROTO_TCP)
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(address)
    except OSError as error:
        raise InvalidInput(
            f"Cannot listen on {host}:{port} ({error.strerror})", remedy="Choose another --port or --host."
        ) from error
    door.set_inheritable(True)
    return door


def drain_on_signal(server: Server) -> None:
    """On SIGTERM, be no longer ready at once, and stop listening after the time to drain; a second one stops at once.

    Uvicorn has set its own handler before the application starts, and sets the old ones again at the end.
    """
    stop = signal.getsignal(signal.SIGTERM)
    loop = asyncio.get_running_loop()
    if not callable(stop):
        return

    def drain(number: int, frame: FrameType | None) -> None:
        again, server.accepting = not server.accepting, False
        if again or not server.settings.drain:
            stop(number, frame)
        else:
            loop.call_soon_threadsafe(loop.call_later, server.settings.drain, stop, number, frame)

    signal.signal(signal.SIGTERM, drain)


def from_environment() -> FastAPI:
    """The application of a worker."""
    set_up()
    start_exporting()
    app = create_app(Settings.from_text(os.environ[VARIABLE]))
    app.state.server.owns_process = True
    return app


def check_locked(settings: Settings) -> Catalogue:
    """Where the spaces are; refuses what cannot be served, and to serve other machines without keys."""
    catalogue = catalogue_of(settings.db, settings.only)
    catalogue.close()
    with key_ring(settings.db) as keys:
        if not settings.loopback and keys.empty:
            raise InvalidInput(
                f"Other machines could use {settings.host} without a key",
                remedy="Create one with `memorist keys create`, or serve on 127.0.0.1.",
            )
    return catalogue
