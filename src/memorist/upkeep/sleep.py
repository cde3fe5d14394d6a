"""What a sleep did: notes, then tidying, then the repairs of an audit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from memorist.model import Doc
from memorist.upkeep.audit import Report
from memorist.upkeep.consolidate import Consolidation
from memorist.upkeep.tidy import Tidying


@dataclass(frozen=True, slots=True)
class Sleep:
    """What a sleep would change, or has changed."""

    at: datetime
    notes: Consolidation
    tidying: Tidying
    audit: Report
    run: Annotated[str | None, Doc("The id that undo takes; null for a dry run, and if nothing changed.")] = None


def after_tidying(report: Report, planned: Tidying) -> Report:
    """A report as it is once a tidying is done, which ends expired memories itself."""
    over = {change.id for change in planned.changes if change.rule == "expire"}
    left = [one for one in report.findings if not (one.kind == "stale" and over.issuperset(one.ids))]
    return replace(report, findings=tuple(left))
