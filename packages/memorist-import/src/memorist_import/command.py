"""The command sync: keeps replicas of a memory together through a folder that they share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import memorist
from memorist.surfaces.cli.options import argument, command, flag, option
from memorist.surfaces.cli.output import count, one_line, say

if TYPE_CHECKING:
    from memorist.engine.engine import Engine
    from memorist_import.sync import Moves


app = typer.Typer()


@command(app, creates=True)
def sync(
    engine: Engine,
    folder: Annotated[Path, argument("DIR", "The folder that all replicas share; created if it does not exist.")],
    scope: Annotated[
        list[str] | None,
        option("SCOPE", "Share only this scope, in either direction; may be repeated. Default: as before, else all."),
    ] = None,
    classification: Annotated[
        int | None, option("NUMBER", "Share memories up to this. Default: as before, else 1.", min=0, max=3)
    ] = None,
    trust: Annotated[int, option("NUMBER", "Trust texts of others up to this. Default: 3.", min=0, max=3)] = 3,
    retire: Annotated[
        str | None, option("REPLICA", "Take over the files of a replica that will not come back.")
    ] = None,
    dry_run: Annotated[bool, flag("--dry-run", "Print what would come and go; change nothing.")] = False,
) -> Iterator[object]:
    """Exchange what changed with the other replicas of this memory, through a folder that all of them share."""
    done = memorist.sync(
        engine,
        folder,
        scopes=scope or None,
        classification=classification,
        trust=trust,
        retire=retire,
        dry_run=dry_run,
    )
    yield done
    came, went = ("would come", "would go") if dry_run else ("came", "went")
    say(("✓ ", "green"), f"{_moves(done.came)} {came}, {_moves(done.went)} {went}.")
    if done.renewed:
        say(("This database was copied or restored: it is now the replica " + done.replica, "yellow"))
    if done.refused:
        say((f"{count(done.refused, 'record', 'records')} of others were not taken: see `memorist journal`.", "yellow"))
    for skip in done.skipped:
        say((f"skipped {one_line(skip.name)}: {one_line(skip.reason)}", "yellow"))


def _moves(moves: Moves) -> str:
    """What moved in one direction, in words."""
    parts = [
        count(moves.memories, "memory", "memories"),
        *([count(moves.facts, "fact", "facts")] if moves.facts else []),
        *([count(moves.marks, "mark", "marks")] if moves.marks else []),
        *([f"{moves.forgotten:,} forgotten"] if moves.forgotten else []),
    ]
    shown = parts if moves.memories or len(parts) == 1 else parts[1:]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
