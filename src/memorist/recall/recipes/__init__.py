"""Recipes: those that ship, one TOML file each in this folder, and those that users write in the same form."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from memorist.errors import InvalidInput
from memorist.recall.catalogue import BUILT_IN, RENAMED_STAGES
from memorist.recall.data import from_data, with_settings
from memorist.recall.pipeline import Pipeline

SHIPPED = ("memorist", "mnemosyne-graph", "mnemo", "memoria", "abmind", "mnemosyne-hybrid", "nearest")
TAGGED = ("mnemosyne-graph",)
"""The shipped recipes that read the tags of memories. A process that only writes builds no recipe."""
WITH_VARIABLES = ("abmind",)
"""Those whose documents name environment variables; `environment` lists them."""


class Recipes(Mapping[str, Pipeline]):
    """Recipes by name: those that ship, each built on first use, and `own`, which take precedence.

    `change`, if given, is applied to every recipe when it is looked up.
    """

    def __init__(
        self, own: Mapping[str, Pipeline] | None = None, change: Callable[[Pipeline], Pipeline] | None = None
    ) -> None:
        self._own = own or {}
        self._change = change
        self._names = tuple(dict.fromkeys([*SHIPPED, *self._own]))

    def __getitem__(self, name: str) -> Pipeline:
        if name not in self._names:
            raise KeyError(name)
        recipe = self._own[name] if name in self._own else _shipped(name)
        return recipe if self._change is None else self._change(recipe)

    def follows_tags(self, name: str) -> bool:
        """Whether a part of a recipe reads the tags of memories; one that ships is not built to tell."""
        return self._own[name].follows_tags if name in self._own else name in TAGGED

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@cache
def _shipped(name: str) -> Pipeline:
    data = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    return replace(from_data({**data, "name": name}), about=data["about"])


def as_used(recipe: Pipeline) -> Pipeline:
    """A recipe with the parameters that the environment variables of its document set now."""
    if recipe.name not in WITH_VARIABLES:
        return recipe
    from memorist.recall.recipes.environment import with_environment

    return with_environment(recipe)


RECIPES = Recipes()
"""The recipes that ship."""


def custom_recipes(
    written: Mapping[str, Mapping[str, Any]], *, shipped_parts: Collection[str] = ()
) -> dict[str, Pipeline]:
    """The recipes of a settings file. Each has a list of `stages`, or a `base` and single parameters to `set`.

    A recipe without stages or base that has the name of a shipped recipe is based on that one. The recipes that are
    named in `shipped_parts` come from a file that is not trusted: they may not name code of other packages.
    """
    for name in shipped_parts:
        _check_shipped(name, written[name])
    return {name: _custom(name, dict(data)) for name, data in written.items()}


def _check_shipped(recipe: str, data: object) -> None:
    """Refuse a part, or a value function, that another package offers."""
    if isinstance(data, Mapping):
        table = cast("Mapping[str, object]", data)
        for key, value in table.items():
            last = key.rpartition(".")[2]
            ours = (*BUILT_IN[last],) if last in BUILT_IN else ("default",)
            ours += (*RENAMED_STAGES,) if last == "stage" else ()
            if (last in BUILT_IN or last == "function") and value not in ours:
                raise InvalidInput(
                    f"Recipe {recipe!r} is from a file that is not trusted and names code of a package: {value!r}",
                    remedy="Run `memorist trust` if you trust the file.",
                )
            _check_shipped(recipe, value)
    elif isinstance(data, list | tuple):
        for member in cast("Sequence[object]", data):
            _check_shipped(recipe, member)


def _custom(name: str, data: dict[str, Any]) -> Pipeline:
    unknown = data.keys() - {"stages", "base", "set"}
    if unknown or ("stages" in data and "base" in data):
        raise InvalidInput(
            f"Recipe {name!r} is invalid",
            remedy="Give either `stages` or a `base`, and optionally `set`; nothing else.",
        )
    if "stages" in data:
        recipe = from_data({"name": name, "stages": data["stages"]})
    elif (base := data.get("base", name)) in RECIPES:
        recipe = replace(_shipped(base), name=name, about="")
    else:
        raise InvalidInput(
            f"Recipe {name!r} has an unknown base: {base!r}", remedy=f"Choose one of {', '.join(RECIPES)}."
        )
    return with_settings(recipe, data.get("set", {}))
