"""What a field is: its type, range, description and default, read from where the field is defined.

A field of a dataclass or a keyword of a TypedDict carries its metadata in `Annotated`:

    importance: Annotated[float, Range(0, 1), Doc("How much it matters.")] = 0.5

Serialisation, REST schemas, MCP schemas and command-line options derive from it.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

T = TypeVar("T", bound=type)
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Range:
    """The smallest and the largest value that a number may have."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Doc:
    """What a field means, in one or two sentences for users."""

    text: str


@dataclass(frozen=True, slots=True)
class Default:
    """The default of a TypedDict's keyword, where it differs from the model's."""

    value: object


@dataclass(frozen=True, slots=True)
class Flat:
    """Marks a nested dataclass whose fields appear in the JSON form as if they were the outer one's."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Marks a field that the JSON form leaves out; `instead` makes its value when the form is read back."""

    instead: Callable[[], Any] | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a field in the JSON form, where it differs."""

    name: str


@dataclass(frozen=True, slots=True)
class Rounded:
    """How many decimals of a number, or of the numbers in a mapping, the JSON form keeps."""

    digits: int


REQUIRED: Any = ...
"""The default of a field that must be given."""


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field or keyword: `type` has no metadata, `default` is `REQUIRED` where a value must be given.

    `group` is the attribute that holds a flattened field, such as `worth`. `choices` lists the values of an
    enumeration or literal, also inside a list.
    """

    name: str
    type: Any
    range: Range | None = None
    description: str = ""
    default: Any = REQUIRED
    group: str | None = None
    json_name: str = ""
    hidden: Hidden | None = None
    rounded: Rounded | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that are allowed, as text; empty where any value is."""
        return _choices(self.type)

    @property
    def is_time(self) -> bool:
        """Whether its values are moments."""
        return datetime in members(self.type)

    @property
    def repeated(self) -> bool:
        """Whether several values may be given."""
        origins = {get_origin(member) for member in members(self.type)}
        return bool(origins & {tuple, list, frozenset}) or any(_is_iterable(member) for member in members(self.type))


@cache
def fields_of(kind: type) -> Mapping[str, FieldInfo]:
    """The fields of a dataclass, with those of nested `Flat` dataclasses in their place."""
    hints = get_type_hints(kind, include_extras=True)
    found: dict[str, FieldInfo] = {}
    for field in dataclasses.fields(kind):
        info = _read(field.name, hints[field.name], _default(field))
        if Flat() in _metadata(hints[field.name]):
            found |= {name: dataclasses.replace(part, group=field.name) for name, part in fields_of(info.type).items()}
        else:
            found[field.name] = info
    return found


@cache
def keywords_of(keywords: type) -> Mapping[str, FieldInfo]:
    """The keywords of a TypedDict; range, description and default come from its model where it states none.

    The default of a keyword without any is None.
    """
    if not is_typeddict(keywords):
        raise TypeError(f"{keywords.__name__} is not a TypedDict")
    model: Mapping[str, FieldInfo] = fields_of(_MODELS[keywords]) if keywords in _MODELS else {}
    return {
        name: _keyword(_read(name, hint, REQUIRED), model.get(name))
        for name, hint in get_type_hints(keywords, include_extras=True).items()
    }


def ranges_of(kind: type) -> dict[str, tuple[float, float]]:
    """The range of each field of a dataclass that has one."""
    return {name: (one.range.low, one.range.high) for name, one in fields_of(kind).items() if one.range is not None}


def keywords_for(model: type) -> Callable[[T], T]:
    """Mark a TypedDict as the keywords that make a value of a dataclass."""

    def mark(keywords: T) -> T:
        _MODELS[keywords] = model
        return keywords

    return mark


_MODELS: dict[type, type] = {}


def members(kind: Any) -> tuple[Any, ...]:
    """The members of a union; the type itself where it is none."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _keyword(own: FieldInfo, model: FieldInfo | None) -> FieldInfo:
    """A keyword, completed from the model's field of the same name."""
    defaults = (field.default for field in (own, model) if field is not None and field.default is not REQUIRED)
    default = next(defaults, None)
    if model is None:
        return dataclasses.replace(own, default=default)
    return dataclasses.replace(
        own,
        type=_narrowed(own.type, model.type),
        range=own.range or model.range,
        description=own.description or model.description,
        default=default,
        group=model.group,
    )


def _narrowed(given: Any, kept: Any) -> Any:
    """The keyword's type, or the model's where that is more precise: a list of values, or a dataclass."""
    if not _choices(kept) and not any(map(dataclasses.is_dataclass, members(kept))):
        return given
    return kept | None if type(None) in members(given) and type(None) not in members(kept) else kept


def _read(name: str, hint: Any, default: Any) -> FieldInfo:
    metadata = _metadata(hint)
    stated, doc, named = _first(Default, metadata), _first(Doc, metadata), _first(Named, metadata)
    return FieldInfo(
        name,
        get_args(hint)[0] if get_origin(hint) is Annotated else hint,
        _first(Range, metadata),
        "" if doc is None else doc.text,
        default if stated is None else stated.value,
        json_name=name if named is None else named.name,
        hidden=_first(Hidden, metadata),
        rounded=_first(Rounded, metadata),
    )


def _first(kind: type[M], metadata: tuple[Any, ...]) -> M | None:
    return next((found for found in metadata if isinstance(found, kind)), None)


def _metadata(hint: Any) -> tuple[Any, ...]:
    return getattr(hint, "__metadata__", ())


def _default(one: dataclasses.Field[Any]) -> Any:
    if one.default_factory is not dataclasses.MISSING:
        return one.default_factory()
    return REQUIRED if one.default is dataclasses.MISSING else one.default


def _choices(kind: Any) -> tuple[str, ...]:
    for alternative in members(kind):
        if isinstance(alternative, type) and issubclass(alternative, Enum):
            return tuple(str(member.value) for member in alternative)
        if get_origin(alternative) is Literal:
            return get_args(alternative)
        if get_origin(alternative) in (tuple, list) and (inner := _choices(get_args(alternative)[0])):
            return inner
    return ()


def _is_iterable(kind: Any) -> bool:
    return getattr(get_origin(kind), "__name__", "") in ("Iterable", "Sequence")
