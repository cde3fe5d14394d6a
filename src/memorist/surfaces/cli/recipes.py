"""The recipes command: print the recipes, or one of them in detail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from memorist.errors import NotFound
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import argument, command, recipe_names
from memorist.surfaces.cli.output import Part, one_line, readable, say, say_table

if TYPE_CHECKING:
    from memorist.recall.pipeline import Pipeline


app = typer.Typer()
ROLES = ("stage", "signal", "factor")


@command(app)
def recipes(
    target: Target,
    name: Annotated[str | None, argument("NAME", "The recipe to print in detail.", autocompletion=recipe_names)] = None,
) -> Iterator[object]:
    """Print the recipes, or the stages and parameters of one of them."""
    from memorist.engine.vocabulary import recipe_to_data
    from memorist.recall.recipes import RECIPES, as_used, custom_recipes

    settings = target.settings()
    known = {**RECIPES, **custom_recipes(settings.recipes, shipped_parts=settings.untrusted_recipes)}
    if name is None:
        yield [recipe_to_data(recipe) for recipe in known.values()]
        say_table(((one_line(recipe.name), "bold"), one_line(_purpose(recipe))) for recipe in known.values())
        return
    if name not in known:
        raise NotFound(f"There is no recipe {name!r}", remedy=f"Choose one of {', '.join(known)}.")
    data = recipe_to_data(as_used(known[name]))
    yield data
    say((name, "bold"), ": ", _purpose(known[name]))
    say_table(_part_rows(data["stages"]), indent=2)
    for given, parameters in known[name].names.items():
        say("Its document calls ", ", ".join(parameters), ": ", (given, "cyan"))


def _purpose(recipe: Pipeline) -> str:
    """The first line of a recipe's description; a custom recipe is described by its stages."""
    return recipe.about.partition("\n")[0] or " → ".join(stage.kind for stage in recipe.stages)


def _part_rows(parts: list[dict[str, Any]], indent: int = 0) -> Iterator[tuple[Part, Part]]:
    """A row for each part, and for those inside it, further in: its name and its plain parameters."""
    for part in parts:
        role = next(role for role in ROLES if role in part)
        inner = {name: value for name, value in part.items() if name != role}
        nested = [mapping for value in inner.values() for mapping in _nested(value)]
        plain = readable({name: value for name, value in inner.items() if not _nested(value)})
        yield (f"{' ' * indent}{one_line(part[role])}", "cyan"), (one_line(plain), "dim")
        yield from _part_rows(nested, indent + 2)


def _nested(value: object) -> list[dict[str, Any]]:
    """The parts that a parameter holds, if any."""
    ones = cast("list[object]", value) if isinstance(value, list) else [value]
    mappings = [cast("dict[str, Any]", found) for found in ones if isinstance(found, dict)]
    return [mapping for mapping in mappings if any(role in mapping for role in ROLES)]
