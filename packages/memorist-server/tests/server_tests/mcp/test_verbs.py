"""The stories about an engine that tools can tell, over MCP; and that a recall finds the same."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

import memorist
from memorist.testing import sample_world
from memorist_server.access.keys import KeyRing
from server_tests.mcp.adapter import OverMcp
from server_tests.mcp.servers import listening, over_http
from tests.surfaces.verbs import (
    Verbs,
    a_fact_supersedes_the_one_before,
    a_new_text_under_a_key_is_a_new_version,
    every_answer_says_what_became_of_the_text,
    the_same_again_is_the_same_memory,
)

STORIES = [
    every_answer_says_what_became_of_the_text,
    the_same_again_is_the_same_memory,
    a_new_text_under_a_key_is_a_new_version,
    a_fact_supersedes_the_one_before,
]


@pytest.fixture
def engine() -> Generator[memorist.Engine]:
    with memorist.open(":memory:", embedder="none", config={}) as opened:
        yield opened


@pytest.fixture
def memory(engine: memorist.Engine, tmp_path: Path) -> Generator[OverMcp]:
    with (
        listening(engine, KeyRing(tmp_path / ".keys.db")) as url,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(over_http(url)) as client,
    ):
        yield OverMcp(portal, client)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__.replace("_", " "))
def test_a_story(memory: OverMcp, story: Callable[[Verbs], None]) -> None:
    story(memory)


def test_a_recall_takes_conditions_and_names_a_mistake(memory: OverMcp) -> None:
    for speaker in ("Ann", "Ben", "Cleo"):
        memory.remember(f"{speaker} keeps owls.", speaker=speaker)
    found = memory.recall("Who keeps owls?", where={"speaker": {"in": ["Ann", "Cleo"]}, "not": {"speaker": "Cleo"}})
    assert [item.memory.text for item in found.items] == ["Ann keeps owls."]
    assert memory.recall("Who keeps owls?", where={}, scope="glob*", fresh=False).items
    with pytest.raises(AssertionError, match=r"Write metadata\.project"):
        memory.recall("Who keeps owls?", where={"project": "atlas"})


def test_a_recall_finds_the_same_in_the_same_order(engine: memorist.Engine, memory: OverMcp) -> None:
    engine.remember_many(row.text for row in sample_world())
    for query in ("Where does Alice live?", "importer timeout", "Heron"):
        found = [item.memory.id for item in engine.recall(query, limit=5, track=False).items]
        assert found and [item.memory.id for item in memory.recall(query, limit=5).items] == found
