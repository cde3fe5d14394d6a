"""Every surface shows the confidence and the probabilities of a recall, or says that they are unknown."""

from __future__ import annotations

from typing import Any

import anyio
from mcp import Client

import memorist
from memorist.model import Recall
from memorist_server.mcp.schemas import recall_content
from memorist_server.mcp.server import MemoryServer
from tests.surfaces.conftest import Cli

OSLO, QUESTION = "Dagny lives in Oslo.", "Where does Dagny live?"
UNREAD = ("--recipe", "mnemosyne-hybrid")
"""A recipe without a reader."""


def test_the_command_line_shows_both_numbers_or_says_unknown(cli: Cli) -> None:
    cli("remember", OSLO)
    data = cli("recall", QUESTION, "--json").data
    shown = cli("recall", QUESTION).out
    assert f" · confidence {data['confidence']:.2f} · " in shown
    assert f"  {data['items'][0]['probability']:.2f}  " in shown
    data = cli("recall", QUESTION, *UNREAD, "--json").data
    assert (data["confidence"], data["items"][0]["probability"]) == (None, None)
    shown = cli("recall", QUESTION, *UNREAD).out
    assert " · confidence unknown · " in shown and "  unknown  " in shown


def test_mcp_tells_both_numbers_or_says_unknown() -> None:
    async def told(**options: Any) -> dict[str, Any]:
        with memorist.open(":memory:") as engine:
            engine.remember(OSLO)
            async with Client(MemoryServer(engine)) as client:
                found = await client.call_tool("recall", {"query": QUESTION, **options})
        assert found.structured_content is not None
        return found.structured_content

    sure = anyio.run(told)
    assert sure["confidence"] >= sure["memories"][0]["probability"] > 0
    unknown = anyio.run(lambda: told(recipe="mnemosyne-hybrid"))
    assert unknown["confidence"] == "unknown" and unknown["memories"][0].get("probability") is None


def test_mcp_tells_the_confidence_of_an_abstention() -> None:
    with memorist.open(":memory:") as engine:
        engine.remember_many([{"text": text} for text in (OSLO, "Ants eat aphids.", "It rained on Sunday.")])
        found: Recall = engine.recall("What is the boiling point of tungsten?")
    assert found.abstained and found.confidence is not None and found.confidence <= 0.2
    assert recall_content(found) == {"memories": [], "confidence": found.confidence}
