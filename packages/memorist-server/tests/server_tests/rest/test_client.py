"""The Python client: repeats that do nothing twice, and errors as what they were on the server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import memorist
from memorist.client import Refused, Unreachable
from memorist.client.client import Client
from memorist.client.transport import Transport
from server_tests.rest.conftest import Running


@dataclass
class Scripted:
    """A server that gives prepared answers, and remembers what it was asked."""

    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    script = Scripted()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            script.keys.append(self.headers.get("idempotency-key"))
            status, headers, body = script.answers.pop(0)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield script
    server.shutdown()
    thread.join()
    server.server_close()


def problem(name: str, status: int) -> bytes:
    told = {"type": f"urn:memorist:{name}", "title": "T", "status": status, "detail": "D", "remedy": "R"}
    return json.dumps(told | {"request_id": "r1"}).encode()


def client(url: str, retries: int, pauses: list[float]) -> Client:
    return Client(Transport(url, "agent", "secret", timeout=10, retries=retries, sleep=pauses.append), "agent")


def test_a_write_is_sent_again_under_the_same_key(scripted: Scripted) -> None:
    opened = json.dumps({"id": "s1", "goal": None}).encode()
    scripted.answers = [
        (503, {"Retry-After": "2"}, problem("overloaded", 503)),
        (409, {"Retry-After": "1"}, problem("request-under-way", 409)),
        (201, {}, opened),
        (201, {}, opened),
    ]
    pauses: list[float] = []
    with client(scripted.url, 3, pauses) as memory:
        assert memory.session().id == "s1"
        memory.session()
    assert pauses == [2, 1]
    assert len(set(scripted.keys[:3])) == 1 and scripted.keys[3] not in (None, scripted.keys[0])


def test_a_refusal_is_not_repeated(scripted: Scripted) -> None:
    pauses: list[float] = []
    scripted.answers = [(403, {}, problem("forbidden", 403)), (422, {}, problem("invalid-input", 422))]
    with client(scripted.url, 3, pauses) as memory:
        with pytest.raises(Refused) as refused:
            memory.stats()
        with pytest.raises(memorist.InvalidInput) as invalid:
            memory.stats()
    assert (refused.value.status, refused.value.request_id, refused.value.remedy) == (403, "r1", "R")
    assert str(invalid.value) == "D. R" and pauses == []


def test_after_the_last_attempt_the_error_is_the_servers(scripted: Scripted) -> None:
    pauses: list[float] = []
    scripted.answers = [(503, {}, problem("store-busy", 503))] * 2
    with client(scripted.url, 1, pauses) as memory, pytest.raises(memorist.StoreBusy):
        memory.stats()
    assert len(pauses) == 1


def test_what_is_no_memorist_server_is_named_as_such(scripted: Scripted) -> None:
    scripted.answers = [(404, {}, b"<html>nothing here</html>"), (400, {}, b"[]")]
    with client(scripted.url, 0, []) as memory:
        for _ in range(2):
            with pytest.raises(Unreachable, match="not a Memorist server"):
                memory.get("x")


def test_nobody_at_the_address_is_told_after_all_attempts() -> None:
    pauses: list[float] = []
    with client("http://127.0.0.1:9", 2, pauses) as memory, pytest.raises(Unreachable, match="does not respond"):
        memory.stats()
    assert 0.125 <= pauses[0] <= 0.25 <= pauses[1] <= 0.5 and len(pauses) == 2


def test_an_address_that_is_no_url_is_refused() -> None:
    with pytest.raises(memorist.InvalidInput, match="not a plain http or https URL"):
        memorist.connect("agent.db")


def test_a_recall_of_another_memory_cannot_be_explained(server: Running) -> None:
    with memorist.open(":memory:", background=False) as other:
        kept = other.remember("The barn is red.")
        found = other.recall("Which colour is the barn?")
    with pytest.raises(memorist.InvalidInput, match="not from a server"):
        server.client().explain(found, kept.id)


def test_the_key_may_come_from_the_environment(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORIST_KEY", server.key("agent", "write"))
    assert server.client().remember("The barn is red.").text == "The barn is red."


def test_the_verbs_can_be_awaited(server: Running) -> None:
    async def story() -> list[str]:
        async with memorist.connect_async(server.url, space="agent") as memory:
            await memory.remember("The barn is red.")
            async with memory.session("Paint the barn") as session:
                for _ in range(2):  # a step with a number can be sent again
                    await session.step("The paint is dry.", number=1)
                assert len((await memory.list()).items) == 4  # the memory, the session, its step and its source
            return [item.memory.text for item in (await memory.recall("Which colour is the barn?")).items]

    assert "The barn is red." in asyncio.run(story())


def test_progress_and_problems_come_while_a_file_is_read(server: Running, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    lines = [json.dumps({"role": "user", "content": f"Parcel {n} has come."}) for n in range(600)]
    chat.write_text("\n".join(lines), encoding="utf-8")
    told: list[int] = []
    memory = server.client()
    assert memory.ingest(chat, progress=told.append).kept == 600
    assert len(told) == 3 and sum(told) == 600
    with pytest.raises(memorist.InvalidInput, match="format 'stew' is unknown"):
        memory.ingest(chat, format="stew")
    with pytest.raises(memorist.InvalidInput, match="is a folder"):
        memory.ingest(tmp_path)


def test_a_caller_that_waits_is_told_that_somebody_is_there(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    go, ingest = threading.Event(), memorist.Engine.ingest

    def slow(self: memorist.Engine, *given: Any, **more: Any) -> Any:
        go.wait(20)
        return ingest(self, *given, **more)

    monkeypatch.setattr(memorist.Engine, "ingest", slow)
    monkeypatch.setattr("memorist_server.rest.calls.SILENCE", 0.01)
    said, headers = {"messages": [{"role": "user", "content": "I moved."}]}, {"Accept": "text/event-stream"}
    with server.http().stream("POST", "/v1/spaces/agent/ingest", json=said, headers=headers) as answer:
        lines = answer.iter_lines()
        assert next(lines) == ": still here"
        go.set()
        assert [line for line in lines if line.startswith("event: ")] == ["event: progress", "event: done"]


def test_a_download_appears_whole_or_not_at_all(server: Running, tmp_path: Path) -> None:
    key = server.key("agent", "admin", max_classification=1)
    with pytest.raises(memorist.TooClassified):
        server.client(key=key).export(tmp_path / "all.jsonl")
    assert list(tmp_path.glob("*.jsonl*")) == [] and list(tmp_path.glob(".*")) == []


def test_several_workers_share_the_files_of_a_folder(server: Running, serve: object) -> None:
    """Another server on the same folder, as another worker would be."""
    other: Running = serve()  # pyright: ignore[reportCallIssue, reportUnknownVariableType]
    one, two = server.client(), other.client()
    kept = one.remember("The barn is red.")
    assert two.get(kept.id) == kept.memory
    two.remember("The mill is white.")
    assert {item.memory.text for item in one.recall("Which colour is the mill?").items} >= {"The mill is white."}
