"""Commands that keep a memory healthy: sleep, audit, tidy, consolidate, reembed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorist.errors import Error, MissingService
from memorist.model import to_data
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import Yes, argument, command, flag, option, require_answer
from memorist.surfaces.cli.output import count, one_line, progress, say, say_cut

if TYPE_CHECKING:
    from memorist.engine.engine import Engine
    from memorist.results.upkeep import Change, Consolidation


app = typer.Typer()
SHOWN = 5
"""Findings per kind, or changes per rule, that are printed without --all."""
COLOURS = {"high": "red", "medium": "yellow", "low": "dim"}


@command(app)
def audit(
    target: Target,
    as_json: bool,
    kinds: Annotated[
        list[str] | None, option("KIND", "Look only for this, such as secret or drift; may be repeated.")
    ] = None,
    fix: Annotated[
        list[str] | None,
        option("KIND", "Fix findings of this kind, or all; may be repeated. Without it nothing is changed."),
    ] = None,
    everything: Annotated[bool, flag("--all", "Print every finding, not just the first few of each kind.")] = False,
    yes: Yes = False,
) -> Iterator[object]:
    """Find problems in the memory, such as duplicates, contradictions, secrets and drift; report or fix them."""
    chosen = _kinds_to_fix(fix or [])
    if chosen and not yes:
        require_answer(as_json)
    with target.open() as engine:
        stats = engine.stats()
        with progress("Auditing", lambda: stats.memories + stats.versions, quiet=as_json) as advance:
            report = engine.audit(kinds=kinds, progress=advance)
        data = to_data(report)
        wanted = [finding for finding in data["findings"] if finding["kind"] in chosen and finding["fix"] is not None]
        if wanted:
            if not yes:
                _confirm_fixes(data, wanted)
            data = to_data(engine.mend(report, [finding["id"] for finding in wanted]))
    yield data
    _print_findings(data, sys.maxsize if everything else SHOWN)


def _kinds_to_fix(fix: list[str]) -> set[str]:
    from memorist.results.upkeep import AUDIT_KINDS

    unknown = sorted(set(fix) - {*AUDIT_KINDS, "all"})
    if unknown:
        raise typer.BadParameter(f"There is no kind {unknown[0]!r}: choose all, {', '.join(AUDIT_KINDS)}.")
    return set(AUDIT_KINDS) if "all" in fix else set(fix)


def _confirm_fixes(report: dict[str, Any], wanted: list[dict[str, Any]]) -> None:
    _print_findings(report, SHOWN)
    final = sum(not finding["undoable"] for finding in wanted)
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
    total, fixed = len(report["findings"]), sum(finding["fixed"] is not None for finding in report["findings"])
    summary = f"{count(report['checked'], 'memory', 'memories')} checked, {count(total, 'finding', 'findings')}"
    say(f"{summary}, {fixed:,} fixed." if fixed else f"{summary}.")


@command(app)
def tidy(
    engine: Engine,
    apply: Annotated[bool, flag("--apply", "Make the changes; without it they are only listed.")] = False,
    everything: Annotated[bool, flag("--all", "Print every change, not just the first few of each rule.")] = False,
) -> Iterator[object]:
    """Tidy learned memories: tiers, decay, merges, orphans, expiry. A dry run unless --apply is given."""
    done = engine.tidy(dry_run=not apply)
    yield done
    _print_changes(done.changes, sys.maxsize if everything else SHOWN)
    _say_made(count(len(done.changes), "change", "changes") if done.changes else None, done.run, "Nothing to tidy.")


@command(app)
def sleep(
    engine: Engine,
    apply: Annotated[bool, flag("--apply", "Make the changes; without it they are only listed.")] = False,
    everything: Annotated[bool, flag("--all", "Print every change and finding, not just the first few.")] = False,
) -> Iterator[object]:
    """Consolidate, tidy and audit, as one run that `memorist undo` takes back. A dry run unless --apply is given."""
    done = engine.sleep(dry_run=not apply)
    yield done
    shown = sys.maxsize if everything else SHOWN
    _print_notes(done.notes)
    _print_changes(done.tidying.changes, shown)
    _print_findings(to_data(done.audit), shown)
    fixes = len(done.audit.fixed) if apply else sum(finding.undoable for finding in done.audit.findings)
    parts = [
        count(len(done.notes.written), "note", "notes"),
        count(len(done.tidying.changes), "change", "changes"),
        count(fixes, "fix", "fixes"),
    ]
    anything = done.notes.written or done.tidying.changes or fixes
    _say_made(", ".join(parts) if anything else None, done.run, "Nothing to do.")


def _print_changes(changes: Sequence[Change], shown: int) -> None:
    for rule, group in groupby(changes, lambda change: change.rule):
        some = list(group)
        say((f"{rule}: {len(some):,}", "bold"))
        for change in some[:shown]:
            say_cut("  ", (change.id[:12], "cyan"), f"  {one_line(change.reason)}")
        _say_more(len(some) - shown)


def _say_made(made: str | None, run: str | None, nothing: str) -> None:
    """What a run has made and how to undo it, or would make; None for nothing."""
    if run is not None:
        say(("✓ ", "green"), f"{made} made. To undo: memorist undo {run}")
    else:
        say(f"{made} to make; --apply makes them." if made else nothing)


def _say_more(hidden: int) -> None:
    if hidden > 0:
        say((f"  … and {hidden:,} more; --all prints them", "dim"))


@command(app)
def consolidate(
    engine: Engine,
    period: Annotated[str | None, argument("PERIOD", "Daily, weekly or quarterly; all three if left out.")] = None,
) -> Iterator[object]:
    """Write notes on past days, weeks and quarters; notes that are up to date are not written again."""
    done = engine.consolidate(period)
    yield done
    _print_notes(done)
    say(f"{count(len(done.written), 'note', 'notes')} written, {done.unchanged:,} up to date.")


def _print_notes(done: Consolidation) -> None:
    for note in done.written:
        where = one_line(note.path or f"{note.period} {note.name}")
        if note.by:
            say_cut(("✓ ", "green"), where, (f"  {count(note.lines, 'line', 'lines')}, by {note.by}", "dim"))
        else:
            say_cut(("· ", "dim"), where, ("  to write", "dim"))
    for name in done.dropped:
        say_cut(("✗ ", "yellow"), name, ("  no memories left", "dim"))


@command(app)
def reembed(
    target: Target,
    as_json: bool,
    embedder: Annotated[
        str | None, option("EMBEDDER", "The embedder to use from now on; the configured one if left out.")
    ] = None,
) -> Iterator[object]:
    """Compute all vectors again; recall uses the old ones until the last new one is written."""
    with replace(target, embedder=embedder or target.embedder).open() as engine:
        stats = engine.stats()
        with progress("Embedding", lambda: stats.memories + stats.versions, quiet=as_json) as advance:
            try:
                done = engine.reembed(progress=advance)
            except MissingService as error:
                raise MissingService(error.problem, remedy="Name one, such as --embedder local.") from None
    yield done
    made = count(done.embedded, "memory", "memories")
    say(("✓ ", "green"), f"Embedded {made} of {done.memories:,} with {done.embedding}.")
    name, value = ("models", target.models) if embedder is None else ("embedder", embedder)
    if value is not None and done.previous != done.embedding:
        say((f'From now on, open it with {name} = "{one_line(value)}" in memorist.toml.', "dim"))
