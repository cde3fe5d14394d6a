"""Commands that move memories: backup, restore, export, import, move, reembed, db."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import memorist
from memorist.engine.open import locate, on_server, open_database, open_store
from memorist.errors import Error, InvalidInput, NotFound
from memorist.surfaces.cli.options import Json, opened, target
from memorist.surfaces.cli.output import count, one_line, print_json, progress, say, size
from memorist.upkeep.transfer import move as move_all

if TYPE_CHECKING:
    from memorist.ports import Store
    from memorist.stores.postgres.administration import Administration


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


def move(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SRC", help="The memory to move: a path or a URL.")],
    destination: Annotated[str, typer.Argument(metavar="DST", help="Where to: a path or a URL.")],
    as_space: Annotated[
        str | None, typer.Option("--as", metavar="SPACE", help="The space there; that of the source if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Copy all of a memory to another store, and check that both hold the same; the source stays as it is."""
    with (
        closing(_existing(source, target(context).space)) as here,
        closing(open_store(destination, as_space or _kept_name(destination, here))) as there,
    ):
        stats, space = here.stats(), there.space
        with progress("Moving", stats.memories + stats.versions, quiet=as_json) as advance:
            moved = move_all(here, there, progress=advance)
    if as_json:
        print_json(asdict(moved) | {"space": space})
        return
    say(("✓ ", "green"), f"Moved {count(moved.memories, 'memory', 'memories')} to the space {space!r}.")
    say((f"Checked: both hold the same, {moved.checksum[:16]}…; {moved.known:,} were there before.", "dim"))


def _existing(url: str, space: str | None) -> Store:
    if not on_server(url) and not locate(url, space)[0].exists():
        raise NotFound(f"There is no memory at {url}", remedy="Check the path and the space.")
    return open_store(url, space)


def _kept_name(destination: str, source: Store) -> str | None:
    """A folder or a server has spaces by name; a file is named after itself."""
    return source.space if on_server(destination) or locate(destination, source.space)[1] else None


app = typer.Typer(help="Look after a PostgreSQL database that holds memories.")


@app.command()
def status(context: typer.Context, as_json: Json = False) -> None:
    """Print what the server has, and whether the tables are up to date; changes nothing."""
    found = _database(context).status()
    if as_json:
        print_json(asdict(found))
        return
    say(f"PostgreSQL {one_line(found.server)}, database {one_line(found.database)}")
    say(f"pgvector   {found.pgvector or 'not installed yet'}")
    say(f"Citus      {found.citus or 'not installed'}" + (", tables distributed" if found.distributed else ""))
    say(f"tables     {'lack ' + ', '.join(found.pending) if found.pending else 'up to date'}")
    if found.spaces is not None:
        say(f"spaces     {found.spaces:,}")


@app.command()
def migrate(context: typer.Context, as_json: Json = False) -> None:
    """Bring the tables up to date, as opening a memory does; for those who may, where programs may not."""
    taken = _database(context).migrate()
    if as_json:
        print_json({"migrated": taken})
    else:
        say(("✓ ", "green"), f"Took {count(len(taken), 'step', 'steps')}." if taken else "Up to date already.")


@app.command()
def distribute(context: typer.Context, as_json: Json = False) -> None:
    """Spread the tables over the nodes of a Citus cluster, a space whole on one of them."""
    done = _database(context).distribute()
    if as_json:
        print_json({"distributed": done})
    else:
        say(("✓ ", "green"), f"Distributed {count(len(done), 'table', 'tables')} by space.")


def _database(context: typer.Context) -> Administration:
    url = target(context).settings().db
    if url is None:
        raise InvalidInput("No database is named", remedy="Give it before the command: --db postgresql://….")
    return open_database(url)
