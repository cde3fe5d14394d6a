"""An answer that a session was shown before is named instead of told again, on every surface, and is no abstention."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest
from mcp import Client

import memorist
from memorist_server.mcp.server import MemoryServer
from memorist_server.rest.server import Settings
from server_tests.mcp.servers import text
from server_tests.rest.conftest import Running, running
from tests.surfaces.conftest import Cli
from tests.surfaces.verbs import Verbs

QUESTION = "Where is the kayak?"
KAYAK = "Dagny's kayak is in the shed."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(Settings(db=f"{tmp_path_factory.mktemp('spaces')}/", embedder="none")) as started:
        yield started


@pytest.fixture(params=["in process", "rest"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, server: Running) -> Iterator[Verbs]:
    if request.param == "in process":
        with memorist.open(tmp_path / "agent.db", embedder="none") as engine:
            yield engine
    else:
        yield server.client(space=uuid4().hex)


def test_python_and_rest_name_it(memory: Verbs) -> None:
    kept = memory.remember(KAYAK, speaker="Dagny", at="2024-06-03")
    assert [item.memory.id for item in memory.recall(QUESTION, session="s").items] == [kept.id]
    assert [item.memory.id for item in memory.recall(QUESTION, session="s").items] == [kept.id]
    again = memory.recall(QUESTION, session="s", fresh=True)
    assert (list(again.items), again.abstained, list(again.shown_before)) == ([], False, [kept.id])
    assert again.context == f"Already shown in this session: 2024-06-03 Dagny (id {kept.id[:8]})"
    nothing = memory.recall("Who paints icebergs?", session="s", fresh=True)
    assert (nothing.abstained, nothing.context) == (True, "Nothing is known about this.")


def test_the_command_line_names_it(cli: Cli) -> None:
    id = cli("remember", KAYAK, "--json").data["id"]
    assert [item["id"] for item in cli("recall", QUESTION, "--session", "s", "--json").data["items"]] == [id]
    assert [item["id"] for item in cli("recall", QUESTION, "--session", "s", "--json").data["items"]] == [id]
    again = cli("recall", QUESTION, "--session", "s", "--fresh", "--json").data
    assert (again["items"], again["abstained"], again["shown_before"]) == ([], False, [id])
    shown = cli("recall", QUESTION, "--session", "s", "--fresh").out
    assert "Nothing new found." in shown and f"Already shown in this session: {id}" in shown
    assert cli("recall", "icebergs", "--context").out == "Nothing is known about this.\n"


def test_a_tool_names_it(tmp_path: Path) -> None:
    async def play(engine: memorist.Engine) -> None:
        async with Client(MemoryServer(engine), mode="legacy") as client:
            asked = [{"query": QUESTION}, {"query": QUESTION}, {"query": QUESTION, "fresh": True}]
            first, second, again = [await client.call_tool("recall", ask) for ask in asked]
            told: dict[str, Any] = again.structured_content or {}
            assert KAYAK in text(first) and KAYAK in text(second)
            assert (told["memories"], told["abstained"]) == ([], False)
            assert told["shown_before"] == [id]
            assert text(again).startswith("Nothing new is known about this.\nAlready shown") and id in text(again)

    with memorist.open(tmp_path / "agent.db", embedder="none") as engine:
        id = engine.remember(KAYAK).id
        anyio.run(play, engine)


def test_mnemo_holds_back_until_it_is_told_not_to(cli: Cli, tmp_path: Path) -> None:
    """Its document says so; `fresh=False` brings back what was shown, as each surface writes it."""
    id = cli("remember", KAYAK, "--json").data["id"]
    asked = ("recall", QUESTION, "--session", "s", "--recipe", "mnemo", "--json")
    found = [cli(*asked, *more).data["items"] for more in ((), (), ("--no-fresh",))]
    assert [[item["id"] for item in items] for items in found] == [[id], [], [id]]

    async def play(engine: memorist.Engine) -> None:
        async with Client(MemoryServer(engine), mode="legacy") as client:
            asked = [{"query": QUESTION}, {"query": QUESTION}, {"query": QUESTION, "fresh": False}]
            first, held, again = [text(await client.call_tool("recall", ask)) for ask in asked]
            assert KAYAK in first and KAYAK not in held and KAYAK in again
            assert "recall with fresh=false shows them again" in held

    with memorist.open(tmp_path / "agent.db", embedder="none", recipe="mnemo") as engine:
        engine.remember(KAYAK)
        anyio.run(play, engine)
