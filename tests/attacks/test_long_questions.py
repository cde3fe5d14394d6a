"""A query may have any length and any characters: recall answers, reads its end, and takes no longer for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client as McpClient

import memorist
from memorist.models.rerankers import build as build_reranker
from memorist.recall.pipeline import LONGEST_QUERY
from memorist.recall.recipes import RECIPES, SHIPPED
from memorist.testing import FakeClock
from memorist.text.chatter import QUESTION_TOKENS, question_in
from memorist.text.tokens import count_tokens
from memorist_server.mcp.server import MemoryServer
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import running

ANSWER = "Ann keeps the spare key of the boathouse under the third flower pot."
QUESTION = "Where does Ann keep the spare key of the boathouse?"
KEPT = (
    ANSWER,
    "Ben sold his motorbike in May and bought a tandem.",
    "The committee meets on the first Monday of the month.",
    "Our cat is called Minka and hates the vacuum cleaner.",
    "Carla is learning the cello with a teacher from Lyon.",
)
TALK = (
    "Ben: the tandem squeaks when I turn left, and the garage has no time before Friday.\n"
    "Carla: my teacher says that I hold the bow like a spoon. Do you want to hear it?\n"
    "Ben: is the meeting on Monday or not? I have lost the paper again.\n"
)
CHATTER = TALK * (5_000 // len(TALK.split()) + 1)
ODD = {
    "nothing": "",
    "spaces": " \t " * 400,
    "newlines": "\n" * 30_000,
    "one word": "x" * 100_000,
    "Chinese": "安把船屋的备用钥匙放在哪里" * 2_000,
    "Thai": "กุญแจสำรองอยู่ที่ไหน" * 2_000,
    "emoji": "🗝️👩‍👩‍👧" * 5_000,
    "zero bytes": "\0" * 20_000,
    "half characters": "\ud83d" * 5_000,
    "full stops": "." * 20_000,
    "question marks": "?" * 20_000,
    "marks on a letter": "a" + "\u0301" * 20_000,
    "dates": "2024-05-01 " * 5_000,
    "names": "Ann Ben Carla Minka Lyon " * 4_000,
}


@pytest.fixture(scope="module")
def engine() -> Iterator[memorist.Engine]:
    with memorist.open(":memory:", clock=FakeClock(), config={}) as engine:
        for place, text in enumerate(KEPT):
            engine.remember(text, speaker="Ann", session="s", position=place)
        yield engine


@pytest.mark.parametrize("recipe", SHIPPED)
def test_every_recipe_answers_twenty_thousand_words(engine: memorist.Engine, recipe: str) -> None:
    found = engine.recall(4 * CHATTER + QUESTION, recipe=recipe, track=False)
    assert ANSWER in [item.memory.text for item in found.items]


@pytest.mark.slow
@pytest.mark.parametrize("recipe", SHIPPED)
@pytest.mark.parametrize("words", [1, 2, 50, 61, 62, 63, 64, 65, 100, 250, 254, 256, 300, 1_000, 5_000, 20_000])
def test_every_recipe_answers_at_every_length(engine: memorist.Engine, recipe: str, words: int) -> None:
    for query in ("key " * words, " ".join(f"word{n}" for n in range(words)), "Where? " * words, "钥匙" * words):
        engine.recall(query, recipe=recipe, track=False)


@pytest.mark.parametrize("name", ODD)
def test_the_default_recipe_takes_any_characters(engine: memorist.Engine, name: str) -> None:
    assert engine.recall(ODD[name], track=False).query == ODD[name]


@pytest.mark.slow
@pytest.mark.parametrize("recipe", SHIPPED)
@pytest.mark.parametrize("name", ODD)
def test_every_recipe_takes_any_characters(engine: memorist.Engine, recipe: str, name: str) -> None:
    assert engine.recall(ODD[name], recipe=recipe, track=False).query == ODD[name]


def test_a_question_after_five_thousand_words_finds_its_answer_first(engine: memorist.Engine) -> None:
    found = engine.recall(CHATTER + QUESTION, track=False)
    assert found.items[0].memory.text == ANSWER and not found.abstained
    assert ANSWER in found.context


def test_a_question_before_five_thousand_words_is_found_too(engine: memorist.Engine) -> None:
    story = "It rained in the night and the tandem stood outside. " * 500
    found = engine.recall(f"{QUESTION}\n{story}", track=False)
    assert found.items[0].memory.text == ANSWER


def test_every_part_reads_only_the_end(engine: memorist.Engine) -> None:
    found = engine.recall("Minka hates the vacuum cleaner. " + CHATTER + QUESTION, track=False)
    alone = engine.recall((CHATTER + QUESTION)[-LONGEST_QUERY:], track=False)
    assert [(item.memory.id, item.score) for item in found.items] == [(i.memory.id, i.score) for i in alone.items]
    assert found.trace.steps[0].notes == (f"only the last {LONGEST_QUERY:,} characters of the query were searched",)


def test_every_verb_takes_a_long_question(engine: memorist.Engine) -> None:
    query = CHATTER + QUESTION
    found = engine.recall(query, track=False)
    first, last = found.items[0].memory.id, engine.remember("Dora paints doors.").id
    assert "rank 1" in str(engine.explain(found, first))
    assert engine.why_not(query, last, limit=1, track=False).reason
    session = engine.session("Open the boathouse")
    session.step(CHATTER, "look for a key")
    assert engine.recall_in_context(session.id, query, track=False).items


@pytest.mark.parametrize("setting", ["auto", "local"])
@pytest.mark.parametrize("query", [CHATTER + QUESTION, *(ODD[name] for name in ("one word", "emoji", "spaces"))])
def test_a_local_reranker_alone_reads_any_query(setting: str, query: str) -> None:
    reranker = build_reranker(setting)
    assert reranker is not None
    assert len(reranker.score(query, KEPT)) == len(KEPT)


def test_rest_takes_a_long_question(tmp_path: Path) -> None:
    with running(Settings(db=f"{tmp_path}/spaces/", embedder="none")) as server:
        client = server.client(key=server.key("agent", "write"))
        client.remember(ANSWER)
        assert ANSWER in client.recall(CHATTER + QUESTION).context


def test_mcp_takes_a_long_question() -> None:
    async def story() -> None:
        with memorist.open(":memory:", embedder="none", config={}) as engine:
            engine.remember(ANSWER)
            async with McpClient(MemoryServer(engine)) as client:
                found: Any = await client.call_tool("recall", {"query": CHATTER + QUESTION})
                assert [memory["text"] for memory in found.structured_content["memories"]] == [ANSWER]

    anyio.run(story)


def test_the_question_is_the_last_line_that_asks() -> None:
    assert question_in(TALK * 3 + QUESTION) == QUESTION
    assert question_in(QUESTION) == QUESTION
    assert question_in("I know that. " * 30 + QUESTION).endswith(f"I know that. {QUESTION}")
    assert question_in(f"{QUESTION}\n" + "It rained. " * 60) == QUESTION


@pytest.mark.parametrize("name", ODD)
def test_a_question_is_short(name: str) -> None:
    assert count_tokens(question_in(ODD[name])) <= 2 * QUESTION_TOKENS


def test_every_recipe_is_tried() -> None:
    assert set(SHIPPED) == set(RECIPES)
