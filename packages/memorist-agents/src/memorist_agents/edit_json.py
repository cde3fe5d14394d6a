"""Editing JSON as text, with comments and trailing commas, so that everything else stays as it was written.

An edit only adds text, or removes a member with the comma before or after it. Every edit is parsed again by its caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from memorist.text.patterns import lazy

_SPACE = lazy(r"(?:[\s\ufeff]++|//[^\n\r]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_STRING = lazy(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_OTHER = lazy(r"(?:true|false|null|-?(?:0|[1-9]\d*+)(?:\.\d++)?+(?:[eE][-+]?\d++)?+)(?![\w.])")
DEEPEST = 200
"""How many levels of objects and lists a settings file may have."""


@dataclass(slots=True)
class Node:
    """A value, where it stands in the text, and its parts if it is an object (by name) or a list (by number)."""

    start: int
    end: int = 0
    value: Any = None
    parts: list[JsonMember] = field(default_factory=list["JsonMember"])


@dataclass(frozen=True, slots=True)
class JsonMember:
    """A member of an object or an element of a list; it starts at its name, if it has one."""

    start: int
    name: str | int
    node: Node


def parsed(text: str) -> Node:
    """The value that a text holds; an empty text is an empty object. Raises ValueError if it is not JSON."""
    start = _skip(text, 0)
    if start == len(text):
        return Node(len(text), len(text), {})
    node = _value(text, start, 0)
    if (rest := _skip(text, node.end)) != len(text):
        raise ValueError(f"unexpected text in line {_line(text, rest)}")
    return node


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    first = text[at : at + 1]
    if first in ("{", "["):
        return _container(text, at, depth)
    if first == '"':
        end, value = _string(text, at)
        return Node(at, end, value)
    found = _OTHER.match(text, at)
    if found is None:
        raise ValueError(f"no value in line {_line(text, at)}")
    return Node(at, found.end(), json.loads(found[0]))


def _container(text: str, at: int, depth: int) -> Node:
    is_object = text[at] == "{"
    node = Node(at, value={} if is_object else [])
    place = _skip(text, at + 1)
    while text[place : place + 1] != ("}" if is_object else "]"):
        start, name = place, len(node.parts)
        if is_object:
            place, name = _name(text, place)
        inner = _value(text, place, depth + 1)
        node.parts.append(JsonMember(start, name, inner))
        place = _skip(text, inner.end)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] != ("}" if is_object else "]"):
            raise ValueError(f"a comma or the end is missing in line {_line(text, place)}")
    values = [part.node.value for part in node.parts]
    node.value = dict(zip((part.name for part in node.parts), values, strict=True)) if is_object else values
    node.end = place + 1
    return node


def _name(text: str, at: int) -> tuple[int, str]:
    """The name of a member, and where its value starts."""
    end, name = _string(text, at)
    colon = _skip(text, end)
    if text[colon : colon + 1] != ":":
        raise ValueError(f"a colon is missing in line {_line(text, colon)}")
    return _skip(text, colon + 1), name


def _string(text: str, at: int) -> tuple[int, str]:
    found = _STRING.match(text, at)
    if found is None:
        raise ValueError(f"no name or text in quotes in line {_line(text, at)}")
    return found.end(), json.loads(found[0])


def _skip(text: str, at: int) -> int:
    """The place after spaces and comments."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


# Edits


def added(text: str, path: Sequence[str], value: object, *, listed: bool = False) -> str:
    """The text with a value under a path of names, or, if `listed`, as the last element of the list under the path.

    Objects and the list that are missing on the way are created. Everything that was there stays as it was.
    """
    node, depth = parsed(text or "{}"), 0
    for name in path if listed else path[:-1]:
        inner = _member(node, name)
        if inner is None:
            break
        node, depth = inner.node, depth + 1
    missing = path[depth:]
    if not isinstance(node.value, dict if missing else list):
        raise ValueError(f"{'.'.join(path[:depth]) or 'it'} is not {'an object' if missing else 'a list'}")
    value = [value] if listed and missing else value
    for name in reversed(missing[1:]):
        value = {name: value}
    if node.start == len(text):  # nothing but spaces and comments
        return f"{text}{json.dumps({missing[0]: value}, indent=2, ensure_ascii=False)}\n"
    return _inserted(text, node, missing[0] if missing else None, value, depth)


def _inserted(text: str, node: Node, name: str | None, value: object, depth: int) -> str:
    """The text with a last part in an object or list; beside others on one line, if they are."""
    indent = _indent(text)
    line = f"\n{indent * (depth + 1)}"
    part = json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", line)
    if name is not None:
        part = f"{json.dumps(name, ensure_ascii=False)}: {part}"
    if node.parts:
        end = node.parts[-1].node.end
        apart = line if "\n" in text[node.start : node.parts[0].start] else " "
        new = f",{apart}{part}"
    else:
        end = node.start + 1
        new = f"{line}{part}" + ("" if "\n" in text[end : node.end] else f"\n{indent * depth}")
    return text[:end] + (new.replace("\n", "\r\n") if "\r\n" in text else new) + text[end:]


def _indent(text: str) -> str:
    """What the first indented line begins with; two spaces if there is none."""
    found = re.search(r"^([ \t]{1,8})(?=[\"\[{])", text, re.MULTILINE)
    return found[1] if found else "  "


Spans = list[tuple[int, int]]
"""Places in a text: start and end of each."""
Unwanted = Callable[[tuple[str | int, ...], object], bool]
"""Whether a part is not wanted, by its path and value."""


def removed(text: str, unwanted: Unwanted) -> str:
    """The text without the parts that are not wanted; an empty one stays if a comment would go with it."""
    while (spans := next(_found(text, parsed(text), (), unwanted), None)) is not None:
        for start, end in reversed(spans):
            text = text[:start] + text[end:]
    return text


def _found(text: str, node: Node, path: tuple[str | int, ...], unwanted: Unwanted) -> Iterator[Spans]:
    for number, part in enumerate(node.parts):
        inner, value = (*path, part.name), part.node.value
        if not unwanted(inner, value):
            yield from _found(text, part.node, inner, unwanted)
            continue
        spans = _spans(text, node, number)
        if value not in ({}, []) or "/" not in _STRING.sub("", "".join(text[start:end] for start, end in spans)):
            yield spans


def _spans(text: str, node: Node, number: int) -> Spans:
    """Where a part stands, with the comma before it, or after it if it is the first; not the comments between."""
    part, end = node.parts[number], node.parts[number].node.end
    if number:
        last = node.parts[number - 1].node.end
        comma = _skip(text, last)
        plain = not text[last : part.start].replace(",", "", 1).strip()
        return [(last, end)] if plain else [(comma, comma + 1), (part.start, end)]
    if text[comma := _skip(text, end)] == ",":
        end = comma + 1
        end += len(text[end:]) - len(text[end:].lstrip()) if len(node.parts) > 1 else 0
    alone = not (text[node.start + 1 : part.start] + text[end : node.end - 1]).strip()
    return [(node.start + 1, node.end - 1)] if alone else [(part.start, end)]


def _member(node: Node, name: str) -> JsonMember | None:
    """The last member with a name, which counts if there are several."""
    return next((part for part in reversed(node.parts) if part.name == name), None)
