"""Marks: what stages find out about a candidate beside its score, as data for later stages.

As text, a mark is a note for those who read the answer; `before_text` says what a context shows of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from memorist.model.memory import Fact
from memorist.text.labels import label

MOST_DAYS = 5
"""Days of a timeline that are shown; of more, the first and the last."""


class CandidateMark(ABC):
    """What a stage found out about a candidate."""

    __slots__ = ()

    @abstractmethod
    def __str__(self) -> str:
        """The mark as a note, such as `superseded: Oslo since 2023-03-01`."""

    @property
    def before_text(self) -> str:
        """The mark as it stands before the text in a context."""
        return str(self)


class Outdated(CandidateMark):
    """The mark of what should no longer be believed."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Replaced(Outdated):
    """It states a value that is no longer true: this one followed."""

    value: str
    since: date

    def __str__(self) -> str:
        return f"superseded: {_since(self)}"

    @property
    def before_text(self) -> str:
        """`earlier; now Oslo since 2023-03-01`"""
        return f"earlier; now {_since(self)}"


@dataclass(frozen=True, slots=True)
class Ended(Outdated):
    """It states something that is no longer true, and nothing followed."""

    day: date

    def __str__(self) -> str:
        return f"ended: {self.day}"

    @property
    def before_text(self) -> str:
        """`earlier; ended 2023-03-01`"""
        return f"earlier; ended {self.day}"


@dataclass(frozen=True, slots=True)
class Contradicted(Outdated):
    """A later statement of this day answers the question differently."""

    day: date

    def __str__(self) -> str:
        return f"earlier: {self.day} says otherwise"


@dataclass(frozen=True, slots=True)
class Current(CandidateMark):
    """It states the value that replaced another one."""

    value: str
    since: date

    def __str__(self) -> str:
        return f"current: {_since(self)}"

    @property
    def before_text(self) -> str:
        """`now`: the text itself says the rest."""
        return "now"


@dataclass(frozen=True, slots=True)
class OnEdge(CandidateMark):
    """It is or states this edge of the graph."""

    edge: Fact

    def __str__(self) -> str:
        return f"{label(self.edge.subject)} —[{label(self.edge.relation)}]→ {label(self.edge.object)}"


@dataclass(frozen=True, slots=True)
class OnTimeline(CandidateMark):
    """Its place among the memories on its topic, oldest first, and their days."""

    topic: str
    place: int
    count: int
    days: tuple[date, ...]

    def __str__(self) -> str:
        days = [str(day) for day in self.days]
        shown = days if len(days) <= MOST_DAYS else (days[0], "…", days[-1])
        return f"timeline of {label(self.topic)}: {self.place} of {self.count}, {' → '.join(shown)}"


@dataclass(frozen=True, slots=True)
class Conflicting(CandidateMark):
    """Another candidate says something else about the same."""

    def __str__(self) -> str:
        return "⚠️ Conflicts with another result"


def _since(mark: Replaced | Current) -> str:
    return f"{label(mark.value)} since {mark.since}".lstrip()


def before_text(marks: Iterable[CandidateMark]) -> list[str]:
    """What to know before reading a text: that it is outdated or else current, once, and every other mark."""
    marks = list(marks)
    value = [mark for mark in marks if isinstance(mark, Outdated)] or [
        mark for mark in marks if isinstance(mark, Current)
    ]
    others = [mark for mark in marks if not isinstance(mark, Outdated | Current)]
    return [mark.before_text for mark in (*value[:1], *others)]
