"""Request and response models, derived from the verbs of the engine and the dataclasses they take and return."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model, model_validator

from memorist.errors import InvalidInput
from memorist.model import REQUIRED, FieldInfo, Item, Memory, When, fields_of, keywords_of
from memorist.model.fields import members
from memorist.model.serialize import json_fields
from memorist.model.spellings import advice, ours
from memorist.verbs import Verbs

LONGEST = 2**53
"""Integers beyond this are not exact in every language."""
MOST_ADVISED = 3
"""The number of unknown fields of a request for which a known one is looked up."""
LOCAL = frozenset({"self", "progress", "return"})
"""Parameters of verbs that do not travel."""


class RequestModel(BaseModel):
    """A request body or query. A field that is left out has the verb's own default, and camelCase is read too."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _whole_characters(cls, data: Any) -> Any:
        """Refuse half a surrogate pair, which JSON can write and no answer can repeat."""
        if any(not text.isascii() and not text.isprintable() and _is_half(text) for text in _texts(data)):
            raise ValueError("a text has half a surrogate pair, which is not a character")
        return data

    @model_validator(mode="before")
    @classmethod
    def _our_names(cls, data: Any) -> Any:
        """The fields under our names; an unknown one that stands for ours is refused with that name."""
        if not isinstance(data, dict):
            return data
        named = ours(cast("dict[str, Any]", data), cls.model_fields)
        for name in islice((name for name in named if name not in cls.model_fields), MOST_ADVISED):
            if told := advice(name, cls.model_fields):
                raise InvalidInput(f"There is no field {name!r}", remedy=told)
        return named

    def given(self, *without: str) -> Any:
        """The keywords of the verb that were given."""
        return self.model_dump(exclude_unset=True, exclude=set(without))


def _texts(data: Any) -> Iterator[str]:
    """Every text of a request, at any depth."""
    waiting = [data]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*cast("dict[Any, Any]", one), *cast("dict[Any, Any]", one).values()]
        elif isinstance(one, list):
            waiting += cast("list[Any]", one)


def _is_half(text: str) -> bool:
    """Whether it has a surrogate without its other half."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


class ResponseModel(BaseModel):
    """A response body."""

    model_config = ConfigDict(extra="forbid")


Text = Annotated[str, Field(min_length=1)]
Whole = Annotated[int, Field(ge=-LONGEST, le=LONGEST)]
Moment = Annotated[
    str,
    WithJsonSchema(
        {
            "type": "string",
            "anyOf": [{"format": "date-time"}, {"format": "date"}],
            "description": "ISO 8601. A date means its start; a time without a zone is UTC.",
            "examples": ["2024-06-03T14:30:00Z", "2024-06-03"],
        }
    ),
]
Instant = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]


# Requests


def example(**body: Any) -> ConfigDict:
    """The configuration of a request model with an example body."""
    return ConfigDict(json_schema_extra={"example": body})


def body_of(verb: Callable[..., Any], *without: str, **replaced: Any) -> type[RequestModel]:
    """The body for a verb: its parameters, and the keywords it takes by `**`.

    `without` names parameters that come from elsewhere; `replaced` are fields with their own type and default.
    """
    fields: dict[str, Any] = {}
    hints = get_type_hints(verb, include_extras=True)
    for name, parameter in inspect.signature(verb).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            fields |= {key: _field(one) for key, one in keywords_of(get_args(hints[name])[0]).items()}
        elif name not in LOCAL:
            default = REQUIRED if parameter.default is parameter.empty else parameter.default
            fields[name] = _field(FieldInfo(name, hints[name], default=default))
    kept = {name: one for name, one in (fields | replaced).items() if name not in without}
    return create_model(f"{verb.__name__}_body", __base__=RequestModel, **kept)


def _field(one: FieldInfo) -> tuple[Any, Any]:
    """The type and definition of a field of a request."""
    limits: dict[str, Any] = {} if one.range is None else {"ge": one.range.low, "le": one.range.high}
    parts = [
        Annotated[kind, Field(**limits)] if limits and kind is not type(None) else _asked(kind)
        for kind in _alternatives(one.type)
    ]
    default: Any = [] if one.default == () else one.default
    return Union[tuple(parts)], Field(default, description=one.description or None)  # noqa: UP007  # from a list


def _alternatives(kind: Any) -> list[Any]:
    """The members of a union; a moment counts as one, and `str | Iterable[str]` as the latter."""
    kinds = list(members(kind))
    if set(members(When)) <= set(kinds):
        return [When, *(each_kind for each_kind in kinds if each_kind not in members(When))]
    return [each_kind for each_kind in kinds if each_kind is not str] if any(map(_is_series, kinds)) else kinds


def _asked(kind: Any) -> Any:
    """A type as requests have it."""
    if kind in (When, datetime):
        return Moment
    if kind in (str, int):
        return Text if kind is str else Whole
    if _is_series(kind):
        return list[_asked(get_args(kind)[0])]
    if _is_mapping(kind):
        return dict[str, Any]
    return _request_model(kind) if is_dataclass(kind) else kind


@cache
def _request_model(kind: type) -> type[RequestModel]:
    fields: dict[str, Any] = {name: _field(one) for name, one in fields_of(kind).items()}
    return create_model(kind.__name__, __base__=RequestModel, __doc__=kind.__doc__, **fields)


# Responses


def answer_of(verb: Callable[..., Any]) -> Any:
    """The response model for what a verb returns; a list is the `items` of an object."""
    kind = get_type_hints(verb)["return"]
    chosen = next(member for member in members(kind) if member is not type(None))
    return items_of(get_args(chosen)[0]) if get_origin(chosen) is list else response_type(chosen)


@cache
def items_of(kind: Any) -> type[ResponseModel]:
    """The response model for several values."""
    each = response_type(kind)
    fields: dict[str, Any] = {"items": (list[each], ...)}
    return create_model(f"{each.__name__.capitalize()}List", __base__=ResponseModel, **fields)


def response_type(kind: Any) -> Any:
    """A type as responses have it."""
    if get_origin(kind) is Annotated:
        return response_type(get_args(kind)[0])
    if len(members(kind)) > 1:
        return Union[tuple(response_type(member) for member in members(kind))]  # noqa: UP007  # from a list
    if kind is datetime:
        return Instant
    if _is_series(kind):
        return list[response_type(get_args(kind)[0])]
    if _is_mapping(kind):
        return dict[str, response_type(get_args(kind)[1])]
    return _model(kind) if is_dataclass(kind) else kind


_BUILDING: set[Any] = set()


@cache
def _details() -> dict[str, Any]:
    """What an item has besides, if the request asks for details."""
    return {
        "memory": (
            response_type(Memory) | None,
            Field(None, description="The whole memory, if details were requested."),
        ),
        "explanation": (
            answer_of(Verbs.explain) | None,
            Field(None, description="How it got its place, if details were requested."),
        ),
    }


@cache
def _finished(kind: Any) -> type[ResponseModel]:
    fields: dict[str, Any] = {
        field.name: (response_type(field.type), Field(..., description=field.description or None))
        for field in json_fields(kind)
    }
    if kind is Item:
        fields |= _details()
    return create_model(kind.__name__, __base__=ResponseModel, __doc__=kind.__doc__, **fields)


def _model(kind: Any) -> Any:
    """The response model of a dataclass; its own name inside itself."""
    if kind in _BUILDING:
        return kind.__name__
    _BUILDING.add(kind)
    try:
        return _finished(kind)
    finally:
        _BUILDING.discard(kind)


def _is_series(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, Mapping)


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)
