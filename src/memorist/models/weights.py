"""ONNX files whose weights stay where they are.

ONNX Runtime copies the weights of a file twice: into the messages that it reads, and from those into tensors. But a
graph may say that a tensor lies in another file, which is mapped instead. Here that other file is the same file: the
graph is read without its large tensors, and says where they are. A process that asks one question then touches only
what it needs, and all processes share it.

The format is Protocol Buffers: fields with a number and a kind, some with a length. The names are from `onnx.proto`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

GRAPH = 7  # of a model
INITIALIZER = 5  # of a graph
DATA_TYPE, RAW_DATA, EXTERNAL_DATA, DATA_LOCATION = 2, 9, 13, 14  # of a tensor
KEY, VALUE = 1, 2  # of an entry in `external_data`
EXTERNAL = 1
ONE_BYTE = (2, 3)
"""The data types uint8 and int8. Wider numbers would lie at odd addresses."""
LEAST = 65_536
"""Smaller tensors are copied."""
NUMBER, BYTES = 0, 2
WIDTHS = {1: 8, 5: 4}
"""The bytes of each kind of field with a fixed length; numbers and bytes have a length of their own."""

Part = bytes | memoryview


class Field(NamedTuple):
    """A field: its number, where it and its content start, where both end, and its value if that is a number."""

    number: int
    start: int
    content: int
    end: int
    value: int


def without_weights(data: memoryview, file: str) -> bytes | None:
    """An ONNX file without its large tensors, naming `file` as their place; None if that is not most of it.

    Raises ValueError or IndexError for data in another format.
    """
    parts: list[Part] = []
    for field in _fields(data, 0, len(data)):
        parts += _graph(data, field, file) if field.number == GRAPH else [data[field.start : field.end]]
    return b"".join(parts) if _length(parts) < len(data) // 2 else None


def _graph(data: memoryview, graph: Field, file: str) -> list[Part]:
    parts: list[Part] = []
    for field in _fields(data, graph.content, graph.end):
        moved = _moved(data, field, file) if field.number == INITIALIZER else None
        parts.append(moved or data[field.start : field.end])
    return [_head(GRAPH, _length(parts)), *parts]


def _moved(data: memoryview, tensor: Field, file: str) -> bytes | None:
    """A tensor that says where its numbers are; None if they are few, or wider than a byte."""
    fields = list(_fields(data, tensor.content, tensor.end))
    raw = next((field for field in fields if field.number == RAW_DATA), None)
    narrow = any(field.number == DATA_TYPE and field.value in ONE_BYTE for field in fields)
    if raw is None or not narrow or raw.end - raw.content < LEAST:
        return None
    place = {"location": file, "offset": str(raw.content), "length": str(raw.end - raw.content)}
    kept = [data[field.start : field.end] for field in fields if field is not raw]
    entries = [_message(EXTERNAL_DATA, _message(KEY, key), _message(VALUE, place[key])) for key in place]
    return _message(INITIALIZER, *kept, *entries, _varint(DATA_LOCATION << 3 | NUMBER) + _varint(EXTERNAL))


def _fields(data: memoryview, start: int, end: int) -> Iterator[Field]:
    while start < end:
        key, content = _read_varint(data, start)
        kind, value = key & 7, 0
        if kind == NUMBER:
            value, after = _read_varint(data, content)
        elif kind == BYTES:
            length, content = _read_varint(data, content)
            after = content + length
        elif kind in WIDTHS:
            after = content + WIDTHS[kind]
        else:
            raise ValueError(f"a field has the unknown kind {kind}")
        if after > end:
            raise ValueError("it is cut off")
        yield Field(key >> 3, start, content, after, value)
        start = after


def _read_varint(data: memoryview, place: int) -> tuple[int, int]:
    """A number in groups of seven bits, lowest first, and the place after it."""
    number = 0
    for shift in range(0, 70, 7):
        group = data[place]
        place += 1
        number |= (group & 127) << shift
        if group < 128:
            return number, place
    raise ValueError("a number is too long")


def _varint(number: int) -> bytes:
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def _message(number: int, *contents: Part | str) -> bytes:
    parts = [content.encode() if isinstance(content, str) else content for content in contents]
    return b"".join((_head(number, _length(parts)), *parts))


def _head(number: int, length: int) -> bytes:
    return _varint(number << 3 | BYTES) + _varint(length)


def _length(parts: Sequence[Part]) -> int:
    return sum(map(len, parts))
