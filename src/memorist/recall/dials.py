"""The numbers of a recipe that somebody may move while looking at its ranking, and how far each may go.

The ranges keep a moved recipe working and its cost within a few times that of the recipe itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from math import ceil, floor, inf, isfinite, log10
from typing import Any, cast, get_args, get_type_hints

from memorist.errors import InvalidInput
from memorist.recall.data import with_settings
from memorist.recall.pipeline import Pipeline
from memorist.recall.stage import Part

TIMES = 4
"""How many times its value a size or weight may become."""
TUNABLE: Mapping[str, Mapping[str, float]] = {
    "weighted_sum": {"weights": inf, "importance": inf},
    "rrf": {"weights": inf, "k": inf},
    "confirm": {"penalty": 1.0},
    "bounded_recency": {"share": 1.0},
    "recency_band": {"floor": 1.0},
    "linear_recency": {"floor": 1.0},
    "written_words": {"weight": inf},
    "in_time": {"weight": inf},
    "wishes": {"weight": inf},
    "neighbour_boost": {"near": inf, "session": inf},
    "rerank": {"blend": 1.0},
    "rerank_blend": {"weight": inf, "statement_weight": inf},
    "bridge": {"weight": inf},
    "superseded": {"share": 1.0},
    "mmr": {"balance": 1.0},
    "provenance": {"decay": 1.0},
}
"""The weights and shares of each part that only order candidates, with their upper limits.

Left out are sizes, which cost time; thresholds and probabilities, which were fitted to other measures; and factors that
read feedback or use, because the evidence itself has moved them.
"""
FIXED = ("tolerance",)
"""Parameters that set how exactly something is computed; at 0 it might not end."""
STEPS = 100


@dataclass(frozen=True, slots=True)
class Dial:
    """One number: the part and the parameter that hold it, its name in there if that is a table, and its range."""

    part: str
    parameter: str
    name: str | None
    value: float
    low: float
    high: float
    step: float
    whole: bool
    orders: bool
    """Whether it only orders candidates, as the numbers that `tune` fits do."""

    @property
    def setting(self) -> str:
        """The parameter as it is written below `set`."""
        return f"{self.part}.{self.parameter}"

    @property
    def label(self) -> str:
        """Such as `rerank_blend.weight` or `weighted_sum.weights.keyword`."""
        return self.setting if self.name is None else f"{self.setting}.{self.name}"

    def read(self, text: str) -> float:
        """The number that a text states; refused if it is none, or out of range."""
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not isfinite(number) or (self.whole and number != int(number)) or not self.low <= number <= self.high:
            sort = "a whole number" if self.whole else "a number"
            raise InvalidInput(
                f"{self.label} is out of range", remedy=f"Give {sort} from {self.low:g} to {self.high:g}."
            )
        return int(number) if self.whole else number


def dials_of(recipe: Pipeline) -> tuple[Dial, ...]:
    """The numbers of a recipe, in the order of its parts."""
    found: dict[str, Dial] = {}
    for part in recipe.parts():
        for parameter in _numeric(type(part)):
            for dial in _dials(part.kind, parameter, shared_value(recipe, part.kind, parameter)):
                found.setdefault(dial.label, dial)
    return tuple(found.values())


def shared_value(recipe: Pipeline, kind: str, parameter: str) -> Any:
    """The value of a parameter; None if two parts differ in it, because a setting changes it in both."""
    values = [getattr(part, parameter) for part in _of_kind(recipe, kind)]
    return values[0] if values and all(value == values[0] for value in values) else None


def _of_kind(recipe: Pipeline, kind: str) -> Iterator[Part]:
    return (part for part in recipe.parts() if part.kind == kind)


@cache
def _numeric(part: type[Part]) -> tuple[str, ...]:
    """The parameters of a part that hold numbers."""
    hints = get_type_hints(part)
    names = (field.name for field in fields(part))  # pyright: ignore[reportArgumentType]  # every concrete part is a dataclass
    return tuple(name for name in names if name not in FIXED and _is_number(hints[name]))


def _is_number(hint: object) -> bool:
    kinds = {*get_args(hint), hint} - {type(None)}
    return bool(kinds & {int, float, Mapping[str, float]})


def _dials(part: str, parameter: str, value: object) -> Iterator[Dial]:
    named = cast("Mapping[str, Any]", value).items() if isinstance(value, Mapping) else [(None, value)]
    for name, one in named:
        if isinstance(one, int | float) and not isinstance(one, bool) and isfinite(one):
            limit = TUNABLE.get(part, {}).get(parameter)
            low, high, step = _grid(one, *_range(one, limit))
            yield Dial(part, parameter, name, one, low, high, step, isinstance(one, int), limit is not None)


def _range(value: float, limit: float | None) -> tuple[float, float]:
    """How far a number may move: shares stay between 0 and 1, and what divides stays above 0."""
    if limit is not None:
        return min(0.0, value), max(value, min(limit, max(1.0, TIMES * value)))
    if isinstance(value, int):
        return (0, TIMES * max(value, 1)) if value < TIMES else (1, TIMES * value)
    if value < 0:
        return (-1.0, 1.0) if value >= -1 else (TIMES * value, -TIMES * value)
    return (0.0, 1.0) if value <= 1 else (value / 20, TIMES * value)


def _grid(value: float, low: float, high: float) -> tuple[float, float, float]:
    """A range as multiples of a step, one of which is the value, as the sliders of browsers need it."""
    if isinstance(value, int):
        return low, high, 1
    digits = -round(log10((high - low) / STEPS))
    while round(value, digits) != value:
        digits += 1
    step = 10.0**-digits
    return round(ceil(low / step) * step, digits), round(floor(high / step + 1e-9) * step, digits), step


def moved_settings(recipe: Pipeline, moved: Mapping[str, str]) -> dict[str, Any]:
    """Numbers by the labels of their dials, as they are written below `set`; those that did not move are left out.

    A table is written with all its values.
    """
    known, settings = {dial.label: dial for dial in dials_of(recipe)}, dict[str, Any]()
    for label, text in moved.items():
        if label not in known:
            raise InvalidInput(
                f"Recipe {recipe.name!r} has no number {label!r} to move", remedy="Move one that its list shows."
            )
        dial = known[label]
        number = dial.read(text)
        if number == dial.value:
            continue
        if dial.name is None:
            settings[dial.setting] = number
        else:
            table = dict(shared_value(recipe, dial.part, dial.parameter))
            settings.setdefault(dial.setting, table)[dial.name] = number
    return settings


def with_moved(recipe: Pipeline, moved: Mapping[str, str]) -> Pipeline:
    """The recipe with numbers moved, under the same name."""
    settings = moved_settings(recipe, moved)
    return with_settings(recipe, settings) if settings else recipe
