"""One option for each keyword of a verb: `x_y` is `--x-y`, a list is an option given several times."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, cast

import typer

Command = Callable[..., None]


def taking(options: Mapping[str, Any]) -> Callable[[Command], Command]:
    """Give a command with `**keywords` the options of a verb; it receives those that were given."""
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


def json_object(text: str) -> dict[str, Any]:
    """An option's value that is a JSON object."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"it is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise typer.BadParameter('it is not a JSON object, such as {"name": "value"}.')
    return cast("dict[str, Any]", value)
