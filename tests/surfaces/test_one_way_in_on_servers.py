"""One way in, on servers: a secret, an injection and a repeat go through every REST route and every MCP tool."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

import memorist
from memorist import Engine
from memorist.model import Changes
from memorist_server.access.keys import KeyRing
from memorist_server.mcp.server import TOOLS
from memorist_server.rest.app import create_app
from memorist_server.rest.server import Settings
from server_tests.mcp.servers import listening, over_http
from server_tests.rest.conftest import running
from tests.remember.test_one_way_in import (
    INJECTION,
    LIST_FIELDS,
    PLAIN,
    SECRET,
    TEXT_FIELDS,
    TIMES,
    assert_no_order_is_trusted,
    assert_no_secret,
    opened,
    snapshot,
    ungated_export,
)

# The routes of the REST server

SPACE = "/v1/spaces/{space}"
CHANGES = {"text", *Changes.__annotations__}
Request = dict[str, Any]


def rest_requests(text: str, export: bytes) -> dict[tuple[str, str], Request]:
    """A request to every route, with a text wherever one goes; `{id}` in a path is filled in later."""
    filters = {"scope": [text], "topic": text}
    asked = {"query": text, "session": text, "entity_hints": [text], **filters}
    return {
        **_writing(text, export, asked),
        **_reading(text, asked),
        ("delete", f"{SPACE}/memories/{{id}}"): {},
        ("post", f"{SPACE}/forget"): {"json": filters},
    }


def _writing(text: str, export: bytes, asked: Request) -> dict[tuple[str, str], Request]:
    found = {"id": text, "query": text, "now": "2024-07-01", "items": [{"id": "ID"}, {"id": text}]}
    kept: Request = {"text": text, "at": "2024-01-01", **{name: text for name in TEXT_FIELDS - {"metadata"}}}
    kept |= {**{name: [text] for name in LIST_FIELDS}, "metadata": {"password": text}}
    fact = {"subject": text, "relation": "says", "object": text, "text": text, "source": text, "scope": text}
    return {
        ("post", f"{SPACE}/memories"): {"json": kept},
        ("post", f"{SPACE}/memories/batch"): {"json": {"memories": [{"text": text}, {**kept, "key": "batch"}]}},
        ("patch", f"{SPACE}/memories/{{id}}"): {"json": {name: kept[name] for name in kept if name in CHANGES}},
        ("post", f"{SPACE}/memories/{{id}}/pin"): {},
        ("post", f"{SPACE}/memories/{{id}}/unpin"): {},
        ("post", f"{SPACE}/memories/{{id}}/invalidate"): {"json": {"superseded_by": text}},
        ("post", f"{SPACE}/facts"): {"json": {**fact, "valid_from": "2024-01-01", "ingested_at": "2024-01-02"}},
        ("post", f"{SPACE}/feedback"): {"json": {"id": "ID", "verdict": "useful", "recall": found}},
        ("post", f"{SPACE}/sessions"): {"json": {"goal": text, "id": "run"}},
        ("post", f"{SPACE}/sessions/{{id}}/steps"): {"json": {"observation": text, "action": text}},
        ("post", f"{SPACE}/sessions/{{id}}/commit"): {},
        ("post", f"{SPACE}/sessions/{{id}}/discard"): {},
        ("post", f"{SPACE}/sessions/{{id}}/recall"): {"json": asked},
        ("post", f"{SPACE}/tidy"): {"json": {}},
        ("post", f"{SPACE}/audit"): {"json": {"kinds": [text]}},
        ("post", f"{SPACE}/consolidate"): {"json": {}},
        ("post", f"{SPACE}/sleep"): {"json": {}},
        ("post", f"{SPACE}/reembed"): {},
        ("post", f"{SPACE}/undo"): {"json": {"entry": text}},
        ("post", f"{SPACE}/ingest"): {"json": {"messages": [{"role": "user", "content": text}], "session": text}},
        ("post", f"{SPACE}/ingest/file"): {"params": {"name": f"{text[:40]}.md"}, "content": text.encode()},
        ("post", f"{SPACE}/import"): {"content": export},
    }  # fmt: skip


def _reading(text: str, asked: Request) -> dict[tuple[str, str], Request]:
    return {
        ("get", f"{SPACE}/memories"): {"params": {"topic": text, "cursor": text}},
        ("post", f"{SPACE}/memories/get"): {"json": {"ids": ["ID", text]}},
        ("get", f"{SPACE}/memories/{{id}}"): {},
        ("get", f"{SPACE}/memories/{{id}}/history"): {},
        ("get", f"{SPACE}/entities"): {"params": {"prefix": text, "kind": text}},
        ("get", f"{SPACE}/entities/{{name}}/history"): {},
        ("get", f"{SPACE}/entities/{{name}}/neighbours"): {"params": {"topic": text}},
        ("get", f"{SPACE}/pinned"): {"params": {"topic": text}},
        ("post", f"{SPACE}/recall"): {"json": asked},
        ("post", f"{SPACE}/wake-up"): {"json": {"speaker": text, "topic": text, "scope": [text]}},
        ("post", f"{SPACE}/explain"): {"json": {**asked, "id": text}},
        ("post", f"{SPACE}/why-not"): {"json": {**asked, "id": "ID"}},
        ("get", f"{SPACE}/recipes"): {},
        ("get", f"{SPACE}/stats"): {},
        ("get", f"{SPACE}/jobs"): {},
        ("get", f"{SPACE}/journal"): {"params": {"verb": text, "subject": text}},
        ("get", f"{SPACE}/export"): {},
        ("get", f"{SPACE}/backup"): {},
        ("get", "/healthz"): {},
        ("get", "/readyz"): {},
        ("get", "/metrics"): {},
        ("get", "/v1/spaces"): {},
    }  # fmt: skip


def test_every_route_has_a_case(tmp_path: Path) -> None:
    app = create_app(Settings(db=f"{tmp_path}/", embedder="none"))
    paths = {(method, path) for path, methods in app.openapi()["paths"].items() for method in methods}
    assert paths == rest_requests("", b"").keys()
    app.state.server.close()


@pytest.mark.parametrize("text", [SECRET, INJECTION], ids=["secret", "injection"])
def test_no_route_lets_a_secret_or_an_order_in(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "spaces"
    with running(Settings(db=f"{folder}/", embedder="none")) as server, server.http() as http:
        id = http.post("/v1/spaces/agent/memories", json={"text": PLAIN}).json()["id"]
        for place, ((method, path), request) in enumerate(rest_requests(text, ungated_export(text)).items()):
            named = path.format(space="agent", id="run" if "sessions" in path else id, name="Ann")
            body = json.loads(json.dumps(request["json"]).replace('"ID"', f'"{id}"')) if "json" in request else None
            given = {**request, **({} if body is None else {"json": body})}
            kind = {"Content-Type": "application/octet-stream"} if "content" in given else {}
            headers = {"Idempotency-Key": f"k{place}", **kind}
            answers = [http.request(method, named, headers=headers, **given) for _ in range(2)]
            assert all(answer.status_code < 500 for answer in answers), (path, answers[0].text)
            assert path in REFUSED or answers[0].status_code < 400, (path, answers[0].text)
    with memorist.open(folder, space="agent", embedder="none", background=False, config={}) as engine:
        assert_no_secret(engine.store, folder)
        assert_no_order_is_trusted(engine.store)


REFUSED = {
    f"{SPACE}/memories",  # for the cursor of its listing
    f"{SPACE}/memories/{{id}}/invalidate",
    f"{SPACE}/explain",
    f"{SPACE}/audit",
    f"{SPACE}/undo",
    f"{SPACE}/reembed",
    f"{SPACE}/entities/{{name}}/history",
}
"""Routes that refuse the text for another reason: it is no id, no kind and no entry."""


# The tools of the MCP server


def mcp_arguments(text: str, id: str) -> dict[str, Request]:
    fields = {name: text for name in ("topic", "scope", "key", "source", "speaker")}
    return {
        "remember": {"text": text, **fields, "replaces": None},
        "relate": {"subject": text, "relation": "says", "object": text, "text": text, "source": text,
                   "scope": text, "valid_from": "2024-01-01"},
        "recall": {"query": text, "topic": text, "scope": text, "entity_hints": [text], "in_session": text,
                   "speaker": text, "recipe": "memoria", "tier": "core"},
        "session": {"id": text, "goal": text, "scope": text, "observation": text, "action": text, "number": 1,
                    "end": True},
        "history": {"name": text},
        "entities": {"name": text, "prefix": text, "scope": text},
        "feedback": {"id": id, "verdict": "useful"},
        "status": {},
        "forget": {"id": id},
    }  # fmt: skip


@contextmanager
def mcp(engine: Engine, folder: Path) -> Generator[tuple[BlockingPortal, Any]]:
    with (
        listening(engine, KeyRing(folder / ".keys.db")) as url,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(over_http(url)) as client,
    ):
        yield portal, client


@pytest.mark.parametrize("text", [SECRET, INJECTION], ids=["secret", "injection"])
def test_no_tool_lets_a_secret_or_an_order_in(text: str, tmp_path: Path) -> None:
    with opened(tmp_path / "store", embedder="none") as engine, mcp(engine, tmp_path) as (portal, client):
        tools = {tool.name: tool for tool in portal.call(client.list_tools).tools}
        cases = mcp_arguments(text, engine.remember(PLAIN).id)
        assert tools.keys() == cases.keys() == TOOLS.keys()
        for name, arguments in cases.items():
            strings = [key for key, one in tools[name].input_schema["properties"].items() if _takes_text(one)]
            moments = {*TIMES, "at", "as_of", "known_at", "since", "until", "expires_at"}
            assert set(strings) <= arguments.keys() | moments
            for _ in range(2):
                before = snapshot(engine.store)
                portal.call(partial(client.call_tool, name, arguments))
                if _ and name in ("remember", "relate", "recall", "history", "session"):
                    assert snapshot(engine.store) == before
        kept = engine.remember("The weir was repaired.")
        portal.call(partial(client.call_tool, "remember", {"text": text, "topic": text, "replaces": kept.id}))
        assert engine.get(kept.id).version == 2  # type: ignore[union-attr]
        assert_no_secret(engine.store, tmp_path / "store")
        assert_no_order_is_trusted(engine.store)


def _takes_text(schema: Mapping[str, Any]) -> bool:
    kinds = [schema, *schema.get("anyOf", ())]
    return any(kind.get("type") == "string" and "enum" not in kind for kind in kinds)
