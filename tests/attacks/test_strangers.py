"""A stranger can neither fill a server nor hide a second request, and is told of no file and no other space."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

import memorist
from memorist_server.mcp.server import MemoryServer
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import Running, running

HEADS = {
    "a proxy that reads the length": "Content-Length: 6\r\nTransfer-Encoding: chunked",
    "a proxy that reads the chunks": "Transfer-Encoding: chunked\r\nContent-Length: 60",
    "two codings": "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    "an unknown coding": "Transfer-Encoding: xchunked",
    "a coding after a space": "Transfer-Encoding : chunked",
    "two lengths": "Content-Length: 5\r\nContent-Length: 6",
    "a length with a sign": "Content-Length: +5",
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(Settings(db=f"{tmp_path}/", embedder="none")) as one:
        yield one


def sent(server: Running, text: str) -> bytes:
    """All that a server answers until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.settings.port), timeout=5) as line:
        line.sendall(text.encode())
        return b"".join(iter(lambda: line.recv(65536), b""))


@pytest.mark.parametrize("head", HEADS)
def test_no_body_hides_a_second_request(server: Running, head: str) -> None:
    first = f"POST /v1/spaces/a/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{HEADS[head]}"
    answers = sent(server, f"{first}\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [b"400"]


def test_unheard_of_methods_are_counted_as_one(server: Running) -> None:
    server.key("a", "read")
    for number in range(20):
        sent(server, f"M{number} / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    with server.http(server.key("a", "read")) as http:
        counted = re.findall(r'requests_total\{method="(.*?)",.*\} (\d+)', http.get("/metrics").text)
    assert ("other", "20") in counted and {method for method, _ in counted} <= {"GET", "other"}


def test_a_disk_that_takes_two_names_for_one_opens_no_other_space(server: Running, tmp_path: Path) -> None:
    with memorist.open(f"{tmp_path}/", space="ours", embedder="none") as engine:
        engine.remember("The vault is in the cellar.")
    (tmp_path / "OURS.db").symlink_to(tmp_path / "ours.db")  # as a disk does that ignores the case of names
    with server.http(server.key("OURS", "admin")) as http:
        answers = [http.get(f"/v1/spaces/OURS/{what}") for what in ("memories", "stats", "export")]
        answers.append(http.post("/v1/spaces/OURS/memories", json={"text": "The kettle is new."}))
    assert {answer.status_code for answer in answers} == {409}
    assert not any("vault" in answer.text for answer in answers)


@pytest.mark.parametrize("damage", ["moved", "overwritten"])
def test_an_agent_is_told_of_no_file(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "private.db"
    calls = {"remember": {"text": "The boat is red."}, "recall": {"query": "kettle"}, "status": {}}

    async def play(engine: memorist.Engine, id: str) -> list[str]:
        async with Client(MemoryServer(engine)) as client:
            results = [await client.call_tool(name, given) for name, given in calls.items()]
            with pytest.raises(MCPError) as refused:
                await client.read_resource(f"memorist://memory/{id}")
        assert all(result.is_error for result in results)
        return [str(refused.value), *(str(result.content) for result in results)]

    with memorist.open(file, embedder="none") as engine:
        id = engine.remember_many([f"The kettle {number} is new." for number in range(30)])[0].id
    with memorist.open(file, embedder="none") as engine:
        if damage == "moved":
            file.rename(tmp_path / "elsewhere.db")
        else:
            file.write_bytes(file.read_bytes()[:4096] + os.urandom(file.stat().st_size - 4096))
        told = anyio.run(play, engine, id)
    assert not any("private" in name or str(tmp_path) in name for name in told)
