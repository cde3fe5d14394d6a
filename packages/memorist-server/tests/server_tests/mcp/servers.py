"""Real servers, and the official client to speak with them."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

import memorist
from memorist_server.access.keys import KeyRing
from memorist_server.mcp.http import app, listener
from memorist_server.mcp.server import LIMITS, MemoryServer
from memorist_server.rest.server import Settings


@dataclass(frozen=True)
class Served:
    """A server process that listens on a port."""

    process: subprocess.Popen[str]
    url: str
    log: list[str]

    def stop(self) -> str:
        """End it as a service manager does, and tell all that it logged."""
        self.process.terminate()
        out, rest = self.process.communicate(timeout=60)
        assert (self.process.returncode, out) == (0, "")
        return "".join(self.log) + rest


def command(db: Path, *options: str) -> list[str]:
    return ["-m", "memorist", "--db", str(db), "--embedder", "none", "mcp", *options]


@contextmanager
def serving(db: Path, *options: str) -> Generator[Served]:
    """An HTTP server, ready; it is stopped at the end unless it was before."""
    port = _free_port()
    arguments = command(db, "--http", "--port", str(port), *options)
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    served = Served(process, f"http://127.0.0.1:{port}/mcp", list(_until_ready(process)))
    try:
        yield served
    finally:
        if process.returncode is None:
            served.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _until_ready(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stderr is not None
    for line in process.stderr:
        yield line
        if "running on" in line:
            return
    raise AssertionError("the server ended")


@contextmanager
def listening(engine: memorist.Engine, ring: KeyRing, *names: str, limits: Settings = LIMITS) -> Generator[str]:
    """A server in a thread of this process, which starts sooner; gives its URL."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen()  # whoever knocks before the server is ready waits
        port = door.getsockname()[1]
        serving = app(MemoryServer(engine, limits=limits), ring, host="127.0.0.1", allow_hosts=list(names))
        server = listener(serving, host="127.0.0.1", port=port)
        thread = threading.Thread(target=server.run, args=([door],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.should_exit = True
            thread.join()


@asynccontextmanager
async def over_http(url: str, *, secret: str | None = None, mode: str = "auto") -> AsyncGenerator[Client]:
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(log: Path, db: Path, *options: str, mode: str = "auto") -> AsyncGenerator[Client]:
    server = StdioServerParameters(command=sys.executable, args=command(db, *options))
    with log.open("a") as errors:
        async with Client(stdio_client(server, errlog=errors), mode=mode) as client:
            yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gives as data; it must not fail."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    assert result.structured_content is not None
    return result.structured_content


async def problem(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool complains of; it must fail."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return text(result)


def text(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text
