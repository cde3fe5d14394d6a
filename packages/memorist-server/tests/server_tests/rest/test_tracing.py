"""OpenTelemetry: spans of requests, verbs, stages, models and writes, which hold no content; off unless asked for."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import memorist
from benchmarks.serve import served
from memorist.errors import InvalidInput, MissingExtra
from memorist.ports import Batch, Job, notices
from memorist.testing import FakeEmbedder
from memorist_server.rest.server import Settings
from memorist_server.rest.tracing import exporters, start_exporting
from server_tests.rest.conftest import running

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRETS = ("Zanzibar", "Ottokar", "amber", "sekret")


@dataclass(frozen=True)
class Spans:
    """The spans that have ended."""

    exporter: InMemorySpanExporter

    def all(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def named(self, name: str) -> ReadableSpan:
        (one,) = [span for span in self.all() if span.name == name]
        return one

    def within(self, parent: ReadableSpan) -> list[ReadableSpan]:
        inner = [span for span in self.all() if span.parent and span.parent.span_id == parent.context.span_id]
        return sorted(inner, key=lambda span: span.start_time or 0)

    def inside(self, parent: ReadableSpan) -> list[str]:
        return [span.name for span in self.within(parent)]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spans]:
    """Spans go to a tracer of this test alone; the one of a process can be set only once."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(notices, "_tracer", lambda: provider.get_tracer("memorist"))
    yield Spans(exporter)
    provider.shutdown()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A request's span may end after its answer, so that tests look at spans when their server has ended."""
    return Settings(db=f"{tmp_path}/spaces/", embedder="none")


def test_a_request_continues_the_callers_trace_down_to_each_stage(recorded: Spans, settings: Settings) -> None:
    with running(settings) as server, server.http() as http:
        headers = {"traceparent": CALLER, "X-Request-Id": "mine-1"}
        kept = http.post("/v1/spaces/agent/memories", json={"text": "Ottokar moved to Zanzibar."}, headers=headers)
        found = http.post("/v1/spaces/agent/recall", json={"query": "Where is Ottokar?"}, headers=headers)
        assert (kept.status_code, found.status_code) == (201, 200)
    request = recorded.named("POST /v1/spaces/{space}/recall")
    assert request.kind.name == "SERVER" and dict(request.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/v1/spaces/{space}/recall",
        "http.response.status_code": 200,
        "memorist.request_id": "mine-1",
    }
    assert {span.context.trace_id for span in recorded.all()} == {int(CALLER.split("-")[1], 16)}
    assert request.parent is not None and request.parent.span_id == int(CALLER.split("-")[2], 16)
    assert recorded.inside(request) == ["memorist.recall"]
    verb = recorded.named("memorist.recall")
    assert (verb.attributes or {})["memorist.items"] == 1
    stages = [step["stage"] for step in found.json()["trace"]["stages"]]
    within = recorded.inside(verb)
    within.remove("memorist.model.run")  # the reranker
    assert within == [f"memorist.recall.{stage}" for stage in stages if "." not in stage]
    search = recorded.named("memorist.recall.search")
    assert set(recorded.inside(search)) == {
        f"memorist.recall.{stage}" for stage in stages if stage.startswith("search.")
    }
    assert recorded.inside(recorded.named("memorist.remember")) == ["memorist.store.write"]


def test_stages_lie_one_after_another_within_their_recall(recorded: Spans) -> None:
    with memorist.open(":memory:", embedder=FakeEmbedder()) as memory:
        memory.remember("The lamp is red.")
        found = memory.recall("Which colour has the lamp?")
    verb = recorded.named("memorist.recall")
    within = [span for span in recorded.within(verb) if span.name != "memorist.model.run"]
    times = [(span.start_time or 0, span.end_time or 0) for span in within]
    assert (verb.start_time or 0) <= times[0][0] and times[-1][1] <= (verb.end_time or 0)
    assert all(first[1] <= second[0] for first, second in pairwise(times))
    last = within[-1].attributes or {}
    assert (last["memorist.after"], last["memorist.skipped"]) == (found.trace.steps[-1].after, False)


def test_no_span_holds_content(recorded: Spans, settings: Settings) -> None:
    with running(settings) as server:
        client = server.client("sekret-space", server.key("sekret-space", "admin"))
        client.remember("Ottokar likes amber.", key="sekret", scope="Ottokar")
        client.relate("Ottokar", "lives_in", "Zanzibar")
        client.recall("Ottokar amber Zanzibar")
        client.history("Ottokar")
        with pytest.raises(InvalidInput):
            client.recall("Zanzibar", recipe="sekret-recipe")
        with client.session("Find Zanzibar") as session:
            session.step("Ottokar saw amber.")
    written = "\n".join(span.to_json() for span in recorded.all())
    assert len(recorded.all()) > 20
    assert [word for word in SECRETS if word in written] == []


def test_a_failure_is_told_by_its_type_alone(recorded: Spans) -> None:
    with memorist.open(":memory:", embedder=FakeEmbedder()) as memory, pytest.raises(InvalidInput):
        memory.recall("Zanzibar", recipe="sekret")
    failed = recorded.named("memorist.recall")
    assert (failed.status.status_code.name, failed.status.description) == ("ERROR", "InvalidInput")
    assert not failed.events


def test_a_background_job_is_a_span_of_its_own(recorded: Spans) -> None:
    with memorist.open(":memory:", embedder="none", background=False) as memory:
        memory.store.put(Batch(jobs=[Job("facts", "nothing", datetime(2024, 1, 1, tzinfo=UTC), attempts=2)]))
        assert memory.work() == 1
    job = recorded.named("memorist.job")
    assert dict(job.attributes or {}) == {"memorist.task": "facts", "memorist.attempts": 2}
    assert job.parent is not None and job.parent.span_id == recorded.named("memorist.work").context.span_id


def test_nothing_is_exported_unless_the_environment_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    assert exporters() == []
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    assert exporters() == ["otlp"]
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console, otlp")
    assert exporters() == ["console", "otlp"]
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    assert exporters() == []
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert exporters() == []


def test_an_unknown_exporter_or_a_missing_sdk_is_told_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("OTEL_SERVICE_NAME", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "carrier-pigeon")
    with pytest.raises(InvalidInput, match="no exporter 'carrier-pigeon'.*console"):
        start_exporting()
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(MissingExtra, match=r"memorist\[otel\]"):
        start_exporting()
    monkeypatch.delenv("OTEL_TRACES_EXPORTER")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    with caplog.at_level("INFO", "memorist.serve"):
        start_exporting()
    assert "no traces" in caplog.text


OFF = """
import sys
from opentelemetry import trace
from memorist_server.rest.app import create_app
from memorist_server.rest.server import Settings
create_app(Settings(db=sys.argv[1], embedder="none"))
assert "opentelemetry.sdk" not in sys.modules
assert type(trace.get_tracer_provider()) is trace.ProxyTracerProvider
"""


@pytest.mark.slow
def test_a_server_that_is_not_asked_to_trace_loads_no_sdk(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", OFF, f"{tmp_path}/spaces/"], check=True)


class Collector(HTTPServer):
    """Receives spans over HTTP, as a collector does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.bodies: list[bytes] = []


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector) and self.path == "/v1/traces"
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.mark.slow
def test_a_server_process_sends_its_spans_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    collector = Collector()
    thread = threading.Thread(target=collector.serve_forever)
    thread.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
    try:
        with served(tmp_path / "spaces") as (url, _), httpx.Client(base_url=url) as http:
            assert http.post("/v1/spaces/agent/memories", json={"text": "Ottokar is in Zanzibar."}).status_code == 201
            assert http.get("/healthz").status_code == 200
            assert http.get("/?space=Zanzibar", follow_redirects=True).status_code == 200
    finally:
        collector.shutdown()
        thread.join(20)
        collector.server_close()
    sent = [group for body in collector.bodies for group in ExportTraceServiceRequest.FromString(body).resource_spans]
    names = {span.name for group in sent for scope in group.scope_spans for span in scope.spans}
    assert names >= {"GET /", "POST /v1/spaces/{space}/memories", "memorist.remember", "memorist.store.write"}
    assert all(name.startswith(("GET /", "POST /v1/", "memorist.")) for name in names)
    assert "/healthz" not in str(names)
    assert {pair.key: pair.value.string_value for pair in sent[0].resource.attributes}["service.name"] == "memorist"
    assert not any(word.encode() in body for word in SECRETS for body in collector.bodies)
