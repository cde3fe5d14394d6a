"""Closing while others work, using what is closed, and what a server says when something breaks."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client as McpClient
from mcp.shared.exceptions import MCPError

import memorist
from benchmarks.serve import served
from memorist import Closed
from memorist.client import connect
from memorist.engine.engine import Engine, up_to
from memorist.files import PART
from memorist_server.access.keys import KeyRing
from memorist_server.mcp.server import MemoryServer
from memorist_server.rest.app import create_app
from memorist_server.rest.logs import JsonLines
from memorist_server.rest.problems import without_folders
from memorist_server.rest.server import Server, Settings
from server_tests.mcp.servers import listening, over_http, problem
from server_tests.rest import conftest as rest_fixtures
from server_tests.rest.conftest import Running, Serve
from tests.attacks.stuck_server import POINTS

serve = rest_fixtures.serve
server = rest_fixtures.server


# The engine


def opened(place: Path | str) -> Engine:
    engine = memorist.open(place, embedder="none", reranker="none")
    engine.remember_many([f"Alice lives in Oslo, and this is note {number}." for number in range(20)])
    return engine


WORK: dict[str, Callable[[Engine], object]] = {
    "remember": lambda engine: engine.remember("The barn is red."),
    "remember_many": lambda engine: engine.remember_many(["One.", "Two.", "Three."]),
    "relate": lambda engine: engine.relate("Alice", "lives_in", "Rome"),
    "recall": lambda engine: engine.recall("Where does Alice live?"),
    "mnemo": lambda engine: engine.recall("Where does Alice live?", recipe="mnemo"),
    "list": lambda engine: engine.list(),
    "forget": lambda engine: engine.forget(topic="nothing"),
    "audit": lambda engine: engine.audit(),
    "tidy": lambda engine: engine.tidy(dry_run=False),
    "wake_up": lambda engine: engine.wake_up(),
    "history": lambda engine: engine.history("Alice"),
    "session": lambda engine: engine.session("Move house").step("The van is full.", "Drive.", 1.0),
    "ingest": lambda engine: engine.ingest([{"role": "user", "content": "I moved to Oslo."}]),
    "work": lambda engine: engine.work(),
    "stats": lambda engine: engine.stats(),
}


@pytest.mark.parametrize("place", ["file", ":memory:"])
def test_verbs_that_are_running_finish_or_say_that_it_is_closed(tmp_path: Path, place: str) -> None:
    engine = opened(tmp_path / "a.db" if place == "file" else place)
    begun, raised = threading.Barrier(len(WORK) + 1), dict[str, BaseException]()

    def run(name: str) -> None:
        WORK[name](engine)
        begun.wait(60)
        try:
            while True:
                WORK[name](engine)
        except BaseException as error:
            raised[name] = error

    threads = [threading.Thread(target=run, args=(name,)) for name in WORK]
    for thread in threads:
        thread.start()
    begun.wait(60)
    engine.close()
    for thread in threads:
        thread.join(60)
    assert {name: type(error) for name, error in raised.items()} == dict.fromkeys(WORK, Closed)


@pytest.mark.parametrize("place", ["file", ":memory:"])
def test_every_verb_of_a_closed_engine_says_so(tmp_path: Path, place: str) -> None:
    engine = opened(tmp_path / "a.db" if place == "file" else place)
    engine.close()
    engine.close()
    verbs = [name for name, _ in inspect.getmembers(Engine, inspect.isfunction) if name[0] != "_" and name != "close"]
    assert len(verbs) > 25
    for name in verbs:
        taken = inspect.signature(getattr(engine, name)).parameters.values()
        given = [
            "x"
            for parameter in taken
            if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        with pytest.raises(Closed, match="Open it again"):
            getattr(engine, name)(*given)


@pytest.mark.parametrize("place", ["file", ":memory:"])
def test_what_was_opened_from_an_engine_ends_with_it(tmp_path: Path, place: str) -> None:
    engine = opened(tmp_path / "a.db" if place == "file" else place)
    session, store, part = engine.session("Move house"), engine.store, up_to(engine, 1).store
    session.step("The van is empty.")
    engine.close()
    verbs = (lambda: session.step("The van is full."), session.commit, session.discard)
    for use in (*verbs, store.stats, store.view, part.view):
        with pytest.raises(Closed):
            use()
    with pytest.raises(Closed):
        asyncio.run(_async_stats(engine))


async def _async_stats(engine: Engine) -> None:
    from memorist.aio import AsyncEngine

    await AsyncEngine(engine).stats()


@pytest.mark.parametrize("verb", ["remember_many", "audit", "export"])
def test_a_verb_may_close_its_own_engine(tmp_path: Path, verb: str) -> None:
    engine = opened(tmp_path / "a.db")

    def progress(_: int) -> None:
        engine.close()

    given: dict[str, tuple[Any, ...]] = {
        "remember_many": ([f"Note {number}." for number in range(600)],),
        "export": (tmp_path / "out.jsonl",),
    }
    with suppress(Closed):
        getattr(engine, verb)(*given.get(verb, ()), progress=progress)
    with memorist.open(tmp_path / "a.db", embedder="none") as again:
        assert again.stats().memories >= 20


def test_two_threads_may_close_at_once(tmp_path: Path) -> None:
    engine, failed = opened(tmp_path / "a.db"), list[BaseException]()

    def close() -> None:
        try:
            engine.close()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=close) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []


def test_a_closed_client_says_so(server: Running) -> None:
    client = connect(server.url, space="agent")
    client.remember("The barn is red.")
    client.close()
    client.close()
    for use in (client.stats, lambda: client.ingest([{"role": "user", "content": "Hi."}]), lambda: client.export("x")):
        with pytest.raises(Closed, match="Connect again"):
            use()


# The server


def test_a_server_that_shut_down_opens_nothing_any_more(tmp_path: Path) -> None:
    app = create_app(Settings(db=f"{tmp_path}/spaces/", embedder="none"))
    server: Server = app.state.server
    with server.spaces.use("agent", create=True) as engine:
        server.close()
        with pytest.raises(Closed):
            engine.stats()
        with pytest.raises(Closed), server.spaces.use("agent", create=True):
            pass
    assert server.spaces.open == 0


@pytest.mark.slow
def test_a_signal_finishes_what_has_begun_and_drops_what_has_not(tmp_path: Path) -> None:
    """One request is half sent, and 20 connections say nothing; the half is completed after the signal."""
    body = json.dumps({"text": "The barn is red."}).encode()
    head = (
        f"POST /v1/spaces/agent/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    with served(tmp_path / "spaces") as (url, process), ExitStack() as stack:
        port = httpx.URL(url).port or 0
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)) for _ in range(20)]
        with socket.create_connection(("127.0.0.1", port), timeout=20) as half:
            half.sendall(head + body[:5])
            _await_request(port)
            process.send_signal(signal.SIGTERM)
            assert all(socket_.recv(1) == b"" for socket_ in idle)
            half.sendall(body[5:])
            assert half.recv(65536).startswith(b"HTTP/1.1 201")
        assert process.wait(60) in (0, -signal.SIGTERM)
    with memorist.open(tmp_path / "spaces", space="agent", embedder="none") as engine:
        assert [memory.text for memory in engine.list().items] == ["The barn is red."]


def _await_request(port: int) -> None:
    """Wait until the server has begun to answer the half request."""
    while "memorist_requests_under_way 2\n" not in httpx.get(f"http://127.0.0.1:{port}/metrics").text:
        pass


STUCK_SERVERS = {"rest": ["--db", "{0}/", "serve"], "mcp": ["--db", "{0}/", "--space", "agent", "mcp", "--http"]}


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("kind", STUCK_SERVERS)
def test_a_verb_that_never_ends_does_not_keep_a_server_from_stopping(tmp_path: Path, kind: str, point: str) -> None:
    """What was acknowledged is there, and the rest is whole or not there."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = [server.format(tmp_path) for server in STUCK_SERVERS[kind]]
    command = [sys.executable, "-m", "tests.attacks.stuck_server", point, str(tmp_path), "--embedder", "none"]
    with subprocess.Popen([*command, *arguments, "--port", str(port)]) as process:
        try:
            writing = _write_over_rest if kind == "rest" else _write_over_mcp
            asyncio.run(writing(port, tmp_path, lambda: process.send_signal(signal.SIGTERM)))
            process.wait(30)
        finally:
            process.kill()
    with memorist.open(tmp_path, space="agent", embedder="none") as engine:
        texts = sorted(memory.text for memory in engine.list().items)
        slow = ["One.", "Two."] if kind == "rest" else ["One."]
        assert texts == ["Acknowledged.", *(slow if point == "after" else [])]
        assert [item.memory.text for item in engine.recall("acknowledged").items][:1] == ["Acknowledged."]


async def _write_over_rest(port: int, folder: Path, stop: Callable[[], None]) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
        await _until_listening(port)
        assert (await http.post("/v1/spaces/agent/memories", json={"text": "Acknowledged."})).status_code == 201
        (folder / "now").touch()
        batch = {"memories": [{"text": "One."}, {"text": "Two."}]}
        slow = asyncio.create_task(http.post("/v1/spaces/agent/memories/batch", json=batch))
        await _until_stuck(folder)
        stop()
        answer = await slow
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:memorist:closed")


async def _write_over_mcp(port: int, folder: Path, stop: Callable[[], None]) -> None:
    await _until_listening(port)
    with suppress(BaseExceptionGroup):  # of the connection that ends
        async with over_http(f"http://127.0.0.1:{port}/mcp") as client:
            assert not (await client.call_tool("remember", {"text": "Acknowledged."})).is_error
            (folder / "now").touch()
            slow = asyncio.create_task(client.call_tool("remember", {"text": "One."}))
            await _until_stuck(folder)
            stop()
            await slow


async def _until_stuck(folder: Path) -> None:
    while not (folder / "stuck").exists():
        await asyncio.sleep(0.01)


async def _until_listening(port: int) -> None:
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.05)


# What a failure tells


BREAKAGES: dict[str, Exception] = {
    "unexpected": RuntimeError("/home/ann/memories/agent.db: Zanzibar"),
    "of the system": OSError(28, "No space left on device", "/home/ann/memories/agent.db"),
    "of the store": memorist.StoreError("/home/ann/memories/agent.db is damaged", remedy="Run `memorist doctor`."),
    "busy": memorist.StoreBusy("/home/ann/memories/agent.db is being written", remedy="Try again."),
    "of a model": memorist.ModelUnavailable("/home/ann/model/model.onnx is missing", remedy="Reinstall it."),
    "of ours": memorist.Error("Cannot use /home/ann", remedy="Give another."),
}


@pytest.mark.parametrize("kind", BREAKAGES)
def test_an_answer_names_no_path_and_the_log_has_the_incident(
    server: Running, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise BREAKAGES[kind]

    monkeypatch.setattr(Engine, "stats", fails)
    with caplog.at_level(logging.ERROR, "memorist"), server.http() as http:
        answer = http.get("/v1/spaces/agent/stats")
    assert answer.status_code in (500, 503) and answer.headers["content-type"] == "application/problem+json"
    assert "/home" not in answer.text and "Zanzibar" not in answer.text and answer.json()["remedy"]
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    (line,) = [row for row in lines if row.get("request_id") == answer.json()["request_id"]]
    assert line["error"]["type"] == type(BREAKAGES[kind]).__name__ and "Zanzibar" not in json.dumps(line)


def test_a_damaged_file_is_a_problem_without_its_path(server: Running) -> None:
    server.folder.mkdir(parents=True, exist_ok=True)
    (server.folder / "agent.db").write_bytes(b"This is no database." * 1000)
    with server.http() as http:
        for answer in (http.get("/v1/spaces/agent/stats"), http.post("/v1/spaces/agent/recall", json={"query": "x"})):
            assert answer.status_code == 500 and answer.json()["type"] == "urn:memorist:store-error"
            assert str(server.folder) not in answer.text and "agent.db" not in answer.text


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"PK\x03\x04", b'{"a": ', b"[" * 5000, b"%PDF-1.4"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.zip", "a.md", "a.eml"])
def test_an_unreadable_upload_is_a_problem_without_its_path(
    uploads: Running, name: str, content: bytes, accept: str
) -> None:
    headers = {"Content-Type": "application/octet-stream", "Accept": accept}
    with uploads.http() as http:
        answer = http.post(f"/v1/spaces/agent/ingest/file?name={name}", content=content, headers=headers)
        imported = http.post("/v1/spaces/agent/import", content=content, headers=headers)
    for response in (answer, imported):
        assert response.status_code < 500, response.text
        assert not any(part in response.text for part in (PART, "uploads0", tempfile.gettempdir())), response.text


def test_a_folder_of_the_server_is_not_named() -> None:
    told = "Line 1 of /srv/our data/.transfer.part-9_dntmp8/import.jsonl cannot be read; see /srv/x.part-1/a.md too"
    assert without_folders(told) == "Line 1 of import.jsonl cannot be read; see a.md too"


@pytest.fixture(scope="module")
def uploads(tmp_path_factory: pytest.TempPathFactory) -> Generator[Running]:
    with rest_fixtures.running(Settings(db=f"{tmp_path_factory.mktemp('uploads')}/", embedder="none")) as one:
        yield one


def test_keys_that_cannot_be_read_are_a_problem_too(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    key = server.key("agent", "read")

    def fails(*_: object) -> None:
        raise memorist.StoreError("/home/ann/.keys.db is damaged", remedy="Restore it.")

    monkeypatch.setattr("memorist_server.access.keys.KeyRing.find", fails)
    answer = server.http(key).get("/v1/spaces")
    assert answer.status_code == 500 and "/home" not in answer.text and answer.json()["remedy"]


# What a failure tells over MCP


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes every tool fail."""

    def start(kind: str) -> None:
        def fails(*_: object, **__: object) -> None:
            raise BREAKAGES[kind]

        for name in MCP_VERBS:
            monkeypatch.setattr(Engine, name, fails)

    return start


MCP_VERBS = ("remember", "recall", "relate", "history", "get", "forget", "stats")
MCP_CALLS: dict[str, dict[str, str]] = {
    "remember": {"text": "The barn is red."},
    "recall": {"query": "barn"},
    "relate": {"subject": "Ann", "relation": "lives_in", "object": "Oslo"},
    "history": {"name": "Ann"},
    "feedback": {"id": "x", "verdict": "useful"},
    "forget": {"id": "x"},
    "status": {},
}


@pytest.mark.parametrize("kind", BREAKAGES)
def test_no_tool_names_a_path_and_the_log_has_the_incident(
    failing: Callable[[str], None], caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    told = list[str]()

    async def run(engine: Engine) -> None:
        async with McpClient(MemoryServer(engine)) as client:
            for name, arguments in MCP_CALLS.items():
                told.append(await problem(client, name, **arguments))
            with pytest.raises(MCPError) as error:
                await client.read_resource("memorist://memory/x")
            told.append(str(error.value))

    with opened(":memory:") as engine:
        failing(kind)
        asyncio.run(run(engine))
    for text in told:
        assert "/home" not in text and "Zanzibar" not in text and "Traceback" not in text
        (incident,) = re.findall("[0-9a-f]{32}", text)
        assert incident in caplog.text
    assert "Zanzibar" not in caplog.text


def test_mcp_keys_that_cannot_be_read_are_a_problem_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise memorist.StoreError("/home/ann/.keys.db is damaged", remedy="Restore it.")

    with opened(":memory:") as engine, KeyRing(tmp_path / ".keys.db") as ring, listening(engine, ring) as url:
        ring.create(space="*", rights="read")
        monkeypatch.setattr("memorist_server.access.keys.KeyRing.find", fails)
        answer = httpx.post(url, json={}, headers={"Authorization": "Bearer rk_x_y"})
    assert answer.status_code == 500 and "/home" not in answer.text and answer.json()["remedy"] == "Restore it."
