"""Notes: what one is, its period, its file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from memorist.errors import InvalidInput, StoreError
from memorist.model import CITES, Memory, fingerprint
from memorist.ports import Entry

PeriodKind = Literal["daily", "weekly", "quarterly"]
PERIODS: tuple[PeriodKind, ...] = ("daily", "weekly", "quarterly")
VERB = "consolidate"
"""The verb of the journal's entries, one a note: what it was made of and where it is."""
RULES = "rules"


@dataclass(frozen=True, slots=True)
class NoteItem:
    """Something a note is made from: a memory, or a line of a shorter note; with the memories it rests on."""

    text: str
    scope: str
    at: datetime
    cites: tuple[str, ...]
    speaker: str | None = None
    weight: float = 1.0
    trust: int = 3
    classification: int = 1
    by: str = RULES
    """Who wrote it, where it is a line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a note, and the items it rests on."""

    text: str
    items: tuple[NoteItem, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """What the journal knows of a note."""

    kind: str
    name: str
    digest: str
    version: int
    by: str
    lines: tuple[str, ...]
    cites: frozenset[str]

    def entry(self, at: datetime) -> Entry:
        """As a line of the journal; it is about no memory, so that forgetting one does not lose the note's trail."""
        data: dict[str, Any] = {**asdict(self), "lines": list(self.lines), "cites": sorted(self.cites)}
        data["reason"] = f"the {self.kind} note {self.name}"
        return Entry(fingerprint(VERB, self.kind, self.name), at, VERB, (), data)


def record_of(entry: Entry) -> Record:
    """The inverse of `Record.entry`."""
    data: Mapping[str, Any] = entry.data
    return Record(
        data["kind"],
        data["name"],
        data["digest"],
        data["version"],
        data["by"],
        tuple(data["lines"]),
        frozenset(data["cites"]),
    )


def cited(lines: Sequence[Memory]) -> frozenset[str]:
    """All that these lines of a note rest on."""
    return frozenset(id for line in lines for id in line.metadata.get(CITES, ()))


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """A note that was written: its file, if there is one, how often it was written by now, by whom, and its size."""

    period: str
    name: str
    path: str | None
    version: int
    by: str
    lines: int
    sources: int


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What a run wrote, and how many notes were up to date already."""

    at: datetime
    written: tuple[WrittenNote, ...]
    unchanged: int
    dropped: tuple[str, ...] = ()
    """Notes that had nothing left to tell."""


@dataclass(frozen=True, slots=True)
class NotePeriod:
    """A stretch of time that a note is about: `end` is no part of it."""

    kind: PeriodKind
    name: str
    start: date
    end: date

    @property
    def path(self) -> str:
        """Where its note lies in the folder of notes."""
        return f"{self.kind}/{self.name}.md"

    def closed(self, now: datetime) -> bool:
        """Whether it is over."""
        return self.end <= now.astimezone(UTC).date()


def period_of(kind: PeriodKind, day: date) -> NotePeriod:
    """The day, week or quarter that a day belongs to: 2024-06-03, 2024-W23, 2024-Q2."""
    if kind == "daily":
        return NotePeriod(kind, day.isoformat(), day, day + timedelta(days=1))
    if kind == "weekly":
        year, week, weekday = day.isocalendar()
        monday = day - timedelta(days=weekday - 1)
        return NotePeriod(kind, f"{year:04}-W{week:02}", monday, monday + timedelta(days=7))
    quarter = (day.month - 1) // 3
    start = date(day.year, 3 * quarter + 1, 1)
    end = date(day.year + quarter // 3, 3 * (quarter + 1) % 12 + 1, 1)
    return NotePeriod(kind, f"{day.year:04}-Q{quarter + 1}", start, end)


def chosen_periods(period: str | None) -> tuple[PeriodKind, ...]:
    """What `consolidate` is to bring up to date; weeks and quarters are made of days, so those come with them."""
    if period is None:
        return PERIODS
    if period not in PERIODS:
        raise InvalidInput(f"{period!r} is no period", remedy=f"Choose {', '.join(PERIODS)}.")
    return tuple(dict.fromkeys(("daily", period)))


ID_SHOWN = 12
"""Characters of an id that a file cites it by; commands take the beginning of an id."""


def rendered(record: Record, lines: Sequence[Memory]) -> str:
    """A note as Markdown: a heading, a list for each scope, and for each line the ids it rests on."""
    parts = [f"# {record.name}"]
    scopes = [(scope, list(told)) for scope, told in groupby(lines, lambda line: line.scope)]
    for scope, told in scopes:
        heading = [] if [scope] == [one for one, _ in scopes] and scope == "global" else [f"## {scope}"]
        parts += [*heading, "\n".join(map(_bullet, told))]
    parts.append(f"<!-- {record.kind} note, version {record.version}, by {record.by} -->")
    return "\n\n".join(parts) + "\n"


def _bullet(line: Memory) -> str:
    ids = ", ".join(id[:ID_SHOWN] for id in line.metadata.get(CITES, ()))
    return f"- {' '.join(line.text.split())} [{ids}]"


def write_note(path: Path, text: str) -> None:
    """Write a file in place of one that may be there."""
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror})",
            remedy="Set notes_dir to another folder, or free space.",
        ) from error
    finally:
        part.unlink(missing_ok=True)


def drop_note(path: Path) -> None:
    """Remove a file that may be there."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be removed ({error.strerror})", remedy="Remove it by hand.") from error
