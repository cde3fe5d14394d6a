"""Feedback as judged questions, on every store."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memorist
from memorist.config import load
from memorist.engine.engine import Engine
from memorist.errors import InvalidInput
from memorist.recall.recipes import RECIPES
from memorist_bench.model import Question
from memorist_bench.tune.evidence import Own, environment, gather_questions
from memorist_bench.tune.replay import JudgedQuestion, Replay, ReplaySpace
from tests.stores.kinds import STORES, OpenStore

NOW = datetime(2025, 3, 1, 9, tzinfo=UTC)


class Clock:
    moment = NOW

    def now(self) -> datetime:
        return self.moment


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=STORES)
def engine(request: pytest.FixtureRequest, open_store: OpenStore, clock: Clock) -> Iterator[Engine]:
    with Engine(open_store(request.param, "home"), clock=clock, background=False) as opened:
        yield opened


def own(engine: Engine) -> Own:
    with ThreadPoolExecutor() as pool:
        return Own(engine.store, environment(engine.store, None, None, pool), NOW + timedelta(days=30))


def ranking(asked: JudgedQuestion) -> list[str]:
    """What the question finds now."""
    recipe = RECIPES["mnemosyne-hybrid"]
    replay = Replay(recipe, 3)
    with ThreadPoolExecutor() as pool:
        env = asked.place.env
        replay.record(JudgedQuestion(asked.request, asked.gold, ReplaySpace(type(env)(env.store, env.view, pool), {})))
    return replay.rankings()[0]


def test_recalls_with_a_useful_item_are_questions_and_equal_queries_are_one(engine: Engine, clock: Clock) -> None:
    key = engine.remember("The key is under the pot.").id
    spare = engine.remember("The spare key is at Ann's.").id
    for query, id, verdict in (
        ("Where is the key?", key, "useful"),
        ("where is  the KEY?", spare, "useful"),
        ("A key at Ann's", spare, "wrong"),
        ("The pot", key, "useful"),
    ):
        engine.feedback(id, verdict, engine.recall(query))
    asked = own(engine).from_feedback()
    assert [(question.request.query, dict(question.gold)) for question in asked] == [
        ("where is  the KEY?", dict.fromkeys(sorted([key, spare]), 1.0)),
        ("The pot", {key: 1.0}),
    ]
    assert not any(question.request.track for question in asked)

    clock.moment += timedelta(hours=1)
    engine.feedback(spare, "wrong", engine.recall("Where is the key?"))
    assert [dict(question.gold) for question in own(engine).from_feedback()] == [{key: 1.0}, {key: 1.0}]
    engine.forget(key)
    assert own(engine).from_feedback() == []


def test_a_recall_is_asked_again_at_its_time_with_the_knowledge_of_that_time(engine: Engine, clock: Clock) -> None:
    old = engine.remember("The key is under the pot.", key="place").id
    found = engine.recall("Where is the key?")
    engine.feedback(old, "useful", found)
    clock.moment = NOW + timedelta(days=7)
    engine.remember("The key to the garage is on the hook.")
    [asked] = own(engine).from_feedback()
    assert asked.request.now == NOW
    assert ranking(asked) == [old]


def test_questions_of_a_file_are_asked_with_the_knowledge_of_today(engine: Engine, clock: Clock) -> None:
    clock.moment = NOW + timedelta(days=7)
    pot = engine.remember("The key is under the pot.", key="pot", at="2024-06-01").id
    hook = engine.remember("The key of the garage is on the hook.", at="2024-06-02").id
    questions = [
        Question("1", "Where is the key?", {"pot": 1.0, "gone": 1.0}, at=NOW),
        Question("2", "Where is the key of the garage?", {hook: 2.0}, as_of=datetime(2024, 6, 3, tzinfo=UTC)),
        Question("3", "Where is the zeppelin?", {"zeppelin": 1.0}),
    ]
    first, second = own(engine).from_questions(questions)
    assert (first.request.now, dict(first.gold)) == (NOW, {"pot": 1.0})
    assert dict(second.gold) == {hook: 2.0}
    assert set(ranking(first)) == {pot, hook}, "what was said by then and stored later"
    assert first.place.documents == {pot: "pot", hook: hook}
    assert len(own(engine).from_questions(questions[:1], {"pot": "The key is under the pot."})) == 1
    assert own(engine).from_questions(questions[:1], {"pot": "Another pot."}) == [], "another memory with this key"


def test_a_space_sees_only_its_own_feedback(tmp_path: Path) -> None:
    for space in ("ann", "bob"):
        with memorist.open(f"{tmp_path}/", space=space, embedder="none", config={}) as memory:
            id = memory.remember(f"The key of {space} is blue.").id
            memory.feedback(id, "useful", memory.recall("key"))
    config = load({}, db=f"{tmp_path}/", space="ann", embedder="none")
    with gather_questions(config, RECIPES["memorist"], (), NOW) as evidence:
        assert evidence.sources == {"feedback": 1}
        [asked] = evidence.questions
        assert [memory.text for memory in asked.place.env.store.get(list(asked.gold)).values()] == [
            "The key of ann is blue."
        ]


def test_questions_are_asked_with_the_configured_models(tmp_path: Path) -> None:
    for setting in ({"reranker": "none"}, {"embedder": "none"}):
        config = load({"db": str(tmp_path / "a.db"), "models": "unheard-of", **setting})
        with pytest.raises(InvalidInput, match="unheard-of"), gather_questions(config, RECIPES["memorist"], (), NOW):
            pass
