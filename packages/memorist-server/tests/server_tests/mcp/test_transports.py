"""The official client against real server processes: over standard streams and over HTTP."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import pytest
from mcp import Client

import memorist
from memorist_server.access.keys import KeyRing
from memorist_server.mcp.caller import SESSION_META
from memorist_server.mcp.server import TOOLS
from server_tests.mcp.servers import Served, call, listening, over_http, over_stdio, problem, serving, text
from tests.surfaces.conftest import Cli

BOTH = "application/json, text/event-stream"
QUERY = {"query": "Where did Alice move?"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """One server process without keys; no text that it was sent stands in its log."""
    with serving(tmp_path_factory.mktemp("open") / "agent.db") as running:
        yield running
        log = running.stop()
    assert "running on" in log
    assert not [word for word in ("Stockholm", "kayak", "harp", "bees") if word in log]


async def story(client: Client, who: str) -> None:
    """Every verb once, as an agent would use them."""
    assert {tool.name for tool in (await client.list_tools()).tools} == set(TOOLS)
    kept = await call(client, "remember", text=f"{who} moved to Stockholm.", at="2024-06-03", trust="owner")
    found = await call(client, "recall", query=f"Where did {who} move?")
    [first] = [memory for memory in found["memories"] if memory["id"] == kept["id"]]
    assert (first["text"], first["at"], first["trust"]) == (
        f"{who} moved to Stockholm.",
        "2024-06-03T00:00:00Z",
        "owner",
    )
    for place, day in (("Oslo", "2020-01-01"), ("Bergen", "2021-01-01")):
        await call(client, "relate", subject=f"{who}'s sister", relation="lives_in", object=place, valid_from=day)
    versions = (await call(client, "history", name=f"{who}'s sister"))["versions"]
    told = {version["fact"]["object"]: version.get("until") for version in versions}
    assert told == {"Oslo": "2021-01-01T00:00:00Z", "Bergen": None}
    task = await call(client, "session", goal=f"Help {who}.", observation="The harp is out of tune.", end=True)
    assert (task["step"], task["state"]) == (1, "closed")
    assert await call(client, "feedback", id=kept["id"], verdict="useful") == {
        "id": kept["id"],
        "verdict": "useful",
        "relevance": 1.0,
    }
    erased = await call(client, "forget", id=kept["id"])
    assert kept["id"] in erased["forgotten"]
    assert "There is no memory" in await problem(client, "forget", id=kept["id"])
    again = await call(client, "recall", query=f"Where did {who} move?")
    assert kept["id"] not in [memory["id"] for memory in again["memories"]]
    assert (await call(client, "status"))["memories"] > 0


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.slow)])
def test_an_agent_uses_every_tool_over_standard_streams(tmp_path: Path, mode: str) -> None:
    async def run() -> None:
        async with over_stdio(tmp_path / "log", tmp_path / "agent.db", mode=mode) as client:
            await story(client, "Alice")
            assert "never an instruction" in (client.instructions or "")

    anyio.run(run)
    assert "Stockholm" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize(("mode", "who"), [("auto", "Bella"), ("legacy", "Carol")])
def test_an_agent_uses_every_tool_over_http(served: Served, mode: str, who: str) -> None:
    async def run() -> None:
        async with over_http(served.url, mode=mode) as client:
            await story(client, who)

    anyio.run(run)


def test_two_sessions_do_not_share_what_they_were_shown(served: Served) -> None:
    async def run() -> None:
        question = {"query": "Where is Dagny's kayak?"}
        async with over_http(served.url, mode="legacy") as one, over_http(served.url, mode="legacy") as other:
            id = (await call(one, "remember", text="Dagny's kayak is in the shed."))["id"]
            assert id in [memory["id"] for memory in (await call(one, "recall", **question))["memories"]]
            again = await call(one, "recall", **question, fresh=True)
            assert id not in [memory["id"] for memory in again["memories"]] and again["shown_before"] == [id]
            assert not again["abstained"]
            assert id in [memory["id"] for memory in (await call(other, "recall", **question, fresh=True))["memories"]]
            repeated = await call(one, "recall", **question)
            assert id in [memory["id"] for memory in repeated["memories"]]

    anyio.run(run)


def test_where_the_protocol_has_no_sessions_a_client_may_name_its_own(served: Served) -> None:
    async def shown(client: Client, session: str | None) -> int:
        meta = None if session is None else cast("Any", {SESSION_META: session})
        result = await client.call_tool("recall", {"query": "Who tunes Edda's harp?", "fresh": True}, meta=meta)
        return len((result.structured_content or {})["memories"])

    async def run() -> None:
        async with over_http(served.url) as client:
            await call(client, "remember", text="Folke tunes Edda's harp.")
            assert await shown(client, None) == await shown(client, None) > 0
            assert await shown(client, "first") > await shown(client, "first")
            assert await shown(client, "second") > 0

    anyio.run(run)


def test_only_requests_that_call_the_server_by_its_names_come_in(served: Served) -> None:
    assert knock(served.url, Host="evil.example").status_code == 421
    assert knock(served.url, Origin="https://evil.example").status_code == 403
    assert knock(served.url, Origin="http://localhost:3000").status_code == 403
    assert knock(served.url, Origin=served.url.removesuffix("/mcp")).status_code not in (403, 421)


@pytest.fixture
def ring(tmp_path: Path) -> Generator[KeyRing]:
    with KeyRing(tmp_path / ".keys.db") as opened:
        yield opened


@pytest.fixture
def url(ring: KeyRing) -> Generator[str]:
    """A server whose ring can be given keys."""
    with (
        memorist.open(":memory:", space="ann", embedder="none", config={}) as engine,
        listening(engine, ring, "memory.example", "fd00::1") as url,
    ):
        yield url


def knock(url: str, secret: str | None = None, **headers: str) -> httpx2.Response:
    known = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    return httpx2.post(url, json=ping, headers={"Accept": BOTH, **known, **headers})


def test_names_that_were_allowed_come_in(url: str) -> None:
    for host in ("memory.example", "memory.example:8766", "[fd00::1]:8766", "localhost"):
        assert knock(url, Host=host).status_code not in (403, 421), host
    assert knock(url, Host="memory.example", Origin="https://memory.example").status_code not in (403, 421)
    assert knock(url, Host="memory.example.evil").status_code == 421


def test_keys_are_asked_for_from_the_first_one_on(ring: KeyRing, url: str) -> None:
    assert knock(url).status_code not in (401, 403)
    reads, reader = ring.create(space="a*", rights="read")
    _, other = ring.create(space="bob", rights="admin")
    assert knock(url, reader).status_code not in (401, 403)
    for secret, status in ((None, 401), ("rk_x_y", 401), (other, 403)):
        refused = knock(url, secret)
        assert refused.status_code == status and refused.json()["remedy"]
    ring.revoke(reads.id)
    assert knock(url, reader).status_code == 401


def test_a_key_does_no_more_than_its_rights(ring: KeyRing, url: str, capfd: pytest.CaptureFixture[str]) -> None:
    _, writer = ring.create(space="ann", rights="write")
    _, reader = ring.create(space="ann", rights="read", max_classification=0)

    async def run() -> None:
        async with over_http(url, secret=writer) as client:
            await call(client, "remember", text="Alice moved to Oslo.")
            assert len((await call(client, "recall", **QUERY))["memories"]) == 1
        async with over_http(url, secret=reader) as client:
            assert (await call(client, "recall", **QUERY))["memories"] == []
            status = await call(client, "status")
            assert (status["max_classification"], status["may_write"]) == (0, False)
            refused = await problem(client, "remember", text="Bob moved too.")
            assert refused.startswith("This key may not write here. Create one that may")

    anyio.run(run)
    log = "".join(capfd.readouterr())
    assert not [hidden for hidden in (writer, reader, "Alice", "Oslo", "Bob") if hidden in log]


def test_a_session_belongs_to_the_key_that_began_it(ring: KeyRing, url: str) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    mine, theirs = (ring.create(space="ann", rights="read")[1] for _ in range(2))
    begun = httpx2.post(url, json=start, headers={"Accept": BOTH, "Authorization": f"Bearer {mine}"})
    session = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
    assert knock(url, mine, **session).is_success
    assert knock(url, theirs, **session).status_code == 404


def test_an_address_others_reach_is_refused_without_a_key(cli: Cli) -> None:
    ran = cli("mcp", "--http", "--host", "0.0.0.0")
    assert ran.status == 1
    assert ran.problem.startswith("0.0.0.0 can be reached by others, and there is no key. Create one first: memorist")


def test_the_text_of_an_answer_is_short_where_nothing_is_recalled(served: Served) -> None:
    async def run() -> None:
        async with over_http(served.url) as client:
            kept = await client.call_tool("remember", {"text": "Gudrun keeps bees."})
            assert text(kept) == f"Remembered as {(kept.structured_content or {})['id']}."
            none = await client.call_tool("recall", {"query": "zyzzyva", "topic": "no such topic"})
            assert text(none) == "Nothing is known about this."

    anyio.run(run)
