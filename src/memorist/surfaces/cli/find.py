"""Commands that find and look: recall, why-not, show, list, history, stats, recipes."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack, cast

import typer

from memorist.config import SETTINGS, Setting, find_file
from memorist.errors import NotFound
from memorist.model import Recall, to_data
from memorist.recall.request import Filters, RecallOptions
from memorist.surfaces.cli.options import (
    FILTERS,
    RECALL,
    Json,
    MemoryId,
    Target,
    memory_called,
    opened,
    recipe_names,
    taking,
    target,
)
from memorist.surfaces.cli.output import (
    item_line,
    memory_line,
    one_line,
    print_json,
    print_raw,
    readable,
    recall_line,
    say,
    say_cut,
    size,
    visible,
)

if TYPE_CHECKING:
    from memorist.recall.explain import Explanation
    from memorist.recall.pipeline import Pipeline


CREDENTIALS = re.compile(r"(?<=://)[^/@]*(?=@)")


@dataclass(frozen=True, slots=True)
class FieldOrigin:
    """The value of a setting and where it comes from."""

    name: str
    value: str | None
    origin: str


def settings_file(target: Target) -> Path | None:
    """The settings file in force."""
    return Path(target.config) if target.config is not None else find_file()


def origins(target: Target) -> list[FieldOrigin]:
    """Every setting in force."""
    settings, file = target.settings(), settings_file(target)
    written = tomllib.loads(file.read_text(encoding="utf-8")) if file else {}
    return [
        FieldOrigin(one.name, _shown(getattr(settings, one.name)), _origin(one, target, file, one.name in written))
        for one in SETTINGS
    ]


def _origin(setting: Setting, target: Target, file: Path | None, written: bool) -> str:
    """The order of `memorist.config`, from the strongest."""
    if getattr(target, setting.name, None) is not None:
        return f"--{setting.name}"
    if os.environ.get(setting.variable):
        return setting.variable
    return str(file) if written else "default"


def _shown(value: str | int | None) -> str | None:
    return None if value is None else CREDENTIALS.sub("…", str(value))


@taking(RECALL)
def recall(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, in your own words.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Say how each memory got its place.", rich_help_panel="Output")
    ] = False,
    only_context: Annotated[
        bool,
        typer.Option("--context", help="Print only the context, for a prompt.", rich_help_panel="Output"),
    ] = False,
    as_json: Json = False,
    **options: Unpack[RecallOptions],
) -> None:
    """Find what matters for a question."""
    if only_context and (as_json or explain):
        raise typer.BadParameter("--context goes with neither --json, which has it, nor --explain.", context)
    with opened(context) as engine:
        found = engine.recall(query, **options)
        reasons = [engine.explain(found, item.memory.id) for item in found.items] if explain else []
    if as_json:
        print_json(_data(found, reasons))
    elif only_context:
        print_raw(found.context)
    else:
        _print(found, reasons)


@taking(RECALL)
def why_not(
    context: typer.Context,
    id: MemoryId,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question that did not find it.")],
    as_json: Json = False,
    **options: Unpack[RecallOptions],
) -> None:
    """Say which stage left a memory out of an answer, and what would have been enough."""
    with opened(context) as engine:
        absence = engine.why_not(query, memory_called(engine, id).id, **options)
    if as_json:
        print_json(to_data(absence))
    else:
        say(one_line(str(absence)))


def _data(found: Recall, reasons: list[Explanation]) -> dict[str, object]:
    data = to_data(found)
    for item, reason in zip(data["items"], reasons, strict=False):
        item["explanation"] = to_data(reason)
    return data


def _print(found: Recall, reasons: list[Explanation]) -> None:
    for place, item in enumerate(found.items):
        say(*item_line(item))
        say(one_line(item.memory.text), indent=4)
        if reasons:
            print_tree(reasons[place])
    if not found.items:
        say("Nothing found.")
    say(*recall_line(found))


def print_tree(reason: Explanation, indent: int = 4) -> None:
    """An explanation's details, each under what it explains."""
    for detail in reason.details:
        value = "" if detail.value is None else f"{detail.value:.4g}  "
        say((value, "green"), (one_line(detail.description), "dim"), indent=indent)
        print_tree(detail, indent + 2)


@taking(FILTERS)
def list_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="The most memories to print.")] = 100,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Go on after a page that ended with this cursor.")
    ] = None,
    as_json: Json = False,
    **filters: Unpack[Filters],
) -> None:
    """Print memories in the order they were written."""
    with opened(context) as engine:
        page = engine.list(limit, cursor, **filters)
    if as_json:
        print_json(to_data(page))
        return
    for memory in page.items:
        say_cut(*memory_line(memory))
    if page.cursor is not None:
        say((f"More: --cursor {page.cursor}", "dim"))
    elif not page.items:
        say("No memories here." if cursor is None else "No more memories.")


def show(context: typer.Context, id: MemoryId, as_json: Json = False) -> None:
    """Print one memory with all that is known about it."""
    with opened(context) as engine:
        data = to_data(memory_called(engine, id))
    if as_json:
        print_json(data)
        return
    say((visible(data.pop("text")), "bold"))
    for name, value in data.items():
        if value not in (None, [], {}):
            say((f"{name:<15}", "dim"), one_line(readable(value)))


def history(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A memory's id, or the name of an entity.")],
    as_json: Json = False,
) -> None:
    """Print all versions of a memory, or of every fact about an entity, the newest knowledge first."""
    with opened(context) as engine:
        versions = engine.history(name)
    if as_json:
        print_json([to_data(memory) for memory in versions])
        return
    for memory in versions:
        end = memory.times.valid_to
        say_cut(*memory_line(memory), (f"  until {end.date()}" if end else "", "dim"))


def stats(context: typer.Context, as_json: Json = False) -> None:
    """Print how much the space holds."""
    with opened(context) as engine:
        found = engine.stats()
    if as_json:
        print_json(to_data(found))
        return
    rows = {
        "space": found.space,
        "memories": f"{found.memories:,}",
        "versions": f"{found.versions:,}",
        "kinds": readable(dict(found.kinds)),
        "scopes": readable(dict(found.scopes)),
        "links": f"{found.links:,}",
        "entities": f"{found.entities:,}",
        "size": size(found.bytes),
        "embedding": found.embedding or "none yet",
    }
    for name, value in rows.items():
        say((f"{name:<11}", "dim"), one_line(value))


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
    from memorist.recall.data import to_data as recipe_to_data

    known = _known(context)
    if name is None and as_json:
        print_json([recipe_to_data(recipe) for recipe in known.values()])
    elif name is None:
        for recipe in known.values():
            say((f"{recipe.name:<18}", "bold"), _purpose(recipe))
    elif name not in known:
        raise NotFound(f"There is no recipe {name!r}", remedy=f"Choose one of {', '.join(known)}.")
    elif as_json:
        print_json(recipe_to_data(known[name]))
    else:
        say((name, "bold"), ": ", _purpose(known[name]))
        _print_parts(recipe_to_data(known[name])["stages"])


def _known(context: typer.Context) -> dict[str, Pipeline]:
    from memorist.recall.recipes import RECIPES, custom_recipes

    return {**RECIPES, **custom_recipes(target(context).settings().recipes)}


def _purpose(recipe: Pipeline) -> str:
    """The first line about a recipe; a user's own recipe is described by its stages."""
    return recipe.about.partition("\n")[0] or " → ".join(stage.kind for stage in recipe.stages)


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
