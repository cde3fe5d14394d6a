"""The command that moves a memory from one store to another."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from memorist.errors import NotFound
from memorist.opening import locate, on_server, open_store
from memorist.surfaces.cli.lines import count
from memorist.surfaces.cli.options import Json
from memorist.surfaces.cli.output import print_json, progress, say
from memorist.surfaces.cli.target import target
from memorist.upkeep.moving import move as move_all

if TYPE_CHECKING:
    from memorist.ports import Store


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
