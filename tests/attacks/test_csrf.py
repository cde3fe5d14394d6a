"""A web page that a user visits cannot use the server on the user's machine, by whatever its browser lets it send."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

import memorist
from memorist_server.access.keys import KeyRing
from memorist_server.mcp.http import app as mcp_app
from memorist_server.mcp.server import MemoryServer
from memorist_server.rest.server import Settings
from server_tests.rest import conftest as rest_fixtures
from server_tests.rest.conftest import Running, Serve, running

serve = rest_fixtures.serve
MEMORIES, UPLOAD = "/v1/spaces/page/memories", "/v1/spaces/page/ingest/file?name=a.md"
OURS = "/v1/spaces/agent/memories"
JSON, BYTES = {"Content-Type": "application/json"}, {"Content-Type": "application/octet-stream"}
BODY = json.dumps({"text": "The page was here."}).encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server without keys; no attack leaves a trace, so that one serves them all."""
    with running(Settings(db=f"{tmp_path_factory.mktemp('spaces')}/", embedder="none")) as one:
        yield one


def port(server: Running) -> int:
    return server.settings.port


def untouched(server: Running) -> bool:
    """Whether the page wrote nothing."""
    with server.http() as http:
        return "page" not in http.get("/v1/spaces").json()["items"]


def refused(answer: httpx.Response, status: int) -> bool:
    """Whether it is a problem document with that status and a remedy, for no other site to read."""
    shared = [name for name in answer.headers if name.lower().startswith("access-control-")]
    return answer.status_code == status and bool(answer.json()["remedy"]) and not shared


ORIGINS = [
    "null",
    "http://evil.example",
    "http://203.0.113.7",
    "http://192.168.1.1",
    "http://localhost:3000",
    "http://127.0.0.1",
    "http://127.0.0.1:{port}@evil.example",
    "http://127.0.0.1:{port}.evil.example",
    "ftp://127.0.0.1:{port}",
    "http://localhost:{port}",  # another name for this machine is another origin
    "file://",
    "",
]


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_page_of_another_origin_writes_and_reads_nothing(server: Running, origin: str) -> None:
    headers = {"Origin": origin.format(port=port(server))}
    with server.http() as http:
        assert refused(http.post(MEMORIES, content=BODY, headers=headers | JSON), 403)
        assert refused(http.get("/v1/spaces", headers=headers), 403)
    assert untouched(server)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "unheard-of"])
def test_a_browser_that_says_the_page_is_foreign_is_believed(server: Running, site: str) -> None:
    with server.http() as http:
        assert refused(http.get("/v1/spaces/page/export", headers={"Sec-Fetch-Site": site}), 403)
        assert refused(http.post(MEMORIES, content=BODY, headers=JSON | {"Sec-Fetch-Site": site}), 403)


def test_the_servers_own_pages_and_programs_are_served(server: Running) -> None:
    with server.http() as http:
        for more in ({}, {"Origin": server.url}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
            assert http.post(OURS, content=BODY, headers=JSON | more).status_code == 201, more


SIMPLE = [
    "text/plain",
    "text/plain;charset=UTF-8",
    "text/plain; application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json, text/plain",
    "application/json\t, text/plain",
    "json",
    "",
]


@pytest.mark.parametrize("kind", SIMPLE)
@pytest.mark.parametrize("path", [MEMORIES, UPLOAD, "/v1/spaces/page/import"])
def test_a_body_that_a_form_could_send_is_refused_and_not_kept(server: Running, path: str, kind: str) -> None:
    with server.http() as http:
        assert refused(http.post(path, content=BODY, headers={"Content-Type": kind}), 415)
    assert untouched(server)


@pytest.mark.parametrize("path", [MEMORIES, UPLOAD, "/v1/spaces/agent/sessions/x/commit", "/v1/spaces/agent/reembed"])
def test_a_missing_content_type_is_named(server: Running, path: str) -> None:
    """Also where there is no body: a page can send that without asking."""
    with server.http() as http:
        answer = http.post(path, content=BODY if path in (MEMORIES, UPLOAD) else None)
        assert refused(answer, 415) and "Content-Type" in answer.json()["detail"]


def test_a_header_of_our_own_will_do_where_there_is_no_body(server: Running) -> None:
    with server.http() as http:
        answer = http.post("/v1/spaces/agent/sessions/x/commit", headers={"Idempotency-Key": "1"})
        assert answer.status_code == 404


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", 'application/json; charset="UTF-8"', "application/a+json"]
)
def test_json_is_read_as_utf_8(server: Running, kind: str) -> None:
    with server.http() as http:
        assert http.post(OURS, content=BODY, headers={"Content-Type": kind}).status_code == 201
        answer = http.post(MEMORIES, content=BODY, headers={"Content-Type": "application/json; charset=utf-7"})
        assert refused(answer, 415)


@pytest.mark.parametrize("path", [MEMORIES, UPLOAD])
def test_a_compressed_body_is_refused_and_not_unpacked(server: Running, path: str) -> None:
    bomb = gzip.compress(b'{"text": "' + b"x" * 10_000_000 + b'"}')
    headers = (JSON if path == MEMORIES else BYTES) | {"Content-Encoding": "gzip"}
    with server.http() as http:
        assert refused(http.post(path, content=bomb, headers=headers), 415)


@pytest.mark.parametrize(
    "host", ["evil.example", "192.168.3.4", "0.0.0.0", "localhost.evil.example", "localhost@evil.example", "localhost."]
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(server: Running, host: str) -> None:
    with server.http() as http:
        for path in ("/v1/spaces", "/healthz", "/docs"):
            assert refused(http.get(path, headers={"Host": f"{host}:{port(server)}"}), 421)


def test_a_server_on_every_address_is_called_by_any_address_but_not_by_any_name(serve: Serve) -> None:
    server = serve(host="0.0.0.0")
    with server.http(server.key("*", "read")) as http:
        assert http.get("/v1/spaces", headers={"Host": "192.168.3.4:8765"}).status_code == 200
        assert refused(http.get("/v1/spaces", headers={"Host": "evil.example"}), 421)


def test_a_key_is_no_excuse_for_a_foreign_page(serve: Serve) -> None:
    server = serve()
    with server.http(server.key("*", "admin")) as http:
        assert refused(http.post(MEMORIES, content=BODY, headers=JSON | {"Origin": "http://evil.example"}), 403)
        assert refused(http.post(MEMORIES, content=BODY, headers={"Content-Type": "text/plain"}), 415)


@pytest.mark.parametrize("method", ["OPTIONS", "HEAD", "PUT", "PATCH", "TRACE"])
def test_no_other_method_is_answered_and_no_preflight_granted(server: Running, method: str) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"} | JSON
    with server.http() as http:
        answer = http.request(method, MEMORIES, headers=asks)
        assert answer.status_code == 405 and not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
def test_a_method_cannot_be_overridden(server: Running, header: str) -> None:
    memory = server.client().remember("The barn is red.")
    with server.http() as http:
        http.get(f"{OURS}/{memory.id}?_method=DELETE", headers={header: "DELETE"})
        assert http.get(f"{OURS}/{memory.id}").status_code == 200


def spoken(server: Running, head: str, body: bytes = b"") -> bytes:
    """The answer to bytes that no client library would send."""
    with socket.create_connection(("127.0.0.1", port(server)), timeout=20) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
        return connection.recv(100)


TWICE: Mapping[str, str] = {
    "Host": "Host: localhost\nHost: evil.example",
    "Origin": "Host: localhost\nOrigin: http://localhost\nOrigin: http://evil.example",
    "Content-Type": "Host: localhost\nContent-Type: application/json\nContent-Type: text/plain",
    "Content-Length": "Host: localhost\nContent-Type: application/json\nContent-Length: 3",
}


@pytest.mark.parametrize("header", TWICE)
def test_a_header_that_counts_is_sent_once(server: Running, header: str) -> None:
    head = f"POST {MEMORIES} HTTP/1.1\n{TWICE[header]}\nContent-Length: {len(BODY)}\nConnection: close"
    assert spoken(server, head, BODY).startswith(b"HTTP/1.1 400")
    assert untouched(server)


def test_a_request_without_a_host_is_refused(server: Running) -> None:
    assert spoken(server, "GET /v1/spaces HTTP/1.0").startswith(b"HTTP/1.1 421")


def test_a_web_socket_is_not_opened(server: Running) -> None:
    head = (
        "GET /v1/spaces HTTP/1.1\nHost: localhost\nUpgrade: websocket\nConnection: Upgrade\nOrigin: http://evil.example"
    )
    assert spoken(server, head).startswith(b"HTTP/1.1 403")


# MCP over HTTP, which has the same gate


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://203.0.113.7"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Encoding": "gzip"}, 415),
    ],
)
async def test_mcp_is_as_closed(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    with memorist.open(":memory:", embedder="none") as engine, KeyRing(tmp_path / ".keys.db") as ring:
        application = mcp_app(MemoryServer(engine, max_classification=2), ring, host="127.0.0.1", allow_hosts=[])
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(application), base_url="http://127.0.0.1:8766"
        ) as http:
            answer = await http.post("/mcp", content=b"{}", headers=JSON | headers)
    assert answer.status_code == status and answer.json()["remedy"]
