"""Validation of plain data, as read from JSON or TOML, against a type hint."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from reprlib import repr as shortened
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

from memorist.errors import InvalidInput

Build = Callable[[object, str], object]
"""Makes an object of a class of our own from its plain data and its name in error messages."""


def validate(value: object, hint: Any, where: str, build: Build | None = None) -> Any:
    """The value as the hint describes it; lists become tuples. Raises InvalidInput with `where` if it does not fit."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, UnionType):
        return _first_fit(value, arguments, where, build)
    if origin is Literal:
        return _require(value in arguments, value, where, f"one of {', '.join(map(str, arguments))}")
    if origin is tuple:
        _require(isinstance(value, list | tuple), value, where, "a list")
        return tuple(validate(member, arguments[0], where, build) for member in cast("Sequence[object]", value))
    if origin is Callable:
        return _require(callable(value), value, where, "a function")
    if origin is not None and issubclass(origin, Mapping):
        _require(isinstance(value, Mapping), value, where, "a table")
        table = cast("Mapping[str, object]", value)
        return {key: validate(one, arguments[1], f"{where}.{key}", build) for key, one in table.items()}
    return _scalar(value, hint, where, build)


def _scalar(value: object, hint: Any, where: str, build: Build | None) -> object:
    if hint is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool) and _is_number(value)
        return float(cast("float", _require(fits, value, where, "a number")))
    if hint is int:
        return _require(isinstance(value, int) and not isinstance(value, bool), value, where, "a whole number")
    if hint is str:
        return _require(isinstance(value, str), value, where, "a string")
    if hint is bool:
        return _require(isinstance(value, bool), value, where, "true or false")
    if hint is type(None):
        return _require(value is None, value, where, "null")
    assert build is not None, f"no builder for {hint}"
    return build(value, where)


def _is_number(value: int | float) -> bool:
    """Whether it is no NaN, and no whole number too large to be a float."""
    return abs(value) <= sys.float_info.max if isinstance(value, int) else not isnan(value)


def _first_fit(value: object, hints: tuple[Any, ...], where: str, build: Build | None) -> object:
    problem: InvalidInput | None = None
    for hint in hints:
        try:
            return validate(value, hint, where, build)
        except InvalidInput as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _require(fits: bool, value: object, where: str, wanted: str) -> object:
    if not fits:
        raise InvalidInput(f"{where} is {shortened(value)}", remedy=f"It must be {wanted}.")
    return value
