"""A replay is the recall: with the current settings, and with any others."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import memorist
from memorist.engine.engine import Engine
from memorist.model.request import recall_request
from memorist.models import embedders, rerankers
from memorist.recall.data import with_settings
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES
from memorist_bench.measures import judge
from memorist_bench.tune.evidence import environment
from memorist_bench.tune.numbers import as_settings, first_moved, move_numbers, numbers_of
from memorist_bench.tune.replay import DEPTH, JudgedQuestion, Replay, ReplaySpace, ReplayStore
from memorist_bench.tune.search import random_choices

NOW = datetime(2025, 3, 1, 9, tzinfo=UTC)
SAID = [
    ("2024-01-05", "Ann", "s1", "Ellie babysits for nine pounds an hour."),
    ("2024-01-05", "Bob", "s1", "Good, she is cheaper than Tom."),
    ("2024-06-05", "Ann", "s2", "Ellie charges ten pounds an hour now."),
    ("2024-06-06", "Ann", "s2", "Jonah's EpiPen is in the drawer below the kettle."),
    ("2024-06-07", "Bob", "s2", "I moved the EpiPen to the shelf by the door."),
    ("2024-07-01", "Ann", None, "I live in Bristol."),
    ("2024-09-01", "Ann", None, "I live in Leeds now."),
    ("2024-09-14", "Bob", "s3", "The dentist is on 3 March 2025 at ten."),
    ("2024-09-14", "Ann", "s3", "Never use emojis when you write to Tom."),
    ("2024-10-02", "Bob", None, "Leeds Station. Trains to York leave every half hour; the last one goes at 23:40."),
    ("2024-10-03", "Bob", None, "York Minster is open until six."),
    ("2024-11-20", "Ann", "s4", "We had jollof at Tunde's mother's place."),
]
ASKED = [
    "What does the babysitter cost?",
    "Where is the EpiPen?",
    "Where does Ann live?",
    "What happens on 3 March?",
    "Write a short mail to Tom.",
    "How do I get from Leeds to York at night?",
    "jollof Tunde",
]


class Clock:
    def now(self) -> datetime:
        return NOW


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A file with everyday memories, and the packaged models."""
    with memorist.open(tmp_path_factory.mktemp("home") / "home.db", config={}, clock=Clock()) as opened:
        opened.remember_many(
            {"text": text, "at": at, "ingested_at": at, "speaker": speaker, "session": session}
            for at, speaker, session, text in SAID
        )
        yield opened


@pytest.fixture(scope="module")
def place(engine: Engine) -> Iterator[ReplaySpace]:
    with ThreadPoolExecutor() as pool:
        yield ReplaySpace(environment(engine.store, embedders.build("local"), rerankers.build("auto"), pool), {})


def recalled(engine: Engine, query: str, recipe: Pipeline) -> list[str]:
    """What the engine itself answers with a recipe."""
    request = recall_request(query, {"limit": DEPTH, "track": False}, NOW)
    answered = recipe.run(request, engine._env())  # pyright: ignore[reportPrivateUsage]
    assert [item.memory.id for item in answered.items]
    return [item.memory.id for item in answered.items]


def recorded(recipe: Pipeline, place: ReplaySpace, gold: dict[str, Any] | None = None) -> Replay:
    replay = Replay(recipe, first_moved(recipe, numbers_of(recipe)))
    for query in ASKED:
        request = recall_request(query, {"limit": DEPTH, "track": False}, NOW)
        replay.record(JudgedQuestion(request, (gold or {}).get(query, {"none": 1.0}), place))
    return replay


@pytest.mark.parametrize("name", [name for name in RECIPES if name != "nearest"])  # which has no number to tune
def test_the_replay_of_unchanged_settings_is_what_recall_returns(name: str, engine: Engine, place: ReplaySpace) -> None:
    wanted = [
        [item.memory.id for item in engine.recall(query, recipe=name, limit=DEPTH, track=False).items]
        for query in ASKED
    ]
    assert recorded(RECIPES[name], place).rankings() == wanted


@pytest.mark.parametrize("name", ["memorist", "mnemosyne-hybrid"])
def test_the_figures_of_changed_settings_are_those_of_a_recall_with_them(
    name: str, engine: Engine, place: ReplaySpace
) -> None:
    recipe = RECIPES[name]
    numbers = numbers_of(recipe)
    gold = {query: {recalled(engine, query, recipe)[-1]: 1.0} for query in ASKED}
    replay = recorded(recipe, place, gold)
    distinct: set[float] = set()
    for steps in [*random_choices(len(numbers))][:5]:
        changed = with_settings(recipe, as_settings(recipe, numbers, steps))
        wanted = [judge(recalled(engine, query, changed), gold[query], (DEPTH,))["ndcg@10"] for query in ASKED]
        assert replay.figures(move_numbers(recipe, numbers, steps)).tolist() == wanted, steps
        distinct.add(sum(wanted))
    assert len(distinct) > 1, "the choices make a difference"


def test_a_replay_cannot_write_and_sees_what_it_saw_first(engine: Engine, tmp_path: Path) -> None:
    store = memorist.open(tmp_path / "other.db", embedder="none", config={}).store
    reads = ReplayStore(store)
    for name in ("put", "update", "delete", "touch", "show", "learn_noise", "view"):
        with pytest.raises(AttributeError):
            getattr(reads, name)
    assert reads.by_key(["a"]) == [] and reads.get(["a"]) == {}
    with memorist.open(tmp_path / "other.db", embedder="none", config={}) as other:
        kept = other.remember("The key is blue.", key="a")
    assert [memory.id for memory in store.by_key(["a"])] == [kept.id] and reads.by_key(["a"]) == []
    store.close()
