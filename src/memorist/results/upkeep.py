"""What `tidy`, `consolidate`, `audit`, `mend` and `sleep` return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, get_args

from memorist.model import Doc, Hidden, Link, Memory, Times, Worth, fields_of, fingerprint, to_data

# Tidying

DECIDED = ("tier", "superseded_by", *fields_of(Times), *fields_of(Worth))
"""The fields of a memory that a decision may change."""


def difference(before: Memory, after: Memory) -> dict[str, dict[str, Any]]:
    """The fields in which two states of a memory differ, with the values of both, as JSON."""
    old, new = to_data(before), to_data(after)
    differing = [name for name in DECIDED if old[name] != new[name]]
    return {"before": {name: old[name] for name in differing}, "after": {name: new[name] for name in differing}}


@dataclass(frozen=True, slots=True)
class Change:
    """One change to memories and links, with the rule that asks for it and the reason."""

    IN_JSON: ClassVar = ("changes",)

    rule: str
    id: str
    """The memory that it is about."""
    reason: str
    pairs: Annotated[tuple[tuple[Memory, Memory], ...], Hidden(tuple)] = ()
    """Each memory it changes, before and after."""
    linked: Annotated[tuple[Link, ...], Hidden(tuple)] = ()
    unlinked: Annotated[tuple[Link, ...], Hidden(tuple)] = ()
    vectors: Annotated[Mapping[str, Mapping[str, Any]], Hidden(dict)] = field(
        default_factory=dict[str, Mapping[str, Any]]
    )
    """New vectors, by memory id."""
    final: Annotated[str | None, Hidden()] = None
    """Why it cannot be undone, if it cannot."""

    @property
    def subjects(self) -> tuple[str, ...]:
        """The memories it changes, the one it is about first."""
        return tuple(dict.fromkeys((self.id, *(after.id for _, after in self.pairs))))

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of each memory that change, by its id."""
        return {after.id: difference(before, after) for before, after in self.pairs}


@dataclass(frozen=True, slots=True)
class Tidying:
    """What tidying would change, or has changed. `run` is the id that `undo` takes, None for a dry run."""

    IN_JSON: ClassVar = ("counts",)

    at: datetime
    changes: tuple[Change, ...]
    run: str | None = None

    @classmethod
    def of(cls, parts: Sequence[Tidying]) -> Tidying:
        """The tidyings of each classification as one; `undo` takes their runs together."""
        runs = dict.fromkeys(part.run for part in parts if part.run is not None)
        return cls(parts[0].at, tuple(change for part in parts for change in part.changes), " ".join(runs) or None)

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of changes per rule."""
        return Counter(change.rule for change in self.changes)


# Notes


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """A note that was written: its file if it has one, its version, its author, its lines and its cited memories.

    In a dry run nobody has written it yet: its author is empty, and it has no lines.
    """

    period: str
    name: str
    path: str | None
    version: int
    by: str
    lines: int
    sources: int


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The notes that a run wrote, and how many were up to date already."""

    at: datetime
    written: tuple[WrittenNote, ...]
    unchanged: int
    dropped: tuple[str, ...] = ()
    """Notes that were removed because none of their memories is left."""

    @classmethod
    def of(cls, parts: Sequence[Consolidation]) -> Consolidation:
        """The runs of each classification as one."""
        written = tuple(note for part in parts for note in part.written)
        dropped = tuple(name for part in parts for name in part.dropped)
        return cls(parts[0].at, written, sum(part.unchanged for part in parts), dropped)


# Audits

Severity = Literal["high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
AUDIT_KINDS = (
    "duplicate",
    "near_duplicate",
    "contradiction",
    "wrong_fact",
    "orphan",
    "stale",
    "never_recalled",
    "secret",
    "loop",
    "noise",
    "instructions",
    "drift",
)
"""The kinds of findings."""


def _unchanged(memory: Memory, now: datetime) -> Memory:
    return memory


@dataclass(frozen=True, slots=True)
class Fix:
    """Repairs a finding. It is computed from the memories as they are when it is applied."""

    description: str
    ids: tuple[str, ...] = ()
    """The memories it revises."""
    revise: Callable[[Memory, datetime], Memory] = field(default=_unchanged, compare=False)
    unlinked: tuple[Link, ...] = ()
    embeds: bool = False
    """Whether its memories need new vectors."""
    rewrites: bool = False
    """Whether memories that do not change are written again."""
    final: str | None = None
    """Why it cannot be undone, if it cannot."""
    damage: str | None = None
    """The problem that the store itself reports and repairs, if this is one."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong: with which memories, why, how severe it is, and the repair if there is one."""

    IN_JSON: ClassVar = ("id", "fix", "undoable")

    kind: str
    ids: tuple[str, ...]
    reason: str
    severity: Severity
    repair: Annotated[Fix | None, Hidden()] = None
    fixed: str | None = None
    """The journal entry of the repair, if it was applied."""

    @property
    def id(self) -> str:
        """Stable across audits: the same kind of finding about the same memories has the same id."""
        damage = self.repair and self.repair.damage
        return fingerprint("finding", self.kind, self.ids, *([damage] if damage else []))

    @property
    def fix(self) -> str | None:
        """What the repair does, if there is one."""
        return self.repair and self.repair.description

    @property
    def undoable(self) -> bool:
        """Whether there is a repair that can be undone."""
        return self.repair is not None and self.repair.final is None


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of an audit."""

    IN_JSON: ClassVar = ("counts",)

    at: datetime
    checked: int
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, parts: Sequence[Report]) -> Report:
        """The reports on each classification as one, most severe first, then by kind; ties keep their order."""
        findings = (finding for part in parts for finding in part.findings)
        order = sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), AUDIT_KINDS.index(one.kind)))
        return cls(parts[0].at, sum(part.checked for part in parts), tuple(order))

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings per kind."""
        found = Counter(finding.kind for finding in self.findings)
        return {kind: found[kind] for kind in AUDIT_KINDS if found[kind]}

    @property
    def fixed(self) -> dict[str, str]:
        """The journal entry of each fixed finding, by the finding's id."""
        return {finding.id: finding.fixed for finding in self.findings if finding.fixed is not None}


# All of them


@dataclass(frozen=True, slots=True)
class Sleep:
    """What a sleep would change, or has changed: notes, then tidying, then the repairs of an audit."""

    at: datetime
    notes: Consolidation
    tidying: Tidying
    audit: Report
    run: Annotated[str | None, Doc("The id that undo takes; null for a dry run, and if nothing changed.")] = None
