"""Notes: their records in the journal, their periods, and their files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Literal

from memorist.errors import InvalidInput, StoreError
from memorist.model import CITES, Memory, fingerprint, to_data
from memorist.ports import Entry
from memorist.text.labels import in_markdown, label
from memorist.text.patterns import lazy

PeriodKind = Literal["daily", "weekly", "quarterly"]
_NAME = lazy(r"(\d{4})-(?:(\d\d)-(\d\d)|W(\d\d)|Q([1-4]))", re.ASCII)
PERIODS: tuple[PeriodKind, ...] = ("daily", "weekly", "quarterly")
VERB = "consolidate"
"""The verb of the journal entries, one per note: the memories it was made from and its lines."""
RULES = "rules"


@dataclass(frozen=True, slots=True)
class NoteItem:
    """An input of a note: a memory, or a line of a shorter note, with the memories that it cites."""

    text: str
    scope: str
    at: datetime
    cites: tuple[str, ...]
    speaker: str | None = None
    weight: float = 1.0
    trust: int = 3
    classification: int = 1
    by: str = RULES
    """The author, if it is a line of a note."""


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A line of a note, and the items it is based on."""

    text: str
    items: tuple[NoteItem, ...]


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """What the journal records about a note."""

    IN_JSON: ClassVar = ("reason",)

    kind: str
    name: str
    digest: str
    version: int
    by: str
    lines: tuple[str, ...]
    cites: tuple[str, ...]
    run: str | None = None
    """The run that wrote it, if that can be undone."""
    undone: str | None = None
    """When that was undone."""

    @property
    def reason(self) -> str:
        """The note, in words."""
        return f"the {self.kind} note {self.name}"

    def entry(self, at: datetime) -> Entry:
        """The journal entry; it has no subjects, so that it survives when a memory is forgotten."""
        data = {name: value for name, value in to_data(self).items() if value is not None}
        return Entry(fingerprint(VERB, self.kind, self.name), at, VERB, (), data)


def cited_memories(lines: Sequence[Memory]) -> tuple[str, ...]:
    """The memories that these lines of a note cite, sorted."""
    return tuple(sorted({id for line in lines for id in line.metadata.get(CITES, ())}))


@dataclass(frozen=True, slots=True)
class NotePeriod:
    """The time span of a note; `end` is exclusive."""

    kind: PeriodKind
    name: str
    start: date
    end: date

    @property
    def path(self) -> str:
        """The path of its note in the folder of notes."""
        return f"{self.kind}/{self.name}.md"

    def closed(self, now: datetime) -> bool:
        """Whether it is over."""
        return self.end <= now.astimezone(UTC).date()


def period_of(kind: PeriodKind, day: date) -> NotePeriod:
    """The day, week or quarter that contains a day, such as 2024-06-03, 2024-W23 or 2024-Q2."""
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


def period_named(kind: str, name: str) -> NotePeriod | None:
    """The period of a kind with this name, such as weekly and 2024-W23; None if no period has it.

    abmind names it weekly_2024-W23, or by one of its days, weekly_2024-06-03.
    """
    bare = name.removeprefix(f"{kind}_")
    found = _NAME.fullmatch(bare)
    try:
        if found is None or kind not in PERIODS:
            return None
        year, month, day, week, quarter = (int(group) if group else 0 for group in found.groups())
        if week:
            start = date.fromisocalendar(year, week, 1)
        else:
            start = date(year, 3 * quarter - 2, 1) if quarter else date(year, month, day)
        period = period_of(kind, start)
    except (ValueError, OverflowError):
        return None
    return period if period.name == bare or (bare != name and month) else None


def chosen_periods(period: str | None) -> tuple[PeriodKind, ...]:
    """The periods that `consolidate` updates; weeks and quarters are made from days, which are therefore included."""
    if period is None:
        return PERIODS
    if period not in PERIODS:
        raise InvalidInput(f"Unknown period {period!r}", remedy=f"Choose {', '.join(PERIODS)}.")
    return tuple(dict.fromkeys(("daily", period)))


DIGEST = 16
"""Characters of the digest in the comment of a file."""
_OURS = lazy(r"(?:daily|weekly|quarterly) note, version \d+, by [^,\n]+(?:, ([0-9a-f]{16}))? -->\n")
ID_SHOWN = 12
"""Characters of an id that a file shows; commands accept the beginning of an id."""


def render_note(record: NoteRecord, lines: Sequence[Memory]) -> str:
    """A note as Markdown: a heading, one list per scope, and after each line the ids it cites.

    The comment at the end has a digest of what stands above it, so that an edited file can be told from ours.
    """
    parts = [f"# {record.name}"]
    scopes = [(scope, list(group)) for scope, group in groupby(lines, lambda line: line.scope)]
    for scope, group in scopes:
        heading = [] if [scope] == [one for one, _ in scopes] and scope == "global" else [f"## {in_markdown(scope)}"]
        parts += [*heading, "\n".join(map(_bullet, group))]
    body = "\n\n".join(parts) + "\n\n"
    author = f"{record.kind} note, version {record.version}, by {label(record.by)}"
    return f"{body}<!-- {author}, {fingerprint(body)[:DIGEST]} -->\n"


def is_ours(text: str) -> bool:
    """Whether a file is as `consolidate` wrote it; those of earlier versions have no digest and count as ours."""
    body, _, comment = text.rpartition("<!-- ")
    found = _OURS.fullmatch(comment)
    return found is not None and (found[1] is None or found[1] == fingerprint(body)[:DIGEST])


def _bullet(line: Memory) -> str:
    ids = ", ".join(id[:ID_SHOWN] for id in line.metadata.get(CITES, ()))
    return f"- {in_markdown(line.text)} [{ids}]"


def remove_note(path: Path) -> None:
    """Remove a file if it exists."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be removed ({error.strerror})", remedy="Remove it by hand.") from error
