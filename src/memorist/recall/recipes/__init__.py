"""The recipes that ship, one file each, and those that users write as data."""

from collections.abc import Mapping
from typing import Any

from memorist.errors import InvalidInput
from memorist.recall.data import from_data, with_settings
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes.abmind import ABMIND
from memorist.recall.recipes.memoria import MEMORIA
from memorist.recall.recipes.memorist import MEMORIST
from memorist.recall.recipes.mnemo import MNEMO
from memorist.recall.recipes.mnemosyne_graph import MNEMOSYNE_GRAPH
from memorist.recall.recipes.mnemosyne_hybrid import MNEMOSYNE_HYBRID

RECIPES: dict[str, Pipeline] = {
    recipe.name: recipe for recipe in (MEMORIST, MNEMOSYNE_GRAPH, MNEMO, MEMORIA, ABMIND, MNEMOSYNE_HYBRID)
}


def custom_recipes(written: Mapping[str, Mapping[str, Any]]) -> dict[str, Pipeline]:
    """Recipes from a settings file, each a list of `stages`, or a `base` and single parameters to `set`.

    A recipe that bears the name of one of ours and gives no stages starts from ours.
    """
    return {name: _custom(name, dict(data)) for name, data in written.items()}


def _custom(name: str, data: dict[str, Any]) -> Pipeline:
    unknown = data.keys() - {"stages", "base", "set"}
    if unknown or ("stages" in data and "base" in data):
        raise InvalidInput(
            f"Recipe {name!r} is not understood",
            remedy="Give it either stages, or a base; and what to set, if anything.",
        )
    if "stages" in data:
        recipe = from_data({"name": name, "stages": data["stages"]})
    elif (base := data.get("base", name)) in RECIPES:
        recipe = Pipeline(name, RECIPES[base].stages)
    else:
        raise InvalidInput(f"Recipe {name!r} has no base {base!r}", remedy=f"Choose one of {', '.join(RECIPES)}.")
    return with_settings(recipe, data.get("set", {}))


__all__ = ["RECIPES", "custom_recipes"]
