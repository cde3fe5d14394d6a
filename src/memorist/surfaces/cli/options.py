"""Options: those derived from the keywords of a verb, those that commands share, and memories by their id."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args, get_origin

import typer

from memorist.errors import InvalidInput, NotFound
from memorist.model import MOST, FactFields, FieldInfo, Fields, Filters, Memory, RecallOptions, fields_of, keywords_of
from memorist.model.fields import members

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


Command = Callable[..., None]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.", rich_help_panel="Output")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
MemoryId = Annotated[
    str, typer.Argument(metavar="ID", help="The memory's id, or the beginning of it.", show_default=False)
]


def recipe_names() -> list[str]:
    """The recipes that ship. They are written out here because importing them would make completion slow."""
    return ["memorist", "mnemosyne-graph", "mnemo", "memoria", "abmind", "mnemosyne-hybrid"]


def require_answer(context: typer.Context, as_json: bool) -> None:
    """Refuse to ask for confirmation where nobody can answer."""
    if as_json or not sys.stdin.isatty():
        raise typer.BadParameter("Nobody can be asked for confirmation here: add --yes.", context)


# Options derived from the keywords of a verb

FIELD_PANELS = {"times": "When", "worth": "What it is worth", "origin": "Where it comes from"}
"""The panel of a field, by the part of `Memory` that holds it."""
COMPLETIONS = {"recipe": recipe_names}


def remember_options() -> dict[str, Any]:
    """An option for each keyword of `remember`."""
    return _memory_options(Fields)


def relate_options() -> dict[str, Any]:
    """An option for each keyword of `relate`."""
    return _memory_options(FactFields)


def filter_options(*, defaults: bool = True) -> dict[str, Any]:
    """An option for each keyword that chooses memories."""
    return {name: _option(field, "Which memories", defaults=defaults) for name, field in keywords_of(Filters).items()}


def recall_options() -> dict[str, Any]:
    """An option for each keyword of `recall`."""
    filters = filter_options()
    others = {name: field for name, field in keywords_of(RecallOptions).items() if name not in filters}
    return filters | {name: _option(field, "How to search") for name, field in others.items()}


def _memory_options(keywords: type) -> dict[str, Any]:
    return {
        name: _option(field, "When" if _is_time(field) else FIELD_PANELS.get(field.group or "", "What it is"))
        for name, field in keywords_of(keywords).items()
    }


def _option(field: FieldInfo, panel: str, *, defaults: bool = True) -> Any:
    """The option for a keyword: its type, limits and help come from the model."""
    kind, metavar = _kind(field)
    info = typer.Option(
        *([_switch(field)] if kind is bool else []),
        metavar=metavar,
        help=_help(field, defaults=defaults),
        rich_help_panel=panel,
        show_default=False,
        min=field.range and field.range.low,
        max=field.range and (field.range.high if field.range.high < MOST else None),
        parser=_json_object if metavar == "JSON" else None,
        autocompletion=COMPLETIONS.get(field.name),
    )
    return Annotated[kind, info]


def _kind(field: FieldInfo) -> tuple[Any, str | None]:
    """The type of an option as Typer knows it, and the word for its value in the help."""
    first = next(one for one in members(field.type) if one is not type(None))
    if _is_time(field):
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
    return f"--{name}/--no-{name}" if field.default is True else f"--{name}"


def _is_time(field: FieldInfo) -> bool:
    return datetime in members(field.type)


def _is_object(field: FieldInfo) -> bool:
    return any(is_dataclass(one) or get_origin(one) is Mapping for one in members(field.type))


def _singular(field: FieldInfo) -> str:
    return field.name.removesuffix("s").upper()


def _help(field: FieldInfo, *, defaults: bool) -> str:
    """What an option means, with its choices, whether it may be repeated, and its default."""
    sentence = field.description.rstrip(".")
    if field.choices:
        sentence += f": {', '.join(field.choices)}"
    for one in members(field.type):
        if is_dataclass(one):
            sentence += f"; a JSON object with {', '.join(fields_of(cast('type', one)))}"
    if field.repeated:
        sentence += "; may be repeated"
    if not defaults or field.default in (None, (), {}) or field.default is False:
        return f"{sentence}."
    return f"{sentence}. Default: {field.name if field.default is True else field.default}."


def with_options(options: Mapping[str, Any]) -> Callable[[Command], Command]:
    """Add the options of a verb to a command with `**keywords`; it receives those that were given."""
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
        for name, option in options.items()
    ]

    def extend(command: Command) -> Command:
        own = [
            parameter
            for parameter in inspect.signature(command, eval_str=True).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]

        @wraps(command)
        def run(**given: Any) -> None:
            absent = {one.name for one in added if given[one.name] is None or given[one.name] == []}
            command(**{name: value for name, value in given.items() if name not in absent})

        parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*own, *added)]
        run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]  # read by Typer
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return extend


def _json_object(text: str) -> dict[str, Any]:
    """The value of an option that takes a JSON object."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"it is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise typer.BadParameter('it is not a JSON object, such as {"name": "value"}.')
    return cast("dict[str, Any]", value)


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
