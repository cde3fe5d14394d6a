"""Commands that keep a memory in order: feedback, invalidate, tidy and consolidate."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from memorist.errors import InvalidInput
from memorist.surfaces.cli.lines import count, memory_line
from memorist.surfaces.cli.options import Json, MemoryId
from memorist.surfaces.cli.output import one_line, print_json, say, say_cut
from memorist.surfaces.cli.target import memory_called, opened
from memorist.wire import memory_to_data

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
        print_json(memory_to_data(memory))
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
        print_json(memory_to_data(memory))
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
        print_json(done.to_data())
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
        print_json(done.to_data())
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
