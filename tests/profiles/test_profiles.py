"""Extraction profiles: the three that ship, users' own, and what they change in a recipe."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

import pytest

from memorist.asking import Askers, Models, query
from memorist.errors import InvalidInput
from memorist.profiles import PLAIN, SHIPPED, Profile, find_profile, profile_from_data, with_profile
from memorist.recall.hops import Hops
from memorist.recall.nodes import PARAMS, Nodes
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES
from memorist.recall.stage import Draft, Env, Stage
from tests.asking.fakes import FakeLLM
from tests.recipes.worlds import tuned

GRAPH = RECIPES["mnemosyne-graph"]

OWN = """
[profiles.bakery]
context = "The agent runs a bakery."
function = "default"

[profiles.bakery.overlays]
tags = "Name the bread."

[profiles.bakery.values.semantic]
lambda = 0.001
top_k = 40
"""


@pytest.mark.parametrize(
    ("name", "floors"),
    [
        ("coding", {"procedural": 0.15}),
        ("research", {"semantic": 0.15, "procedural": 0.05}),
        ("customer-support", {"procedural": 0.12}),
    ],
)
def test_the_profiles_of_the_page_ship(name: str, floors: dict[str, float]) -> None:
    profile = find_profile(name)
    assert profile.values == {kind: {"base_floor": floor} for kind, floor in floors.items()}
    assert len(profile.context.split()) > 30
    assert {"annotate", "propositions", "instructions", "facts"} <= profile.overlays.keys()
    for nodes in (part for part in with_profile(GRAPH, profile).parts() if isinstance(part, Nodes)):
        for kind in PARAMS:
            assert nodes.params_of(kind)["base_floor"] == floors.get(kind, 0.3)


def test_a_user_writes_profiles_of_their_own() -> None:
    written = tomllib.loads(OWN)["profiles"]
    assert find_profile("bakery", written) == Profile(
        "bakery",
        "The agent runs a bakery.",
        {"tags": "Name the bread."},
        {"semantic": {"lambda": 0.001, "top_k": 40}},
        "default",
    )
    assert find_profile("coding", {"coding": {"context": "Ours."}}).context == "Ours."
    assert find_profile("coding", written) == find_profile("coding")
    assert find_profile(None, written) == PLAIN


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"contxt": "x"}, "Unknown key in profiles.mine: 'contxt'. Known keys: context, overlays"),
        ({"context": 3}, "profiles.mine.context is 3. It must be a string"),
        ({"overlays": {"tag": "x"}}, "'mine' names an unknown step: 'tag'. Known steps: mode, tags"),
        ({"overlays": {"tags": 3}}, "profiles.mine.overlays.tags is 3"),
        ({"overlays": "x"}, "profiles.mine.overlays is 'x'. It must be a table"),
        ({"values": {"procedure": {}}}, "sets an unknown kind: 'procedure'. Choose from semantic"),
        (
            {"values": {"semantic": {"floor": 1}}},
            "sets an unknown parameter of semantic: 'floor'. Choose from threshold",
        ),
        ({"values": {"semantic": {"beta": True}}}, "profiles.mine.values.semantic.beta is True. It must be a number"),
        ({"values": {"semantic": 3}}, "profiles.mine.values.semantic is 3. It must be a table"),
        ({"function": "magic"}, "There is no value function 'magic'"),
        ("x", "profiles.mine is 'x'. It must be a table"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(data: object, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        profile_from_data("mine", data)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput, match=problem):
        find_profile("coding", {"mine": data})  # pyright: ignore[reportArgumentType]


def test_an_unknown_profile_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        InvalidInput, match="no profile 'codign'. Choose one of mine, coding, research, customer-support"
    ):
        find_profile("codign", {"mine": {}})


def test_a_profile_wins_over_the_recipe_and_the_recipe_over_the_built_in() -> None:
    recipe = tuned("mnemosyne-graph", nodes__params={"procedural": {"base_floor": 0.9, "k": 7}, "tag": {"top_k": 3}})
    changed = with_profile(recipe, find_profile("coding"))
    hop_0 = next(stage for stage in changed.stages if isinstance(stage, Nodes))
    hops = next(stage for stage in changed.stages if isinstance(stage, Hops))
    for nodes in (hop_0, hops.nodes):
        assert nodes.params_of("procedural")["base_floor"] == 0.15  # the profile's
        assert nodes.params_of("procedural")["k"] == 7  # the recipe's
        assert nodes.params_of("procedural")["threshold"] == 0.8  # built in
        assert nodes.params_of("tag")["top_k"] == 3
    assert hops.max_hops == 2 and changed.name == recipe.name


def test_nodes_are_found_however_deep_and_the_rest_is_left_as_it_was() -> None:
    @dataclass(frozen=True, slots=True)
    class Several(Stage):
        """Some stages in one."""

        kind = "several"
        inner: tuple[Stage, ...] = ()
        names: tuple[str, ...] = ("a",)

        def __call__(self, draft: Draft, env: Env) -> Draft:
            return draft

    pipeline = Pipeline("deep", (Several((Several((Nodes(),)), GRAPH.stages[0])),))
    changed = with_profile(pipeline, Profile("p", values={"tag": {"k": 1}}))
    assert [part.params for part in changed.parts() if isinstance(part, Nodes)] == [{"tag": {"k": 1}}]
    for recipe in RECIPES.values():
        assert with_profile(recipe, PLAIN) == recipe
    assert with_profile(RECIPES["memorist"], find_profile("research")) == RECIPES["memorist"]


@pytest.mark.parametrize("name", SHIPPED)
def test_what_a_profile_says_reaches_the_model(name: str) -> None:
    profile, llm = find_profile(name), FakeLLM(tags={"tags": ["a", "b"]})
    ask = Askers(Models(llm), profile.context, profile.overlays).for_recall()
    assert ask is not None
    query.tags(ask, "q")
    assert profile.context.strip() in llm.asked[0].system
    assert profile.overlays["tags"].strip() in llm.asked[0].system
    assert profile.overlays["annotate"].strip() not in llm.asked[0].system
