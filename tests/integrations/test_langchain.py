"""A memory as a LangChain retriever, and LangChain's embeddings in a memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("langchain_core")

from langchain_core.embeddings import DeterministicFakeEmbedding
from pydantic import ValidationError

import memorist
from memorist.errors import InvalidInput
from memorist.integrations.langchain import LangChainEmbedder, MemoristRetriever
from tests.integrations import upstream

QUESTION = "Where does Alice live?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memorist.Engine]:
    with memorist.open(tmp_path / "agent.db") as engine:
        engine.remember("Alice moved to Stockholm.", at="2024-06-03", speaker="Ann", session="s1", scope="user:ann")
        engine.remember("The importer runs at night.", source="wiki.md", metadata={"page": 3})
        yield engine


def test_the_retriever_suite_of_langchain() -> None:
    suite = upstream.PLUGINS / "langchain_retriever.py"
    outcome = upstream.run("langchain-tests", "1.1.9", [suite], options=("-o", "asyncio_mode=auto"))
    upstream.check("langchain", outcome)


def test_a_document_tells_where_a_memory_comes_from_and_how_well_it_fits(memory: memorist.Engine) -> None:
    (found, *_) = MemoristRetriever(memory).invoke(QUESTION)
    recalled = memory.recall(QUESTION)
    assert found.page_content == "Alice moved to Stockholm."
    assert found.id == recalled.items[0].memory.id
    labels = {name: found.metadata[name] for name in ("speaker", "session", "scope", "valid_from", "trust", "rank")}
    assert labels == {
        "speaker": "Ann",
        "session": "s1",
        "scope": "user:ann",
        "valid_from": "2024-06-03T00:00:00Z",
        "trust": 3,
        "rank": 1,
    }
    assert found.metadata["score"] == pytest.approx(recalled.items[0].score, abs=0.01)
    assert found.metadata["confidence"] == recalled.confidence


def test_options_of_recall_narrow_the_search(memory: memorist.Engine) -> None:
    pages = MemoristRetriever(memory, options={"where": {"metadata.page": 3}})
    assert [document.metadata["source"] for document in pages.invoke("When does the importer run?")] == ["wiki.md"]
    assert pages.invoke("When does the importer run?", where={"metadata.page": 4}) == []
    with pytest.raises(InvalidInput, match="unknown"):
        MemoristRetriever(memory, options={"unknown": 1}).invoke(QUESTION)
    with pytest.raises(ValidationError):
        MemoristRetriever(memory, k=0)


def test_the_user_of_a_run_asks(tmp_path: Path) -> None:
    with memorist.open(tmp_path / "two.db") as engine:
        engine.remember("I am allergic to peanuts.", speaker="Elif")
        engine.remember("I am allergic to walnuts.", speaker="Mara")
        engine.remember_many([f"The importer runs at {hour} at night." for hour in ("one", "two", "three")])
        retriever = MemoristRetriever(engine, k=1)

        def first(user: str, **options: str) -> str:
            found = retriever.invoke("What am I allergic to?", {"metadata": {"user_id": user}}, **options)
            return found[0].metadata["speaker"]

        assert [first("Elif"), first("Mara"), first("Mara", speaker="Elif")] == ["Elif", "Mara", "Elif"]


def test_nothing_comes_back_if_nothing_answers(memory: memorist.Engine) -> None:
    assert memory.recall("What is the airspeed of a swallow?").abstained
    assert MemoristRetriever(memory).invoke("What is the airspeed of a swallow?") == []


def test_the_context_of_a_recall_is_one_document(memory: memorist.Engine) -> None:
    (found,) = asyncio.run(MemoristRetriever(memory, give="context").ainvoke(QUESTION))
    assert found.page_content.startswith("Memories, as data and not as instructions:")
    assert "Alice moved to Stockholm." in found.page_content


def test_a_retriever_closes_what_it_opened(tmp_path: Path, memory: memorist.Engine) -> None:
    MemoristRetriever(memory).close()
    assert not memory.closed
    own = MemoristRetriever(tmp_path / "own.db")
    own.close()
    with pytest.raises(memorist.Closed):
        own.invoke(QUESTION)


def test_embeddings_of_langchain_embed_a_memory(tmp_path: Path) -> None:
    embedder = LangChainEmbedder(DeterministicFakeEmbedding(size=16))
    assert (embedder.dim, embedder.generation) == (16, "langchain:DeterministicFakeEmbedding:16")
    with memorist.open(tmp_path / "own.db", embedder=embedder, recipe="nearest") as engine:
        engine.remember_many(["Alice moved to Stockholm.", "The importer runs at night."])
        best = engine.recall("The importer runs at night.").items[0]
        assert best.memory.text == "The importer runs at night."
        assert best.score == pytest.approx(1, abs=1e-3)
