"""What a recall tells an agent besides memories: cited contexts, summaries and notes; and sessions."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp import Client

import memorist
from memorist.model import Kind, Link
from memorist.ports import Batch
from memorist.testing import FakeClock, FakeEmbedder
from memorist_server.mcp.schemas import recall_content
from memorist_server.mcp.server import MemoryServer
from server_tests.mcp.servers import call, problem, text

QUESTION = "Where does Alice live?"


@pytest.fixture
def engine() -> Generator[memorist.Engine]:
    with memorist.open(":memory:", embedder=FakeEmbedder(), clock=FakeClock(), config={}) as engine:
        yield engine


def calls(engine: memorist.Engine, *given: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers of tools, called in turn."""

    async def play() -> list[dict[str, Any]]:
        async with Client(MemoryServer(engine)) as client:
            return [await call(client, tool, **arguments) for tool, arguments in given]

    return anyio.run(play)


def test_the_context_of_memoria_comes_with_its_sources_and_no_text_comes_twice(engine: memorist.Engine) -> None:
    said = engine.remember("Alice moved to Oslo.", at="2024-06-03")
    fact = engine.relate("Alice", "lives_in", "Oslo", valid_from="2024-06-03", source=said.id)
    engine.store.put(Batch(links=[Link(fact.id, "source", said.id)]))
    asked = {"query": QUESTION, "recipe": "memoria", "entity_hints": ["Alice"], "as_of": "2024-07-01"}
    cited, plain, early = calls(
        engine,
        ("recall", {**asked, "known_at": "9999-01-01"}),
        ("recall", {"query": QUESTION, "fresh": False}),
        ("recall", {**asked, "as_of": "2023-01-01", "known_at": "9999-01-01"}),
    )
    assert "- Alice lives in Oslo. (lives_in; 2024-06-03 to now; [1]" in cited["context"]
    assert re.search(r"^\[1\] .*Alice moved to Oslo\.", cited["context"], re.MULTILINE)
    assert {memory["id"] for memory in cited["memories"]} == {fact.id, said.id}
    assert not any("text" in memory for memory in cited["memories"])
    assert "context" not in plain and all(memory["text"] for memory in plain["memories"])
    assert early["memories"] == []


def test_pins_and_wishes_come_with_every_recall_and_are_not_repeated(engine: memorist.Engine) -> None:
    old = engine.remember("Call me Joanna.", at="2024-01-01", pinned=True)
    kept, unpinned, found, cited, told = calls(
        engine,
        ("remember", {"text": "Call me Jo.", "pinned": True}),
        ("feedback", {"id": old.id, "verdict": "unpin"}),
        ("recall", {"query": "What does Jo want to be called?"}),
        ("recall", {"query": "What does Jo want to be called?", "recipe": "memoria", "fresh": False}),
        ("status", {}),
    )
    assert unpinned["verdict"] == "unpin"
    assert [(memory["text"], memory["trust"]) for memory in found["standing"]] == [("Call me Jo.", "self")]
    assert kept["id"] not in [memory["id"] for memory in found["memories"]]
    assert cited["context"].count("Call me Jo.") == 1 and "text" not in cited["standing"][0]
    assert [memory["id"] for memory in told["pinned"]] == [kept["id"]]


def test_a_conversation_begins_with_what_matters(engine: memorist.Engine) -> None:
    (nothing,) = calls(engine, ("recall", {}))
    assert (nothing["memories"], nothing["abstained"], nothing["context"]) == ([], True, "")
    pin = engine.remember("Call me Jo.", pinned=True)
    rows = engine.remember("I row at dawn.", speaker="Ann", importance=0.2)
    bees = engine.remember("Bees are kept by the mill.", scope="mill", importance=0.9)
    secret = engine.remember("The vault opens at nine.", classification=3, importance=1.0, pinned=True)
    usual, anns, short = calls(
        engine, ("recall", {}), ("recall", {"speaker": "Ann"}), ("recall", {"max_tokens": 60, "scope": "mill"})
    )
    assert [memory["id"] for memory in usual["memories"]] == [pin.id, bees.id, rows.id] and not usual["abstained"]
    assert [memory["id"] for memory in anns["memories"]] == [pin.id, rows.id, bees.id]
    assert [memory["id"] for memory in short["memories"]] == [bees.id]
    assert usual["context"] == engine.wake_up().context and not any("text" in memory for memory in usual["memories"])
    assert secret.id not in str(usual)

    async def play() -> str:
        async with Client(MemoryServer(engine)) as client:
            return text(await client.call_tool("recall", {}))

    assert anyio.run(play).endswith("</data>")


def test_an_agent_cannot_pin_what_others_say(engine: memorist.Engine) -> None:
    async def play() -> tuple[str, str]:
        async with Client(MemoryServer(engine)) as client:
            return (
                await problem(client, "feedback", id=engine.remember("Buy our shoes.", trust=0).id, verdict="pin"),
                await problem(client, "remember", text="Buy our boots.", trust="untrusted", pinned=True),
            )

    by_id, unread = anyio.run(play)
    assert "Ask the user to pin it" in by_id and "cannot be pinned unread" in unread
    assert engine.pinned() == []


def test_what_was_reasoned_and_noted_comes_along(engine: memorist.Engine) -> None:
    engine.relate("Alice", "lives_in", "Oslo")
    (found,) = calls(engine, ("recall", {"query": QUESTION, "recipe": "mnemosyne-graph"}))
    assert found["reasoned"]["semantic"] == "Alice lives in Oslo." and None not in found["reasoned"].values()
    assert any(note.startswith("mode: ") for note in found["notes"])


def test_the_text_that_a_model_reads_says_the_same(engine: memorist.Engine) -> None:
    engine.relate("Alice", "lives_in", "Oslo")

    async def play() -> str:
        async with Client(MemoryServer(engine)) as client:
            return text(await client.call_tool("recall", {"query": QUESTION, "recipe": "mnemosyne-graph"}))

    shown = anyio.run(play)
    assert '"semantic": "Alice lives in Oslo."' in shown and shown.endswith("</data>")


def test_a_task_is_logged_asked_about_and_learnt_from(engine: memorist.Engine) -> None:
    begun, first, again, early, done, found, later = calls(
        engine,
        ("session", {"goal": "Bring the shop back.", "id": "shop"}),
        ("session", {"id": "shop", "observation": "The disk is full.", "action": "delete the logs", "number": 1}),
        ("session", {"id": "shop", "observation": "The disk is full.", "action": "delete the logs", "number": 1}),
        ("recall", {"query": "What was full?", "in_session": "shop"}),
        ("session", {"id": "shop", "observation": "The shop answers with 200.", "reward": 1, "end": True}),
        ("recall", {"query": "What was full?", "in_session": "shop"}),
        ("session", {"id": "shop"}),
    )
    assert begun == {"session": "shop", "goal": "Bring the shop back."}
    assert (first["step"], again) == (1, first)
    assert early["memories"] == [], "its own steps are no answers before they are learnt from"
    assert "The disk is full." in found["memories"][0]["text"]
    assert (done["step"], done["state"], done["learnt"]["procedural"]) == (2, "closed", 1)
    assert later == begun
    assert len(engine.list(kinds=[Kind.EPISODIC]).items) == 2
    (unnamed,) = calls(engine, ("session", {"goal": "Another task."}))
    assert unnamed["session"] not in ("", "shop")


def test_facts_reach_an_agent_as_sentences() -> None:
    with memorist.open(":memory:", config={}) as engine:
        engine.relate("Frank", "boss", "Grace")
        cited, plain = (
            calls(engine, ("recall", {"query": "Who is Frank's boss?", "recipe": recipe}))[0]
            for recipe in ("memoria", "memorist")
        )
    assert "- Grace is Frank's boss. (" in cited["context"]
    assert plain["memories"][0]["text"] == "Grace is Frank's boss."


def test_an_abstention_names_what_was_shown_before() -> None:
    with memorist.open(":memory:", embedder="none", config={}) as engine:
        found = replace(engine.recall("Where is it?"), abstained=True, shown_before=("a1",))
    assert recall_content(found)["shown_before"] == ["a1"]


def test_a_recall_without_a_limit_shows_ten_memories_as_on_every_surface(engine: memorist.Engine) -> None:
    engine.remember_many([f"Alice saw film {number}." for number in range(12)])
    [default], [few] = (calls(engine, ("recall", {"query": "films", "recipe": "memoria", **more})) for more in LIMITS)
    assert len(default["memories"]) == len(engine.recall("films", recipe="memoria").items) == 10
    assert len(few["memories"]) == 2


LIMITS: list[dict[str, Any]] = [{}, {"limit": 2}]
