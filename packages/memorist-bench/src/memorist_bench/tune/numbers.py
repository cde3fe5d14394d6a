"""The numbers of a recipe that may be tuned, how far each may move, and a choice of them as settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, cast

from memorist.errors import InvalidInput
from memorist.recall.data import with_settings
from memorist.recall.dials import TUNABLE, shared_value
from memorist.recall.pipeline import Pipeline

Steps = tuple[int, ...]
"""How many steps each number is away from its current value."""
MOST_STEPS = 2
PER_STEP = 2.0
"""A step doubles or halves, so one run leaves a number between a quarter and four times its value.

Chosen on one everyday world with wrong weights: two steps of the square root of 2 gained 0.007 there on held-out folds,
two steps of 2 gained 0.076.
"""
DIGITS = 3
"""Significant digits of a tuned number."""


@dataclass(frozen=True, slots=True)
class Number:
    """One number: the parameter that holds it, its name in there if the parameter is a table, and its current value."""

    parameter: str
    value: float
    most: float = inf
    name: str | None = None

    @property
    def label(self) -> str:
        """Such as `rerank_blend.weight` or `weighted_sum.weights.keyword`."""
        return self.parameter if self.name is None else f"{self.parameter}.{self.name}"

    def at(self, step: int) -> float:
        """Its value some steps away from the current one."""
        return float(f"{min(self.most, self.value * PER_STEP**step):.{DIGITS}g}") if step else self.value


def numbers_of(recipe: Pipeline) -> tuple[Number, ...]:
    """The numbers of a recipe that may be tuned; a 0 is a part that is turned off, and stays off."""
    found = tuple(_numbers(recipe))
    if not found:
        raise InvalidInput(
            f"Recipe {recipe.name!r} has no number to tune", remedy=f"Choose one with {', '.join(TUNABLE)}."
        )
    return found


def _numbers(recipe: Pipeline) -> Iterator[Number]:
    for kind, parameters in TUNABLE.items():
        for parameter, most in parameters.items():
            value = shared_value(recipe, kind, parameter)
            named = cast("Mapping[str, float]", value).items() if isinstance(value, Mapping) else [(None, value)]
            for name, one in named:
                if one:
                    yield Number(f"{kind}.{parameter}", float(one), most, name)


def as_settings(recipe: Pipeline, numbers: Sequence[Number], steps: Steps) -> dict[str, Any]:
    """The moved numbers as they are written below `set`: a table is written with all its values."""
    settings: dict[str, Any] = {}
    for number, step in zip(numbers, steps, strict=True):
        if not step:
            continue
        if number.name is None:
            settings[number.parameter] = number.at(step)
        else:
            whole = shared_value(recipe, *number.parameter.split("."))
            settings.setdefault(number.parameter, dict(whole))[number.name] = number.at(step)
    return settings


def move_numbers(recipe: Pipeline, numbers: Sequence[Number], steps: Steps) -> Pipeline:
    """The recipe with its numbers moved."""
    return with_settings(recipe, as_settings(recipe, numbers, steps))


def first_moved(recipe: Pipeline, numbers: Sequence[Number]) -> int:
    """The place of the first stage that any of these numbers changes."""
    every = move_numbers(recipe, numbers, (-1,) * len(numbers))
    pairs = zip(recipe.stages, every.stages, strict=True)
    return next(place for place, (old, new) in enumerate(pairs) if old != new)
