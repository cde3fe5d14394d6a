"""Commands that keep a memory healthy: audit and undo."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from memorist.errors import Error
from memorist.surfaces.cli.lines import count
from memorist.surfaces.cli.options import Json, Yes
from memorist.surfaces.cli.output import one_line, print_json, progress, say, say_cut
from memorist.surfaces.cli.target import opened

if TYPE_CHECKING:
    from memorist.upkeep.audit import Finding, Report

SHOWN = 5
"""Findings of a kind that a terminal gets to see."""
_COLOURS = {"high": "red", "medium": "yellow", "low": "dim"}


def audit(
    context: typer.Context,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="Look for this only, such as secret or drift; may be repeated."),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            "--fix",
            metavar="KIND",
            help="Mend findings of this kind, or all; may be repeated. Without it nothing is changed.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every finding, not the first few of a kind.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Look for what is wrong with the memory: duplicates, contradictions, secrets, drift …; tell, or mend, it."""
    chosen = _chosen(fix or [], context)
    if chosen and not yes and (as_json or not sys.stdin.isatty()):
        raise typer.BadParameter("Nobody can be asked for confirmation here: add --yes.", context)
    with opened(context) as engine:
        stats = engine.stats()
        with progress("Auditing", stats.memories + stats.versions, quiet=as_json) as advance:
            report = engine.audit(kinds=kind, progress=advance)
        wanted = [finding for finding in report.findings if finding.kind in chosen and finding.fix is not None]
        if wanted:
            if not yes:
                _confirm(report, wanted)
            report = engine.mend(report, [finding.id for finding in wanted])
    if as_json:
        print_json(report.to_data())
    else:
        _print(report, sys.maxsize if everything else SHOWN)


def undo(
    context: typer.Context,
    entry: Annotated[str, typer.Argument(metavar="ENTRY", help="The journal entry, as audit --json tells it.")],
    as_json: Json = False,
) -> None:
    """Take back what a gate or a fix did."""
    with opened(context) as engine:
        done = engine.undo(entry)
    if as_json:
        print_json({"undone": done.id, "verb": done.verb, "subjects": list(done.subjects)})
    else:
        say(("✓ ", "green"), f"Undone: {one_line(str(done.data['reason']))}.")


def _chosen(fix: list[str], context: typer.Context) -> set[str]:
    from memorist.upkeep.audit import KINDS

    unknown = sorted(set(fix) - {*KINDS, "all"})
    if unknown:
        raise typer.BadParameter(f"There is no kind {unknown[0]!r}: choose all, {', '.join(KINDS)}.", context)
    return set(KINDS) if "all" in fix else set(fix)


def _confirm(report: Report, wanted: list[Finding]) -> None:
    _print(report, SHOWN)
    final = sum(finding.fix is not None and finding.fix.final is not None for finding in wanted)
    for_good = f", {final} of them for good" if final else ""
    if not typer.confirm(f"Mend {count(len(wanted), 'finding', 'findings')}{for_good}?", err=True):
        raise Error("Nothing was mended", remedy="Answer y to mend.")


def _print(report: Report, shown: int) -> None:
    for _, group in groupby(report.findings, lambda one: (one.severity, one.kind)):
        findings = list(group)
        name = f"{findings[0].kind.replace('_', ' ')}: {len(findings):,}"
        say((name, f"bold {_COLOURS[findings[0].severity]}"))
        for finding in findings[:shown]:
            mark = ("  ✓ ", "green") if finding.id in report.fixed else ("  · ", "dim")
            say_cut(mark, ((finding.ids or ("the store",))[0][:12], "cyan"), f"  {one_line(finding.reason)}")
        if len(findings) > shown:
            say((f"  … and {len(findings) - shown:,} more: --all prints them", "dim"))
    total, mended = len(report.findings), len(report.fixed)
    told = f"{count(report.checked, 'memory', 'memories')} checked, {count(total, 'finding', 'findings')}"
    say(f"{told}, {mended:,} mended." if mended else f"{told}.")
