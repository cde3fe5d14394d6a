"""The former names of stages, which recipes and settings may still use."""

from __future__ import annotations

import pytest

import memorist.stages
from memorist.errors import InvalidInput
from memorist.recall.catalogue import BUILT_IN, RENAMED_STAGES
from memorist.recall.data import from_data, to_data, with_settings
from memorist.recall.read_together import ReadTogether
from memorist.recall.recipes import RECIPES, custom_recipes

FORMER = {new: old for old, new in RENAMED_STAGES.items()}


def test_each_stage_has_one_name() -> None:
    assert not RENAMED_STAGES.keys() & BUILT_IN["stage"].keys()
    assert set(RENAMED_STAGES.values()) <= BUILT_IN["stage"].keys()


def test_a_recipe_with_former_names_is_the_same_recipe() -> None:
    data = to_data(RECIPES["memorist"])
    stages = [{**stage, "stage": FORMER.get(stage["stage"], stage["stage"])} for stage in data["stages"]]
    assert {stage["stage"] for stage in stages} >= RENAMED_STAGES.keys()
    with pytest.warns(DeprecationWarning, match="is now called") as warned:
        assert from_data({**data, "stages": stages}) == RECIPES["memorist"]
    assert sorted(str(warning.message) for warning in warned) == sorted(
        f"The stage {old!r} is now called {new!r}" for old, new in RENAMED_STAGES.items()
    )


def test_a_setting_with_a_former_name_sets_the_same_parameter() -> None:
    recipe = RECIPES["memorist"]
    with pytest.warns(DeprecationWarning, match="'reread' is now called 'rerank_blend'"):
        before = with_settings(recipe, {"reread.depth": 7})
    after = with_settings(recipe, {"rerank_blend.depth": 7})
    assert before == after != recipe
    assert before.fixed == after.fixed


def test_a_file_without_trust_may_use_former_names_of_stages_alone() -> None:
    stages = to_data(RECIPES["nearest"])["stages"]
    limit = [stage["stage"] for stage in stages].index("limit")
    with pytest.warns(DeprecationWarning, match="'unseen'"):
        made = custom_recipes(
            {"mine": {"stages": [*stages[:limit], {"stage": "unseen"}, *stages[limit:]]}}, shipped_parts=["mine"]
        )
    assert [stage.kind for stage in made["mine"].stages][limit] == "drop_shown"
    signals = [{"stage": "search", "signals": [{"signal": "unseen"}]}]
    with pytest.raises(InvalidInput, match="names code of a package: 'unseen'"):
        custom_recipes({"mine": {"stages": signals}}, shipped_parts=["mine"])


def test_programs_may_import_the_former_class() -> None:
    with pytest.warns(DeprecationWarning, match="'newest' is now called 'read_together'"):
        assert getattr(memorist.stages, "Newest") is ReadTogether  # noqa: B009
    with pytest.raises(AttributeError):
        getattr(memorist.stages, "newest")  # noqa: B009
