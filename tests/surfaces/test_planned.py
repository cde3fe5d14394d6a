"""A memory of something still to happen is found and marked on every surface, until its day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

import memorist
from agent_samples import claude_code
from memorist_server.mcp.server import MemoryServer
from server_tests.inspector.conftest import Inspected, Inspecting, inspecting
from test_hooks import hook, memory, project, told
from tests.surfaces.conftest import Cli

__all__ = ["hook", "inspecting", "memory", "project"]

SEEN, PLANNED = "I saw the dentist in Oslo.", "I see the dentist in Bergen."
QUESTION = "Where do I see the dentist?"
DAY = (datetime.now(UTC) + timedelta(days=400)).date().isoformat()
MARK = f"planned for {DAY}"
MEMORIES = ({"text": SEEN, "at": "2024-01-01"}, {"text": PLANNED, "at": DAY})


def mark_of(items: Any) -> dict[str, list[str]]:
    return {item.memory.text: list(item.notes) for item in items}


@pytest.mark.parametrize("recipe", memorist.open(":memory:", embedder="none").recipes)
def test_every_recipe_marks_it_in_items_and_in_the_context(recipe: str) -> None:
    with memorist.open(":memory:", recipe=recipe) as engine:
        kept = engine.remember_many(MEMORIES)[1]
        found = engine.recall(QUESTION, speaker="user")
        past = engine.recall(QUESTION, as_of="2024-06-01")
        engine.pin(kept.id)
        pinned = engine.recall(QUESTION)
    assert mark_of(found.items) == {SEEN: [], PLANNED: [MARK]}
    assert f"({MARK}) " in found.context or found.abstained, found.context
    assert PLANNED not in mark_of(past.items)
    assert MARK not in past.context
    assert f"- ({MARK}) {PLANNED} (" in pinned.context or f"({MARK}) {PLANNED} (standing)" in pinned.context


def test_the_command_line_marks_it_in_recall_list_and_show(cli: Cli) -> None:
    _, kept = (cli("remember", memory["text"], "--at", memory["at"], "--json").data["id"] for memory in MEMORIES)
    assert f"\n    {MARK}\n" in cli("recall", "dentist").out
    assert f"({MARK}) {PLANNED}" in cli("list").out and cli("list").out.count("planned") == 1
    assert MARK in cli("show", kept).out
    assert PLANNED not in cli("recall", "dentist", "--as-of", "2024-06-01").out


def test_mcp_marks_it_also_when_it_is_pinned() -> None:
    async def asked() -> list[dict[str, Any]]:
        with memorist.open(":memory:") as engine:
            kept = engine.remember_many(MEMORIES)[1]
            async with Client(MemoryServer(engine)) as client:
                first = await client.call_tool("recall", {"query": QUESTION})
                past = await client.call_tool("recall", {"query": QUESTION, "as_of": "2024-06-01"})
                engine.pin(kept.id)
                pinned = await client.call_tool("recall", {"query": QUESTION})
        return [result.structured_content or {} for result in (first, past, pinned)]

    first, past, pinned = anyio.run(asked)
    assert {memory["text"]: memory.get("notes") for memory in first["memories"]} == {SEEN: None, PLANNED: [MARK]}
    assert [memory["text"] for memory in past["memories"]] == [SEEN]
    assert [(memory["text"], memory["notes"]) for memory in pinned["standing"]] == [(PLANNED, [MARK])]


def test_rest_and_the_inspector_mark_it(inspecting: Inspecting) -> None:
    made: Inspected = inspecting()
    client = made.memory()
    kept = client.remember_many(MEMORIES)[1]
    assert mark_of(client.recall(QUESTION).items) == {SEEN: [], PLANNED: [MARK]}
    assert mark_of(client.recall(QUESTION, as_of="2024-06-01").items) == {SEEN: []}
    for page in ("memories", "memories?q=dentist&how=recall", f"memories/{kept.id}"):
        assert MARK in made.browser().get(f"/inspect/agent/{page}").text, page


def test_the_hook_of_a_session_marks_it(hook: Any, memory: Any, project: Path) -> None:
    with memory() as engine:
        engine.pin(engine.remember_many(MEMORIES)[1].id)
    shown = told(hook("session-start", claude_code("SessionStart", project, source="startup")))
    assert f"({MARK}) {PLANNED}" in shown
