"""What leaves the process runs beside the searches, in a store of any size. Each test passes only if both meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Barrier, Event
from typing import Any

import pytest

import memorist
from memorist.model import Hit
from memorist.models.embedders.vendors import OpenAIEmbedder
from memorist.ports import Completion, Purpose
from memorist.recall.search import SIDE_BY_SIDE, Search
from memorist.recall.stage import Draft, Env, Signal
from memorist.stores.memory import MemoryStore
from memorist.testing import FakeEmbedder
from tests.models.scripted_server import Answer, Request, ScriptedServer
from tests.recall.worlds import draft, memory, world
from tests.recipes.worlds import ids, opened, skipped

PATIENCE = 10.0
"""Seconds after which a meeting fails; none waits so long if both sides come."""


class Watched:
    """A store that says when its words are searched."""

    def __init__(self, searched: Event) -> None:
        self._store = MemoryStore("test")
        self._searched = searched

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def view(self) -> Any:
        return _WatchedView(self._store.view(), self._searched)


class _WatchedView:
    def __init__(self, view: Any, searched: Event) -> None:
        self._view, self._searched = view, searched

    def without_facts(self) -> _WatchedView:
        return _WatchedView(self._view.without_facts(), self._searched)

    def __getattr__(self, name: str) -> Any:
        if name in ("search_text", "search_substring"):
            self._searched.set()
        return getattr(self._view, name)


@contextmanager
def embedding_server(searched: Event) -> Iterator[OpenAIEmbedder]:
    """An embedder over HTTP that answers a question only when words are being searched."""

    def answer(request: Request) -> Answer:
        texts: list[str] = request.json["input"]
        if "Which ledger?" in texts and not searched.wait(PATIENCE):
            return Answer(status=400)
        rows = [[1.0, 0.0] if "ledger" in text else [0.0, 1.0] for text in texts]
        return Answer({"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]})

    with ScriptedServer() as server:
        server.default = answer
        yield OpenAIEmbedder("some-model", url=server.url, key_env=None)


@pytest.mark.parametrize("recipe", ["memorist", "mnemo", "memoria", "mnemosyne-hybrid", "abmind"])
def test_a_server_embeds_the_question_while_words_are_searched(recipe: str) -> None:
    searched = Event()
    with (
        embedding_server(searched) as embedder,
        opened(memory("a", "The ledger."), recipe=recipe, embedder=embedder, store=Watched(searched)) as engine,
    ):
        searched.clear()
        found = engine.recall("Which ledger?")
    search = "cascade" if recipe == "abmind" else "search"
    assert ids(found) == ["a"]
    assert skipped(found, f"{search}.vector") is None


def meeting(name: str, barrier: Barrier, *, away: bool) -> Signal:
    """A signal that finds its own name, as soon as as many signals as the barrier wants are searching."""

    @dataclass(frozen=True, slots=True)
    class Meeting(Signal):
        kind = name
        waits = away

        def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
            barrier.wait(PATIENCE)
            return [Hit(name, 1.0)]

    return Meeting()


def test_signals_that_wait_for_a_server_run_beside_those_of_a_small_store() -> None:
    barrier = Barrier(3)
    signals = tuple(
        meeting(name, barrier, away=away) for name, away in (("here", False), ("there", True), ("yonder", True))
    )
    with world(memory("a")) as env:
        assert env.view.size < SIDE_BY_SIDE
        found = Search(signals)(draft(), env).found
    assert {name: [hit.id for hit in one.hits] for name, one in found.items()} == {
        name: [name] for name in ("here", "there", "yonder")
    }
    assert list(found) == ["here", "there", "yonder"]


class Waiting(FakeEmbedder):
    """An embedder that says when it has been asked about a question."""

    def __init__(self, asked: Event) -> None:
        super().__init__()
        self._asked = asked

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Any = None) -> Any:
        if purpose == "query":
            self._asked.set()
        return super().embed(texts, purpose=purpose, progress=progress)


class Expanding:
    """A language model that answers only when the question is being embedded."""

    name = "fake:expanding"

    def __init__(self, asked: Event) -> None:
        self._asked = asked

    def complete(self, messages: Sequence[Mapping[str, str]], *, schema: Mapping[str, Any] | None = None) -> Completion:
        assert self._asked.wait(PATIENCE)
        return Completion('{"words": ["movie"]}')


def test_mnemo_embeds_the_question_while_a_language_model_expands_it() -> None:
    asked = Event()
    recipes = {"mine": {"base": "mnemo", "set": {"expand.by": "auto"}}}
    with memorist.open(
        ":memory:",
        embedder=Waiting(asked),
        reranker="none",
        llm=Expanding(asked),
        recipe="mine",
        config={"recipes": recipes, "extract": "off"},
        background=False,
    ) as engine:
        engine.remember("We saw the movie.")
        asked.clear()
        found = engine.recall("Any film?")
    assert "keyword" in found.items[0].signals
    assert next(step.notes for step in found.trace.steps if step.stage == "expand") == ("expanded by fake:expanding",)
