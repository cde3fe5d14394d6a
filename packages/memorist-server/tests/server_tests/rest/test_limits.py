"""How much is taken: bodies, rates, places, time, and files."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memorist_server.rest.limits import ConcurrencyLimit, Rate
from memorist_server.rest.problems import Refusal
from server_tests.rest.conftest import Serve

MEMORIES = "/v1/spaces/agent/memories"


def test_a_bucket_holds_twice_the_rate_and_fills_again() -> None:
    now = 0.0
    rate = Rate(2, clock=lambda: now)
    for _ in range(4):
        rate.take("a")
    with pytest.raises(Refusal) as refused:
        rate.take("a")
    assert refused.value.status_code == 429 and refused.value.headers == {"Retry-After": "1"}
    rate.take("b")
    now = 0.5
    rate.take("a")
    with pytest.raises(Refusal):
        rate.take("a")


def test_a_rate_of_nothing_is_no_limit() -> None:
    rate = Rate(0)
    for _ in range(1000):
        rate.take("a")


def test_a_room_gives_its_places_back() -> None:
    room = ConcurrencyLimit(1)
    with room.place():
        with pytest.raises(Refusal), room.place():
            pass
        assert room.taken == 1
    with room.place():
        pass


def test_a_large_body_is_refused_by_its_length_and_by_its_bytes(serve: Serve) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'{"text": "'
        for _ in range(100):
            yield b"x" * 100

    with serve(body_limit=1000).http() as http:
        announced = http.post(MEMORIES, json={"text": "x" * 2000})
        chunked = http.post(MEMORIES, content=pieces(), headers={"Content-Type": "application/json"})
        assert [announced.status_code, chunked.status_code] == [413, 413]
        assert "1,000 bytes" in chunked.json()["detail"] and chunked.json()["remedy"]


def test_a_file_may_be_larger_than_a_body(serve: Serve, tmp_path: Path) -> None:
    with serve(body_limit=100, upload_limit=2000).http() as http:
        path, as_bytes = "/v1/spaces/agent/ingest/file?name=a.txt", {"Content-Type": "application/octet-stream"}
        assert http.post(path, content=b"The barn is red. " * 50, headers=as_bytes).status_code == 200
        assert http.post(path, content=b"The barn is red. " * 500, headers=as_bytes).status_code == 413


def test_a_key_that_asks_too_often_is_told_to_wait(serve: Serve) -> None:
    server = serve(rate=1)
    key = server.key("agent", "read")
    with server.http(key) as http:
        answers = [http.get("/v1/spaces/agent/stats") for _ in range(4)]
    assert [answer.status_code for answer in answers[:2]] == [200, 200]
    assert answers[-1].status_code == 429 and int(answers[-1].headers["Retry-After"]) >= 1


def test_more_at_once_than_there_is_room_for_is_told_to_come_back(serve: Serve) -> None:
    """One request whose body never ends holds the only place."""
    begun, end = threading.Event(), threading.Event()

    def slow() -> Iterator[bytes]:
        yield b'{"text": '
        begun.set()
        end.wait(20)
        yield b'"The barn is red."}'

    server = serve(concurrency=1)
    kept: list[int] = []
    with server.http() as first, server.http() as second:
        sending = threading.Thread(
            target=lambda: kept.append(
                first.post(MEMORIES, content=slow(), headers={"Content-Type": "application/json"}).status_code
            )
        )
        sending.start()
        assert begun.wait(20)
        try:
            answers = iter(lambda: second.get("/v1/spaces"), None)
            refused = next(answer for answer in answers if answer.status_code != 200)
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
            assert second.get("/healthz").status_code == 200
        finally:
            end.set()
            sending.join()
    assert kept == [201]


def test_a_body_that_never_ends_does_not_hold_its_place(serve: Serve) -> None:
    server = serve(timeout=0.05)
    head = f"POST {MEMORIES} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", server.settings.port), timeout=20) as wire:
        wire.sendall(f'{head}\r\n{{"text": '.encode())
        assert wire.recv(100).startswith(b"HTTP/1.1 504")


def test_slow_verbs_do_not_keep_the_server_from_answering(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    from memorist.engine.engine import Engine

    go, busy = threading.Event(), threading.Semaphore(0)

    def slow(self: Engine, query: str, **_: object) -> None:
        busy.release()
        go.wait(20)
        raise ValueError

    monkeypatch.setattr(Engine, "recall", slow)
    server = serve(threads=2)
    asking = [
        threading.Thread(target=server.http().post, args=("/v1/spaces/agent/recall",), kwargs={"json": {"query": "x"}})
        for _ in range(4)
    ]
    for thread in asking:
        thread.start()
    try:
        assert all(busy.acquire(timeout=20) for _ in range(2))
        assert server.http().get("/v1/spaces").status_code == 200
    finally:
        go.set()
        for thread in asking:
            thread.join()


def test_a_request_that_takes_too_long_is_answered(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    from memorist.engine.engine import Engine

    go = threading.Event()
    monkeypatch.setattr(Engine, "stats", lambda self: go.wait(20))
    with serve(timeout=0.05).http() as http:
        answer = http.get("/v1/spaces/agent/stats")
        go.set()
    assert answer.status_code == 504 and answer.json()["type"] == "urn:memorist:timed-out"
