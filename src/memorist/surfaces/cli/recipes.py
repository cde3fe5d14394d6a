"""The command that shows recipes as what they are: stages and their parameters."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from memorist.errors import NotFound
from memorist.surfaces.cli.lines import readable
from memorist.surfaces.cli.options import Json, recipe_names
from memorist.surfaces.cli.output import print_json, say
from memorist.surfaces.cli.target import target

if TYPE_CHECKING:
    from memorist.recall.pipeline import Pipeline

ROLES = ("stage", "signal", "factor")


def recipes(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The recipe to take apart.", autocompletion=recipe_names),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the recipes, or one of them as its stages and parameters."""
    from memorist.recall.data import to_data

    known = _known(context)
    if name is None and as_json:
        print_json([to_data(recipe) for recipe in known.values()])
    elif name is None:
        for recipe in known.values():
            say((f"{recipe.name:<18}", "bold"), _purpose(recipe))
    elif name not in known:
        raise NotFound(f"There is no recipe {name!r}", remedy=f"Choose one of {', '.join(known)}.")
    elif as_json:
        print_json(to_data(known[name]))
    else:
        say((name, "bold"), ": ", _purpose(known[name]))
        _print_parts(to_data(known[name])["stages"])


def _known(context: typer.Context) -> dict[str, Pipeline]:
    from memorist.recall.recipes import RECIPES, custom_recipes

    return {**RECIPES, **custom_recipes(target(context).settings().recipes)}


def _purpose(recipe: Pipeline) -> str:
    """The first line of the recipe's file; of a user's own recipe, its stages."""
    from memorist.recall.recipes import RECIPES

    module = sys.modules.get(f"memorist.recall.recipes.{recipe.name.replace('-', '_')}")
    if RECIPES.get(recipe.name) is recipe and module is not None and module.__doc__:
        return module.__doc__.partition("\n")[0]
    return " → ".join(stage.kind for stage in recipe.stages)


def _print_parts(parts: list[dict[str, Any]], indent: int = 2) -> None:
    for part in parts:
        role = next(role for role in ROLES if role in part)
        inner = {name: value for name, value in part.items() if name != role}
        nested = [one for value in inner.values() for one in _nested(value)]
        plain = readable({name: value for name, value in inner.items() if not _nested(value)})
        say((f"{part[role]:<{20 - indent}}", "cyan"), (plain, "dim"), indent=indent)
        _print_parts(nested, indent + 2)


def _nested(value: object) -> list[dict[str, Any]]:
    """The parts inside a parameter, if it holds parts."""
    ones = cast("list[object]", value) if isinstance(value, list) else [value]
    mappings = [cast("dict[str, Any]", one) for one in ones if isinstance(one, dict)]
    return [one for one in mappings if any(role in one for role in ROLES)]
