"""What `ingest` and the commit of a session return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from memorist.model import Memory

SessionState = Literal["open", "closed", "failed"]


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item that is not kept: where it is, and the reason."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cleaned:
    """An item that is kept with changes: where it is, and what was changed."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The result of an import: what became of the texts, by outcome, and which were skipped or cleaned."""

    kept: int = 0
    known: int = 0
    merged: int = 0
    withheld: int = 0
    facts: int = 0
    files: int = 0
    sessions: int = 0
    skipped_files: tuple[Skipped, ...] = ()
    """The first hundred files from which nothing was read, each with the first reason."""
    skipped: tuple[Skipped, ...] = ()
    """The first hundred; `skipped_by_reason` counts them all."""
    skipped_by_reason: Mapping[str, int] = field(default_factory=dict[str, int])
    cleaned: tuple[Cleaned, ...] = ()
    """The first hundred; `cleaned_by_reason` counts them all."""
    cleaned_by_reason: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Commit:
    """The result of a commit: the state of the session, who read it, and the new memories."""

    IN_JSON: ClassVar = ("counts",)

    session: str
    state: SessionState
    steps: int = 0
    trajectories: int = 0
    by: str | None = None
    memories: tuple[Memory, ...] = ()
    error: str | None = None
    note: str | None = None
    """Why the rules read it although there is a model."""

    @property
    def counts(self) -> Mapping[str, int]:
        """New memories by kind."""
        return Counter(str(memory.kind) for memory in self.memories)
