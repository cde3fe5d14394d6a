"""Several `memorist serve` processes on one database behind a proxy that asks them in turn."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from memorist.client import Client, connect

STARTS_WITHIN = 90.0
LARGEST_HEAD = 64 * 1024


@dataclass
class Worker:
    """A server process."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=30)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)


class Proxy:
    """Passes each request to the next worker; one that cannot be connected to is passed over, as a proxy does.

    A connection carries one request, so that the next request goes to the next worker. A request that was sent is
    never sent again: if its worker dies, the client sees the connection close.
    """

    def __init__(self, ports: list[int]) -> None:
        self._ports = ports
        self._turn = 0
        self._started, self._stop = threading.Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.port = 0
        self._passing = set[object]()
        """The tasks of all connections: the event loop alone would let them be collected while they wait."""
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._started.wait(30)

    def close(self) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        assert not self._thread.is_alive()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._pass, "127.0.0.1", 0, limit=LARGEST_HEAD)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()
        await asyncio.sleep(0)  # whoever was accepted last has a task now
        while passing := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in passing:
                task.cancel()
            await asyncio.gather(*passing, return_exceptions=True)
        await asyncio.sleep(0)  # connections that were cut are told so

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._passing.add(asyncio.current_task())
        async with _closing(writer):
            head = await reader.readuntil(b"\r\n\r\n")
            head = re.sub(rb"(?i)\r\nconnection:[^\r]*", b"", head)[:-2] + b"Connection: close\r\n\r\n"
            answers, there = await self._connected()
            async with _closing(there), asyncio.TaskGroup() as group:
                there.write(head)
                sending = group.create_task(_copied(reader, there))
                await _copied(answers, writer)
                sending.cancel()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for _ in self._ports:
            self._turn = (self._turn + 1) % len(self._ports)
            with suppress(ConnectionError):
                return await asyncio.open_connection("127.0.0.1", self._ports[self._turn])
        raise ConnectionRefusedError


@asynccontextmanager
async def _closing(writer: asyncio.StreamWriter) -> AsyncGenerator[None]:
    """Closes a connection, whose other side may have gone away."""
    try:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            yield
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    finally:
        writer.transport.abort()


async def _copied(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()


@dataclass
class Cluster:
    """Workers on one database, and the address of their proxy."""

    url: str
    workers: list[Worker]
    opened: ExitStack = field(default_factory=ExitStack)

    def client(self, space: str, key: str | None = None, retries: int = 8) -> Client:
        return self.opened.enter_context(connect(self.url, space=space, key=key, retries=retries))

    def logs(self) -> str:
        return "".join(worker.log.read_text(encoding="utf-8") for worker in self.workers)


@contextmanager
def workers(db: str, folder: Path, count: int, *options: str) -> Iterator[Cluster]:
    """So many workers, started at once. The URL of the database comes from the environment."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "MEMORIST_DB": db, "MEMORIST_EMBEDDER": "none"}
    started = [_start(folder / f"worker-{number}.log", environment, options) for number in range(count)]
    try:
        for worker in started:
            _wait_for(worker)
        proxy = Proxy([worker.port for worker in started])
        try:
            cluster = Cluster(f"http://127.0.0.1:{proxy.port}", started)
            with cluster.opened:
                yield cluster
        finally:
            proxy.close()
    finally:
        for worker in started:
            worker.stop()
        for worker in started:
            worker.process.wait(60)


def _start(log: Path, environment: dict[str, str], options: tuple[str, ...]) -> Worker:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "memorist", "serve", "--port", str(port), *options]
    with log.open("wb") as lines:
        return Worker(port, subprocess.Popen(command, stdout=lines, stderr=lines, env=environment), log)


def _wait_for(worker: Worker) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline and worker.process.poll() is None:
        with suppress(httpx.TransportError):
            if worker.get("/readyz").is_success:
                return
        time.sleep(0.05)
    raise RuntimeError(f"the worker did not start: {worker.log.read_text()[-2000:]}")
