from __future__ import annotations

import json
from typing import cast

import pytest

from memorist.errors import InvalidInput
from memorist.recall.catalogue import BUILT_IN, parts
from memorist.recall.data import from_data, to_data, with_settings
from memorist.recall.fuse import ReciprocalRank
from memorist.recall.recipes import RECIPES, custom_recipes
from memorist.recall.rerank import RerankBlend
from memorist.recall.search import Search
from memorist.recall.stage import Stage


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_survives_json(name: str) -> None:
    assert from_data(json.loads(json.dumps(to_data(RECIPES[name])))) == RECIPES[name]


def test_one_number_of_a_recipe_can_be_changed() -> None:
    changed = with_settings(RECIPES["memorist"], {"rerank_blend.depth": 30, "search.limit": 7})
    stages = {stage.kind: stage for stage in changed.stages}
    assert isinstance(stages["rerank_blend"], RerankBlend) and stages["rerank_blend"].depth == 30
    assert isinstance(stages["search"], Search) and stages["search"].limit == 7


def test_a_parameter_of_a_nested_part_can_be_changed() -> None:
    changed = with_settings(RECIPES["memorist"], {"bounded_recency.share": 0.5})
    assert "'share': 0.5" in str(to_data(changed))


def test_one_entry_of_a_table_can_be_changed() -> None:
    changed = with_settings(RECIPES["mnemosyne-hybrid"], {"weighted_sum.weights.keyword": 0.4})
    whole = with_settings(RECIPES["mnemosyne-hybrid"], {"weighted_sum.weights": {"vector": 0.5, "keyword": 0.4}})
    assert changed == whole != RECIPES["mnemosyne-hybrid"]
    assert changed.fixed == whole.fixed == ("weighted_sum.weights",)
    both = {"nodes.params.semantic.lambda": 0.005, "nodes.params.semantic.top_k": 30}
    table = {"nodes.params": {"semantic": {"lambda": 0.005, "top_k": 30}}}
    assert with_settings(RECIPES["mnemosyne-graph"], both) == with_settings(RECIPES["mnemosyne-graph"], table)
    for path, message in {
        "rrf.k.more": "rrf.k is no table",
        "hops.nodes.function": "hops.nodes is no table",
        "nodes.params.semntic.lambda": "unknown kind: 'semntic'",
        "nodes.param.semantic": "no parameter 'param'",
    }.items():
        recipe = "mnemo" if path.startswith("rrf") else "mnemosyne-graph"
        with pytest.raises(InvalidInput, match=message):
            with_settings(RECIPES[recipe], {path: 1})


@pytest.mark.parametrize(
    ("recipe", "name", "value", "set"),
    [
        ("mnemo", "candidatePoolSize", 50, {"search.limit": 50, "rrf.keep": 50}),
        ("mnemo", "minScore", 0.25, {"minimum_score.score": 0.25}),
        ("mnemosyne-hybrid", "half_life_hours", 24, {"recency_band.time_constant": 24.0}),
    ],
)
def test_a_parameter_can_be_set_under_the_name_of_the_recipes_document(
    recipe: str, name: str, value: float, set: dict[str, float]
) -> None:
    named = custom_recipes({"mine": {"base": recipe, "set": {name: value}}})["mine"]
    assert named == custom_recipes({"mine": {"base": recipe, "set": set}})["mine"] != RECIPES[recipe]
    assert from_data(to_data(named)).names[name] == tuple(set)
    with pytest.raises(InvalidInput, match=f"has a parameter '{name}'"):
        with_settings(RECIPES["abmind"], {name: value})


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([], "needs a list of stages"),
        (["embed"], "stage 1 is not a stage"),
        ([{"stage": "fly"}], "no stage called 'fly'"),
        ([{"stage": "rrf", "speed": 1}], "no parameter 'speed'"),
        ([{"stage": "rrf", "k": "much"}], "rrf.k is 'much'"),
        ([{"stage": "rrf", "k": True}], "rrf.k is True"),
        ([{"stage": "weigh"}], "requires the parameter 'factors'"),
        ([{"stage": "search", "signals": "vector"}], "search.signals is 'vector'"),
        ([{"stage": "search", "signals": [{"signal": "smell"}]}], "no signal called 'smell'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(stages: list[object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        from_data({"name": "mine", "stages": stages})


def test_users_write_recipes_from_a_base_or_from_stages() -> None:
    recipes = custom_recipes(
        {
            "sharper": {"base": "memorist", "set": {"rerank_blend.depth": 5}},
            "memorist": {"set": {"rerank_blend.depth": 9}},
            "plain": {"stages": [{"stage": "search", "signals": [{"signal": "keyword"}]}, {"stage": "rrf"}]},
        }
    )
    assert [recipe.name for recipe in recipes.values()] == ["sharper", "memorist", "plain"]
    assert recipes["plain"].stages[1] == ReciprocalRank()


def test_a_recipe_without_a_base_says_which_there_are() -> None:
    with pytest.raises(InvalidInput, match="unknown base: 'mine'.*memorist"):
        custom_recipes({"mine": {"set": {}}})


def test_an_unknown_part_in_a_setting_names_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="no part 'mmr'.*It has content, dates, embed, search, vector"):
        with_settings(RECIPES["memorist"], {"mmr.lambda": 1})


MISPLACED = [
    (
        ["weigh", "search", "rrf"],
        "stage 1, 'weigh', takes candidates, but nothing has searched yet",
        "rrf, weighted_sum",
    ),
    (
        ["search", "rerank", "rrf"],
        "stage 2, 'rerank', takes candidates, but 'search' before it gives hits",
        "Put before",
    ),
    (["rrf"], "stage 1, 'rrf', takes hits, but nothing has searched yet", "search or cascade"),
    (["search", "assemble"], "stage 2, 'assemble', takes candidates", "Put before it a stage that makes candidates"),
    (["search", "rrf", "best"], "stage 3, 'best', takes hits, but 'rrf' before it gives candidates", "leave it out"),
    (["search", "rrf", "embed"], "stage 3, 'embed', takes question", "Move 'embed' before 'search'"),
    (["search", "rrf", "assemble", "limit"], "stage 4, 'limit', takes candidates", "Move 'limit' before 'assemble'"),
]


@pytest.mark.parametrize(("kinds", "problem", "remedy"), MISPLACED, ids=[case[0][-1] for case in MISPLACED])
def test_a_recipe_whose_stages_cannot_work_in_their_order_is_refused_when_it_is_read(
    kinds: list[str], problem: str, remedy: str
) -> None:
    parameters = {"search": {"signals": [{"signal": "keyword"}]}, "weigh": {"factors": []}}
    stages = [{"stage": kind, **parameters.get(kind, {})} for kind in kinds]
    with pytest.raises(InvalidInput) as refused:
        custom_recipes({"mine": {"stages": stages}})
    assert problem in refused.value.problem and remedy in refused.value.remedy


def test_every_stage_of_ours_says_what_it_takes_and_one_of_yours_may_leave_it_open() -> None:
    assert all(cast("type[Stage]", part).takes for kind, part in parts("stage").items() if kind in BUILT_IN["stage"])
    assert Stage.takes == () and Stage.gives is None
