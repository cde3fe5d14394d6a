"""What reading gives: texts to remember, what was skipped or cleaned and why, and the report of it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from memorist.remember.record import Fields

MOST_NAMED = 100
"""How many skipped things a report names; the rest are counted by their reason."""
OTHER = "other reasons"
T = TypeVar("T", "Skipped", "Cleaned")


@dataclass(frozen=True, slots=True)
class Piece:
    """One text to remember, and the keywords of `remember` that go with it; `record` accepts it as it is."""

    text: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is not kept: where it stands, and why."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Something that is kept, though not exactly as it stood: where, and what was done to it."""

    where: str
    reason: str


Item = Piece | Skipped | Cleaned


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of the things given: texts newly kept, texts known already, and what was skipped or cleaned."""

    kept: int = 0
    known: int = 0
    facts: int = 0
    files: int = 0
    sessions: int = 0
    skipped: tuple[Skipped, ...] = ()
    """The first hundred; `skipped_by_reason` counts them all."""
    skipped_by_reason: Mapping[str, int] = field(default_factory=dict[str, int])
    cleaned: tuple[Cleaned, ...] = ()
    """The first hundred; `cleaned_by_reason` counts them all."""
    cleaned_by_reason: Mapping[str, int] = field(default_factory=dict[str, int])


class Tally:
    """Counts what a reading gives, within bounds, and makes the report of it."""

    def __init__(self) -> None:
        self._sessions: set[str] = set()
        self._skipped: list[Skipped] = []
        self._cleaned: list[Cleaned] = []
        self._reasons: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, item: Item) -> None:
        """Count one thing read."""
        if isinstance(item, Piece):
            if session := item.fields.get("session"):
                self._sessions.add(session)
        elif isinstance(item, Skipped):
            _note(item, self._skipped, self._reasons[0])
        else:
            _note(item, self._cleaned, self._reasons[1])

    def report(self, *, kept: int, known: int, facts: int = 0, files: int = 0) -> IngestReport:
        """The report of everything counted so far."""
        return IngestReport(
            kept=kept,
            known=known,
            facts=facts,
            files=files,
            sessions=len(self._sessions),
            skipped=tuple(self._skipped),
            skipped_by_reason=dict(self._reasons[0]),
            cleaned=tuple(self._cleaned),
            cleaned_by_reason=dict(self._reasons[1]),
        )


def _note(item: T, named: list[T], reasons: Counter[str]) -> None:
    if len(named) < MOST_NAMED:
        named.append(item)
    reasons[item.reason if item.reason in reasons or len(reasons) < MOST_NAMED else OTHER] += 1
