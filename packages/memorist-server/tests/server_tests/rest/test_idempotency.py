"""A write with an Idempotency-Key is done once, whoever repeats it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from memorist.engine.engine import Engine
from memorist.model import Memory
from memorist_server.access.files import ANSWERS_FILE, FileAnswers
from memorist_server.access.idempotency import Ticket
from server_tests.rest.conftest import Running, Serve


def test_a_repeated_write_gets_the_same_answer_and_writes_nothing(server: Running) -> None:
    path, headers = "/v1/spaces/agent/sessions", {"Idempotency-Key": "one"}
    with server.http() as http:
        once, twice = (http.post(path, json={"goal": "Mend the roof"}, headers=headers) for _ in range(2))
        other = http.post(path, json={"goal": "Mend the door"}, headers=headers)
        anew = http.post(path, json={"goal": "Mend the roof"})
    assert once.status_code == twice.status_code == 201 and once.content == twice.content
    assert anew.json()["id"] != once.json()["id"]
    assert other.status_code == 422 and other.json()["type"] == "urn:memorist:idempotency-key-reused"


def test_an_answer_that_came_too_late_is_there_for_the_next_who_asks(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go, done = threading.Event(), threading.Event(), threading.Event()
    relate = Engine.relate

    def slow(self: Engine, *given: Any, **more: Any) -> Memory:
        begun.set()
        go.wait(20)
        return relate(self, *given, **more)

    def kept(self: FileAnswers, ticket: Ticket, answer: bytes) -> None:
        keep(self, ticket, answer)
        done.set()

    keep = FileAnswers.keep
    monkeypatch.setattr(Engine, "relate", slow)
    monkeypatch.setattr(FileAnswers, "keep", kept)
    fact, headers = {"subject": "Alice", "relation": "lives_in", "object": "Oslo"}, {"Idempotency-Key": "one"}
    with serve(timeout=0.5).http() as http:
        for _ in range(20):  # on a busy machine, the first are out of time before the space is open
            assert http.post("/v1/spaces/agent/facts", json=fact, headers=headers).status_code == 504
            if begun.is_set():
                break
        go.set()
        assert done.wait(20)
        assert http.post("/v1/spaces/agent/facts", json=fact, headers=headers).json()["fact"] == fact
        assert http.get("/v1/spaces/agent/stats").json()["memories"] == 1


def test_what_was_refused_may_be_tried_again_with_the_same_key(server: Running) -> None:
    with server.http() as http:
        headers = {"Idempotency-Key": "one"}
        path = "/v1/spaces/agent/memories/nobody/invalidate"
        statuses = [http.post(path, json={}, headers=headers).status_code for _ in range(2)]
        assert statuses == [404, 404]
        assert http.post("/v1/spaces/agent/memories", json={"text": "The barn is red."}, headers=headers).is_success


def test_no_answer_outlives_what_was_forgotten(server: Running) -> None:
    text = "The spare key lies under the third pot."
    with server.http() as http:
        kept = http.post("/v1/spaces/agent/memories", json={"text": text}, headers={"Idempotency-Key": "one"}).json()
        assert http.delete(f"/v1/spaces/agent/memories/{kept['id']}").json()["forgotten"] == [kept["id"]]
    files = list(server.folder.glob(f"{ANSWERS_FILE}*"))
    assert files
    assert all(text.encode() not in file.read_bytes() for file in files)


def test_a_discarded_step_is_in_no_answer(server: Running) -> None:
    sessions, key = "/v1/spaces/agent/sessions", {"Idempotency-Key": "one"}
    with server.http() as http:
        id = http.post(sessions, json={"goal": "Move house"}).json()["id"]
        step = http.post(f"{sessions}/{id}/steps", json={"observation": "The heron is under the pot."}, headers=key)
        receipts = [http.post(f"{sessions}/{id}/discard", headers={"Idempotency-Key": "two"}).json() for _ in range(2)]
        assert step.json()["id"] in receipts[0]["forgotten"] and receipts[0] == receipts[1]
        assert http.post(f"{sessions}/{id}/discard", json={}).json()["forgotten"] == []
        assert http.post(f"{sessions}/nobody/discard", json={}).status_code == 404
    assert all(b"heron" not in file.read_bytes() for file in server.folder.rglob("*") if file.is_file())


def test_what_stays_keeps_its_answer_when_something_else_is_forgotten(server: Running) -> None:
    """Else a caller would learn from a repeat that somebody forgot something, perhaps what it may not see."""
    secret = {"text": "The spare key lies under the third pot.", "classification": 3}
    one, two, three, four = ({"Idempotency-Key": key} for key in ("one", "two", "three", "four"))
    sessions, memories = "/v1/spaces/agent/sessions", "/v1/spaces/agent/memories"
    low, high = server.http(server.key("agent", "write", 1)), server.http(server.key("agent", "write"))

    def ask() -> list[bytes]:
        session = low.post(sessions, json={"goal": "Move house"}, headers=one)
        step = low.post(f"{sessions}/{session.json()['id']}/steps", json={"observation": "It rains."}, headers=two)
        return [session.content, step.content]

    told = ask()
    hidden = high.post(memories, json=secret, headers=three).json()["id"]
    receipt = high.delete(f"{memories}/{hidden}", headers=four)
    assert receipt.json()["forgotten"] == [hidden]
    assert ask() == told
    assert high.post("/v1/spaces/agent/forget", json={"topic": "pots"}).is_success
    assert high.delete(f"{memories}/{hidden}", headers=four).content == receipt.content
    assert low.get("/v1/spaces/agent/stats").json()["memories"] == 3  # the session, its step and its source


def test_a_goal_that_was_forgotten_is_in_no_answer(server: Running) -> None:
    with server.http() as http:
        path, headers = "/v1/spaces/agent/sessions", {"Idempotency-Key": "one"}
        assert http.post(path, json={"goal": "Move the heron."}, headers=headers).is_success
        (goal,) = http.get("/v1/spaces/agent/memories").json()["items"]
        assert http.delete(f"/v1/spaces/agent/memories/{goal['id']}").json()["forgotten"] == [goal["id"]]
    assert all(b"heron" not in file.read_bytes() for file in server.folder.glob(f"{ANSWERS_FILE}*"))
