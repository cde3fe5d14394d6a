"""Reading the files of notes: those that the user put into the folder or edited, paragraph by paragraph.

Such files are data that anybody who can write the folder may have put there. They are read with limits, links are not
followed, and the text goes through the gates like any other.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from memorist.model import CITES, Kind, Memory, beside_the_usual, fingerprint
from memorist.remember.ingest.model import split_text
from memorist.remember.record import record
from memorist.text.labels import in_markdown
from memorist.text.patterns import lazy
from memorist.upkeep.consolidate.notes import ID_SHOWN, PERIODS, NoteRecord, period_named

NoteName = tuple[str, str]
"""The kind of a period and its name."""
Stamp = tuple[int, int, int]
"""The time of the last change of a file, its size and its inode."""
BY_USER = "user"
"""The author of a note whose file differs from what `consolidate` wrote."""
TRUST = 1
"""The trust in such files: nobody passed them to a verb."""
MOST_FILES = 5_000
"""Files that are read, the ones changed last."""
MOST_BYTES = 1024 * 1024
MOST_PARAGRAPHS = 500
CLASSIFIED = "classification-"
"""Begins the name of the folder with the notes of another classification than the usual one."""

_ITEM = lazy(r"\s{0,3}(?:[-*+]|\d{1,9}[.)])\s+")
_HEADING = lazy(r"\s{0,3}(#{1,6})(?:\s+|$)")
_RULE = lazy(r"\s{0,3}[-=*_]{2,}\s*")
_ESCAPED = lazy(r"\\([!-/:-@\[-`{-~])")
_SCOPE = lazy(r"[a-z]{1,50}:\S{1,150}")
_CITED = lazy(r"\[([^\[\]]{1,1000})\]$")


def stamps(folder: Path) -> dict[NoteName, Stamp]:
    """The Markdown files in a folder of notes and when each was changed; links and hidden files are left out."""
    found: dict[NoteName, Stamp] = {}
    if folder.name.startswith(CLASSIFIED) and folder.is_symlink():
        return found
    for kind in PERIODS:
        if (folder / kind).is_symlink():
            continue
        with suppress(OSError), os.scandir(folder / kind) as entries:
            for entry in entries:
                stem, end = os.path.splitext(entry.name)
                if end == ".md" and stem.isprintable() and stem[0] != "." and entry.is_file(follow_symlinks=False):
                    there = entry.stat(follow_symlinks=False)
                    found[kind, stem] = (there.st_mtime_ns, there.st_size, there.st_ino)
    if len(found) > MOST_FILES:
        found = dict(sorted(found.items(), key=lambda one: one[1], reverse=True)[:MOST_FILES])
    return found


def read_text(path: Path) -> str | None:
    """The text of a file; None if it is missing, a link, no plain file, too large or not UTF-8."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                return None
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return None if len(data) > MOST_BYTES or "\0" in text else text


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph or list item: its text, the heading of second level above it, what it cites, and its lines."""

    text: str
    heading: str
    cites: tuple[str, ...]
    """The beginnings of the ids."""
    lines: range


def paragraphs(text: str) -> Iterator[Paragraph]:
    """The paragraphs and list items of a Markdown text; headings, rules and comments are left out."""
    heading, start, held = "", 0, list[str]()
    comment = False
    for number, line in enumerate([*text.splitlines(), ""]):
        opened = _HEADING.match(line)
        comment = comment or line.lstrip().startswith("<!--")
        breaks = comment or opened or not line.strip() or _RULE.fullmatch(line)
        if held and (breaks or _ITEM.match(line)):
            yield _paragraph(held, heading, range(start, number))
            held = []
        if opened and not comment and len(opened[1]) <= 2:
            heading = line[opened.end() :].strip() if len(opened[1]) == 2 else ""
        if not breaks:
            start = start if held else number
            held.append(line)
        comment = comment and "-->" not in line


def _paragraph(held: Sequence[str], heading: str, lines: range) -> Paragraph:
    text = _ITEM.sub("", "\n".join(line.strip() for line in held), count=1).strip()
    cited = _CITED.search(text)
    cites = tuple(cite.strip() for cite in cited[1].split(",")) if cited else ()
    return Paragraph(text, heading, cites, lines)


@dataclass(frozen=True, slots=True)
class NoteReader:
    """Makes memories of the paragraphs of one file. `before` is the note that stands for the file so far."""

    name: NoteName
    classification: int
    before: NoteRecord | None
    scopes: Collection[str]
    """The scopes that the note has had, which headings may name."""

    def memories(self, text: str, changed: datetime, now: datetime) -> list[Memory]:
        """A memory per paragraph, each with an id that it keeps while its words and its file's name stay."""
        kind, stem = self.name
        made: dict[str, Memory] = {}
        for paragraph in paragraphs(text):
            words, cites = self.resolved(paragraph)
            for part in split_text(words):
                memory = record(
                    part,
                    now,
                    kind=Kind.NOTE,
                    scope=self._scope(paragraph.heading),
                    at=_day(self.name, changed.date(), now.date()).isoformat(),
                    source=f"{kind}/{stem}.md",
                    trust=TRUST,
                    classification=self.classification,
                    metadata={CITES: list(cites), "period": kind, "by": BY_USER},
                )
                id = fingerprint("note", memory.scope, *self.name, part, *beside_the_usual(self.classification))
                made.setdefault(id, replace(memory, id=id))
                if len(made) == MOST_PARAGRAPHS:
                    return list(made.values())
        return list(made.values())

    def resolved(self, one: Paragraph) -> tuple[str, tuple[str, ...]]:
        """The words of a paragraph, and the memories it cites: such as the note cited before, by their beginnings."""
        known = {id[:ID_SHOWN]: id for id in (self.before.cites if self.before else ())}
        if not one.cites or not known.keys() >= set(one.cites):
            return _ESCAPED.sub(r"\1", one.text), ()
        words = one.text[: one.text.rindex("[")].strip()
        return _ESCAPED.sub(r"\1", words), tuple(known[cited] for cited in one.cites)

    def _scope(self, heading: str) -> str:
        """The scope that a heading names: one of the note, or one that is written as `user:alice` is."""
        named = next((scope for scope in self.scopes if in_markdown(scope) == heading), None)
        plain = _ESCAPED.sub(r"\1", heading)
        return named or (plain if _SCOPE.fullmatch(plain) else "global")

    def without(self, text: str, gone: Collection[str], cited: Collection[str], clean: Callable[[str], str]) -> str:
        """A text without the paragraphs of some memories, given by their texts, and without those that cite others."""
        cut: set[int] = set()
        for paragraph in paragraphs(text):
            words, cites = self.resolved(paragraph)
            parts = {form for part in split_text(words) for form in (part, clean(part))}
            if not parts.isdisjoint(gone) or not set(cites).isdisjoint(cited):
                cut.update(paragraph.lines)
        return "".join(line for number, line in enumerate(text.splitlines(keepends=True)) if number not in cut)


def _day(name: NoteName, changed: date, today: date) -> date:
    """The day of a file: the last of its period that has come, or that of its last change if it names no period."""
    period = period_named(*name)
    if period is None:
        return min(changed, today)
    return max(period.start, min(period.end - timedelta(days=1), today))


def changed_at(stamp: Stamp) -> datetime:
    """When a file was changed, in UTC."""
    try:
        return datetime.fromtimestamp(stamp[0] / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC)
