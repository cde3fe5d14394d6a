from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from memorist.errors import ModelUnavailable
from memorist.models.http import Endpoint, Service


@pytest.fixture
def dripping(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server that sends a space now and then, as some do to keep a connection open."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        line, _ = listener.accept()
        with line, suppress(OSError):
            line.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
            while not over.wait(0.02):
                line.sendall(b" ")

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    over.set()
    thread.join()
    listener.close()


def test_an_answer_that_trickles_in_is_given_up_in_time(dripping: str) -> None:
    waits: list[float] = []
    endpoint = Endpoint(Service(dripping), timeout=0.2, sleep=waits.append)
    with pytest.raises(ModelUnavailable, match="did not answer within 0.2 seconds"):
        endpoint.post("/x", {})
    assert waits == []
