"""Validation of what Python callers pass: every argument of a verb, against its annotation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, tzinfo
from enum import StrEnum
from functools import cache, lru_cache, wraps
from inspect import Parameter, signature
from pathlib import Path
from types import FunctionType, UnionType
from typing import IO, Annotated, Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from memorist.errors import InvalidInput

When = str | date | datetime
"""A moment as callers write it; `instant` makes it exact."""
Progress = Callable[[int], None]
"""Called with the number of memories or texts just done."""
MOST = 10**9
"""The largest number of anything that can be asked for."""
MOST_NESTED = 64
"""How deep data may be nested: lists and mappings inside each other."""
MAX_BYTES = 16 * 1024 * 1024
"""The longest text that can be stored, in bytes of UTF-8."""
C = TypeVar("C", bound=type)
P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=StrEnum)
_FUNCTION: Any = Callable
QUESTION = "query"
"""The argument that may hold half a character: it is only searched for, and no memory has any."""
Hints = Mapping[str, Any]


def checks_arguments(verbs: C) -> C:
    """Let every public method of a class check its arguments against its annotations, and refuse what does not fit.

    A keyword that is None counts as not given.
    """
    for name, verb in list(vars(verbs).items()):
        if isinstance(verb, FunctionType) and not name.startswith("_"):
            setattr(verbs, name, checks_call(verb))
    return verbs


def checks_call(verb: Callable[P, R]) -> Callable[P, R]:
    """Let a function or method check its arguments."""

    @cache
    def hints() -> tuple[tuple[str, ...], Hints, Hints]:
        return _hints(verb)

    @wraps(verb)
    def call(*args: Any, **keywords: Any) -> Any:
        if args or keywords:
            positional, named, options = hints()
            for name, value in zip(positional, args, strict=False):
                check_argument(name, value, named.get(name, Any))
            unset = [name for name, value in keywords.items() if value is None and name in options]
            keywords = {name: value for name, value in keywords.items() if name not in unset}
            for name, value in keywords.items():
                if name not in named and name not in options:
                    _refuse_theirs(name, (*named, *options), verb.__name__)
                check_argument(name, value, named.get(name, options.get(name, Any)))
        return verb(*args, **keywords)

    return call


def _refuse_theirs(name: str, known: tuple[str, ...], verb: str) -> None:
    """Refuse another system's keyword where one of ours does the same; Python refuses all others."""
    from memorist.model.spellings import advice, theirs

    if any(spelling in known for spelling in theirs(name)):
        raise InvalidInput(f"{verb} has no keyword {name!r}", remedy=advice(name, known))


def _hints(verb: Callable[..., Any]) -> tuple[tuple[str, ...], Hints, Hints]:
    """The positional parameters of a verb, the types of its parameters, and those of its further keywords."""
    positional: list[str] = []
    named: dict[str, Any] = {}
    options: Hints = {}
    for name, parameter in signature(verb).parameters.items():
        hint = _resolved(verb, name)
        if parameter.kind is Parameter.VAR_KEYWORD:
            options = get_type_hints(get_args(hint)[0]) if get_args(hint) else {}
            continue
        named[name] = hint
        if parameter.kind is not Parameter.KEYWORD_ONLY:
            positional.append(name)
    return tuple(positional), named, options


def _resolved(verb: Callable[..., Any], name: str) -> Any:
    """The type of a parameter; anything, if it has none or its class is only imported for type checkers."""
    if name not in verb.__annotations__:
        return Any
    holder = FunctionType((lambda: None).__code__, verb.__globals__)
    holder.__annotations__ = {name: verb.__annotations__[name]}
    try:
        return get_type_hints(holder)[name]
    except NameError:
        return Any


def check_argument(name: str, value: object, hint: Any) -> None:
    """Refuse a value of the wrong type, and a text that no store can keep."""
    if not _fits(value, hint):
        raise InvalidInput(f"{name} is {_described(value)}", remedy=f"Give {name} {_wanted(hint)}.")
    if isinstance(value, str):
        check_text(name, value if name != QUESTION else value.encode("utf-8", "replace").decode())
        if "\0" in value and Path in get_args(hint):
            raise InvalidInput(f"{name} contains a NUL character", remedy="Give a path without it.")


def check_text(name: str, text: str) -> None:
    """Refuse half a character, and a text that is too long for every store."""
    size = len(text) if text.isascii() else _size(name, text)
    if size > MAX_BYTES:
        raise InvalidInput(f"{name} has {size:,} bytes, more than {MAX_BYTES:,}", remedy="Split it into several parts.")


def _size(name: str, text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInput(
            f"{name} contains half a surrogate pair, which is not a character",
            remedy="Decode it with errors='replace' first.",
        ) from None


def check_nesting(name: str, value: object) -> None:
    """Refuse data that is nested too deeply."""
    if nests_deeper(value, MOST_NESTED):
        problem = f"{name} is nested more than {MOST_NESTED} levels deep"
        raise InvalidInput(problem, remedy="Flatten it, or pass a text.")


def nests_deeper(value: object, most: int) -> bool:
    """Whether lists and mappings lie inside each other on more levels than these; never raises."""
    level: list[object] = [value]
    for _ in range(most + 1):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return cast("Mapping[object, object]", value).values()
    return cast("Iterable[object]", value) if isinstance(value, list | tuple) else ()


def _fits(value: object, hint: Any) -> bool:
    if hint is Any:
        return True
    if hint is str:
        return isinstance(value, str)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _fits(value, arguments[0])
    if origin in (Union, UnionType):
        return any(_fits(value, argument) for argument in arguments)
    if origin is Literal:
        return isinstance(value, str) and value in arguments
    if origin is not None:
        return _fits_several(value, origin, arguments)
    return _fits_class(value, hint)


def _fits_class(value: object, hint: Any) -> bool:
    if hint in (int, float):
        wanted = int if hint is int else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool) and abs(value) < math.inf
    if hint is Any or not isinstance(hint, type):
        return True
    if getattr(hint, "_is_protocol", False):
        return all(hasattr(value, name) for name in vars(hint) if not name.startswith("_"))
    return isinstance(value, hint)


def _fits_several(value: object, origin: Any, arguments: tuple[Any, ...]) -> bool:
    if origin is IO:
        return hasattr(value, "read") or hasattr(value, "write")
    if origin is _FUNCTION:
        return callable(value)
    if not isinstance(value, origin) or isinstance(value, str | bytes | bytearray):
        return False
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        if not issubclass(origin, Mapping):
            return False
        return all(isinstance(key, str) and _fits(one, arguments[1]) for key, one in table.items())
    if isinstance(value, list | tuple | set | frozenset):
        return all(_fits(member, arguments[0]) for member in cast("Iterable[object]", value))
    return True  # it can be read only once, by the verb


def _described(value: object) -> str:
    if isinstance(value, str):
        return "one string"
    if value is None or isinstance(value, bool | int | float):
        return str(value)[:40]
    return f"of type {type(value).__name__}"


_WANTED: Mapping[Any, str] = {
    str: "a string",
    int: "a whole number",
    float: "a finite number",
    bool: "True or False",
    datetime: "a time",
    date: "a date",
    Path: "a path",
    Mapping: "a mapping with strings as keys",
    Iterable: "a list",
    IO: "an open file",
    _FUNCTION: "a function",
}


def _wanted(hint: Any) -> str:
    """What a parameter takes, in words."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_wanted(argument) for argument in arguments if argument is not type(None)))
    if origin is Literal:
        return f"one of {', '.join(map(str, arguments))}"
    if origin is Annotated:
        return _wanted(arguments[0])
    noun = _WANTED.get(origin or hint) or f"an object of type {getattr(hint, '__name__', hint)}"
    return f"{noun} of strings" if origin is Iterable and arguments == (str,) else noun


def member(enum: type[E], name: str, value: str) -> E:
    """A member of an enumeration by its value."""
    try:
        return enum(value)
    except ValueError:
        raise InvalidInput(f"{name} {value!r} is unknown", remedy=f"Choose one of {', '.join(enum)}.") from None


def refuse_unknown(given: Iterable[str], known: type, verb: str) -> None:
    """Refuse keywords that a verb does not have; `known` is the TypedDict or dataclass that lists its keywords."""
    names = _keywords(known)
    for name in given:
        if name not in names:
            from memorist.model.spellings import advice

            remedy = " ".join(filter(None, (advice(name, names), f"The keywords are {', '.join(names)}.")))
            raise InvalidInput(f"{verb} has no keyword {name!r}", remedy=remedy)


@cache
def _keywords(known: type) -> tuple[str, ...]:
    return tuple(get_type_hints(known))


def within(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number outside its range, or NaN."""
    if not low <= value <= high:
        raise InvalidInput(f"{name} {value} is out of range", remedy=f"Give {name} a value from {low:g} to {high:g}.")


def at_least(name: str, value: int, least: int) -> int:
    """A whole number from `least` to a thousand million."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:  # pyright: ignore[reportUnnecessaryIsInstance]
        remedy = f"Give {name} a whole number from {least} to {MOST:,}."
        raise InvalidInput(f"{name} is {value!r}", remedy=remedy)
    return value


def instant(value: When) -> datetime:
    """A UTC moment from ISO 8601 text, a date (its start) or a datetime (naive means UTC)."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise InvalidInput(
                f"{value!r} is not a time",
                remedy="Write it as ISO 8601, such as 2024-06-03 or 2024-06-03T14:30:00Z.",
            ) from None
    if not isinstance(value, date):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        raise InvalidInput(
            f"A time is a {type(value).__name__}", remedy="Give a date, a datetime or a string in ISO 8601."
        )
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{value} is outside the calendar in UTC", remedy="Use a year from 1 to 9999.") from None


@lru_cache(maxsize=64)
def time_zone(name: str) -> tzinfo:
    """The time zone of an offset such as +08:00, or of a name such as Asia/Shanghai."""
    from zoneinfo import ZoneInfo

    try:
        if name[:1] in ("+", "-", "Z"):
            return datetime.fromisoformat(f"2000-01-01T00:00{name}").tzinfo or UTC
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidInput(
            f"{name!r} is not a time zone", remedy="Write an offset such as +08:00, or a name such as Asia/Shanghai."
        ) from None
