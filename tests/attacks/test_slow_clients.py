"""Clients that take their time do not take the server: places, bodies, heads, answers and connections are bounded."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import anyio
import anyio.to_thread
import httpx
import pytest
from mcp import Client, MCPError

import memorist
from memorist.engine.engine import Engine
from memorist_server.access.keys import KeyRing
from memorist_server.rest.limits import PACE, ConcurrencyLimit, bound_body
from memorist_server.rest.problems import Refusal
from memorist_server.rest.server import Settings
from memorist_server.rest.threads import OutOfTime, VerbThreads
from server_tests.mcp.servers import call, listening, over_http, problem
from server_tests.rest import conftest as rest_fixtures
from server_tests.rest.conftest import Running, Serve

serve = rest_fixtures.serve
MEMORIES = "/v1/spaces/agent/memories"
SOON = 0.05
"""Seconds of a limit that is meant to pass."""
HEAD = f"POST {MEMORIES} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n"


def connected(server: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.settings.port), timeout=20)


def closed(connection: socket.socket) -> bool:
    """Whether the server closes it; waits for that."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


# Places


def test_a_key_has_its_share_of_the_places_and_no_more() -> None:
    room = ConcurrencyLimit(4, share=2)
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(room.place("slow"))
        with pytest.raises(Refusal) as refused, room.place("slow"):
            pass
        assert refused.value.status_code == 429 and refused.value.headers == {"Retry-After": "1"}
        with room.place("other"), room.place(None):
            assert room.taken == 4
    with room.place("slow"):
        assert room.taken == 1


@pytest.fixture
def slow() -> Iterator[Callable[[Running, str], None]]:
    """Sends the head of a body that never comes."""
    with ExitStack() as stack:

        def begin(server: Running, key: str) -> None:
            connection = stack.enter_context(connected(server))
            connection.sendall(f"{HEAD}Authorization: Bearer {key}\r\n\r\n{{".encode())

        yield begin


def test_one_slow_key_leaves_places_for_the_others(serve: Serve, slow: Callable[[Running, str], None]) -> None:
    server = serve(concurrency=4, key_concurrency=2, rate=0)
    greedy, other = server.key("agent", "write"), server.key("agent", "read")
    for _ in range(8):
        slow(server, greedy)
    with server.http(greedy) as theirs, server.http(other) as ours:
        answers = iter(lambda: theirs.get("/v1/spaces/agent/stats"), None)
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        assert ours.get("/v1/spaces/agent/stats").status_code == 200


# Threads


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """`stats` and `ingest` run until the test ends; lists those that have begun in a thread."""
    over, names = threading.Event(), list[str]()
    for name in ("stats", "ingest"):

        def wait(*_: object, name: str = name, **__: object) -> None:
            names.append(name)
            over.wait(60)

        monkeypatch.setattr(Engine, name, wait)
    with ExitStack() as stack:
        stack.callback(over.set)
        yield names


def begun(stuck: list[str], times: int) -> None:
    """Wait until so many threads are stuck: a request is under way before its thread is."""
    while len(stuck) < times:
        time.sleep(0.001)


def asking(server: Running, key: str | None, times: int) -> None:
    """Ask for what is stuck, and wait until the requests are under way."""
    for _ in range(times):
        asked = server.opened.enter_context(connected(server))
        known = "" if key is None else f"Authorization: Bearer {key}\r\n"
        asked.sendall(f"GET /v1/spaces/agent/stats HTTP/1.1\r\nHost: localhost\r\n{known}\r\n".encode())
    with server.http(key) as http:
        while f"memorist_requests_under_way {times + 1}\n" not in http.get("/metrics").text:
            pass


def test_slow_verbs_of_one_key_leave_threads_for_the_others(serve: Serve, stuck: list[str]) -> None:
    server = serve(threads=4, rate=0)
    greedy, other = server.key("agent", "read"), server.key("agent", "read")
    asking(server, greedy, 8)
    begun(stuck, 2)
    assert server.http(other).get(MEMORIES).status_code == 200
    assert len(stuck) == 2


def test_a_thread_that_nobody_waits_for_keeps_its_place() -> None:
    over, begun = threading.Event(), list[str]()

    async def ask() -> None:
        threads = VerbThreads(4, ConcurrencyLimit(0))
        for _ in range(6):
            with pytest.raises(OutOfTime):
                await threads.run("slow", lambda: (begun.append("slow"), over.wait(60)), SOON)
        assert begun == ["slow"] * 2
        assert await threads.run("other", lambda: "done", 20) == "done"
        over.set()
        assert await threads.run("slow", lambda: "done", 20) == "done"

    try:
        asyncio.run(ask())
    finally:
        over.set()


def test_health_and_metrics_wait_for_no_verb(serve: Serve, stuck: list[str]) -> None:
    server = serve(threads=1)
    asking(server, None, 3)
    begun(stuck, 1)
    with server.http() as http:
        for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/spaces"):
            assert http.get(path).status_code == 200
    assert len(stuck) == 1


@pytest.mark.usefixtures("stuck")
def test_who_goes_away_does_not_leave_a_queue_behind(serve: Serve) -> None:
    """A stream of events ends with its client, and the verb does not."""
    server = serve(threads=2, key_concurrency=2, rate=0)
    headers = {"Accept": "text/event-stream"}
    with server.http(server.key("agent", "write")) as http:

        def ask(*, leave: bool) -> str:
            with http.stream("POST", "/v1/spaces/agent/ingest", json={"messages": []}, headers=headers) as answer:
                return "left" if leave else answer.read().decode()

        assert [ask(leave=True), ask(leave=True)] == ["left", "left"]
        assert "urn:memorist:too-many-requests" in ask(leave=False)


# The same over MCP


Door = Callable[..., tuple[str, str, str]]
"""Starts a server with these limits; gives its URL and two keys."""


@pytest.fixture
def mcp(tmp_path: Path) -> Iterator[Door]:
    with ExitStack() as stack:

        def start(**limits: object) -> tuple[str, str, str]:
            engine = stack.enter_context(memorist.open(":memory:", space="agent", embedder="none", config={}))
            ring = stack.enter_context(KeyRing(tmp_path / ".keys.db"))
            keys = [ring.create(space="agent", rights="write")[1] for _ in range(2)]
            settings = Settings(**limits)  # pyright: ignore[reportArgumentType]
            return stack.enter_context(listening(engine, ring, limits=settings)), *keys  # pyright: ignore[reportReturnType]

        yield start


def knocked(url: str, key: str) -> int:
    headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {key}"}
    return httpx.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers).status_code


async def patiently(client: Client) -> None:
    """Call a tool, again if it is refused: one that knocks may have had its place for a moment."""
    while True:
        try:
            await client.call_tool("status")
        except MCPError:
            await anyio.sleep(0.01)
        else:
            return


def test_slow_tools_of_one_key_leave_places_and_threads_for_the_others(mcp: Door, stuck: list[str]) -> None:
    url, greedy, other = mcp(threads=4, key_concurrency=6)

    async def run() -> None:
        async with (
            over_http(url, secret=greedy) as slow,
            over_http(url, secret=other) as quick,
            anyio.create_task_group() as group,
        ):
            for _ in range(6):
                group.start_soon(patiently, slow)
            while await anyio.to_thread.run_sync(knocked, url, greedy) != 429:
                pass
            await anyio.to_thread.run_sync(begun, stuck, 2)
            await call(quick, "recall", query="Where does Alice live?")
            assert len(stuck) == 2
            group.cancel_scope.cancel()

    anyio.run(run)


def test_a_key_has_its_rate_over_mcp(mcp: Door) -> None:
    url, greedy, other = mcp(rate=0.001)
    assert knocked(url, greedy) != 429
    assert knocked(url, greedy) == 429
    assert knocked(url, other) != 429


@pytest.mark.usefixtures("stuck")
def test_a_tool_has_its_time_over_http(mcp: Door) -> None:
    url, key, _ = mcp(timeout=SOON)

    async def run() -> None:
        async with over_http(url, secret=key) as client:
            assert "took too long" in await problem(client, "status")

    anyio.run(run)


# Bodies


def test_a_body_has_its_time_as_a_whole_and_more_as_it_arrives() -> None:
    now, chunks = 0.0, iter([b"x"] * 5 + [b"x" * PACE * 10] + [b"x"] * 20)

    async def receive() -> dict[str, object]:
        nonlocal now
        now += 1
        return {"type": "http.request", "body": next(chunks), "more_body": True}

    async def read() -> None:
        body = bound_body(receive, 0, 6, clock=lambda: now)  # pyright: ignore[reportArgumentType]
        for _ in range(17):
            await body()
        with pytest.raises(Refusal, match="did not arrive in time"):
            await body()

    asyncio.run(read())


def test_a_body_that_comes_byte_by_byte_is_cut_off(serve: Serve) -> None:
    server = serve(timeout=SOON)
    over = threading.Event()

    def drip() -> Generator[bytes]:
        yield b'{"text": "'
        while not over.wait(SOON / 5):
            yield b"x"

    with server.http() as http:
        try:
            answer = http.post(MEMORIES, content=drip(), headers={"Content-Type": "application/json"})
            assert answer.status_code == 504
        except httpx.TransportError:
            pass  # it was closed while the client still wrote
        finally:
            over.set()
        assert http.get("/v1/spaces").json() == {"items": []}
        assert "memorist_requests_under_way 1\n" in http.get("/metrics").text


# Connections


@pytest.mark.parametrize("sent", [b"", b"G", HEAD.encode()], ids=["nothing", "a byte", "half a head"])
def test_a_connection_that_sends_no_request_is_closed(serve: Serve, sent: bytes) -> None:
    server = serve(head_timeout=SOON)
    with ExitStack() as stack:
        waiting = [stack.enter_context(connected(server)) for _ in range(50)]
        for socket_ in waiting:
            socket_.sendall(sent)
        assert all(map(closed, waiting))
        assert server.http().get("/healthz").status_code == 200


def test_a_second_request_has_no_more_time_than_the_first(serve: Serve) -> None:
    server = serve(head_timeout=SOON)
    with connected(server) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\n")
        assert one.recv(65536).startswith(b"HTTP/1.1 200")
        assert closed(one)


def test_a_refused_body_that_still_trickles_in_is_cut_off(serve: Serve) -> None:
    server = serve(head_timeout=SOON)
    server.key("agent", "read")
    with connected(server) as one:
        one.sendall(f"{HEAD}\r\n{{".encode())
        assert one.recv(65536).startswith(b"HTTP/1.1 401")
        assert closed(one)


def test_one_address_does_not_take_all_connections(serve: Serve) -> None:
    server = serve(address_connections=3)
    with ExitStack() as stack:
        kept = [stack.enter_context(connected(server)) for _ in range(3)]
        for socket_ in kept:
            socket_.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert socket_.recv(65536).startswith(b"HTTP/1.1 200")
        assert closed(stack.enter_context(connected(server)))
    with server.http() as http:  # and they are given back
        answers = iter(lambda: _tried(http), None)
        assert next(answer for answer in answers if answer == 200)


def test_all_addresses_together_have_a_limit(serve: Serve) -> None:
    server = serve(connections=1)
    with closing(connected(server)) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert one.recv(65536).startswith(b"HTTP/1.1 200")
        with connected(server) as other:
            assert closed(other)


def _tried(http: httpx.Client) -> int:
    try:
        return http.get("/healthz").status_code
    except httpx.TransportError:
        return 0


# Answers


def test_a_client_that_does_not_read_is_cut_off(serve: Serve) -> None:
    """It asks for more than the buffers of the system hold, and reads nothing."""
    server = serve(timeout=SOON, head_timeout=20)
    ask = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(server) as one:
        one.settimeout(SOON)
        with pytest.raises(ConnectionError):
            _send_until_cut_off(one, ask * 50)
    assert server.http().get("/healthz").status_code == 200


def _send_until_cut_off(connection: socket.socket, data: bytes) -> None:
    for _ in range(400):
        with suppress(TimeoutError):  # the server has stopped reading, too
            while True:
                connection.sendall(data)
