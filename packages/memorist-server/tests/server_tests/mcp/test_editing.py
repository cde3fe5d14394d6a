"""Agents edit memories, forget several, and walk the names they know."""

from __future__ import annotations

import anyio
from mcp import Client

import memorist
from memorist_server.mcp.server import MemoryServer
from server_tests.mcp.servers import call


def test_a_memory_is_replaced_and_names_are_walked() -> None:
    async def play() -> None:
        with memorist.open(":memory:", embedder="none", config={}) as engine:
            kept = engine.remember("Ann works at Heron Labs.", at="2024-01-01", scope="user:ann", importance=0.9)
            engine.remember("Bob works at Heron Labs.", at="2024-02-01")
            async with Client(MemoryServer(engine)) as client:
                told = await call(client, "remember", text="Ann works at Acme Corp.", replaces=kept.id, at="2024-03-01")
                assert (told["id"], told["version"], told["outcome"]) == (kept.id, 2, "merged")
                now = engine.get(kept.id)
                assert now is not None and (now.scope, now.worth.importance, now.worth.trust) == ("user:ann", 0.9, 2)
                names = await call(client, "entities", prefix="ac")
                assert [name["name"] for name in names["names"]] == ["Acme Corp"]
                near = await call(client, "entities", name="Ann")
                (edge,) = near["relations"]
                assert (edge["source"], edge["relation"], edge["target"]) == ("Ann", "works_at", "Acme Corp")
                assert near["known"] and edge["text"] == "Ann works at Acme Corp."
                assert not (await call(client, "entities", name="Nobody"))["known"]
                ended = await call(client, "forget", id=kept.id, soft=True)
                assert kept.id in ended["forgotten"] and engine.get(kept.id) is not None
                engine.undo(ended["run"])
                gone = await call(client, "forget", id=[kept.id])
                assert kept.id in gone["forgotten"] and "run" not in gone

    anyio.run(play)
