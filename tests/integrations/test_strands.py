"""The store for Strands: the tests of Strands' own store for tests, and a real manager and agent over ours."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import memorist
from tests.integrations.examples import output_of
from tests.integrations.lone import lone
from tests.integrations.upstream import check, run, sdist

pytest.importorskip("strands")

from strands.memory.memory_manager import MemoryManager
from strands.memory.types import AddMessagesContext

from memorist.integrations.strands import MemoristMemoryStore

FILE = "about the JSON file that their store writes, and the names and clock inside its module"
WORDS = "about matching of words; a recall ranks by meaning too, so a text without the word may follow at the end"
WITHOUT = {
    **dict.fromkeys(
        (
            *("export", "path", "monkeypatchable_id", "human_readable_json", "clear_error", "null_metadata"),
            *("separate_event_loops", "camelcase"),
        ),
        FILE,
    ),
    **dict.fromkeys(("with_relevance_score", "no_token_overlap", "ties_by_recency"), WORDS),
}


def message(role: str, *texts: str, **block: Any) -> Any:
    return {"role": role, "content": [*({"text": text} for text in texts), *([block] if block else [])]}


def test_entries_come_back_with_their_metadata_through_a_manager(memory: memorist.Engine) -> None:
    manager = MemoryManager(stores=[MemoristMemoryStore(memory, name="notes")], add_tool_config=True)
    asyncio.run(manager.add("Ann's boat is called Heron.", {"metadata": {"topic": "boats"}}))
    (entry,) = asyncio.run(manager.search("What is Ann's boat called?"))
    assert (entry.content, entry.store_name) == ("Ann's boat is called Heron.", "notes")
    assert entry.metadata is not None and entry.metadata["topic"] == "boats" and entry.metadata["_relevanceScore"] > 0


def test_messages_are_turns_of_a_session_and_a_retry_adds_nothing(memory: memorist.Engine) -> None:
    store = MemoristMemoryStore(memory, session="one")
    said = [
        message("user", "My boat is called Heron."),
        message("assistant", toolUse={"name": "tide"}),
        message("assistant", "A fine name."),
        message("user", "My boat is called Heron."),
    ]
    for _ in range(2):
        asyncio.run(store.add_messages(said, AddMessagesContext(sequence_numbers=[0, 1, 2, 3])))
    turns = [(row.origin.speaker, row.origin.session, row.text, row.worth.trust) for row in memory.list().items]
    assert turns == [
        ("user", "one", "My boat is called Heron.", 3),
        ("assistant", "one", "A fine name.", 2),
        ("user", "one", "My boat is called Heron.", 3),
    ]


def test_two_agents_number_their_messages_alike_and_lose_none(memory: memorist.Engine) -> None:
    store = MemoristMemoryStore(memory)
    for text in ("My boat is called Heron.", "My dog is called Rex."):
        asyncio.run(store.add_messages([message("user", text)], AddMessagesContext(sequence_numbers=[0])))
    assert len(memory.list(kinds=["episodic"]).items) == 2


def test_a_scope_sees_no_other(memory: memorist.Engine) -> None:
    ann, ben = (MemoristMemoryStore(memory, scope=f"user:{name}") for name in ("ann", "ben"))
    asyncio.run(ann.add("My boat is called Heron."))
    assert asyncio.run(ben.search("What is my boat called?")) == []
    assert len(asyncio.run(ann.search("What is my boat called?"))) == 1
    assert len(memory.recall("What is my boat called?").items) == 1


@pytest.mark.parametrize("query", ["", " ", "?!", "\0"])
def test_a_query_without_words_finds_nothing(memory: memorist.Engine, query: str) -> None:
    store = MemoristMemoryStore(memory)
    asyncio.run(store.add("My boat is called Heron."))
    assert asyncio.run(store.search(query)) == []


def test_the_example_runs() -> None:
    assert "My boat is called Heron." in output_of("strands").partition("My memory says")[2]


@pytest.mark.slow
def test_the_tests_of_the_framework_pass() -> None:
    place = sdist("strands-agents", "1.62.0") / "tests/strands/vended_memory_stores/test_memory_store/test_store.py"
    plugin = "strands_store"
    check("strands", run("strands-agents", "1.62.0", lone("strands", [place]), plugin=plugin, without=WITHOUT))
