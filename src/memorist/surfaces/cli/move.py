"""Commands that renew and move a memory: reembed, backup, restore, export, import."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

import memorist
from memorist.errors import Error
from memorist.surfaces.cli.lines import count, size
from memorist.surfaces.cli.options import Json
from memorist.surfaces.cli.output import one_line, print_json, progress, say
from memorist.surfaces.cli.target import opened, target

PIPE = "-"
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there already.")]


def reembed(
    context: typer.Context,
    embedder: Annotated[
        str | None,
        typer.Option(metavar="EMBEDDER", help="What to embed by from now on; the configured one if left out."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make new vectors of everything; recalls use the old ones until the last new one is there."""
    chosen = target(context) if embedder is None else replace(target(context), embedder=embedder)
    with chosen.open() as engine:
        stats = engine.stats()
        with progress("Embedding", stats.memories + stats.versions, quiet=as_json) as advance:
            done = engine.reembed(progress=advance)
    if as_json:
        print_json(asdict(done))
        return
    say(("✓ ", "green"), f"Embedded {_memories(done.embedded)} of {done.memories:,} by {done.embedding}.")
    if embedder is not None and done.previous != done.embedding:
        say((f'From now on open it with that embedder: embedder = "{one_line(embedder)}" in memorist.toml.', "dim"))


def backup(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Where to put the backup.")],
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Copy the memory to a file while it is in use, and check the copy."""
    with opened(context) as engine:
        made = engine.backup(path, overwrite=overwrite)
    if as_json:
        print_json({"path": str(made.path), "bytes": made.bytes, "notes": made.notes})
    else:
        say(("✓ ", "green"), f"Backed up to {one_line(str(made.path))}, {size(made.bytes)}, checked.")


def restore(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="BACKUP", help="A file that `memorist backup` made.")],
    to: Annotated[
        str | None, typer.Option("--to", metavar="DB", help="The memory to restore; that of --db if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Put a backup in a memory's place; what was there is moved aside, not lost."""
    chosen = target(context)
    aside = memorist.restore(path, to or chosen.db, space=chosen.space, config=chosen.config)
    if as_json:
        print_json({"restored": str(path), "aside": [str(one) for one in aside]})
        return
    say(("✓ ", "green"), f"Restored {one_line(str(path))}.")
    for one in aside:
        say((f"  what was there is now {one_line(str(one))}", "dim"))


def export(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="FILE", help="Where to write it; - is standard output.")],
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Write everything as lines of JSON, vectors included."""
    if path == PIPE and as_json:
        raise typer.BadParameter("Standard output cannot hold the export and a report: leave --json out.", context)
    with opened(context) as engine:
        stats = engine.stats()
        with progress("Exporting", stats.memories + stats.versions, quiet=as_json) as advance:
            made = engine.export(sys.stdout.buffer if path == PIPE else path, overwrite=overwrite, progress=advance)
    if as_json:
        print_json({"path": path, "lines": made.lines, **asdict(made.head)})
    elif path != PIPE:
        held = made.head.counts
        say(("✓ ", "green"), f"Exported {_memories(held['memories'] + held['versions'])} to {one_line(path)}.")


def import_(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="FILE", help="An export; - is standard input.")],
    without_vectors: Annotated[
        bool, typer.Option("--without-vectors", help="Leave its vectors out, and embed its texts anew.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take in an export; what is known already stays as it is."""
    with opened(context) as engine:
        source = sys.stdin.buffer if path == PIPE else path
        with progress("Importing", 0, quiet=as_json) as advance:
            done = engine.import_(source, without_vectors=without_vectors, progress=advance)
    if as_json:
        print_json(asdict(done))
        return
    updated = f", {done.updated:,} got later versions" if done.updated else ""
    say(("✓ ", "green"), f"Imported {_memories(done.added)}; {done.known:,} were known{updated}.")
    if done.conflicts:
        raise Error(
            f"{_memories(len(done.conflicts))} of the export have another text here, such as {done.conflicts[0]}",
            remedy="They were left as they are; look at them with `memorist history ID`.",
        )


def _memories(number: int) -> str:
    return count(number, "memory", "memories")
