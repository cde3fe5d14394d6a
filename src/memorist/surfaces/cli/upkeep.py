"""Commands that keep a memory in order: feedback, invalidate, undo, audit, tidy, consolidate."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorist.errors import Error, InvalidInput
from memorist.model import to_data
from memorist.surfaces.cli.options import Json, MemoryId, Yes, memory_called, opened
from memorist.surfaces.cli.output import count, memory_line, one_line, print_json, progress, say, say_cut

if TYPE_CHECKING:
    from memorist.upkeep.audit import Finding, Report


SHOWN = 5
"""Changes of a rule that a terminal gets to see."""


def feedback(
    context: typer.Context,
    id: MemoryId,
    verdict: Annotated[str, typer.Argument(metavar="VERDICT", help="Useful, wrong, outdated or hide.")],
    recall: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The recall that gave it, as `recall --json` printed it; its question is kept."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell what a memory was worth; that moves its ranking within bounds."""
    given = None if recall is None else _recall(recall)
    with opened(context) as engine:
        memory = engine.feedback(memory_called(engine, id).id, verdict, given)
    if as_json:
        print_json(to_data(memory))
    else:
        say_cut(("✓ ", "green"), *memory_line(memory), (f"  relevance {memory.worth.relevance:+g}", "dim"))


def invalidate(
    context: typer.Context,
    id: MemoryId,
    at: Annotated[str | None, typer.Option(metavar="WHEN", help="When it ceased to be true. Default: now.")] = None,
    superseded_by: Annotated[
        str | None, typer.Option(metavar="ID", help="The memory that came after it, or the beginning of its id.")
    ] = None,
    as_json: Json = False,
) -> None:
    """End a memory's truth at a moment; it stays in its history."""
    with opened(context) as engine:
        after = superseded_by and memory_called(engine, superseded_by).id
        memory = engine.invalidate(memory_called(engine, id).id, at, after)
    if as_json:
        print_json(to_data(memory))
    else:
        end = memory.times.valid_to
        say_cut(("✓ ", "green"), *memory_line(memory), (f"  until {end.date()}" if end else "", "dim"))


def tidy(
    context: typer.Context,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this, only tell.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Print every change, not the first few of a rule.")] = False,
    as_json: Json = False,
) -> None:
    """Tidy what was learnt: tiers, decay, merges, orphans, expiry; a dry run unless --apply is given."""
    with opened(context) as engine:
        done = engine.tidy(dry_run=not apply)
    if as_json:
        print_json(to_data(done))
        return
    shown = sys.maxsize if everything else SHOWN
    for rule, group in groupby(done.changes, lambda change: change.rule):
        changes = list(group)
        say((f"{rule}: {len(changes):,}", "bold"))
        for change in changes[:shown]:
            say_cut("  ", (change.id[:12], "cyan"), f"  {one_line(change.reason)}")
        if len(changes) > shown:
            say((f"  … and {len(changes) - shown:,} more: --all prints them", "dim"))
    total = count(len(done.changes), "change", "changes")
    if done.run is not None:
        say(("✓ ", "green"), f"{total} made. To take them back: memorist undo {done.run}")
    else:
        say(f"{total} to make; --apply makes them." if done.changes else "Nothing to tidy.")


def consolidate(
    context: typer.Context,
    period: Annotated[
        str | None, typer.Argument(metavar="PERIOD", help="Daily, weekly or quarterly; all of them if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write notes on the days, weeks and quarters that are over; what is up to date stays as it is."""
    with opened(context) as engine:
        done = engine.consolidate(period)
    if as_json:
        print_json(to_data(done))
        return
    for note in done.written:
        where = note.path or f"{note.period} {note.name}"
        say_cut(("✓ ", "green"), one_line(where), (f"  {count(note.lines, 'line', 'lines')}, by {note.by}", "dim"))
    for name in done.dropped:
        say_cut(("✗ ", "yellow"), name, ("  nothing left to tell", "dim"))
    say(f"{count(len(done.written), 'note', 'notes')} written, {done.unchanged:,} up to date.")


def _recall(file: Path) -> dict[str, Any]:
    try:
        data: object = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}", remedy="Give what `recall --json` printed.") from None
    return data if isinstance(data, dict) else {}  # pyright: ignore[reportUnknownVariableType]


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
        print_json(to_data(report))
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
