"""The JSON form of every value: derived from the fields of its dataclass, with few exceptions.

Moments are ISO 8601 text ending in Z, enumerations their values, tuples lists; `Flat` groups are flattened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, is_dataclass, replace
from datetime import datetime
from enum import Enum, StrEnum
from functools import cache
from operator import attrgetter
from pathlib import PurePath
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from memorist.errors import Error, InvalidInput
from memorist.model.arguments import instant, member
from memorist.model.fields import REQUIRED, FieldInfo, fields_of, members
from memorist.model.identity import isoformat
from memorist.model.memory import Memory
from memorist.model.recall import Item

T = TypeVar("T")
Getter = Callable[[Any], Any]
Reader = Callable[[Any, str], Any]
"""Turns a value of the JSON form into the field's value, given the field's name for messages."""

ITEM_FIELDS = (
    *("text", "kind", "scope", "tier", "importance", "confidence", "topic", "emotion_tags", "flags"),
    *("speaker", "session", "fact", "valid_from", "valid_to", "ingested_at", "source"),
)
"""The fields of its memory that an item of a recall shows."""
COMPUTED = "IN_JSON"
"""The class attribute that names the properties which the JSON form includes."""
_PLAIN = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, slots=True)
class JsonField:
    """A member of a JSON form: its name and type, the attribute it shows, such as `worth.trust`, and what it means."""

    name: str
    type: Any
    path: str
    description: str = ""
    digits: int | None = None


def to_data(value: object) -> Any:
    """The JSON form of a value."""
    kind = type(value)
    return value if kind in _PLAIN else _writer(kind)(value)


def from_data(kind: type[T], data: object, **given: Any) -> T:
    """The value of a dataclass that has this JSON form; `given` are fields that do not come from the form.

    A field that is left out has its default. An unknown field or a value of the wrong type is an error.
    """
    if not isinstance(data, Mapping):
        raise InvalidInput(f"{_noun(kind)} must be an object, not {type(data).__name__}", remedy="Give a mapping.")
    values = cast("Mapping[str, Any]", data)
    if kind in _READ:
        return cast("T", _READ[kind](values))
    plan = _read_plan(kind)
    if absent := [name for name in plan.required if name not in values]:
        raise InvalidInput(f"{plan.what} has no {' and no '.join(absent)}", remedy="Give every field it must have.")
    own = {name: make() for name, make in plan.hidden} | given
    groups: dict[str, dict[str, Any]] = {name: {} for name in plan.groups}
    for name, value in values.items():
        if name in plan.fields:
            field, group, read = plan.fields[name]
            (own if group is None else groups[group])[field] = read(value, name)
        elif name not in plan.ignored and name not in given:
            raise InvalidInput(f"{plan.what} has an unknown field, {name}", remedy="Upgrade Memorist to read it.")
    return kind(**own, **{name: plan.groups[name](**parts) for name, parts in groups.items()})


def error_name(error: type[Error]) -> str:
    """The name of an error as data, such as not-found."""
    return _words(error, "-")


# Writing


@cache
def json_fields(kind: type) -> tuple[JsonField, ...]:
    """The members of a dataclass's JSON form."""
    for each_kind in kind.__mro__:
        if each_kind in _SHAPES:
            return _SHAPES[each_kind]()
    return _derived(kind)


def _derived(kind: type) -> tuple[JsonField, ...]:
    shown = [_json_field(field) for field in fields_of(kind).values() if field.hidden is None]
    computed = [
        JsonField(name, get_type_hints(getattr(kind, name).fget)["return"], name)
        for name in getattr(kind, COMPUTED, ())
    ]
    return (*shown, *computed)


def _json_field(one: FieldInfo) -> JsonField:
    path = one.name if one.group is None else f"{one.group}.{one.name}"
    return JsonField(one.json_name, one.type, path, one.description, one.rounded and one.rounded.digits)


def _item_fields() -> tuple[JsonField, ...]:
    """An item shows part of its memory."""
    memory = {field.name: replace(field, path=f"memory.{field.path}") for field in json_fields(Memory)}
    own = {field.name: field for field in _derived(Item) if field.name != "memory"}
    shown = [memory[name] for name in ITEM_FIELDS]
    return (memory["id"], own.pop("rank"), own.pop("score"), *shown, *own.values())


_SHAPES: Mapping[type, Callable[[], tuple[JsonField, ...]]] = {Item: _item_fields}
"""The JSON forms that differ from their dataclass."""


def _is_record(kind: type) -> bool:
    return is_dataclass(kind)


@cache
def _writer(kind: type) -> Getter:
    for sort, write in _SORTS:
        if issubclass(kind, sort):
            return write
    if _is_record(kind):
        return _record_writer(json_fields(kind))
    raise TypeError(f"{kind.__name__} has no JSON form")


def _record_writer(fields: tuple[JsonField, ...]) -> Getter:
    """Fetch all attributes in one call, then convert only those that are not JSON already: recalls write many."""
    names = [field.name for field in fields]
    fetch = attrgetter(*(field.path for field in fields), "__class__")  # with one path it would not give a tuple
    converted = [field.name for field in fields if not _PLAIN.issuperset(members(field.type))]
    rounded = [(field.name, field.digits) for field in fields if field.digits is not None]

    def write(value: object) -> dict[str, Any]:
        data = dict(zip(names, fetch(value), strict=False))
        for name in converted:
            data[name] = to_data(data[name])
        for name, digits in rounded:
            data[name] = _rounded(data[name], digits)
        return data

    return write


def _rounded(found: Any, digits: int) -> Any:
    if isinstance(found, Mapping):
        return {name: round(one, digits) for name, one in cast("Mapping[str, float]", found).items()}
    return round(found, digits)


_SORTS: tuple[tuple[type, Getter], ...] = (
    (Enum, lambda value: value.value),
    (datetime, isoformat),
    (Mapping, lambda value: {name: to_data(one) for name, one in value.items()}),
    (Set, lambda value: sorted(map(to_data, value))),
    (PurePath, str),
    (str, str),
    (int, int),
    (float, float),
    (Iterable, lambda value: list(map(to_data, value))),
)


# Reading


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """How a dataclass is read from its JSON form."""

    what: str
    required: tuple[str, ...]
    fields: Mapping[str, tuple[str, str | None, Reader]]
    """By the member's name: its field, the group that holds it, and how it is read."""
    groups: Mapping[str, type]
    hidden: tuple[tuple[str, Callable[[], Any]], ...]
    ignored: frozenset[str]


@cache
def _read_plan(kind: type) -> ReadPlan:
    fields = fields_of(kind).values()
    shown = [field for field in fields if field.hidden is None]
    hints = get_type_hints(kind)
    return ReadPlan(
        _noun(kind),
        tuple(field.json_name for field in shown if field.default is REQUIRED),
        {field.json_name: (field.name, field.group, _reader(field.type)) for field in shown},
        {field.group: hints[field.group] for field in fields if field.group is not None},
        tuple((field.name, field.hidden.instead) for field in fields if field.hidden and field.hidden.instead),
        frozenset(getattr(kind, COMPUTED, ())),
    )


def _read_item(data: Mapping[str, Any]) -> Item:
    """An item that came with its whole memory."""
    own = ("score", "rank", "signals", "phase", "hop", "notes", "probability")
    fields = fields_of(Item)
    read = {name: _reader(fields[name].type)(data[name], name) for name in own if name in data}
    return Item(memory=from_data(Memory, data.get("memory")), **read)


_READ: Mapping[type, Callable[[Mapping[str, Any]], Any]] = {Item: _read_item}


@cache
def _reader(kind: Any) -> Reader:
    """How a value of a type is read."""
    choices = [member for member in members(kind) if member is not type(None)]
    if len(choices) < len(members(kind)):
        read = _reader(choices[0]) if len(choices) == 1 else _as_it_is
        return lambda value, name: None if value is None else read(value, name)
    origin = get_origin(kind)
    if origin is tuple:
        return _reading_tuple(_reader(get_args(kind)[0]))
    if origin is Literal:
        return _reading_literal(get_args(kind))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _reading_mapping(_reader(get_args(kind)[1]))
    return _reading_class(kind) if isinstance(kind, type) else _as_it_is


def _reading_class(kind: type[object]) -> Reader:
    if _is_record(kind):
        return lambda value, name: from_data(kind, value)
    if issubclass(kind, StrEnum):
        return lambda value, name: member(kind, name, value)
    if kind is datetime:
        return lambda value, name: instant(_checked(value, name, str, "a time"))
    if kind is float:
        return _number
    noun = _NOUNS.get(kind)
    return _as_it_is if noun is None else _reading_plain(kind, noun)


def _reading_plain(kind: type, noun: str) -> Reader:
    return lambda value, name: _checked(value, name, kind, noun)


_NOUNS: Mapping[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}


def _number(value: Any, name: str) -> float:
    """A number as every store gives it back: 0 is 0.0."""
    try:
        return float(_checked(value, name, (int, float), "a number"))
    except OverflowError:
        raise InvalidInput(f"{name} is too large", remedy=f"Give {name} a smaller number.") from None


def _as_it_is(value: Any, name: str) -> Any:
    return value


def _checked(value: Any, name: str, kind: type | tuple[type, ...], noun: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InvalidInput(f"{name} must be {noun}, not {type(value).__name__}", remedy=f"Give {name} {noun}.")
    return value


def _reading_tuple(read: Reader) -> Reader:
    def series(value: Any, name: str) -> tuple[Any, ...]:
        return tuple(read(member, name) for member in _checked(value, name, (list, tuple), "a list"))

    return series


def _reading_mapping(read: Reader) -> Reader:
    def mapping(value: Any, name: str) -> dict[str, Any]:
        return {key: read(one, name) for key, one in _checked(value, name, Mapping, "an object").items()}

    return mapping


def _reading_literal(choices: tuple[Any, ...]) -> Reader:
    def literal(value: Any, name: str) -> Any:
        if value not in choices:
            raise InvalidInput(f"{name} {value!r} is unknown", remedy=f"Choose one of {', '.join(map(str, choices))}.")
        return value

    return literal


def _noun(kind: type) -> str:
    """The name of a class with its article, at the beginning of a sentence."""
    words = _words(kind)
    return f"{'An' if words[0] in 'aeiou' else 'A'} {words}"


def _words(kind: type, separator: str = " ") -> str:
    """The name of a class in lower case, its words separated."""
    return "".join(f"{separator}{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__).strip(
        separator
    )
