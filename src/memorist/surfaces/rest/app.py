"""The application: routes, middleware, errors; and the server that runs it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from html import escape
from typing import Any

from anyio import to_thread
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

import memorist
from memorist.errors import Error
from memorist.surfaces.rest.auth import Auth
from memorist.surfaces.rest.problems import TYPE, Problem, Refusal, documented, of_error, of_sort, of_status, problem
from memorist.surfaces.rest.routes import memories, sessions, upkeep
from memorist.surfaces.rest.server import Server, Settings
from memorist.surfaces.rest.watch import Watch

Document = Mapping[str, Any]
STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
summary{cursor:pointer;padding:.3rem 0}code,pre{font:14px/1.4 ui-monospace,monospace}
pre{overflow:auto;padding:.6rem;border:1px solid #8886;border-radius:.3rem}b{display:inline-block;min-width:4.5rem}
table{border-collapse:collapse}td{padding:.1rem 1rem .1rem 0;vertical-align:top}"""


def page(document: Document) -> str:
    """Every operation with its parameters, an example of its body, and its answers."""
    info = document["info"]
    operations = "\n".join(
        _operation(method, path, operation, document)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(info["title"])}</title>
<meta name="viewport" content="width=device-width"><style>{STYLE}</style>
<h1>{escape(info["title"])} {escape(info["version"])}</h1><p>{escape(info.get("description", ""))}</p>
<p>The same for machines: <a href="/openapi.json">/openapi.json</a>.</p>
{operations}</html>"""


def _operation(method: str, path: str, operation: Document, document: Document) -> str:
    head = f"<b>{method.upper()}</b> <code>{escape(path)}</code> {escape(operation.get('summary', ''))}"
    parts = [f"<p>{escape(operation.get('description', ''))}</p>", *_parameters(operation), *_body(operation, document)]
    return f"<details><summary>{head}</summary>{''.join(parts)}{_answers(operation)}</details>"


def _parameters(operation: Document) -> Iterator[str]:
    rows = [
        f"<tr><td><code>{escape(one['name'])}</code><td>{one['in']}<td>{escape(one.get('description', ''))}"
        for one in operation.get("parameters", ())
    ]
    if rows:
        yield f"<table>{''.join(rows)}</table>"


def _body(operation: Document, document: Document) -> Iterator[str]:
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = _resolved(content.get("schema", {}), document)
        fields = ", ".join(f"<code>{escape(name)}</code>" for name in schema.get("properties", ()))
        yield f"<p>Body, {escape(kind)}{f': {fields}' if fields else ''}</p>"
        for example in schema.get("examples", ())[:1]:
            yield f"<pre>{escape(json.dumps(example, indent=2, ensure_ascii=False))}</pre>"


def _answers(operation: Document) -> str:
    rows = [
        f"<tr><td>{escape(status)}<td>{escape(answer.get('description', ''))}"
        for status, answer in operation.get("responses", {}).items()
    ]
    return f"<table>{''.join(rows)}</table>"


def _resolved(schema: Document, document: Document) -> Document:
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


ABOUT = """The memory of AI agents, over HTTP. Writes take an `Idempotency-Key`; every answer has an `X-Request-Id`;
what goes wrong is told as `application/problem+json`, with what to do about it."""
MOST_SHOWN = 3
"""Fields with a fault that a problem names."""


def create_app(settings: Settings) -> FastAPI:
    """The application for a folder of spaces."""
    server = Server.started(settings)
    app = FastAPI(
        title="Memorist",
        version=memorist.__version__,
        description=ABOUT,
        lifespan=_life,
        docs_url=None,
        redoc_url=None,
        responses=documented(),
        middleware=[Middleware(Watch, server.metrics), Middleware(Auth, server)],
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
    _describe(app)
    app.add_route("/docs", _page, include_in_schema=False)
    return app


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncGenerator[None]:
    server: Server = app.state.server
    server.ready = True
    try:
        yield
    finally:
        await to_thread.run_sync(server.close)


async def _page(request: Request) -> Response:
    return HTMLResponse(page(request.app.openapi()))


async def _told(request: Request, error: Error) -> Response:
    return of_error(error, request.state.request_id)


async def _refused(request: Request, refusal: Refusal) -> Response:
    return of_sort(refusal.sort, request.state.request_id, refusal.detail, refusal.headers)


async def _by_status(request: Request, error: HTTPException) -> Response:
    return of_status(error.status_code, request.state.request_id, error.headers)


async def _misshapen(request: Request, error: RequestValidationError) -> Response:
    """Which fields are at fault and why; never their values, which may be what somebody said."""
    faults = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    shown = "; ".join(faults[:MOST_SHOWN])
    remedy = "Correct it as /docs describes it."
    title = "The request has not the form it should have"
    return problem(422, f"{TYPE}invalid-input", title, shown, remedy, request.state.request_id)


def _describe(app: FastAPI) -> None:
    """Let OpenAPI know keys, problems and the headers that every request may carry."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = plain()
            parts = schema.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
            parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "rk_…"}}
            schema["security"] = [{"key": []}]
            for path, operations in schema["paths"].items():
                for method, operation in operations.items():
                    _describe_operation(path, method, operation)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = described


def _describe_operation(path: str, method: str, operation: dict[str, Any]) -> None:
    if path in ("/healthz", "/readyz"):
        operation["security"] = []
    headers = [_header("X-Request-Id", "The caller's own id for this request, which the log will show.", 64)]
    if method in ("post", "delete"):
        headers.append(_header("Idempotency-Key", "A key of the caller's: a repeat gets the same answer.", 255))
    operation.setdefault("parameters", []).extend(headers)


def _header(name: str, description: str, longest: int) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": longest, "pattern": r"^[!-~]+$"}
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}
