"""Commands that keep a memory healthy: audit, tidy, consolidate, reembed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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
        wanted = [one for one in data["findings"] if one["kind"] in chosen and one["fix"] is not None]
        if wanted:
            if not yes:
                _confirm_fixes(data, wanted)
            data = to_data(engine.mend(report, [one["id"] for one in wanted]))
    yield data
    _print_findings(data, sys.maxsize if everything else SHOWN)


def _kinds_to_fix(fix: list[str]) -> set[str]:
    from memorist.engine.vocabulary import AUDIT_KINDS

    unknown = sorted(set(fix) - {*AUDIT_KINDS, "all"})
    if unknown:
        raise typer.BadParameter(f"There is no kind {unknown[0]!r}: choose all, {', '.join(AUDIT_KINDS)}.")
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


@command(app)
def tidy(
    engine: Engine,
    apply: Annotated[bool, flag("--apply", "Make the changes; without it they are only listed.")] = False,
    everything: Annotated[bool, flag("--all", "Print every change, not just the first few of each rule.")] = False,
) -> Iterator[object]:
    """Tidy learned memories: tiers, decay, merges, orphans, expiry. A dry run unless --apply is given."""
    done = engine.tidy(dry_run=not apply)
    yield done
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


@command(app)
def consolidate(
    engine: Engine,
    period: Annotated[str | None, argument("PERIOD", "Daily, weekly or quarterly; all three if left out.")] = None,
) -> Iterator[object]:
    """Write notes on past days, weeks and quarters; notes that are up to date are not written again."""
    done = engine.consolidate(period)
    yield done
    for note in done.written:
        where = note.path or f"{note.period} {note.name}"
        say_cut(("✓ ", "green"), one_line(where), (f"  {count(note.lines, 'line', 'lines')}, by {note.by}", "dim"))
    for name in done.dropped:
        say_cut(("✗ ", "yellow"), name, ("  no memories left", "dim"))
    say(f"{count(len(done.written), 'note', 'notes')} written, {done.unchanged:,} up to date.")


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
