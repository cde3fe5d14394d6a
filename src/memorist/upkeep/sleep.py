"""Sleep: notes, then tidying, then the repairs of an audit, as one run."""

from __future__ import annotations

from dataclasses import replace

from memorist.results.upkeep import Report, Tidying


def after_tidying(report: Report, planned: Tidying) -> Report:
    """A report as it is once a tidying is done, which ends expired memories itself."""
    over = {change.id for change in planned.changes if change.rule == "expire"}
    left = [finding for finding in report.findings if not (finding.kind == "stale" and over.issuperset(finding.ids))]
    return replace(report, findings=tuple(left))
