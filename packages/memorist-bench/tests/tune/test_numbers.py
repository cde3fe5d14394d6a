"""Which numbers of a recipe may move, and how far."""

from __future__ import annotations

import pytest

from memorist.errors import InvalidInput
from memorist.recall.data import from_data, with_settings
from memorist.recall.recipes import RECIPES
from memorist_bench.tune.numbers import Number, as_settings, first_moved, move_numbers, numbers_of

PLAIN = from_data(
    {
        "name": "plain",
        "stages": [
            {"stage": "search", "signals": [{"signal": "keyword"}, {"signal": "temporal"}]},
            {"stage": "weighted_sum", "weights": {"keyword": 0.8, "temporal": 0.0}, "importance": 0.1},
            {"stage": "weigh", "factors": [{"factor": "bounded_recency", "share": 0.7}]},
            {"stage": "weigh", "factors": [{"factor": "feedback", "share": 0.3}]},
            {"stage": "neighbour_boost", "near": 0.1, "session": 0.2},
            {"stage": "neighbour_boost", "near": 0.1, "session": 0.0},
            {"stage": "judge"},
            {"stage": "limit"},
        ],
    }
)


def test_weights_and_shares_may_move_but_what_is_off_or_judged_by_feedback_may_not() -> None:
    assert [(number.label, number.value) for number in numbers_of(PLAIN)] == [
        ("weighted_sum.weights.keyword", 0.8),
        ("weighted_sum.importance", 0.1),
        ("bounded_recency.share", 0.7),
        ("neighbour_boost.near", 0.1),
    ]


def test_a_number_that_differs_between_two_stages_of_a_kind_has_no_setting_of_its_own() -> None:
    same = with_settings(PLAIN, {"neighbour_boost.session": 0.2})
    assert "neighbour_boost.session" not in [number.label for number in numbers_of(PLAIN)]
    assert "neighbour_boost.session" in [number.label for number in numbers_of(same)]


def test_a_run_moves_a_number_to_a_quarter_or_four_times_at_most_and_a_share_to_one() -> None:
    weight, share = Number("rerank_blend.weight", 0.3), Number("bounded_recency.share", 0.7, most=1.0)
    assert [weight.at(step) for step in (-2, -1, 0, 1, 2)] == [0.075, 0.15, 0.3, 0.6, 1.2]
    assert [share.at(step) for step in (-2, -1, 0, 1, 2)] == [0.175, 0.35, 0.7, 1.0, 1.0]


def test_moved_numbers_are_settings_and_a_table_is_written_whole() -> None:
    numbers = numbers_of(PLAIN)
    settings = as_settings(PLAIN, numbers, (1, 0, -1, 0))
    assert settings == {"weighted_sum.weights": {"keyword": 1.6, "temporal": 0.0}, "bounded_recency.share": 0.35}
    assert move_numbers(PLAIN, numbers, (1, 0, -1, 0)) == with_settings(PLAIN, settings)
    assert move_numbers(PLAIN, numbers, (0, 0, 0, 0)) == PLAIN


def test_what_comes_before_the_first_number_is_recorded_once() -> None:
    assert first_moved(PLAIN, numbers_of(PLAIN)) == 1
    assert first_moved(PLAIN, numbers_of(PLAIN)[2:]) == 2
    memorist = RECIPES["memorist"]
    assert memorist.stages[first_moved(memorist, numbers_of(memorist))].kind == "weighted_sum"


def test_a_recipe_without_such_numbers_is_refused() -> None:
    recipe = from_data({"name": "bare", "stages": [{"stage": "search", "signals": []}, {"stage": "best"}]})
    with pytest.raises(InvalidInput, match="'bare' has no number to tune"):
        numbers_of(recipe)
