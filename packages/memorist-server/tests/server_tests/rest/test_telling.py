"""What the server tells: problems, request ids, logs, metrics, and its own description."""

from __future__ import annotations

import json
import logging
import re
import shutil
from typing import Any

import pytest

import memorist
from memorist import errors
from memorist.engine.engine import Engine
from memorist.surfaces.cli import main
from memorist.verbs import SessionVerbs, Verbs
from memorist_server.rest.logs import JsonLines
from memorist_server.rest.metrics import Metrics
from memorist_server.rest.problems import STATUS, problem_responses, status_of
from memorist_server.rest.schemas import answer_of
from server_tests.rest.conftest import Running

PROBLEM = {"type", "title", "status", "detail", "remedy", "request_id"}


def all_errors() -> list[type[errors.Error]]:
    named = [named_type for named_type in vars(errors).values() if isinstance(named_type, type)]
    return [kind for kind in named if issubclass(kind, errors.Error)]


def test_every_error_has_a_status_that_is_documented() -> None:
    assert set(all_errors()) == set(STATUS)
    assert {status_of(kind) for kind in all_errors()} <= problem_responses().keys()

    class Newer(errors.StoreBusy): ...

    assert status_of(Newer) == 503


def test_a_problem_says_what_to_do_and_which_request_it_was(server: Running) -> None:
    with server.http() as http:
        told = http.get("/v1/spaces/agent/memories/nobody", headers={"X-Request-Id": "mine-1"})
        assert told.json().keys() == PROBLEM and told.json()["status"] == told.status_code == 404
        assert told.json()["request_id"] == told.headers["X-Request-Id"] == "mine-1"
        odd = http.get("/healthz", headers={"X-Request-Id": "two words"}).headers["X-Request-Id"]
        assert re.fullmatch(r"[0-9a-f]{32}", odd)
        nowhere = http.get("/no/such/path")
        assert nowhere.status_code == 404 and nowhere.json().keys() == PROBLEM
        wrong = http.put("/healthz")
        assert wrong.status_code == 405 and wrong.headers["Allow"] == "GET"


def test_a_soft_forget_by_its_address_erases_nothing_and_a_misspelt_one_is_refused(server: Running) -> None:
    kept = server.client().remember("The lamp is red.")
    with server.http() as http:
        path = f"/v1/spaces/agent/memories/{kept.id}"
        assert http.delete(f"{path}?sotf=true").status_code == 422
        told = http.delete(f"{path}?soft=true").json()
        assert told["forgotten"] == [kept.id] and http.get(path).json()["valid_to"] == told["at"]
        assert http.post("/v1/spaces/agent/forget", json={"soft": True}).status_code == 422
        assert http.post("/v1/spaces/agent/undo", json={"entry": told["run"]}).is_success
        assert http.delete(path).json()["run"] is None and http.get(path).status_code == 404


BODIES = [b"", b"{", b"[]", b'{"text": 1}', b'{"text": "\\ud800"}', b'{"text": "x", "importance": NaN}', b"\xff"]


def test_a_misshapen_body_is_refused_without_repeating_it(server: Running) -> None:
    with server.http() as http:
        for body in (*BODIES, b"[" * 10_000, b'{"text": "Zanzibar", "trust": "Zanzibar"}'):
            headers = {"Content-Type": "application/json"}
            answer = http.post("/v1/spaces/agent/memories", content=body, headers=headers)
            assert answer.status_code in (400, 422) and answer.json().keys() == PROBLEM, body
            assert "Zanzibar" not in answer.text


def test_nothing_is_forgotten_unless_it_was_chosen(server: Running) -> None:
    memory = server.client()
    memory.remember("The barn is red.")
    with server.http() as http:
        for body in ({}, {"scope": None}, {"scope": None, "topic": None, "include_expired": True}):
            assert http.post("/v1/spaces/agent/forget", json=body).status_code == 422
    assert memory.stats().memories == 1


def test_names_of_entities_may_hold_anything(server: Running) -> None:
    memory = server.client()
    for name in ("TCP/IP", "C#", "100%", "Was it?", "林晓", "a&b=c", "x/history"):
        memory.relate(name, "is_about", "networks")
        assert [version.fact.subject for version in memory.history(name) if version.fact] == [name]


def test_no_name_of_a_space_leads_elsewhere(server: Running) -> None:
    with server.http() as http:
        for space in ("..", ".keys", "a%2Fb", "a" * 101, "%00", "a b", "-a", "%2e%2e%2fa"):
            answer = http.post(f"/v1/spaces/{space}/memories", json={"text": "The barn is red."})
            assert answer.status_code in (404, 405, 422), space
    assert list(server.folder.glob("[!.]*")) == []
    assert [path.name for path in server.folder.parent.iterdir()] == ["spaces"]


def test_no_log_holds_a_key_a_memory_or_a_question(
    server: Running, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = server.key("agent", "admin")
    told, asked, named = "Zanzibar lies in the drawer.", "Where does Quokkaville lie?", "Wolpertinger"
    caplog.set_level(logging.DEBUG)

    def failing(self: Engine, *_: Any, **__: Any) -> None:
        raise RuntimeError(told)

    with server.http(secret) as http:
        space = "/v1/spaces/agent"
        kept = http.post(f"{space}/memories", json={"text": told, "importance": 1, "speaker": named}).json()
        http.post(f"{space}/recall", json={"query": asked})
        http.post(f"{space}/memories", json={"text": told, "importance": told})
        http.get(f"{space}/entities/{named}/history")
        http.get(f"{space}/memories?topic={named}")
        monkeypatch.setattr(Engine, "stats", failing)
        assert http.get(f"{space}/stats").status_code == 500
        http.delete(f"{space}/memories/{kept['id']}")
    with server.http("rk_unknown_Quokkaville") as http:
        http.get(f"{space}/stats")
    # Uvicorn's own log of requests is off; pytest hears it all the same.
    ours = [logged for logged in caplog.records if logged.name.startswith(("memorist", "uvicorn.error", "fastapi"))]
    lines = [JsonLines().format(record) for record in ours]
    written = "\n".join(lines)
    requests = [record for record in map(json.loads, lines) if record["message"] == "request"]
    assert {"time", "request_id", "method", "route", "status", "ms", "key", "space"} <= requests[0].keys()
    assert requests[0]["route"] == "/v1/spaces/{space}/memories" and requests[0]["space"] == "agent"
    assert requests[0]["key"] == secret.split("_")[1]
    assert any(json.loads(line).get("error", {}).get("type") == "RuntimeError" for line in lines)
    for hidden in (secret.split("_", 2)[2], "Zanzibar", "Quokkaville", named, kept["id"]):
        assert hidden not in written


def test_metrics_count_by_route_and_status() -> None:
    metrics = Metrics()
    for seconds in (0.005, 0.3, 99.0):
        metrics.count("GET", '/a"b', 200, seconds)
    values = {"memorist_spaces_evicted_total": ("Closed.", 12_345_678), "memorist_open_spaces": ("Open.", 2)}
    text = metrics.text(values, {}, {})
    labels = r'method="GET",route="/a\"b"'
    assert f'memorist_requests_total{{{labels},status="200"}} 3\n' in text
    assert f'memorist_request_seconds_bucket{{{labels},le="0.005"}} 1\n' in text
    assert f'memorist_request_seconds_bucket{{{labels},le="0.5"}} 2\n' in text
    assert f'memorist_request_seconds_bucket{{{labels},le="+Inf"}} 3\n' in text
    assert f"memorist_request_seconds_sum{{{labels}}} 99.305000\n" in text
    assert "# TYPE memorist_spaces_evicted_total counter\nmemorist_spaces_evicted_total 12345678\n" in text
    assert text.endswith("# TYPE memorist_open_spaces gauge\nmemorist_open_spaces 2\n")


def test_metrics_name_no_space(server: Running) -> None:
    server.client("wolpertinger").remember("The barn is red.")
    text = server.http().get("/metrics").text
    assert 'route="/v1/spaces/{space}/memories",status="201"} 1' in text and "wolpertinger" not in text


def test_the_description_is_complete(server: Running) -> None:
    schema = server.http().get("/openapi.json").json()
    assert schema["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            assert operation.get("description"), where
            assert {"401", "403", "422", "429", "500", "503", "504"} <= operation["responses"].keys(), where
            for status, response in operation["responses"].items():
                if int(status) >= 400 and path != "/readyz":
                    assert response["content"]["application/problem+json"]["example"].keys() == PROBLEM, where


def test_answers_have_every_field_that_is_described_and_no_other(server: Running) -> None:
    with server.http() as http:
        space = "/v1/spaces/agent"
        kept = http.post(f"{space}/memories", json={"text": "Alice lives in Oslo since 2020-01-01."}).json()
        answer_of(Verbs.remember).model_validate(kept)
        question = {"query": "Where does Alice live?", "verbosity": "detailed"}
        for details in (False, True):
            found = http.post(f"{space}/recall", json={**question, "details": details}).json()
            answer_of(Verbs.recall).model_validate(found)
        assert found["items"][0]["memory"] and found["items"][0]["explanation"]["details"]
        opened = http.post(f"{space}/sessions", json={"goal": "Move house"}).json()
        http.post(f"{space}/sessions/{opened['id']}/steps", json={"observation": "The van is full.", "reward": 1})
        answer_of(SessionVerbs.commit).model_validate(
            http.post(f"{space}/sessions/{opened['id']}/commit", json={}).json()
        )
        answer_of(Verbs.stats).model_validate(http.get(f"{space}/stats").json())
        answer_of(Verbs.audit).model_validate(http.post(f"{space}/audit", json={}).json())


def test_the_description_page_is_served(server: Running) -> None:
    shown = server.http().get("/docs")
    assert shown.headers["content-type"].startswith("text/html")
    assert "openapi.json" in shown.text and "/v1/spaces/{space}/recall" in shown.text
    assert "http" not in shown.text.replace("HTTP", "")  # nothing is fetched from anywhere


@pytest.mark.parametrize("remedy", ["rename", "move"])
def test_a_file_that_was_copied_to_another_name_is_told_of_and_can_be_adopted(server: Running, remedy: str) -> None:
    with memorist.open(f"{server.folder}/", space="ours", embedder="none", config={}) as engine:
        engine.remember("The kettle is new.")
    file, aside = server.folder / "theirs.db", server.folder.parent / "aside.db"
    shutil.copy(server.folder / "ours.db", file)
    with server.http() as http:
        told = http.get("/v1/spaces/theirs/memories")
        assert told.status_code == 409
        assert told.json()["detail"] == "theirs.db holds the space 'ours', not 'theirs'"
        assert "Name the file ours.db again" in told.json()["remedy"] and "memorist move" in told.json()["remedy"]
        if remedy == "rename":
            file.rename(server.folder / "ours.db")
            assert http.get("/v1/spaces/theirs/memories").json()["items"] == []
        else:
            file.rename(aside)
            assert main(["--embedder", "none", "move", str(aside), f"{server.folder}/", "--as", "theirs"]) == 0
            assert [item["text"] for item in http.get("/v1/spaces/theirs/memories").json()["items"]] == [
                "The kettle is new."
            ]
        assert [item["text"] for item in http.get("/v1/spaces/ours/memories").json()["items"]] == ["The kettle is new."]
