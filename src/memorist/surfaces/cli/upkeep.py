"""Commands that keep a memory healthy: audit, tidy, consolidate, reembed."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from itertools import groupby
from typing import Annotated, Any

import typer

from memorist.errors import Error, MissingService
from memorist.model import to_data
from memorist.surfaces.cli.app import opened, target
from memorist.surfaces.cli.options import Json, Yes, require_answer
from memorist.surfaces.cli.output import count, one_line, print_json, progress, say, say_cut

app = typer.Typer()
SHOWN = 5
"""Findings per kind, or changes per rule, that are printed without --all."""
COLOURS = {"high": "red", "medium": "yellow", "low": "dim"}


@app.command()
def audit(
    context: typer.Context,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="Look only for this, such as secret or drift; may be repeated."),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            "--fix",
            metavar="KIND",
            help="Fix findings of this kind, or all; may be repeated. Without it nothing is changed.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every finding, not just the first few of each kind.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Find problems in the memory, such as duplicates, contradictions, secrets and drift; report or fix them."""
    chosen = _kinds_to_fix(fix or [], context)
    if chosen and not yes:
        require_answer(context, as_json)
    with opened(context) as engine:
        stats = engine.stats()
        with progress("Auditing", stats.memories + stats.versions, quiet=as_json) as advance:
            report = engine.audit(kinds=kind, progress=advance)
        data = to_data(report)
        wanted = [one for one in data["findings"] if one["kind"] in chosen and one["fix"] is not None]
        if wanted:
            if not yes:
                _confirm_fixes(data, wanted)
            data = to_data(engine.mend(report, [one["id"] for one in wanted]))
    if as_json:
        print_json(data)
    else:
        _print_findings(data, sys.maxsize if everything else SHOWN)


def _kinds_to_fix(fix: list[str], context: typer.Context) -> set[str]:
    from memorist.engine.vocabulary import AUDIT_KINDS

    unknown = sorted(set(fix) - {*AUDIT_KINDS, "all"})
    if unknown:
        raise typer.BadParameter(f"There is no kind {unknown[0]!r}: choose all, {', '.join(AUDIT_KINDS)}.", context)
    return set(AUDIT_KINDS) if "all" in fix else set(fix)


def _confirm_fixes(report: dict[str, Any], wanted: list[dict[str, Any]]) -> None:
    _print_findings(report, SHOWN)
    final = sum(not one["undoable"] for one in wanted)
    for_good = f", {final} of them for good" if final else ""
    if not typer.confirm(f"Fix {count(len(wanted), 'finding', 'findings')}{for_good}?", err=True):
        raise Error("Nothing was fixed", remedy="Answer y to fix.")


def _print_findings(report: dict[str, Any], shown: int) -> None:
    for _, group in groupby(report["findings"], lambda one: (one["severity"], one["kind"])):
        findings = list(group)
        name = f"{findings[0]['kind'].replace('_', ' ')}: {len(findings):,}"
        say((name, f"bold {COLOURS[findings[0]['severity']]}"))
        for finding in findings[:shown]:
            mark = ("  ✓ ", "green") if finding["fixed"] else ("  · ", "dim")
            say_cut(mark, ((finding["ids"] or ["the store"])[0][:12], "cyan"), f"  {one_line(finding['reason'])}")
        _say_more(len(findings) - shown)
    total, fixed = len(report["findings"]), sum(one["fixed"] is not None for one in report["findings"])
    summary = f"{count(report['checked'], 'memory', 'memories')} checked, {count(total, 'finding', 'findings')}"
    say(f"{summary}, {fixed:,} fixed." if fixed else f"{summary}.")


@app.command()
def tidy(
    context: typer.Context,
    apply: Annotated[bool, typer.Option("--apply", help="Make the changes; without it they are only listed.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every change, not just the first few of each rule.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tidy learned memories: tiers, decay, merges, orphans, expiry. A dry run unless --apply is given."""
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
        _say_more(len(changes) - shown)
    total = count(len(done.changes), "change", "changes")
    if done.run is not None:
        say(("✓ ", "green"), f"{total} made. To undo: memorist undo {done.run}")
    else:
        say(f"{total} to make; --apply makes them." if done.changes else "Nothing to tidy.")


def _say_more(hidden: int) -> None:
    if hidden > 0:
        say((f"  … and {hidden:,} more; --all prints them", "dim"))


@app.command()
def consolidate(
    context: typer.Context,
    period: Annotated[
        str | None, typer.Argument(metavar="PERIOD", help="Daily, weekly or quarterly; all three if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write notes on past days, weeks and quarters; notes that are up to date are not written again."""
    with opened(context) as engine:
        done = engine.consolidate(period)
    if as_json:
        print_json(to_data(done))
        return
    for note in done.written:
        where = note.path or f"{note.period} {note.name}"
        say_cut(("✓ ", "green"), one_line(where), (f"  {count(note.lines, 'line', 'lines')}, by {note.by}", "dim"))
    for name in done.dropped:
        say_cut(("✗ ", "yellow"), name, ("  no memories left", "dim"))
    say(f"{count(len(done.written), 'note', 'notes')} written, {done.unchanged:,} up to date.")


@app.command()
def reembed(
    context: typer.Context,
    embedder: Annotated[
        str | None,
        typer.Option(metavar="EMBEDDER", help="The embedder to use from now on; the configured one if left out."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute all vectors again; recall uses the old ones until the last new one is written."""
    chosen = target(context) if embedder is None else replace(target(context), embedder=embedder)
    with chosen.open() as engine:
        stats = engine.stats()
        with progress("Embedding", stats.memories + stats.versions, quiet=as_json) as advance:
            try:
                done = engine.reembed(progress=advance)
            except MissingService as error:
                raise MissingService(error.problem, remedy="Name one, such as --embedder local.") from None
    if as_json:
        print_json(asdict(done))
        return
    made = count(done.embedded, "memory", "memories")
    say(("✓ ", "green"), f"Embedded {made} of {done.memories:,} with {done.embedding}.")
    if embedder is not None and done.previous != done.embedding:
        say((f'Open it with that embedder from now on: embedder = "{one_line(embedder)}" in memorist.toml.', "dim"))
