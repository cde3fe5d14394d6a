"""Commands that move memories: backup, restore, export, import, move; and db, for PostgreSQL."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import memorist
from memorist.engine.open import locate, on_server, open_database, open_store
from memorist.errors import Error, InvalidInput, NotFound
from memorist.surfaces.cli.app import opened, target
from memorist.surfaces.cli.options import Json
from memorist.surfaces.cli.output import count, one_line, print_json, progress, say, size

app = typer.Typer()
PIPE = "-"
"""The path that stands for standard input or output."""
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")]


@app.command()
def backup(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Copy the memory to a file while it is in use, and verify the copy."""
    with opened(context) as engine:
        made = engine.backup(path, overwrite=overwrite)
    if as_json:
        print_json({"path": str(made.path), "bytes": made.bytes, "notes": made.notes})
    else:
        say(("✓ ", "green"), f"Backed up to {one_line(str(made.path))}, {size(made.bytes)}, verified.")


@app.command()
def restore(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="BACKUP", help="A file that `memorist backup` wrote.")],
    to: Annotated[
        str | None, typer.Option("--to", metavar="DB", help="The memory to replace; the one of --db if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Replace a memory with a backup; the old files are renamed, not deleted."""
    chosen = target(context)
    aside = memorist.restore(path, to or chosen.db, space=chosen.space, config=chosen.config)
    if as_json:
        print_json({"restored": str(path), "aside": [str(one) for one in aside]})
        return
    say(("✓ ", "green"), f"Restored {one_line(str(path))}.")
    for one in aside:
        say((f"  the old file is now {one_line(str(one))}", "dim"))


@app.command()
def export(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="FILE", help="The file to write; - is standard output.")],
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Write everything as JSON lines, including vectors."""
    if path == PIPE and as_json:
        raise typer.BadParameter("Standard output cannot hold both the export and a report: leave out --json.", context)
    with opened(context) as engine:
        stats = engine.stats()
        with progress("Exporting", stats.memories + stats.versions, quiet=as_json) as advance:
            made = engine.export(sys.stdout.buffer if path == PIPE else path, overwrite=overwrite, progress=advance)
    if as_json:
        print_json({"path": path, "lines": made.lines, **asdict(made.head)})
    elif path != PIPE:
        held = made.head.counts
        say(("✓ ", "green"), f"Exported {_memories(held['memories'] + held['versions'])} to {one_line(path)}.")


@app.command("import")
def import_(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="FILE", help="An export; - is standard input.")],
    without_vectors: Annotated[
        bool, typer.Option("--without-vectors", help="Ignore its vectors and embed its texts again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Read an export; memories that are known already stay as they are."""
    with opened(context) as engine:
        source = sys.stdin.buffer if path == PIPE else path
        with progress("Importing", 0, quiet=as_json) as advance:
            done = engine.import_(source, without_vectors=without_vectors, progress=advance)
    if as_json:
        print_json(asdict(done))
        return
    updated = f", {done.updated:,} got newer versions" if done.updated else ""
    say(("✓ ", "green"), f"Imported {_memories(done.added)}; {done.known:,} were known already{updated}.")
    if done.conflicts:
        raise Error(
            f"{_memories(len(done.conflicts))} of the export have a different text here, such as {done.conflicts[0]}",
            remedy="They were not changed; look at them with `memorist history ID`.",
        )


def _memories(number: int) -> str:
    return count(number, "memory", "memories")


@app.command()
def move(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SRC", help="The memory to copy: a path or a URL.")],
    destination: Annotated[str, typer.Argument(metavar="DST", help="The destination: a path or a URL.")],
    as_space: Annotated[
        str | None,
        typer.Option("--as", metavar="SPACE", help="The new space; the source's if left out."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Copy a whole memory to another store and verify that both are the same; the source is not changed."""
    from memorist.upkeep.transfer import move as copy_all

    space = target(context).space
    if not on_server(source) and not locate(source, space)[0].exists():
        raise NotFound(f"There is no memory at {source}", remedy="Check the path and the space.")
    with (
        closing(open_store(source, space)) as here,
        closing(open_store(destination, as_space or _space_at(destination, here.space))) as there,
    ):
        stats, new_space = here.stats(), there.space
        with progress("Moving", stats.memories + stats.versions, quiet=as_json) as advance:
            moved = copy_all(here, there, progress=advance)
    if as_json:
        print_json(asdict(moved) | {"space": new_space})
        return
    say(("✓ ", "green"), f"Moved {_memories(moved.memories)} to the space {new_space!r}.")
    say((f"Verified: both have the checksum {moved.checksum[:16]}…; {moved.known:,} were there before.", "dim"))


def _space_at(destination: str, space: str) -> str | None:
    """The space to use at the destination: a folder or a server keeps the name, a file is named after itself."""
    return space if on_server(destination) or locate(destination, space)[1] else None


db_app = typer.Typer(help="Administer a PostgreSQL database of memories.")
app.add_typer(db_app, name="db")


@db_app.command()
def status(context: typer.Context, as_json: Json = False) -> None:
    """Print the versions on the server and whether the tables are up to date; changes nothing."""
    found = open_database(_database_url(context)).status()
    if as_json:
        print_json(asdict(found))
        return
    say(f"PostgreSQL {one_line(found.server)}, database {one_line(found.database)}")
    say(f"pgvector   {found.pgvector or 'not installed yet'}")
    say(f"Citus      {found.citus or 'not installed'}" + (", tables distributed" if found.distributed else ""))
    say(f"tables     {'missing ' + ', '.join(found.pending) if found.pending else 'up to date'}")
    if found.spaces is not None:
        say(f"spaces     {found.spaces:,}")


@db_app.command()
def migrate(context: typer.Context, as_json: Json = False) -> None:
    """Create or update the tables, as opening a memory does; for programs that may not do so themselves."""
    taken = open_database(_database_url(context)).migrate()
    if as_json:
        print_json({"migrated": taken})
    else:
        say(("✓ ", "green"), f"Ran {count(len(taken), 'migration', 'migrations')}." if taken else "Up to date already.")


@db_app.command()
def distribute(context: typer.Context, as_json: Json = False) -> None:
    """Distribute the tables over the nodes of a Citus cluster; each space stays on one node."""
    done = open_database(_database_url(context)).distribute()
    if as_json:
        print_json({"distributed": done})
    else:
        say(("✓ ", "green"), f"Distributed {count(len(done), 'table', 'tables')} by space.")


def _database_url(context: typer.Context) -> str:
    url = target(context).settings().db
    if url is None:
        raise InvalidInput("No database was given", remedy="Give it before the command: --db postgresql://….")
    return url
