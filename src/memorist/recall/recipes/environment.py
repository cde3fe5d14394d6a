"""Environment variables that the document of a recipe names: read each time that recipe is used, and by no other.

Options of a call override Memorist's own settings, these override the variables, and those the recipe's numbers. A
variable that would choose where texts are sent is not obeyed: the embedder belongs to the memory, not to a recipe.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from memorist.errors import InvalidInput
from memorist.recall.data import with_settings
from memorist.recall.pipeline import Pipeline

Read = Callable[[str], object]
"""Reads the text of a variable; a ValueError or KeyError refuses it."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment, the parameter of the recipe that it sets, and its values."""

    name: str
    setting: str
    values: str
    read: Read

    @property
    def part(self) -> str:
        """The kind of the part that has the parameter."""
        return self.setting.partition(".")[0]

    @property
    def value(self) -> object:
        """Its value; None if it is not set. The text of a wrong one is not repeated: it may be a secret."""
        text = os.environ.get(self.name, "").strip()
        try:
            return self.read(text) if text else None
        except (ValueError, KeyError):
            problem = f"The environment variable {self.name} has a wrong value"
            raise InvalidInput(problem, remedy=f"It must be {self.values}; or unset it.") from None


def _number(low: float, high: float, *, above: bool = False) -> Read:
    def read(text: str) -> float:
        number = float(text)
        if not low <= number <= high or number == inf or (above and number == low):
            raise ValueError
        return number

    return read


def _one_of(choices: Mapping[str, Any]) -> Read:
    return lambda text: choices[text.lower()]


def _model(text: str) -> str:
    return text.removesuffix(":latest")


_MODES = {mode: mode for mode in ("hybrid", "fts", "signature")}
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_BITS = {str(bits): bits for bits in range(64, 513, 64)}

VARIABLES: Mapping[str, tuple[Variable, ...]] = {
    "abmind": (
        Variable("MEMORY_SEARCH_MODE", "cascade.mode", "hybrid, fts or signature", _one_of(_MODES)),
        Variable("EMBEDDING_ENABLED", "embed.enabled", "true or false", _one_of(_TRUTHS)),
        Variable("EMBEDDING_MODEL", "embed.wanted", "the name of a model", _model),
        Variable("EMBEDDING_SIMILARITY_THRESHOLD", "vector.least", "a number from 0 to 1", _number(0, 1)),
        Variable("RECALL_DECAY_DAYS", "linear_recency.span_days", "a number above 0", _number(0, inf, above=True)),
        Variable("RECALL_DECAY_FLOOR", "linear_recency.floor", "a number from 0 to 1", _number(0, 1)),
        Variable("RECALL_EMOTION_BOOST", "emotion.weight", "a number of at least 0", _number(0, inf)),
        Variable("SIGNATURE_BITS", "signature.bits", "a multiple of 64 up to 512", _one_of(_BITS)),
    ),
}
"""The variables that a shipped recipe reads, by its name."""


def with_environment(recipe: Pipeline) -> Pipeline:
    """A recipe with the parameters that its variables set, but those that a settings file or an option fixed."""
    kinds = {part.kind for part in recipe.parts()}
    free = [
        variable
        for variable in VARIABLES.get(recipe.name, ())
        if variable.part in kinds and variable.setting not in recipe.fixed
    ]
    read = {variable.setting: variable.value for variable in free}
    given = {setting: value for setting, value in read.items() if value is not None}
    return with_settings(recipe, given) if given else recipe
