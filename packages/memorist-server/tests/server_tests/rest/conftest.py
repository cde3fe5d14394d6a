from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from memorist.client import Client, connect
from memorist_server.access.home import catalogue_of, key_ring
from memorist_server.rest.app import create_app, listening_socket
from memorist_server.rest.connections import uvicorn_config
from memorist_server.rest.server import Settings


@dataclass(frozen=True)
class Running:
    """A server of this process, listening on a loopback port."""

    url: str
    settings: Settings
    opened: ExitStack = field(default_factory=ExitStack)
    """Clients, to be closed before the server."""

    @property
    def folder(self) -> Path:
        return Path(catalogue_of(self.settings.db).shown)

    def key(self, space: str, rights: str, max_classification: int = 3) -> str:
        with key_ring(self.settings.db) as ring:
            return ring.create(space=space, rights=rights, max_classification=max_classification)[1]

    def client(self, space: str = "agent", key: str | None = None) -> Client:
        return self.opened.enter_context(connect(self.url, space=space, key=key))

    def http(self, key: str | None = None) -> httpx.Client:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        client = httpx.Client(
            base_url=self.url, headers=headers, timeout=30, verify=False
        )  # no TLS here, and reading certificates is slow
        self.opened.callback(client.close)
        return client


Serve = Callable[..., Running]


@contextmanager
def running(settings: Settings, create: Callable[[Settings], Any] = create_app) -> Generator[Running]:
    app = create(settings)
    with listening_socket("127.0.0.1", 0) as door:
        port = door.getsockname()[1]
        server = uvicorn.Server(uvicorn_config(app, settings.of_connections, log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        started = Running(f"http://127.0.0.1:{port}", replace(settings, port=port))
        try:
            with started.opened:
                yield started
        finally:
            server.should_exit = True
            thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts servers on folders of this test, searched by words alone."""
    with ExitStack() as stack:

        def start(**settings: object) -> Running:
            usual = {"db": f"{tmp_path}/spaces/", "embedder": "none"}
            return stack.enter_context(running(Settings(**{**usual, **settings})))  # pyright: ignore[reportArgumentType]

        yield start


@pytest.fixture
def server(serve: Serve) -> Running:
    return serve()
