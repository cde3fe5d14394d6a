"""What notes are made of, and what consolidating gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from memorist.model import CITES, Memory, fingerprint, isoformat
from memorist.ports import Entry

PeriodKind = Literal["daily", "weekly", "quarterly"]
PERIODS: tuple[PeriodKind, ...] = ("daily", "weekly", "quarterly")
VERB = "consolidate"
"""The verb of the journal's entries, one a note: what it was made of and where it is."""
RULES = "rules"


@dataclass(frozen=True, slots=True)
class Item:
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
    items: tuple[Item, ...]


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

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "at": isoformat(self.at),
            "written": [asdict(one) for one in self.written],
            "unchanged": self.unchanged,
            "dropped": list(self.dropped),
        }
