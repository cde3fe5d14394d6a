"""OpenTelemetry in the server: a span per request, and the SDK when the environment asks for an exporter."""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from anyio import move_on_after, to_thread
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorist.errors import InvalidInput, MissingExtra
from memorist.ports.notices import API, span
from memorist_server.rest.auth import HEALTH
from memorist_server.rest.logs import note
from memorist_server.rest.metrics import method_of, route_of

if TYPE_CHECKING:
    from fastapi.telemetry import TelemetryConfig

NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""FastAPI's own spans hold paths and queries, which name spaces, memories and people; its logs hold our messages."""
EXPORTERS = "OTEL_TRACES_EXPORTER"
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
DEFAULTS = {"OTEL_SERVICE_NAME": "memorist", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}
PROTOCOLS = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
REMEDY = "Install it with: pip install 'memorist[otel]', or set OTEL_TRACES_EXPORTER=none."
FLUSHED_WITHIN = 3.0
"""Seconds to send the last spans when the server ends."""


class Traced:
    """Records a span per request. It continues the trace of the caller, if the request names one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or scope["path"] in HEALTH:
            await self._app(scope, receive, send)
            return
        from opentelemetry.trace import SpanKind, StatusCode

        method, status = method_of(scope), 0

        async def told(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        with span(method, kind=SpanKind.SERVER, headers=Headers(scope=scope)) as recorded:
            await self._app(scope, receive, told)
            if recorded is None:
                return
            route = route_of(scope)
            recorded.update_name(f"{method} {route}")
            recorded.set_attributes(
                {
                    "http.request.method": method,
                    "http.route": route,
                    "http.response.status_code": status,
                    "memorist.request_id": scope["state"]["request_id"],
                }
            )
            if status >= 500:
                recorded.set_status(StatusCode.ERROR)


def request_spans() -> list[Middleware]:
    """The middleware of a program that traces; any other has none."""
    return [Middleware(Traced)] if API in sys.modules else []


def exporters() -> list[str]:
    """The names of the exporters that the environment asks for; none unless it names one, or where to send spans."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return []
    named = os.environ.get(EXPORTERS) or ("otlp" if any(map(os.environ.get, ENDPOINTS)) else "")
    names = [name.strip() for name in named.split(",")]
    return [name for name in names if name not in ("", "none")]


def start_exporting() -> None:
    """Install the SDK with the exporters of the environment, unless something else has: `opentelemetry-instrument`."""
    names = exporters()
    if not names:
        return
    for variable, value in DEFAULTS.items():
        os.environ.setdefault(variable, value)
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        if EXPORTERS not in os.environ:  # an endpoint alone may be meant for other programs
            note("no traces: the OpenTelemetry SDK is not installed", remedy=REMEDY)
            return
        raise MissingExtra(f"{EXPORTERS} is set, but the OpenTelemetry SDK is not installed", remedy=REMEDY) from None
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return
    provider = TracerProvider()
    for name in names:
        provider.add_span_processor(BatchSpanProcessor(_exporter(name)))
    trace.set_tracer_provider(provider)


async def flush() -> None:
    """Send the spans that wait, unless that takes too long: a collector that is away keeps no server from ending."""
    from opentelemetry import trace

    provider: Any = trace.get_tracer_provider()
    if not hasattr(provider, "force_flush"):  # that of the API, without the SDK
        return
    with move_on_after(FLUSHED_WITHIN):
        await to_thread.run_sync(provider.force_flush, abandon_on_cancel=True)


def _exporter(name: str) -> Any:
    if name == "otlp":
        protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ["OTEL_EXPORTER_OTLP_PROTOCOL"]
        name = PROTOCOLS.get(protocol.strip(), protocol)
    for found in entry_points(group="opentelemetry_traces_exporter", name=name):
        return found.load()()
    known = ", ".join(sorted({entry.name for entry in entry_points(group="opentelemetry_traces_exporter")}))
    raise InvalidInput(
        f"There is no exporter {name!r} of OpenTelemetry spans",
        remedy=f"Install the package that has it, or choose one of {known} in {EXPORTERS}.",
    )
