"""Memories as database rows: the columns follow the fields of the model, so a new field only needs a migration.

A field that is a plain value is a column of the same name. The parts of a memory (times, worth, origin, fact) are
spread over one column per field; usage has a table of its own. Moments are integers (microseconds), tuples and
mappings are JSON.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from memorist.errors import InvalidInput, Remedy, UnreadableMemory, VerbCall
from memorist.model import Memory, Mention, Usage, Worth, fingerprint
from memorist.model.filter import CREATED, FELT, ID, METADATA, ORIGIN, TEXT
from memorist.ports import Job
from memorist.stores.index.entries import micros, moment, read_felt, read_metadata
from memorist.text.sameness import canonical

Row = tuple[Any, ...]
_NEVER_RECALLED = Usage()


class Stored(NamedTuple):
    """A memory and its row number."""

    row: int
    memory: Memory


class _Codec(NamedTuple):
    """How a value is written to a column and read from it; neither is called with None."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    empty: Any
    """A value to use where a damaged one was."""

    def reads(self, cell: Any) -> bool:
        """Whether a cell can be decoded."""
        try:
            self.decode(cell)
        except (ValueError, KeyError, TypeError, OverflowError):
            return False
        return True


def _to_json(values: Sequence[Any]) -> str:
    return json.dumps(values, ensure_ascii=False) if values else "[]"


def _from_json(text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _from_moments(moments: Sequence[datetime]) -> str:
    return _to_json([micros(moment) for moment in moments])


def _to_moments(text: str) -> tuple[datetime, ...]:
    return tuple(map(moment, _from_json(text)))


def _from_mentions(mentions: Sequence[Mention]) -> str:
    return _to_json([(mention.text, micros(mention.start), micros(mention.end)) for mention in mentions])


def _to_mentions(text: str) -> tuple[Mention, ...]:
    if text == "[]":
        return ()  # as most are
    return tuple(Mention(said, moment(start), moment(end)) for said, start, end in _from_json(text))


def _from_mapping(mapping: Mapping[str, Any]) -> str:
    return json.dumps(dict(mapping), ensure_ascii=False) if mapping else "{}"


def _to_mapping(text: str) -> dict[str, Any]:
    return {} if text == "{}" else json.loads(text)


_TUPLES = {
    str: _Codec(_to_json, _from_json, ()),
    datetime: _Codec(_from_moments, _to_moments, ()),
    Mention: _Codec(_from_mentions, _to_mentions, ()),
}


def _without_none(hint: Any) -> tuple[Any, bool]:
    """A type hint without `| None`, and whether it had one."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(kind for kind in get_args(hint) if kind is not types.NoneType), True
    return hint, False


def _codec(hint: Any) -> _Codec | None:
    """The codec for a field's type; None if a database takes the value as it is."""
    kind, _ = _without_none(hint)
    if get_origin(kind) is tuple:
        return _TUPLES[get_args(kind)[0]]
    if get_origin(kind) is Mapping:
        return _Codec(_from_mapping, _to_mapping, {})
    if kind is datetime:
        return _Codec(micros, moment, moment(0))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _Codec(str, {choice.value: choice for choice in kind}.__getitem__, next(iter(kind)))
    return None


class _Part:
    """A field of a memory: one column, or one column per field of the dataclass that it holds."""

    def __init__(self, name: str, hint: Any, start: int) -> None:
        kind, self._optional = _without_none(hint)
        self.name = name
        self._type: Any = kind if is_dataclass(kind) else None
        hints = get_type_hints(kind, include_extras=False) if self._type else {name: hint}
        self.columns = tuple(field.name for field in fields(kind)) if self._type else (name,)
        codecs = enumerate(_codec(hints[column]) for column in self.columns)
        self._codecs = [(place, codec) for place, codec in codecs if codec is not None]
        self._decoders = [(place, codec.decode) for place, codec in self._codecs]
        self._get = attrgetter(*self.columns)
        self.place = slice(start, start + len(self.columns)) if self._type else start
        plain = self._type is None and not self._codecs
        self.decode = None if plain else lru_cache(1024)(self.read) if kind is Worth else self.read
        """Makes the value from the cells at its place, or None if the cell is the value. Equal worths are shared."""

    def encode(self, value: Any) -> list[Any]:
        """The values of its columns."""
        if self._type is None:
            cells = [value]
        else:
            cells = [None] * len(self.columns) if value is None else list(self._get(value))
        for place, codec in self._codecs:
            if cells[place] is not None:
                cells[place] = codec.encode(cells[place])
        return cells

    def harmless(self, row: Row) -> Iterator[tuple[str, Any]]:
        """The columns whose cell cannot be decoded, with a cell that can."""
        first = self.place.start if isinstance(self.place, slice) else self.place
        for place, codec in self._codecs:
            cell = row[first + place]
            if cell is not None and not codec.reads(cell):
                yield self.columns[place], codec.encode(codec.empty)

    def read(self, cells: Any) -> Any:
        """The value of the field, made of its cells."""
        if self._type is None:
            return None if cells is None else self._decoders[0][1](cells)
        if self._optional and cells[0] is None:
            return None
        if not self._decoders:
            return self._type(*cells)
        values = list(cells)
        for place, decode in self._decoders:
            if values[place] is not None:
                values[place] = decode(values[place])
        return self._type(*values)


def _parts() -> list[_Part]:
    hints = get_type_hints(Memory, include_extras=False)
    parts: list[_Part] = []
    start = 1  # the row number comes first
    for field in fields(Memory):
        if field.name != "usage":
            parts.append(_Part(field.name, hints[field.name], start))
            start += len(parts[-1].columns)
    return parts


_PARTS = _parts()
COLUMNS = tuple(column for part in _PARTS for column in part.columns)
"""The columns of a memory in every database."""
_ID = 1 + COLUMNS.index("id")
WORD_COLUMNS = ("words", "original_words")
"""The analysed text and original, from which the index is loaded."""
DERIVED_COLUMNS = (*WORD_COLUMNS, "said")
"""The columns that are computed from a memory when it is written."""
_USAGE = _Part("usage", Usage | None, 1)
USAGE_COLUMNS = _USAGE.columns
"""The columns of a memory's usage, in a table of its own."""
_READ_IN_PLACE = {part.name: (part.place, part.decode) for part in _PARTS}
_UNKNOWN_USAGE = {**dict(zip(USAGE_COLUMNS, _USAGE.encode(Usage()), strict=True)), "recalls": None}


def memory_row(memory: Memory, words: str, original_words: str | None) -> dict[str, Any]:
    """The values of `COLUMNS` and `DERIVED_COLUMNS`, by name."""
    values: list[Any] = []
    for part in _PARTS:
        try:
            values += part.encode(getattr(memory, part.name))
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"the {part.name} of {memory.id} cannot be kept as JSON ({error})",
                remedy="Use texts, numbers, booleans, None, lists and dictionaries with text keys.",
            ) from error
    derived = (words, original_words, text_fingerprint(memory.text))
    return dict(zip((*COLUMNS, *DERIVED_COLUMNS), (*values, *derived), strict=True))


def text_fingerprint(text: str) -> str:
    """What a text is found by when it is said again: equal for texts that are the same."""
    return fingerprint("said", canonical(text))


def read_memory(row: Row) -> Stored:
    """A memory from a row: its number, `COLUMNS`, the id of its usage row if it has one, and `USAGE_COLUMNS`."""
    try:
        # By position, because a recall reads dozens: keywords take a third longer.
        values: list[Any] = [row[place] if decode is None else decode(row[place]) for place, decode in _DECODERS]
        return Stored(row[0], Memory(*values))
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        columns = " and ".join(name for cells in harmless(row) for name in cells)
        raise unreadable(f"Memory {row[_ID]} is damaged: its {columns or 'row'} cannot be read") from error


def unreadable(problem: str) -> UnreadableMemory:
    """The error for a memory whose row is damaged."""
    return UnreadableMemory(
        problem, remedy=Remedy("Restore a backup, or repair it with ", VerbCall("audit", {"fix": True}), ".")
    )


def harmless(row: Row) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values to put in the place of cells from which no memory can be made: those of the memory, and of its usage."""
    memory = {name: value for part in _PARTS for name, value in part.harmless(row)}
    used = row[1 + len(COLUMNS) :]
    return memory, {} if used[0] is None else dict(_USAGE.harmless(used))


def usage_row(id: str, usage: Usage | None) -> dict[str, Any]:
    """The row of a memory's usage; an unknown usage (None) has no recall count."""
    if usage is None:
        return {"id": id, **_UNKNOWN_USAGE}
    return {"id": id, **dict(zip(USAGE_COLUMNS, _USAGE.encode(usage), strict=True))}


def read_usage(row: Row) -> Usage | None:
    """A usage from its row: the memory's id, then `USAGE_COLUMNS`; no row means never recalled."""
    return _NEVER_RECALLED if row[0] is None else _USAGE.read(row[1:])


_DECODERS: list[tuple[int | slice, Callable[[Any], Any] | None]] = [
    (slice(1 + len(COLUMNS), None), read_usage) if field.name == "usage" else _READ_IN_PLACE[field.name]
    for field in fields(Memory)
]
"""Where each field of a memory is in a row, and what makes it of its cells; None if the cell is the value."""


def checked_fields(id: str, cells: Sequence[Any]) -> Callable[[str], Any]:
    """Finds the fields that conditions name in a memory's id and the columns of `CHECKED`."""
    *named, created, metadata, words, original_words = cells
    origin, felt = named[: len(ORIGIN)], named[len(ORIGIN) :]

    def look(name: str) -> Any:
        if name == TEXT:
            both = (words, original_words or "")
            return {word for text in both for word in text.split(" ")[1:]}  # the language comes first
        if name in ORIGIN:
            return origin[ORIGIN.index(name)]
        if name == ID:
            return id
        if name == CREATED:
            return moment(created).isoformat()
        if name in FELT:
            return read_felt(felt[FELT.index(name)])
        return read_metadata(metadata).get(name.removeprefix(METADATA))

    return look


def readable(rows: Iterable[Row], skipped: list[Exception] | None = None) -> Iterator[Row]:
    """The rows whose texts can be decoded; SQLite keeps any bytes as text."""
    each = iter(rows)
    while True:
        try:
            row = next(each)
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            if skipped is not None:
                skipped.append(error)
        else:
            yield row


def readable_memories(rows: Iterable[Row], skipped: list[Exception]) -> Iterator[Stored]:
    """The memories of rows; an error for each damaged one goes to `skipped`."""
    for row in readable(rows, skipped):
        try:
            yield read_memory(row)
        except UnreadableMemory as error:
            skipped.append(error)


def entry_data(id: str, data: str) -> dict[str, Any]:
    """The data of an entry of the journal."""
    try:
        return json.loads(data)
    except ValueError as error:
        raise unreadable(f"Entry {id} of the journal is damaged") from error


def encodable(texts: Iterable[str]) -> list[str]:
    """The distinct texts that can be stored at all; no row has a text with lone surrogates."""
    return [text for text in dict.fromkeys(texts) if text.isascii() or encodes(text)]


def encodes(text: str) -> bool:
    """Whether a text can be stored at all."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def job_of(row: Row) -> Job:
    """The job of a row."""
    task, subject, due, attempts, error = row
    return Job(task, subject, moment(due), attempts, error)
