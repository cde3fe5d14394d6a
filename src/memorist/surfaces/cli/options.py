"""Commands and their options: derived from the keywords of a verb, or declared; and memories by their id."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import is_dataclass
from functools import cache, wraps
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args, get_origin

import typer
import typer.main
from typer.models import CommandInfo

from memorist.errors import InvalidInput, NotFound
from memorist.model import (
    MOST,
    FieldInfo,
    Filters,
    Memory,
    RecallOptions,
    Tier,
    fields_of,
    keywords_of,
    member,
    to_data,
)
from memorist.model.fields import members
from memorist.model.filter import EXAMPLE
from memorist.surfaces.cli.output import print_json

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


Body = Callable[..., Iterator[object] | None]
PIPE = "-"
"""The name of standard input and output."""


def argument(metavar: str, help: str, **more: Any) -> Any:
    """An argument; its help states what a missing one means."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, **more)


def input_file(metavar: str, help: str) -> Any:
    """An argument that names a file to read. A missing file is refused before a memory is created for it."""
    return argument(metavar, help, callback=_existing)


def _existing(given: str | list[Path]) -> str | list[Path]:
    for path in [given] if isinstance(given, str) else given:
        if str(path) != PIPE and not os.path.exists(path):
            raise NotFound(f"There is no file {path}", remedy="Check the path.")
    return given


def option(metavar: str | None, help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """An option with a value; its help states the default."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, show_default=False, **more)


def flag(name: str, help: str, panel: str | None = None) -> Any:
    """An option without a value."""
    return option(None, help, name, panel=panel)


Json = Annotated[bool, flag("--json", "Print one JSON document and nothing else.", "Output")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
MemoryId = Annotated[str, argument("ID", "The memory's id, or the beginning of it.")]


def command(
    group: typer.Typer,
    name: str | None = None,
    options: Callable[[], Mapping[str, Any]] | None = None,
    *,
    creates: bool = False,
) -> Callable[[Body], Body]:
    """Add a command to a group.

    Its function yields the result: --json prints that, and without --json the function goes on and prints it for a
    person. A function that does not yield prints for itself. The parameters `target`, `engine` and `as_json` are
    provided; an engine is open until the result is there. With `creates`, the memory need not exist before.
    `**keywords` receive those of `options` that were given.
    """

    def add(body: Body) -> Body:
        called = name or typer.main.get_command_name(body.__name__)
        made = _Command(called, lambda: _function(body, options() if options else {}, creates))
        group.registered_commands.append(made)
        return body

    return add


class _Command(CommandInfo):
    """A command as Typer registers it. Its function is made when it is asked for: a process needs one of them."""

    def __init__(self, name: str, make: Callable[[], Callable[..., None]]) -> None:
        self._make = cache(make)
        super().__init__(name)

    @property
    def callback(self) -> Callable[..., None]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The function that runs the command; its parameters are the arguments and options."""
        return self._make()

    @callback.setter
    def callback(self, value: object) -> None:
        pass  # Typer's own initialiser sets None


def _function(body: Body, added: Mapping[str, Any], creates: bool) -> Callable[..., None]:
    """The function of a command, with a signature from which Typer reads its arguments and options."""
    declared = inspect.signature(body, eval_str=True, locals={"Engine": object}).parameters
    own = [
        parameter
        for parameter in declared.values()
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.name not in PROVIDED
    ]

    @wraps(body)
    def run(context: typer.Context, as_json: bool, **given: Any) -> None:
        given = {name: value for name, value in given.items() if name not in added or value not in (None, [], {})}
        provided = {"target": context.obj, "as_json": as_json}
        given |= {name: value for name, value in provided.items() if name in declared}
        with context.obj.open(create=creates) if "engine" in declared else nullcontext() as engine:
            steps = body(engine, **given) if "engine" in declared else body(**given)
            result = None if steps is None else next(steps)
        if steps is not None and as_json:
            print_json(to_data(result))
        elif steps is not None:
            next(steps, None)

    parameters = [
        _keyword("context", typer.Context),
        *(_keyword(parameter.name, parameter.annotation, parameter.default) for parameter in own),
        _keyword("as_json", Json, False),
        *(_keyword(name, kind, None) for name, kind in added.items()),
    ]
    run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]  # read by Typer
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


PROVIDED = ("target", "engine", "as_json")


def _keyword(name: str, kind: Any, default: object = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def recipe_names() -> list[str]:
    """The recipes that ship. They are written out here because importing them would make completion slow."""
    return ["memorist", "mnemosyne-graph", "mnemo", "memoria", "abmind", "mnemosyne-hybrid", "nearest"]


def require_answer(as_json: bool) -> None:
    """Refuse to ask for confirmation where nobody can answer."""
    if as_json or not sys.stdin.isatty():
        raise typer.BadParameter("Nobody can be asked for confirmation here: add --yes.")


# Options derived from the keywords of a verb

FIELD_PANELS = {"times": "When", "worth": "What it is worth", "origin": "Where it comes from"}
"""The panel of a field, by the part of `Memory` that holds it."""
COMPLETIONS = {"recipe": recipe_names, "tier": lambda: list(Tier)}
EXAMPLES = {"where": EXAMPLE}
"""An example for an option that takes a JSON object."""


def memory_options(keywords: type) -> dict[str, Any]:
    """An option for each keyword that describes a memory, as `Fields` and `FactFields` list them."""
    return {
        name: _option(field, "When" if field.is_time else FIELD_PANELS.get(field.group or "", "What it is"))
        for name, field in keywords_of(keywords).items()
    }


def filter_options(*, defaults: bool = True) -> dict[str, Any]:
    """An option for each keyword that chooses memories."""
    return {name: _option(field, "Which memories", defaults=defaults) for name, field in keywords_of(Filters).items()}


def recall_options() -> dict[str, Any]:
    """An option for each keyword of `recall`."""
    filters = filter_options()
    others = {name: field for name, field in keywords_of(RecallOptions).items() if name not in filters}
    return filters | {name: _option(field, "How to search") for name, field in others.items()}


def _option(field: FieldInfo, panel: str, *, defaults: bool = True) -> Any:
    """The option for a keyword: its type, limits and help come from the model."""
    kind, metavar = _kind(field)
    info = option(
        metavar,
        _help(field, defaults=defaults),
        *([_switch(field)] if kind is bool else []),
        panel=panel,
        min=field.range and field.range.low,
        max=field.range and (field.range.high if field.range.high < MOST else None),
        parser=_json_object(EXAMPLES.get(field.name, '{"name": "value"}')) if metavar == "JSON" else PARSERS.get(kind),
        autocompletion=COMPLETIONS.get(field.name),
    )
    return Annotated[kind, info]


def _kind(field: FieldInfo) -> tuple[Any, str | None]:
    """The type of an option as Typer knows it, and the word for its value in the help."""
    first = next(member for member in members(field.type) if member is not type(None))
    if field.is_time:
        return str, "WHEN"
    if field.repeated:
        return (list[get_args(first)[0]], _singular(field)) if field.choices else (list[str], "TEXT")
    if field.choices:
        return first, _singular(field)
    if _is_object(field):
        return dict[str, Any], "JSON"
    return (first, {bool: None, int: "NUMBER", float: "NUMBER"}.get(first, "TEXT"))


def _switch(field: FieldInfo) -> str:
    name = field.name.replace("_", "-")
    return f"--{name}" if field.default is False else f"--{name}/--no-{name}"


def _is_object(field: FieldInfo) -> bool:
    return any(is_dataclass(member) or get_origin(member) is Mapping for member in members(field.type))


def _singular(field: FieldInfo) -> str:
    return field.name.removesuffix("s").upper()


def _help(field: FieldInfo, *, defaults: bool) -> str:
    """What an option means, with its choices, whether it may be repeated, and its default."""
    sentence = field.description.rstrip(".")
    if field.choices:
        sentence += f": {', '.join(field.choices)}"
    for kind in members(field.type):
        if is_dataclass(kind):
            sentence += f"; a JSON object with {', '.join(fields_of(cast('type', kind)))}"
    if field.repeated:
        sentence += "; may be repeated"
    if not defaults or field.default in (None, (), {}) or field.default is False:
        return f"{sentence}."
    return f"{sentence}. Default: {field.name if field.default is True else field.default}."


def _json_object(example: str) -> Callable[[str], dict[str, Any]]:
    """Reads the value of an option that takes a JSON object, such as the example."""

    def read(text: str) -> dict[str, Any]:
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise typer.BadParameter(f"it is not JSON: {error}. Write it in quotes, as '{example}'.") from None
        if not isinstance(value, dict):
            raise typer.BadParameter(f"it is not a JSON object, such as '{example}'.")
        return cast("dict[str, Any]", value)

    return read


def _tier(text: str) -> Tier:
    """A tier, also by another system's name for it."""
    try:
        return member(Tier, "tier", text)
    except InvalidInput as error:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, map(str, Tier)))}.") from error


PARSERS: Mapping[Any, Callable[[str], object]] = {Tier: _tier}
"""What reads the values of a type, where the type takes more than its own names."""

# Memories by their id

EVERYTHING: Filters = {
    "as_of": "9999-12-31",
    "known_at": "9999-12-31",
    "include_expired": True,
    "max_classification": 3,
}
"""The filters with which `list` leaves nothing out."""
SHORTEST_ID = 4
"""The fewest characters of an id that are looked up."""


def all_memories(engine: Engine, filters: Filters) -> Iterator[Memory]:
    """All memories that `forget` would erase with these filters."""
    cursor = None
    while True:
        page = engine.list(1000, cursor, **{**EVERYTHING, **filters})
        yield from page.items
        if (cursor := page.cursor) is None:
            return


def find_memory(engine: Engine, id: str) -> Memory:
    """The memory with an id, or the only one whose id begins with it."""
    if memory := engine.get(id):
        return memory
    alike = (memory for memory in all_memories(engine, {}) if memory.id.startswith(id))
    found = list(islice(alike, 2)) if len(id) >= SHORTEST_ID else []
    if not found:
        raise NotFound(f"There is no memory {id!r}", remedy="Look it up with `memorist list`.")
    if len(found) > 1:
        raise InvalidInput(f"Several ids begin with {id!r}", remedy="Give more characters of it.")
    return found[0]
