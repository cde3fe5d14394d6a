"""Markdown in chunks: by heading and paragraph, code blocks whole, front matter as metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from memorist.model import Kind
from memorist.remember.ingest.chunks import CHUNK, cut
from memorist.remember.ingest.draft import Draft, Found
from memorist.remember.ingest.fields import fields_of
from memorist.remember.ingest.model import Cleaned
from memorist.remember.ingest.plain import content_keys

if TYPE_CHECKING:
    from memorist.remember.record import Fields

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_FRONT = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_PAIR = re.compile(r"([\w-]+):[ \t]*(.*)")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, code block or heading (level above 0) and the line it begins at."""

    text: str
    line: int
    level: int = 0
    code: bool = False


@dataclass(slots=True)
class _Chunk:
    """Blocks under one heading path, gathered until they are as long as a chunk may be."""

    texts: list[str] = field(default_factory=list[str])
    line: int = 1
    bodies: int = 0

    def add(self, text: str, line: int, *, body: bool) -> None:
        if not self.texts:
            self.line = line
        self.texts.append(text)
        self.bodies += body

    def room(self) -> int:
        return CHUNK - sum(len(one) + 2 for one in self.texts)


def markdown_drafts(text: str, name: str) -> Iterator[Found]:
    """The chunks of a Markdown text."""
    front, body, line = _front_matter(text)
    fields, notes = fields_of(front, "session", "position", "key", "source")
    yield from (Cleaned(name, note) for note in notes)
    yield from content_keys(_chunks(body, name, line, fields), name)


def _chunks(text: str, name: str, first_line: int, fields: Fields) -> Iterator[Draft]:
    path: list[tuple[int, str]] = []
    chunk = _Chunk()
    for block in blocks(text, first_line):
        if block.level:
            if chunk.bodies:
                yield _draft(chunk, path, name, fields)
                chunk = _Chunk()
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, _title(block.text)))
            chunk.add(block.text, block.line, body=False)
            continue
        room = CHUNK if chunk.bodies else max(chunk.room(), CHUNK // 2)
        for part in [block.text] if block.code else cut(block.text, room):
            if chunk.bodies and len(part) > chunk.room():
                yield _draft(chunk, path, name, fields)
                chunk = _Chunk()
            chunk.add(part, block.line, body=True)
    if chunk.texts:
        yield _draft(chunk, path, name, fields)


def _draft(chunk: _Chunk, path: list[tuple[int, str]], name: str, shared: Fields) -> Draft:
    fields: Fields = {"kind": Kind.SEMANTIC, **shared}
    headings = [title for _, title in path if title]
    metadata = dict(shared.get("metadata") or {})
    if headings:
        fields.setdefault("topic", " / ".join(headings))
        metadata["headings"] = headings
    if metadata:
        fields["metadata"] = metadata
    return Draft("\n\n".join(chunk.texts), f"{name}:{chunk.line}", fields)


def blocks(text: str, first_line: int = 1) -> Iterator[Block]:
    """Paragraphs, headings and code blocks in order."""
    held: list[str] = []
    start, fence = first_line, ""
    for number, line in enumerate(text.split("\n"), first_line):
        if fence:
            held.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield Block("\n".join(held), start, code=True)
                held, fence = [], ""
        elif opened := _FENCE.match(line):
            yield from _paragraph(held, start)
            held, start, fence = [line], number, opened[1]
        elif (level := _level(line)) or not line.strip():
            yield from _paragraph(held, start)
            held = []
            if level:
                yield Block(line.strip(), number, level)
        elif held and (underline := _UNDERLINE.fullmatch(line)):
            yield Block("\n".join([*held, line]), start, 1 if underline[1][0] == "=" else 2)
            held = []
        else:
            start = start if held else number
            held.append(line)
    if held:
        yield Block("\n".join(held), start, code=bool(fence))


def _level(line: str) -> int:
    heading = _HEADING.match(line)
    return len(heading[1]) if heading else 0


def _title(heading: str) -> str:
    first = heading.partition("\n")[0].strip()
    return first.strip("#").strip() if _HEADING.match(first) else first


def _paragraph(held: list[str], line: int) -> Iterator[Block]:
    if held:
        yield Block("\n".join(held), line)


def _front_matter(text: str) -> tuple[dict[str, Any], str, int]:
    """The front matter as an object, the text after it, and the line that begins at."""
    front = _FRONT.match(text)
    if not front:
        return {}, text, 1
    pairs = _pairs(front[1])
    if not pairs:
        return {}, text, 1
    if tags := pairs.pop("tags", None):
        pairs["keywords"] = tags if isinstance(tags, list) else [tag.strip() for tag in str(tags).split(",")]
    return pairs, text[front.end() :], front[0].count("\n") + 1


def _pairs(text: str) -> dict[str, Any]:
    """The plain part of YAML: names with values, and lists of values."""
    found: dict[str, Any] = {}
    name = ""
    for line in text.split("\n"):
        if pair := _PAIR.fullmatch(line):
            name = pair[1]
            found[name] = _value(pair[2].strip())
        elif name and line.strip().startswith("- "):
            listed = cast("list[str]", found[name]) if isinstance(found[name], list) else []
            found[name] = [*listed, _unquoted(line.strip()[2:])]
    return {name: value for name, value in found.items() if value != ""}


def _value(text: str) -> str | list[str]:
    if text.startswith("[") and text.endswith("]"):
        return [item for one in text[1:-1].split(",") if (item := _unquoted(one))]
    return _unquoted(text)


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
