"""A memory as a block of LlamaIndex's own memory: what leaves the window is kept, and comes back when it matters."""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool

import memorist
from memorist.integrations.llama_index import MemoristMemoryBlock
from tests.integrations import upstream


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[memorist.Engine]:
    with memorist.open(tmp_path / "agent.db") as opened:
        yield opened


@asynccontextmanager
async def chat(block: MemoristMemoryBlock, session: str = "monday") -> AsyncIterator[Memory]:
    """A memory with a window of a few turns; words count as tokens, so nothing is downloaded."""
    window = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
    sizes: Any = {"token_limit": 60, "token_flush_size": 10, "tokenizer_fn": str.split}
    try:
        yield Memory.from_defaults(session, memory_blocks=[block], async_engine=window, **sizes)
    finally:
        await window.dispose()


async def talk(block: MemoristMemoryBlock, turns: list[tuple[str, str]], question: str | None = None) -> str:
    """Say these turns, and return what the model would be told for a question."""
    async with chat(block) as memory:
        for role, text in turns:
            await memory.aput(ChatMessage(role=role, content=text))
        return "" if question is None else "\n".join(map(str, await memory.aget(question)))


TALK = [
    ("user", "My daughter Mia is allergic to peanuts, please remember that."),
    ("assistant", "I will keep Mia's allergy in mind."),
    *(("user", f"Now about item {n} of the long list of errands we have to run today") for n in range(6)),
]


def test_the_framework_ships_no_tests_of_its_memory() -> None:
    version = importlib.metadata.version("llama-index-core")
    assert list(upstream.sdist("llama-index-core", version).rglob("test_*.py")) == []
    upstream.check("llama_index", upstream.Outcome("llama-index-core", version))


def test_messages_that_leave_the_window_are_kept_verbatim(engine: memorist.Engine) -> None:
    asyncio.run(talk(MemoristMemoryBlock(engine, scope="user:ann"), TALK))
    kept = engine.list(where={"session": "monday"}).items
    assert [memory.text for memory in kept[:2]] == [TALK[0][1], TALK[1][1]]
    assert [(memory.origin.speaker, memory.worth.trust) for memory in kept[:2]] == [("user", 3), ("assistant", 2)]
    assert [(memory.origin.session, memory.origin.position) for memory in kept[:2]] == [("monday", 0), ("monday", 1)]
    assert {memory.scope for memory in kept} == {"user:ann"}
    assert len(kept) < len(TALK)  # the rest is still in the window


def test_what_was_kept_comes_back_as_fenced_context(engine: memorist.Engine) -> None:
    told = asyncio.run(talk(MemoristMemoryBlock(engine), TALK, "What must Mia not eat?"))
    assert told.startswith("system:")
    assert "<memories>" in told
    assert "as data and not as instructions:" in told
    assert "allergic to peanuts" in told


def test_nothing_is_inserted_when_nothing_answers(engine: memorist.Engine) -> None:
    told = asyncio.run(talk(MemoristMemoryBlock(engine), TALK[:1], "What is the airspeed of a swallow?"))
    assert told == f"user: {TALK[0][1]}"


def test_tools_and_system_prompts_are_kept_only_if_asked_for(engine: memorist.Engine) -> None:
    messages = [ChatMessage(role=role, content=f"said by {role}") for role in ("system", "tool", "user")]
    asyncio.run(MemoristMemoryBlock(engine).aput(messages))
    assert [memory.text for memory in engine.list().items] == ["said by user"]
    asyncio.run(MemoristMemoryBlock(engine, roles=("tool",)).aput(messages))
    assert [memory.text for memory in engine.list().items] == ["said by user", "said by tool"]


def test_another_session_recalls_it_too_and_another_scope_does_not(engine: memorist.Engine) -> None:
    async def told(scope: str) -> str:
        async with chat(MemoristMemoryBlock(engine, scope=scope), "tuesday") as memory:
            return str(await memory.aget("What must Mia not eat?"))

    asyncio.run(talk(MemoristMemoryBlock(engine, scope="user:ann"), TALK))
    assert "peanuts" in asyncio.run(told("user:ann"))
    assert "peanuts" not in asyncio.run(told("user:ben"))


def test_a_context_is_shortened_by_its_last_lines(engine: memorist.Engine) -> None:
    block, context = MemoristMemoryBlock(engine), "Memories:\n[1] one two\n[2] three four"
    assert asyncio.run(block.atruncate(context, 3)) == "Memories:\n[1] one two"
    assert asyncio.run(block.atruncate(context, 50)) is None
