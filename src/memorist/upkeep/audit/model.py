"""What an audit gives: findings, each with its reason and a fix that can be undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypedDict

from memorist.model import Link, Memory, fingerprint, isoformat
from memorist.ports import Vectors

Severity = Literal["high", "medium", "low"]
KINDS = (
    "duplicate",
    "near_duplicate",
    "contradiction",
    "orphan",
    "stale",
    "never_recalled",
    "secret",
    "loop",
    "noise",
    "instructions",
    "drift",
)
"""What an audit looks for."""


class AuditedRows(Protocol):
    """What a fix reads of the store as it stands."""

    def get(self, ids: Sequence[str]) -> Mapping[str, Memory]:
        """The memories with these ids; unknown ids are left out."""
        ...


@dataclass(frozen=True, slots=True)
class AuditChange:
    """What a fix writes: memories as they shall be, links to take out, vectors of texts that changed."""

    revised: Sequence[Memory] = ()
    unlinked: Sequence[Link] = ()
    vectors: Mapping[str, Vectors] = field(default_factory=dict[str, Vectors])


class Fix(Protocol):
    """A change that mends what was found."""

    @property
    def final(self) -> str | None:
        """Why it cannot be undone, if it cannot."""
        ...

    def told(self) -> str:
        """What it does, in a sentence."""
        ...

    def texts(self, known: AuditedRows) -> Sequence[str]:
        """The texts it needs vectors of."""
        ...

    def change(self, known: AuditedRows, now: datetime, fresh: Mapping[str, Vectors]) -> AuditChange:
        """What to write, given the store as it stands and vectors by text; nothing where all is mended already."""
        ...


class FindingData(TypedDict):
    """The JSON form of a finding."""

    id: str
    kind: str
    ids: list[str]
    reason: str
    severity: Severity
    fix: str | None
    undoable: bool
    fixed: str | None


class ReportData(TypedDict):
    """The JSON form of a report."""

    at: str
    checked: int
    counts: dict[str, int]
    findings: list[FindingData]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong: with which memories, why, how much it matters, and what mends it."""

    kind: str
    ids: tuple[str, ...]
    reason: str
    severity: Severity
    fix: Fix | None = None

    @property
    def id(self) -> str:
        """The same for the same fault of the same memories, in every audit."""
        return fingerprint("finding", self.kind, self.ids)

    def to_data(self, fixed: str | None = None) -> FindingData:
        """A finding as JSON, with the journal's entry about its mending."""
        fix = self.fix
        return {
            "id": self.id,
            "kind": self.kind,
            "ids": list(self.ids),
            "reason": self.reason,
            "severity": self.severity,
            "fix": None if fix is None else fix.told(),
            "undoable": fix is not None and fix.final is None,
            "fixed": fixed,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What an audit found, and the journal's entries about what it mended."""

    at: datetime
    checked: int
    findings: tuple[Finding, ...]
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The journal's entry for each finding that was mended."""

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each kind."""
        found = Counter(finding.kind for finding in self.findings)
        return {kind: found[kind] for kind in KINDS if found[kind]}

    def to_data(self) -> ReportData:
        """A report as JSON."""
        return {
            "at": isoformat(self.at),
            "checked": self.checked,
            "counts": self.counts,
            "findings": [finding.to_data(self.fixed.get(finding.id)) for finding in self.findings],
        }
