"""mnemosyne-graph's value function (seed 000), number by number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from math import exp
from pathlib import Path

import numpy as np
import pytest

import memorist
from memorist.errors import InvalidInput
from memorist.model import Kind, Memory, Recall, Usage
from memorist.profiles import Profile
from memorist.recall.data import to_data as recipe_to_data
from memorist.recall.nodes import (
    COMMON,
    PARAMS,
    Nodes,
    ValueFunction,
    default_value,
    frequency,
    recency,
    reward,
    value_function,
)
from tests.recall.worlds import NOW, memory
from tests.recipes.worlds import ids, near, notes, opened, tuned

ONE = memory("a")


@pytest.mark.parametrize(("hours", "factor"), [(0, 1.0), (24, 0.787), (168, 0.186)])
def test_recency_falls_with_the_hours_since_last_access(hours: float, factor: float) -> None:
    assert recency(hours, COMMON) == pytest.approx(factor, abs=5e-4)


@pytest.mark.parametrize(("recalls", "factor"), [(0, 0.3), (1, 0.3), (5, 0.5), (20, 0.8)])
def test_frequency_saturates_above_its_floor(recalls: int, factor: float) -> None:
    assert frequency(Usage(recalls=recalls), COMMON) == pytest.approx(factor)


def test_reward_is_neutral_without_history_and_a_sigmoid_with_it() -> None:
    assert reward(Usage(), COMMON) == 1.0
    assert reward(Usage(reward_count=2, reward_total=0.0), COMMON) == pytest.approx(0.5)
    assert reward(Usage(reward_count=1, reward_total=1.0), COMMON) == pytest.approx(1 / (1 + exp(-1)))


def test_the_score_is_the_product() -> None:
    usage = Usage(recalls=5, reward_count=1, reward_total=1.0)
    score = default_value(0.9, ONE, usage, {**COMMON, "hours": 24})
    assert score == pytest.approx(0.9 * exp(-0.24) * 0.5 * (1 / (1 + exp(-1))))


def test_a_node_without_usage_scores_its_relevance() -> None:
    assert default_value(0.42, ONE, None, {**COMMON, "hours": 1000}) == 0.42


def test_thresholds_and_top_k_are_those_of_the_page() -> None:
    assert {kind: (params["threshold"], params["top_k"]) for kind, params in PARAMS.items()} == {
        "semantic": (0.0, 20),
        "procedural": (0.8, 10),
        "episodic": (0.0, 30),
        "subgoal": (0.75, 10),
        "tag": (0.9, 10),
        "source": (0.0, 50),
        "intent": (0.7, 10),
    }


def test_why_thresholds_test_relevance_and_not_the_score() -> None:
    """A perfect, fresh, much used procedure with reward 1 would fail a threshold of 0.8 on its score."""
    best = default_value(1.0, ONE, Usage(recalls=10**9, reward_count=1, reward_total=1.0), {**COMMON, "hours": 0})
    assert best == pytest.approx(0.731, abs=1e-3)
    assert best < PARAMS["procedural"]["threshold"]


def test_an_unknown_value_function_is_refused() -> None:
    with pytest.raises(ValueError, match="no value function 'magic'.*default"):
        value_function("magic")
    for missing in ("no_such_module:f", "math:no_such_function", "math:pi", ":f", "math:"):
        with pytest.raises(ValueError, match="no value function"):
            value_function(missing)


def only_relevance(relevance: float, memory: Memory, usage: Usage | None, params: Mapping[str, float]) -> float:
    """As on the page: a custom function may ignore everything but the relevance."""
    return relevance


def test_a_value_function_can_be_named_by_its_module() -> None:
    own = {"set": {"nodes.function": f"{__name__}:only_relevance"}}
    with memorist.open(":memory:", recipe="mnemosyne-graph", config={"recipes": {"mnemosyne-graph": own}}) as engine:
        engine.remember("The billing system is called Pelican.")
        (first, *_) = engine.recall("What is the billing system called?").items
    assert first.score == first.signals["relevance"].score > 0.3


def test_a_value_function_may_be_a_function() -> None:
    asked: list[Mapping[str, float]] = []

    def halved(relevance: float, memory: Memory, usage: Usage | None, params: Mapping[str, float]) -> float:
        asked.append(params)
        return relevance / 2

    own = {"set": {"nodes.function": halved}}
    profile = {"profile": "mine", "profiles": {"mine": {"function": halved}}}
    for settings in ({"recipes": {"mnemosyne-graph": own}}, profile):
        with memorist.open(":memory:", recipe="mnemosyne-graph", config=settings, background=False) as engine:
            engine.remember("The billing system is called Pelican.")
            (first, *_) = engine.recall("What is the billing system called?").items
            shown = json.dumps([recipe_to_data(recipe) for recipe in engine.recipes.values()])
        assert first.score == first.signals["relevance"].score / 2
        assert "test_value_function:test_a_value_function_may_be_a_function.<locals>.halved" in shown
    assert asked[0].keys() == {"threshold", "top_k", "lambda", "k", "base_floor", "beta", "hours"}
    with pytest.raises(InvalidInput, match=r"nodes.function is 5"):
        memorist.open(":memory:", config={"recipes": {"mnemosyne-graph": {"set": {"nodes.function": 5}}}})


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (lambda *_: float("nan"), "returned nan for memory a"),
        (lambda *_: None, "returned None for memory a"),
        (lambda *_: "0.5", "returned '0.5' for memory a"),
        (lambda relevance, memory, usage, params: params["gamma"], "failed on memory a: KeyError: 'gamma'"),
        (lambda relevance, memory: relevance, r"failed on memory a: TypeError: .* takes 2 positional arguments"),
    ],
)
def test_a_value_function_that_gives_no_number_is_named(own: ValueFunction, said: str) -> None:
    recipe = tuned("mnemosyne-graph", nodes__function=own)
    with (
        opened(used("a", 0), recipe=recipe, vectors={QUESTION: near(1.0), "a": near(0.9)}) as engine,
        pytest.raises(InvalidInput, match=rf"value function .*lambda.* {said}"),
    ):
        engine.recall(QUESTION)


def test_a_value_function_may_return_a_number_of_numpy() -> None:
    recipe = tuned("mnemosyne-graph", nodes__function=lambda *_: np.float32(0.25))
    with opened(used("a", 0), recipe=recipe, vectors={QUESTION: near(1.0), "a": near(0.9)}) as engine:
        (found,) = engine.recall(QUESTION).items
    assert type(found.score) is float and found.score == 0.25


def test_a_broken_file_of_a_value_function_is_named_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "values.py").write_text("def score(:\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"values\.py cannot be imported: SyntaxError"):
        value_function(f"{tmp_path / 'values.py'}:score")


def test_a_misspelt_parameter_is_refused_in_recipes_and_profiles() -> None:
    known = "unknown parameter of semantic: 'treshold'.*threshold, top_k, lambda, k, base_floor, beta"
    with pytest.raises(InvalidInput, match=known):
        Nodes(params={"semantic": {"treshold": 0.1}})
    with pytest.raises(InvalidInput, match=known):
        Profile("mine", values={"semantic": {"treshold": 0.1}})


@pytest.mark.parametrize(
    ("name", "values", "wanted"),
    [
        ("threshold", (-0.1,), "a number of at least 0"),
        ("top_k", (-1, 0, 2.7), "a whole number of at least 1"),
        ("lambda", (-0.01,), "a number of at least 0"),
        ("k", (-5, 0), "a number above 0"),
        ("base_floor", (-0.1, 1.1), "a number from 0 to 1"),
        ("beta", (-1,), "a number of at least 0"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(name: str, values: tuple[float, ...], wanted: str) -> None:
    for value in (*values, float("inf"), float("nan")):
        with pytest.raises(InvalidInput, match=f"{name} of semantic to {value:g}. It must be {wanted}"):
            Nodes(params={"semantic": {name: value}})
        with pytest.raises(InvalidInput, match=f"Profile 'mine' sets {name} of semantic"):
            Profile("mine", values={"semantic": {name: value}})
    settings = {"recipes": {"mnemosyne-graph": {"set": {"nodes.params": {"semantic": {name: values[0]}}}}}}
    with pytest.raises(InvalidInput, match=wanted):
        memorist.open(":memory:", config=settings)


def test_an_explanation_shows_every_factor() -> None:
    with memorist.open(":memory:", recipe="mnemosyne-graph", background=False) as engine:
        engine.remember("The billing system is called Pelican.")
        found = engine.recall("What is the billing system called?", track=False)
        (nodes,) = [
            detail
            for detail in engine.explain(found, found.items[0].memory.id).details
            if "nodes" in detail.description
        ]
    factors = {detail.description: detail.value for detail in nodes.details}
    assert factors.keys() == {"relevance", "hours", "recency", "frequency", "reward"}
    assert (factors["frequency"], factors["reward"]) == (0.3, 1.0)
    assert factors["recency"] == pytest.approx(1.0, abs=1e-3)


QUESTION = "importer"


def used(id: str, hours: float) -> Memory:
    return memory(id, id, kind=Kind.EPISODIC, usage=Usage(last_recall=NOW - timedelta(hours=hours)))


def answered(rate: float, *, limit: int = 2, **relevance: tuple[float, float]) -> Recall:
    """The answer over memories with a relevance, each used last so many hours ago."""
    recipe = tuned("mnemosyne-graph", nodes__params={"episodic": {"lambda": rate}})
    vectors = {QUESTION: near(1.0), **{id: near(cosine) for id, (cosine, _) in relevance.items()}}
    nodes = [used(id, hours) for id, (_, hours) in relevance.items()]
    with opened(*nodes, recipe=recipe, vectors=vectors) as engine:
        return engine.recall(QUESTION, limit=limit, track=False)


PUSHED_OUT = {"close": (0.9, 720), "closer": (0.95, 360), "new": (0.5, 0), "newer": (0.45, 0), "newest": (0.4, 0)}


def test_a_remark_says_that_recency_alone_pushed_close_matches_out_and_which_lambda_keeps_them() -> None:
    """0.9·e^(−720 λ) must beat 0.5, the best of the others, so λ < ln(1.8)/720 = 0.00082; 0.95 after 360 h allows more.

    Two places for two close matches: with 0.001 the older one has 0.9·e^(−0.72) = 0.438 and is third.
    """
    found = answered(0.01, **PUSHED_OUT)
    assert ids(found) == ["new", "newer"]
    assert found.remarks == ("2 close matches were last used over 15 days ago; `lambda = 0.0005` keeps them",)
    assert found.remarks == notes(found, "nodes")
    assert set(ids(answered(0.001, **PUSHED_OUT))) == {"closer", "new"}
    kept = answered(0.0005, **PUSHED_OUT)
    assert set(ids(kept)) == {"close", "closer"} and kept.remarks == ()


def test_one_match_used_hours_ago_is_told_in_the_singular() -> None:
    """0.9·e^(−20 λ) > 0.8 for λ < ln(1.125)/20 = 0.0059."""
    found = answered(0.01, limit=1, close=(0.9, 20), new=(0.8, 0))
    assert found.remarks == ("1 close match was last used over 20 hours ago; `lambda = 0.005` keeps it",)


def test_no_remark_where_recency_is_not_the_reason() -> None:
    assert answered(0.01, limit=1, close=(0.9, 0), far=(0.4, 9999)).remarks == ()  # the old one is not close
    assert answered(0.01, limit=2, close=(0.9, 720), new=(0.5, 0)).remarks == ()  # both came
    assert answered(0.01, limit=2, best=(0.95, 0), close=(0.9, 720), new=(0.5, 0)).remarks == ()  # a closer one came


def test_the_verbosity_has_a_default_in_the_settings() -> None:
    settings = {"recipe": "mnemosyne-graph", "verbosity": "detailed"}
    with memorist.open(":memory:", config=settings, background=False) as engine:
        engine.remember("The billing system is called Pelican.")
        assert all(touch.memory for touch in engine.recall("billing system").touched)
        brief = engine.recall("billing system", verbosity="summary")
    assert not any(touch.memory for touch in brief.touched)
    assert brief.trace.scores == {touch.id: touch.score for touch in brief.touched}
    with pytest.raises(InvalidInput, match="verbosity: 'loud'"):
        memorist.open(":memory:", config={"verbosity": "loud"})
