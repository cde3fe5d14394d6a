"""Commands that move memories: backup, restore, export, import, move."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import memorist
from memorist.engine.open import locate, on_server, open_store
from memorist.errors import Error
from memorist.model import to_data
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import PIPE, argument, command, flag, input_file, option
from memorist.surfaces.cli.output import count, one_line, progress, say, size

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


app = typer.Typer()
LONGEST_HEAD = 100_000
"""Bytes of the first line of an export that are read to count its memories."""
Overwrite = Annotated[bool, flag("--overwrite", "Replace the file if it exists.")]


@command(app)
def backup(
    engine: Engine, path: Annotated[Path, argument("FILE", "The file to write.")], overwrite: Overwrite = False
) -> Iterator[object]:
    """Copy the memory to a file while it is in use, and verify the copy."""
    made = engine.backup(path, overwrite=overwrite)
    yield made
    say(("✓ ", "green"), f"Backed up to {one_line(str(made.path))}, {size(made.bytes)}, verified.")


@command(app)
def restore(
    target: Target,
    path: Annotated[Path, argument("BACKUP", "A file that `memorist backup` wrote.")],
    to: Annotated[str | None, option("DB", "The memory to replace; the one of --db if left out.")] = None,
) -> Iterator[object]:
    """Replace a memory with a backup; old files are renamed, not deleted. On PostgreSQL, fill an empty space."""
    aside = memorist.restore(path, to or target.db, space=target.space, config=target.config)
    yield {"restored": path, "aside": aside}
    say(("✓ ", "green"), f"Restored {one_line(str(path))}.")
    for file in aside:
        say((f"  the old file is now {one_line(str(file))}", "dim"))


@command(app)
def export(
    target: Target,
    path: Annotated[str, argument("FILE", "The file to write; - is standard output.")],
    as_json: bool,
    overwrite: Overwrite = False,
) -> Iterator[object]:
    """Write everything as JSON lines, including vectors."""
    if path == PIPE and as_json:
        raise typer.BadParameter("Standard output cannot hold both the export and a report: leave out --json.")
    with target.open() as engine:
        stats = engine.stats()
        with progress("Exporting", lambda: stats.memories + stats.versions, quiet=as_json) as advance:
            made = engine.export(sys.stdout.buffer if path == PIPE else path, overwrite=overwrite, progress=advance)
    yield {"path": path, "lines": made.lines, **to_data(made.head)}
    if path != PIPE:
        held = made.head.counts
        say(("✓ ", "green"), f"Exported {_memories(held['memories'] + held['versions'])} to {one_line(path)}.")


@command(app, "import", creates=True)
def import_(
    engine: Engine,
    path: Annotated[str, input_file("FILE", "An export; - is standard input.")],
    as_json: bool,
    without_vectors: Annotated[
        bool, flag("--without-vectors", "Ignore its vectors and embed its texts again.")
    ] = False,
) -> Iterator[object]:
    """Read an export; memories that are known already stay as they are."""
    source = sys.stdin.buffer if path == PIPE else path
    with progress("Importing", lambda: _promised(path), quiet=as_json) as advance:
        done = engine.import_(source, without_vectors=without_vectors, progress=advance)
    yield done
    updated = f", {done.updated:,} got newer versions" if done.updated else ""
    masked = f", secrets were masked in {done.masked:,}" if done.masked else ""
    say(("✓ ", "green"), f"Imported {_memories(done.added)}; {done.known:,} were known already{updated}{masked}.")
    if done.conflicts:
        raise Error(
            f"{_memories(len(done.conflicts))} of the export have a different text here, such as {done.conflicts[0]}",
            remedy="They were not changed; look at them with `memorist history ID`.",
        )


def _promised(path: str) -> int | None:
    """The memories that an export says it holds; None for a pipe, or for what is no export, which `import` explains."""
    try:
        with Path(path).open("rb") as file:
            counts: Any = json.loads(file.readline(LONGEST_HEAD))["counts"]
        return int(counts["memories"]) + int(counts["versions"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _memories(number: int) -> str:
    return count(number, "memory", "memories")


@command(app)
def move(
    target: Target,
    source: Annotated[str, argument("SRC", "The memory to copy: a path or a URL.")],
    destination: Annotated[str, argument("DST", "The destination: a path or a URL.")],
    as_json: bool,
    as_space: Annotated[str | None, option("SPACE", "The new space; the source's if left out.", "--as")] = None,
) -> Iterator[object]:
    """Copy a whole memory to another store and verify that both are the same; the source is not changed."""
    from memorist.upkeep.transfer import move as copy_all

    space = target.space
    with (
        closing(open_store(source, space, create=False)) as here,
        closing(open_store(destination, as_space or _space_at(destination, here.space))) as there,
    ):
        stats, new_space = here.stats(), there.space
        with progress("Moving", lambda: stats.memories + stats.versions, quiet=as_json) as advance:
            moved = copy_all(here, there, progress=advance)
    yield to_data(moved) | {"space": new_space}
    say(("✓ ", "green"), f"Moved {_memories(moved.memories)} to the space {new_space!r}.")
    say((f"Verified: both have the checksum {moved.checksum[:16]}…; {moved.known:,} were there before.", "dim"))


def _space_at(destination: str, space: str) -> str | None:
    """The space to use at the destination: a folder or a server keeps the name, a file is named after itself."""
    return space if on_server(destination) or locate(destination, space)[1] else None
