"""Plain documents: transcripts by turn, Markdown by heading, other text by paragraph."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from memorist.model import Kind, fingerprint
from memorist.remember.ingest.messages import ROLES, SYSTEM
from memorist.remember.ingest.model import CHUNK, Cleaned, DraftMemory, Found, Skipped, join_blocks, split_text
from memorist.remember.ingest.values import LONGEST_TITLE, fields_of, moment
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    from memorist.remember.record import Fields


_BLANK = lazy(r"\n(?:[^\S\n]*\n)+")


def text_drafts(text: str, name: str) -> Iterator[Found]:
    """The turns of a transcript, or the paragraphs of another text."""
    if is_transcript(text):
        yield from transcript_drafts(text, name)
        return
    paragraphs = (part for paragraph in _BLANK.split(text) if paragraph.strip() for part in split_text(paragraph))
    chunks = enumerate(join_blocks(paragraphs), 1)
    yield from content_keys(
        (DraftMemory(chunk, f"{name}, part {n}", {"kind": Kind.SEMANTIC}) for n, chunk in chunks), name
    )


def content_keys(drafts: Iterable[DraftMemory], name: str) -> Iterator[DraftMemory]:
    """Key chunks by their content, so that a new paragraph does not change the keys of those after it."""
    seen = Counter[str]()
    for draft in drafts:
        mark = fingerprint(draft.text)
        seen[mark] += 1
        fields = draft.fields.copy()
        fields["key"] = f"{name}#{mark}" + (f"-{seen[mark]}" if seen[mark] > 1 else "")
        yield replace(draft, fields=fields)


HEADING_LINE = lazy(r"^#{1,6} \S", re.MULTILINE)
_HEADING = lazy(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = lazy(r" {0,3}(=+|-+)[ \t]*")
_FENCE = lazy(r" {0,3}(`{3,}|~{3,})")
_FRONT = lazy(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_PAIR = lazy(r"([\w-]+):[ \t]*(.*)")
_FOLDED = frozenset({">", ">-", ">+", "|", "|-", "|+"})


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, code block or heading (level above 0), and its first line."""

    text: str
    line: int
    level: int = 0
    code: bool = False


@dataclass(slots=True)
class _Chunk:
    """Blocks under one heading path, collected up to the length of a chunk."""

    texts: list[str] = field(default_factory=list[str])
    line: int = 1
    bodies: int = 0

    def add(self, text: str, line: int, *, body: bool) -> None:
        if not self.texts:
            self.line = line
        self.texts.append(text)
        self.bodies += body

    def room(self) -> int:
        return CHUNK - sum(len(text) + 2 for text in self.texts)


@dataclass(frozen=True, slots=True)
class MarkdownText:
    """A Markdown text: its front matter, the fields in it with notes on unusable values, and its blocks."""

    front: Mapping[str, Any]
    fields: Fields
    notes: Sequence[str]
    blocks: Sequence[Block]

    @staticmethod
    def of(text: str) -> MarkdownText:
        """Read a Markdown text."""
        front, body, line = front_matter(text)
        fields, notes = fields_of(front, "session", "position", "key", "source")
        return MarkdownText(front, fields, notes, list(blocks(body, line)))


def markdown_drafts(text: str, name: str) -> Iterator[Found]:
    """The chunks of a Markdown text."""
    read = MarkdownText.of(text)
    yield from (Cleaned(name, note) for note in read.notes)
    yield from chunk_drafts(read.blocks, name, read.fields)


def chunk_drafts(found: Iterable[Block], name: str, fields: Fields) -> Iterator[DraftMemory]:
    """The blocks of a document in chunks, each under its headings and keyed by its content."""
    return content_keys(_chunks(found, name, fields), name)


def _chunks(found: Iterable[Block], name: str, fields: Fields) -> Iterator[DraftMemory]:
    path: list[tuple[int, str]] = []
    chunk = _Chunk()
    for block in found:
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
        for part in [block.text] if block.code else split_text(block.text, room):
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
    """The text of a heading, cut: every chunk below it repeats it."""
    first = heading.partition("\n")[0].strip()
    return (first.strip("#").strip() if _HEADING.match(first) else first)[:LONGEST_TITLE]


def _paragraph(held: list[str], line: int) -> Iterator[Block]:
    if held:
        yield Block("\n".join(held), line)


def front_matter(text: str) -> tuple[dict[str, Any], str, int]:
    """The front matter as an object, the text after it, and the line where that begins."""
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
    """Simple YAML: names with a value, folded text, a list of values, or names and values of their own."""
    found: dict[str, Any] = {}
    name = ""
    for line in text.split("\n"):
        below = line.strip()
        if pair := _PAIR.fullmatch(line):
            name = pair[1]
            found[name] = _Folded() if pair[2].strip() in _FOLDED else _value(pair[2].strip())
            continue
        held = found.get(name)
        if isinstance(held, _Folded):
            held.append(below)
        elif name and below.startswith("- ") and not isinstance(held, dict):
            found[name] = listed = cast("list[str]", held) if isinstance(held, list) else []
            listed.append(_unquoted(below[2:]))
        elif (held == "" or isinstance(held, dict)) and (pair := _PAIR.fullmatch(below)):
            found[name] = inner = cast("dict[str, Any]", held or {})
            inner[pair[1]] = _value(pair[2].strip())
    plain = {
        name: " ".join(filter(None, value)) if isinstance(value, _Folded) else value for name, value in found.items()
    }
    return {name: value for name, value in plain.items() if value != ""}


class _Folded(list[str]):
    """The lines of a text that is folded into one."""


def _value(text: str) -> str | list[str]:
    if text.startswith("[") and text.endswith("]"):
        return [item for part in text[1:-1].split(",") if (item := _unquoted(part))]
    return _unquoted(text)


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


_NUMERIC = lazy(
    r"(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})"
    r"(?:,?[T ]+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:[ \u202f\u00a0]?([AaPp])\.?[Mm]\.?)?)?"
)


class Timestamps:
    """Parses the timestamps of a transcript; an ambiguous order of day and month is not guessed."""

    def __init__(self, stamps: Sequence[str]) -> None:
        dates = [(int(found[1]), int(found[2])) for stamp in stamps if (found := _NUMERIC.fullmatch(stamp.strip()))]
        day_first = any(first > 12 for first, _ in dates)
        month_first = any(second > 12 for _, second in dates)
        self._day_first = day_first if day_first != month_first else None

    def moment(self, stamp: str | None) -> datetime | None:
        """The time of one timestamp, if it is unambiguous."""
        if not stamp:
            return None
        found = _NUMERIC.fullmatch(stamp.strip())
        return self._numeric(found) if found else moment(stamp)

    def _numeric(self, found: re.Match[str]) -> datetime | None:
        first, second, year = int(found[1]), int(found[2]), int(found[3])
        if self._day_first is None and first != second:
            return None
        day, month = (first, second) if self._day_first else (second, first)
        hour = int(found[4] or 0)
        if half := found[7]:
            hour = hour % 12 + (12 if half in "Pp" else 0)
        with contextlib.suppress(ValueError):
            full_year = year + 2000 if year < 100 else year
            return datetime(full_year, month, day, hour, int(found[5] or 0), int(found[6] or 0), tzinfo=UTC)
        return None


MEDIA = "media without text"
NOBODY = "line without a speaker"
_SURE = 3
_NAME = (
    r"(?P<name>[^\W_a-z][^\n:：\[\]<>{}|=\"/]{0,39}?|@[\w.-]{1,39}|\+[\d ()-]{5,20}"
    r"|user|assistant|system|human|tool)"
)
_DATE = (
    r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:,?[T ]+\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"(?:[ \u202f\u00a0]?[AaPp]\.?[Mm]\.?)?)?"
)
_MARKS = "\u200e\u200f"  # messengers write direction marks around timestamps
_BRACKET = r"[\[(](?P<bracket>[^\[\]()\n]{3,40})[\])]"
_TURN = lazy(
    rf"[{_MARKS}]*+(?:{_BRACKET}[ \t]*+(?:-[ \t]++)?|(?P<bare>{_DATE})(?:[ \t]+-)?[ \t]++)?[{_MARKS}]*+{_NAME}[ \t]*+"
    r"(?::(?!//)(?:[ \t]+|$)|：)(?P<words>.*)"
)
_STAMPED = lazy(rf"[{_MARKS}]*+(?:{_BRACKET}|(?P<bare>{_DATE})[ \t]+-)[ \t]+(?P<words>.*)")
_MEDIA = lazy(r"<[^<>]*(?:omitted|attached)[^<>]*>|(?:image|video|audio|sticker|document|GIF|Contact card) omitted")
_WORDS_IN_NAME = 4
_MEDIA_LENGTH = 200
_SAMPLE = 100_000


@dataclass(slots=True)
class _Turn:
    """A turn while it is read: speaker, timestamp, first line number and lines."""

    speaker: str
    stamp: str | None
    line: int
    lines: list[str] = field(default_factory=list[str])


def is_transcript(text: str) -> bool:
    """Whether a text is a transcript: it begins with a turn, and its speakers recur, are roles or have timestamps."""
    rows = [row for row in text[:_SAMPLE].split("\n") if row.strip()]
    starts = [found for row in rows if (found := _start(row))]
    speakers = Counter(found["name"].strip() for found in starts)
    if len(starts) < 2 or not any(_start(row) or _STAMPED.fullmatch(row) for row in rows[:3]):
        return False
    if all(speaker.lower() in {*ROLES, *ROLES.values(), "system"} for speaker in speakers):
        return True
    stamped = sum(1 for found in starts if found["bracket"] or found["bare"])
    if stamped >= 2 and stamped * 2 > len(starts):
        return True
    return len(starts) >= _SURE and len(speakers) * 2 <= len(starts) + 1 and len(starts) * 3 >= len(rows)


def transcript_drafts(text: str, name: str) -> Iterator[Found]:
    """The turns of a transcript; a line without a speaker continues the turn before it."""
    turns, skipped = _turns(text, name)
    stamps = Timestamps([turn.stamp for turn in turns if turn.stamp])
    yield from skipped
    for turn in turns:
        where = f"{name}:{turn.line}"
        words = "\n".join(turn.lines).strip()
        if turn.speaker.lower() == "system":
            yield Skipped(where, SYSTEM)
        elif len(words) < _MEDIA_LENGTH and _MEDIA.fullmatch(words.strip(_MARKS + " ")):
            yield Skipped(where, MEDIA)
        else:
            yield DraftMemory(words, where, _fields(turn, stamps.moment(turn.stamp)))


def _fields(turn: _Turn, at: datetime | None) -> Fields:
    lower = turn.speaker.lower()
    fields: Fields = {"speaker": ROLES.get(lower, lower) if lower in {*ROLES, *ROLES.values()} else turn.speaker}
    if at:
        fields["at"] = at
    elif turn.stamp:
        fields["metadata"] = {"time": turn.stamp}
    return fields


def _turns(text: str, name: str) -> tuple[list[_Turn], list[Skipped]]:
    turns: list[_Turn] = []
    skipped: list[Skipped] = []
    for number, row in enumerate(text.split("\n"), 1):
        if start := _start(row):
            turns.append(_Turn(start["name"].strip(), start["bracket"] or start["bare"], number, [start["words"]]))
        elif turns and not _STAMPED.fullmatch(row):
            turns[-1].lines.append(row)
        elif row.strip():
            skipped.append(Skipped(f"{name}:{number}", NOBODY))
    return turns, skipped


def _start(row: str) -> re.Match[str] | None:
    found = _TURN.fullmatch(row)
    return found if found and len(found["name"].split()) <= _WORDS_IN_NAME else None
