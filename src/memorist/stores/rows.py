"""Memories as database rows: the columns follow the fields of the model, so a new field only needs a migration.

A field that is a plain value is a column of the same name. The parts of a memory (times, worth, origin, fact) are
spread over one column per field; usage has a table of its own. Moments are integers (microseconds), tuples and
mappings are JSON.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from memorist.errors import InvalidInput
from memorist.model import Memory, Mention, Usage, Worth
from memorist.stores.index import micros, moment

Row = tuple[Any, ...]
Convert = Callable[[Any], Any]
_NEVER_RECALLED = Usage()


class Stored(NamedTuple):
    """A memory and its row number."""

    row: int
    memory: Memory


class _Codec(NamedTuple):
    """How a value is written to a column and read from it; None where the database takes it as it is."""

    encode: Convert | None = None
    decode: Convert | None = None


class _Column(NamedTuple):
    name: str
    codec: _Codec


class _Part(NamedTuple):
    """A field of a memory: one column, or the columns of the dataclass that it holds."""

    name: str
    columns: tuple[_Column, ...]
    type: Any = None
    optional: bool = False

    def encode(self, memory: Memory) -> list[Any]:
        """The values of its columns."""
        value = getattr(memory, self.name)
        if self.type is None:
            return [_encoded(value, self.columns[0].codec)]
        if value is None:
            return [None] * len(self.columns)
        return [_encoded(getattr(value, column.name), column.codec) for column in self.columns]

    def decoder(self) -> Convert | None:
        """Makes the field's value of the values of its columns."""
        if self.type is None:
            return self.columns[0].codec.decode
        decoders = [column.codec.decode for column in self.columns]
        kind, optional = self.type, self.optional

        def made(values: Row) -> Any:
            if optional and values[0] is None:
                return None
            return kind(*[value if read is None else read(value) for read, value in zip(decoders, values, strict=True)])

        return lru_cache(1024)(made) if kind is Worth else made  # most memories have the same worth


def _encoded(value: Any, codec: _Codec) -> Any:
    return value if codec.encode is None or value is None else codec.encode(value)


def _to_list(values: Sequence[Any]) -> str:
    return json.dumps(values, ensure_ascii=False) if values else "[]"


def _to_tuple(text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _from_moments(moments: Sequence[datetime]) -> str:
    return _to_list([micros(one) for one in moments])


def _to_moments(text: str) -> tuple[datetime, ...]:
    return tuple(map(moment, _to_tuple(text)))


def _from_mentions(mentions: Sequence[Mention]) -> str:
    return _to_list([(one.text, micros(one.start), micros(one.end)) for one in mentions])


def _to_mentions(text: str) -> tuple[Mention, ...]:
    return tuple(Mention(said, moment(start), moment(end)) for said, start, end in _to_tuple(text))


def _from_mapping(mapping: Mapping[str, Any]) -> str:
    return json.dumps(dict(mapping), ensure_ascii=False) if mapping else "{}"


def _to_mapping(text: str) -> dict[str, Any]:
    return {} if text == "{}" else json.loads(text)


def _optional(read: Convert) -> Convert:
    return lambda value: None if value is None else read(value)


_TUPLES = {
    str: _Codec(_to_list, _to_tuple),
    datetime: _Codec(_from_moments, _to_moments),
    Mention: _Codec(_from_mentions, _to_mentions),
}


def _without_none(hint: Any) -> tuple[Any, bool]:
    """A type hint without `| None`, and whether it had one."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(one for one in get_args(hint) if one is not types.NoneType), True
    return hint, False


def _codec(hint: Any) -> _Codec:
    kind, optional = _without_none(hint)
    if get_origin(kind) is tuple:
        return _TUPLES[get_args(kind)[0]]
    if get_origin(kind) is Mapping:
        return _Codec(_from_mapping, _to_mapping)
    if kind is datetime:
        return _Codec(micros, _optional(moment) if optional else moment)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _Codec(str, {one.value: one for one in kind}.__getitem__)
    return _Codec()


def _columns(kind: Any) -> tuple[_Column, ...]:
    hints = get_type_hints(kind, include_extras=False)
    return tuple(_Column(field.name, _codec(hints[field.name])) for field in fields(kind))


def _parts() -> list[_Part]:
    hints = get_type_hints(Memory, include_extras=False)
    parts: list[_Part] = []
    for field in fields(Memory):
        kind, optional = _without_none(hints[field.name])
        if is_dataclass(kind):
            parts.append(_Part(field.name, _columns(kind), kind, optional))
        else:
            parts.append(_Part(field.name, (_Column(field.name, _codec(hints[field.name])),)))
    return parts


_PARTS = [part for part in _parts() if part.name != "usage"]
COLUMNS = tuple(column.name for part in _PARTS for column in part.columns)
"""The columns of a memory in every database."""
WORD_COLUMNS = ("words", "original_words")
"""The analysed text and original, from which the index is loaded."""
USAGE_COLUMNS = tuple(field.name for field in fields(Usage))
"""The columns of a memory's usage, in a table of its own."""
_USAGE = _Part("usage", _columns(Usage), Usage, optional=True)
_read_usage = _USAGE.decoder()
_FIELDS = tuple(part.name for part in _PARTS)
_UNKNOWN_USAGE = {"recalls": None, "last_recall": None, "recall_times": "[]", "reward_count": 0, "reward_total": 0.0}


class _Reading(NamedTuple):
    """Where a field's columns are in a row, and how its value is made of them."""

    start: int
    stop: int
    nested: bool
    make: Convert | None


def _readings() -> list[_Reading]:
    found: list[_Reading] = []
    start = 1
    for part in _PARTS:
        stop = start + len(part.columns)
        found.append(_Reading(start, stop, part.type is not None, part.decoder()))
        start = stop
    return found


_READINGS = _readings()
_END = 1 + len(COLUMNS)


def memory_row(memory: Memory, words: str, original_words: str | None) -> dict[str, Any]:
    """The values of `COLUMNS` and `WORD_COLUMNS`, by name."""
    values: list[Any] = []
    for part in _PARTS:
        try:
            values += part.encode(memory)
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"the {part.name} of {memory.id} cannot be kept as JSON ({error})",
                remedy="Use texts, numbers, booleans, None, lists and dictionaries with text keys.",
            ) from error
    return dict(zip((*COLUMNS, *WORD_COLUMNS), (*values, words, original_words), strict=True))


def read_memory(row: Sequence[Any]) -> Stored:
    """A memory from a row: its number, `COLUMNS`, the id of its usage row if it has one, and `USAGE_COLUMNS`."""
    row = tuple(row)
    values: dict[str, Any] = {}
    for name, (start, stop, nested, make) in zip(_FIELDS, _READINGS, strict=True):
        value = row[start:stop] if nested else row[start]
        values[name] = value if make is None else make(value)
    return Stored(row[0], Memory(**values, usage=read_usage(row[_END:])))


def usage_row(id: str, usage: Usage | None) -> dict[str, Any]:
    """The row of a memory's usage; an unknown usage (None) has no recall count."""
    if usage is None:
        return {"id": id, **_UNKNOWN_USAGE}
    values = [_encoded(getattr(usage, column.name), column.codec) for column in _USAGE.columns]
    return {"id": id, **dict(zip(USAGE_COLUMNS, values, strict=True))}


def read_usage(row: Sequence[Any]) -> Usage | None:
    """A usage from its row: the memory's id, then `USAGE_COLUMNS`; no row means never recalled."""
    if row[0] is None:
        return _NEVER_RECALLED
    assert _read_usage is not None
    return _read_usage(tuple(row[1:]))
