"""A server for one project: its tools keep to the project's scope and see what is global, unless a call says more."""

from __future__ import annotations

import anyio
from mcp import Client

import memorist
from memorist_server.mcp.server import MemoryServer
from server_tests.mcp.servers import call

HERE = "project:mill-1"


def test_tools_keep_to_the_project() -> None:
    async def play() -> None:
        with memorist.open(":memory:", embedder="none", config={}) as engine:
            engine.remember("The release branch of the other project is called blue.", scope="project:other-2")
            async with Client(MemoryServer(engine, scope=HERE)) as client:
                kept = await call(client, "remember", text="The release branch is called green.")
                fact = await call(client, "relate", subject="Mill", relation="written_in", object="Rust")
                everywhere = await call(client, "remember", text="Ann wants short release notes.", scope="global")
                run = await call(client, "session", goal="Release the mill")
                await call(client, "session", id=run["session"], observation="It is tagged.")
                edited = await call(client, "remember", text="The release branch is called teal.", replaces=kept["id"])
                seen = await call(client, "recall", query="What is the release branch called?")
                other = await call(
                    client, "recall", query="What is the release branch called?", scope="project:other-2"
                )
                start = await call(client, "recall")
            assert not any("blue" in line for line in start["context"].splitlines())
            assert "short release notes" in start["context"] and "teal" in start["context"]
            scopes = {id: engine.get([id])[0] for id in (kept["id"], fact["id"], everywhere["id"], edited["id"])}
            assert [memory and memory.scope for memory in scopes.values()] == [HERE, HERE, "global"]
            texts = {memory["text"] for memory in seen["memories"]}
            assert "The release branch is called teal." in texts and not any("blue" in text for text in texts)
            assert any("blue" in memory["text"] for memory in other["memories"])

    anyio.run(play)


def test_the_instructions_say_so_only_then() -> None:
    with memorist.open(":memory:", embedder="none", config={}) as engine:
        assert "`global`" not in (MemoryServer(engine).instructions or "")
        assert "`global`" in (MemoryServer(engine, scope=HERE).instructions or "")
