"""Over REST and MCP too, a capped caller gets the same answers from a server with secrets and from one without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import anyio
import httpx
import pytest
from mcp import Client

from memorist.engine.engine import Engine
from memorist.ports.models import SystemClock
from memorist.stores import MemoryStore
from memorist.testing import FakeClock
from memorist_server.mcp.server import MemoryServer
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import Running, running

SPACE = "/v1/spaces/ours"
LOW = {"text": "The vault is in the cellar of Heron House.", "key": "vault", "session": "run", "at": "2024-05-01"}
FACT = {"subject": "Alice", "relation": "lives_in", "object": "Oslo", "valid_from": "2024-01-01"}
TURNS = [{"role": "user", "name": "Alice", "content": "I work at Heron Labs.", "timestamp": "2024-05-02"}]
GOAL: dict[str, Any] = {
    "kind": "source",
    "key": "session/run",
    "session": "run",
    "metadata": {"goal": "Rob the vault.", "steps": 0},
}
QUERY = {"query": "Where is the vault of Alice?", "max_classification": 3}
NOT_COMPARED = re.compile(rb'"[a-z_]*(?:ms|timings|request_id|path)":(?:"[^"]*"|[\d.]+|\{[^}]*\})')
REQUESTS: dict[str, list[Any]] = {
    "GET /healthz": [None],
    "GET /readyz": [None],
    "GET /v1/spaces": [None],
    "POST {space}/memories": [
        LOW,
        {**LOW, "text": "The vault was moved."},
        {"text": "So secret.", "classification": 2},
    ],
    "POST {space}/memories/batch": [{"memories": [LOW, {"text": "Thanks!"}]}],
    "GET {space}/memories": [{"limit": 2}, {"limit": 2, "cursor": "after:2"}, {"max_classification": 3}],
    "POST {space}/facts": [FACT, {**FACT, "object": "Rome", "valid_from": "2024-02-01"}, {**FACT, "classification": 3}],
    "POST {space}/ingest": [{"messages": TURNS, "session": "run"}],
    "POST {space}/ingest/file": [{"name": "notes.md"}],
    "POST {space}/recall": [QUERY, {**QUERY, "details": True, "recipe": "memoria"}],
    "POST {space}/explain": [{**QUERY, "id": "{secret}"}, {**QUERY, "id": "{low}"}],
    "POST {space}/why-not": [{**QUERY, "id": "{secret}"}, {**QUERY, "id": "{low}"}],
    "GET {space}/recipes": [None],
    "POST {space}/memories/get": [{"ids": ["{secret}", "{low}"]}],
    "PATCH {space}/memories/{id}": [{"text": "The vault of Alice is empty."}, {"importance": 0.9}],
    "GET {space}/memories/{id}": [None],
    "GET {space}/memories/{id}/history": [None],
    "GET {space}/entities": [{}, {"prefix": "ali", "max_classification": 3}],
    "GET {space}/entities/{name}/history": [None],
    "GET {space}/entities/{name}/neighbours": [{"hops": 2, "max_classification": 3}],
    "POST {space}/feedback": [{"id": "{secret}", "verdict": "wrong"}, {"id": "{low}", "verdict": "useful"}],
    "POST {space}/memories/{id}/pin": [None],
    "GET {space}/pinned": [{}, {"max_classification": 3}],
    "POST {space}/wake-up": [{}, {"max_classification": 3, "speaker": "Alice"}],
    "POST {space}/memories/{id}/unpin": [None],
    "POST {space}/memories/{id}/invalidate": [{}],
    "POST {space}/sessions/{id}/recall": [QUERY],
    "POST {space}/sessions/{id}/steps": [{"observation": "The door is shut."}],
    "POST {space}/sessions/{id}/discard": [None],
    "POST {space}/sessions/{id}/commit": [None],
    "POST {space}/sessions": [{"id": "run"}, {"id": "run", "goal": "Paint the vault."}],
    "GET {space}/stats": [None],
    "GET {space}/jobs": [None],
    "GET {space}/journal": [{}, {"subject": "{secret}"}],
    "POST {space}/tidy": [{}, {"dry_run": False}],
    "POST {space}/audit": [{}, {"fix": True}],
    "POST {space}/consolidate": [{}],
    "POST {space}/sleep": [{}, {"dry_run": False}],
    "POST {space}/undo": [{"entry": "nothing"}],
    "POST {space}/reembed": [None],
    "GET {space}/export": [None],
    "GET {space}/backup": [None],
    "POST {space}/import": [None],
    "DELETE {space}/memories/{id}": [None],
    "POST {space}/forget": [{"ids": ["{secret}", "{low}"]}, {"scope": ["global"]}],
}
"""What is sent to every route, in this order. A new route needs a line: decide what a capped caller may learn by it."""
NOT_ABOUT_MEMORIES = {"GET /metrics"}


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Running, Running]]:
    """A server without secrets and one with them, at the same moment."""
    monkeypatch.setattr(SystemClock, "now", lambda _: FakeClock().now())  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with ExitStack() as stack:
        yield tuple(  # pyright: ignore[reportReturnType]
            stack.enter_context(running(Settings(db=f"{tmp_path}/{name}/", embedder="none"))) for name in ("a", "b")
        )


def secrets_into(engine: Any) -> list[str]:
    """Secrets that meet the low writes everywhere: key, text, slot, session, names and scopes."""
    kept = [engine.remember(LOW["text"], key="vault", classification=3)]
    kept.append(engine.remember("The code of Alice's vault is seven.", scope="user:mallory", classification=2))
    kept.append(engine.remember(LOW["text"], session="run", at=LOW["at"], classification=2))
    kept.append(engine.relate("Alice", "lives_in", "Lima", valid_from="2024-03-01", classification=3))
    kept.append(engine.remember(GOAL["metadata"]["goal"], **GOAL, classification=3))
    engine.session(id="run").step("The guard sleeps at noon.")
    return [memory.id for memory in kept]


def test_every_route_gives_a_capped_key_the_same_answer(servers: tuple[Running, Running]) -> None:
    secret = servers[1]
    https = [server.http(server.key("ours", "admin", max_classification=1)) for server in servers]
    for http in https:
        http.post(f"{SPACE}/memories", json={"text": "The kettle is new."})  # that a space exists is no secret
    hidden = secrets_into(secret.client("ours", secret.key("ours", "admin")))
    spec = https[0].get("/openapi.json").json()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in spec.items() for method in methods}
    named = {route.replace("/v1/spaces/{space}", "{space}") for route in routes}
    assert named == REQUESTS.keys() | NOT_ABOUT_MEMORIES

    ids: list[str] = []
    for route, bodies in REQUESTS.items():
        for body in bodies:
            for id in _subjects(route, hidden, ids):
                answers = [_sent(http, route, body, id, (hidden[0], ids[0] if ids else "x")) for http in https]
                assert answers[0] == answers[1], (route, body, id)
                found = re.search(rb'^\{"id":"([0-9a-f]{32})"', answers[0][1])
                ids += [found[1].decode()] if found and "memories" in route else []
    left = secret.client("ours", secret.key("ours", "admin")).list(max_classification=3)
    assert {item.worth.classification for item in left.items} == {2, 3} and all(
        item.version == 1 for item in left.items
    )
    metrics = https[1].get("/metrics").text
    assert not any(word in metrics for word in (*hidden, "mallory", "vault"))


def _subjects(route: str, hidden: list[str], low: list[str]) -> list[str]:
    if "/entities/" in route:
        return ["Alice", "Heron House"]
    if "/sessions/" in route:
        return ["run"]
    return [*hidden, *low] if "{id}" in route else [""]


def _sent(http: httpx.Client, route: str, body: Any, id: str, known: tuple[str, str]) -> tuple[int, bytes]:
    method, _, path = route.partition(" ")
    path = path.format(space=SPACE, id=id, name=id)
    if isinstance(body, dict):
        ids = {"{secret}": known[0], "{low}": known[1]}
        given = cast("dict[str, Any]", body)
        body = {name: ids.get(str(value), value) for name, value in given.items()}
        if isinstance(listed := body.get("ids"), list):
            body["ids"] = [ids[name] for name in listed]
    if method == "GET":
        answer = http.get(path, params=body)
    elif path.endswith(("/file", "/import")):
        answer = http.post(path, params=body, content=b"# Heron House\n\nThe vault has a brass door.\n")
    else:
        answer = http.request(method, path, json=body)
    return answer.status_code, NOT_COMPARED.sub(b"", answer.content)


TOOLS: dict[str, list[dict[str, Any]]] = {
    "remember": [
        {"text": LOW["text"], "key": "vault"},
        {"text": "The vault was moved.", "key": "vault"},
        {"text": "The vault is empty.", "replaces": "{secret}"},
    ],
    "relate": [{"subject": "Alice", "relation": "lives_in", "object": "Rome", "valid_from": "2024-02-01"}],
    "recall": [
        {"query": QUERY["query"]},
        {"query": "Lima", "fresh": False},
        {"query": QUERY["query"], "recipe": "memoria", "entity_hints": ["Alice"], "in_session": "run"},
    ],
    "history": [{"name": "Alice"}, {"name": "{secret}"}],
    "entities": [{}, {"prefix": "Ali"}, {"name": "Alice", "hops": 3}],
    "session": [
        {"id": "run", "observation": "The door is shut."},
        {"id": "run", "goal": "Paint the vault.", "observation": "The door is shut.", "end": True},
    ],
    "feedback": [{"id": "{secret}", "verdict": "wrong"}, {"id": "{secret}", "verdict": "pin"}],
    "forget": [{"id": "{secret}"}, {"id": ["{secret}"]}],
    "status": [{}],
}
"""What every tool is called with; a new tool needs a line."""


@pytest.mark.parametrize("cap", [0, 1])
def test_every_tool_gives_a_capped_agent_the_same_answer(cap: int) -> None:
    async def play() -> None:
        clock = FakeClock()
        engines = [Engine(MemoryStore(), clock=clock, background=False) for _ in range(2)]
        hidden = secrets_into(engines[1])
        told: list[list[Any]] = []
        for engine in engines:
            async with Client(MemoryServer(engine, max_classification=cap)) as client:
                assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS.keys()
                told.append([await _called(client, *call) for call in _calls(hidden[0])])
        assert told[0] == told[1]
        assert set(hidden) <= {memory.id for memory in engines[1].list(max_classification=3).items}

    anyio.run(play)


def _calls(secret: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for tool, calls in TOOLS.items():
        for given in calls:
            yield (
                tool,
                {
                    name: secret if value == "{secret}" else [secret] if value == ["{secret}"] else value
                    for name, value in given.items()
                },
            )


async def _called(client: Client, tool: str, given: dict[str, Any]) -> tuple[Any, Any, Any]:
    result = await client.call_tool(tool, given)
    return result.is_error, result.structured_content, [block.model_dump() for block in result.content]
