"""Documents: Markdown by its headings, plain text by its paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from memorist.model import Kind, fingerprint
from memorist.remember.ingest.model import CHUNK, Cleaned, DraftMemory, Found, cut, packed
from memorist.remember.ingest.objects import ObjectReader, unwrapped
from memorist.remember.ingest.transcript import is_transcript, transcript_drafts
from memorist.remember.ingest.values import Object, as_object, fields_of
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    from memorist.remember.record import Fields


_BLANK = lazy(r"\n(?:[^\S\n]*\n)+")


def text_drafts(text: str, name: str) -> Iterator[Found]:
    """The turns of a transcript, or the paragraphs of any other text."""
    if is_transcript(text):
        yield from transcript_drafts(text, name)
        return
    paragraphs = (part for paragraph in _BLANK.split(text) if paragraph.strip() for part in cut(paragraph))
    chunks = enumerate(packed(paragraphs), 1)
    yield from content_keys((DraftMemory(one, f"{name}, part {n}", {"kind": Kind.SEMANTIC}) for n, one in chunks), name)


def content_keys(drafts: Iterable[DraftMemory], name: str) -> Iterator[DraftMemory]:
    """Chunks keyed by their words, so that a paragraph put in above does not make all below it new."""
    seen = Counter[str]()
    for draft in drafts:
        mark = fingerprint(draft.text)
        seen[mark] += 1
        fields = draft.fields.copy()
        fields["key"] = f"{name}#{mark}" + (f"-{seen[mark]}" if seen[mark] > 1 else "")
        yield replace(draft, fields=fields)


_HEADING = lazy(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = lazy(r" {0,3}(=+|-+)[ \t]*")
_FENCE = lazy(r" {0,3}(`{3,}|~{3,})")
_FRONT = lazy(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_PAIR = lazy(r"([\w-]+):[ \t]*(.*)")


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


def _chunks(text: str, name: str, first_line: int, fields: Fields) -> Iterator[DraftMemory]:
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


def _draft(chunk: _Chunk, path: list[tuple[int, str]], name: str, shared: Fields) -> DraftMemory:
    fields: Fields = {"kind": Kind.SEMANTIC, **shared}
    headings = [title for _, title in path if title]
    metadata = dict(shared.get("metadata") or {})
    if headings:
        fields.setdefault("topic", " / ".join(headings))
        metadata["headings"] = headings
    if metadata:
        fields["metadata"] = metadata
    return DraftMemory("\n\n".join(chunk.texts), f"{name}:{chunk.line}", fields)


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


def document_drafts(document: object, name: str, format: str | None = None) -> Iterator[Found]:
    """The drafts of a document's values in order."""
    values = unwrapped(document)
    if len(values) == 1:
        yield from ObjectReader(format).drafts(values[0], name)
        return
    yield from object_drafts(values, name, format)


def object_drafts(objects: Iterable[object], name: str | None = None, format: str | None = None) -> Iterator[Found]:
    """The drafts of objects as they come, from a file or from Python."""
    reader = ObjectReader(format)
    before = f"{name}, " if name else ""
    for number, value in enumerate(objects, 1):
        where = f"{before}item {number}"
        yield from reader.drafts(value, where, unnamed=f"{name or 'talk'}#{number}")


def as_objects(given: Iterable[object] | Object) -> Iterable[object]:
    """What a caller gave in Python: objects one by one, or one that holds them."""
    return unwrapped(as_object(given)) if as_object(given) else given
