"""The numbers of a recipe that may be moved: their ranges, and what a settings file says about them."""

from __future__ import annotations

import tomllib

import pytest

from memorist.errors import InvalidInput
from memorist.recall.data import settings_to_toml
from memorist.recall.dials import Dial, dials_of, moved_settings, with_moved
from memorist.recall.recipes import RECIPES, custom_recipes

MEMORIST = RECIPES["memorist"]


def dial(label: str) -> Dial:
    return next(known for known in dials_of(MEMORIST) if known.label == label)


@pytest.mark.parametrize("name", RECIPES)
def test_every_number_of_a_recipe_can_go_to_both_its_ends(name: str) -> None:
    recipe = RECIPES[name]
    assert dials_of(recipe)
    for dial in dials_of(recipe):
        assert dial.low <= dial.value <= dial.high and dial.step > 0
        for number in (dial.low, dial.high):
            changed = with_moved(recipe, {dial.label: repr(number)})
            assert (changed == recipe) == (number == dial.value)


@pytest.mark.parametrize("name", RECIPES)
def test_a_slider_of_a_browser_can_stand_at_each_value(name: str) -> None:
    for dial in dials_of(RECIPES[name]):
        steps = (dial.value - dial.low) / dial.step
        assert steps == pytest.approx(round(steps), abs=1e-6), dial.label


def test_ranges_follow_from_the_sort_of_number() -> None:
    size, share, weight, below = map(
        dial, ("search.limit", "superseded.share", "rerank_blend.statement_weight", "judge.unread")
    )
    assert (size.low, size.high, size.step, size.whole) == (1, 400, 1, True)
    assert (share.low, share.high, share.step) == (0, 1, 0.01)
    assert (weight.low, weight.high) == (0, 8)
    assert (below.low, below.high) == (-20, 20)
    assert share.orders and weight.orders and not size.orders


def test_numbers_that_two_parts_hold_differently_cannot_be_moved_together() -> None:
    assert "neighbour_boost.session" not in [dial.label for dial in dials_of(MEMORIST)]


def test_moved_numbers_are_a_settings_file() -> None:
    moved = {"weighted_sum.weights.keyword": "0.4", "search.limit": "50", "rerank_blend.weight": "1.0"}
    settings = moved_settings(MEMORIST, moved)
    assert settings == {"weighted_sum.weights": {"vector": 0.9, "keyword": 0.4, "temporal": 0.3}, "search.limit": 50}
    written = tomllib.loads(settings_to_toml("memorist", settings))
    assert custom_recipes(written["recipes"])["memorist"] == with_moved(MEMORIST, moved)


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("search.limit", "401"),
        ("search.limit", "1.5"),
        ("rerank_blend.weight", "nan"),
        ("rerank_blend.weight", "-1"),
        ("rerank_blend.weight", "much"),
        ("rerank_blend.size", "1"),
    ],
)
def test_what_would_cost_too_much_or_mean_nothing_is_refused(label: str, number: str) -> None:
    with pytest.raises(InvalidInput):
        moved_settings(MEMORIST, {label: number})
