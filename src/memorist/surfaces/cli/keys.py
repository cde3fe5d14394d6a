"""Commands for keys, which open spaces to those who come over the network: create, list and revoke."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from memorist.errors import NotFound
from memorist.surfaces.cli.lines import count
from memorist.surfaces.cli.options import Json
from memorist.surfaces.cli.output import one_line, print_json, print_raw, say, say_cut
from memorist.surfaces.cli.target import target

if TYPE_CHECKING:
    from memorist.surfaces.keys import Key, KeyRing

app = typer.Typer(help="Make, list and revoke the keys that let others in over the network.")


@app.command()
def create(
    context: typer.Context,
    space: Annotated[
        str, typer.Argument(metavar="SPACE", help="The space it opens; team-* opens all that begin so, * every one.")
    ],
    rights: Annotated[
        str,
        typer.Option(metavar="RIGHT", help="What it may do: read, write or admin. Default: read.", show_default=False),
    ] = "read",
    expires_at: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When it ends. Default: never.", show_default=False)
    ] = None,
    max_classification: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", help="The most secret memories it may see, 0 to 3. Default: 3.", show_default=False
        ),
    ] = 3,
    name: Annotated[str, typer.Option(metavar="TEXT", help="What to call it in lists.", show_default=False)] = "",
    as_json: Json = False,
) -> None:
    """Make a key and print its secret, once."""
    with closing(_ring(context)) as ring:
        key, secret = ring.create(
            space=space, rights=rights, expires_at=expires_at, max_classification=max_classification, name=name
        )
    if as_json:
        print_json(key.to_data() | {"secret": secret})
    else:
        print_raw(secret)
        say((f"Key {key.id} may {key.rights} in {key.space}. Its secret is not shown again.", "dim"))


@app.command("list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """Print every key that was made, without its secret."""
    with closing(_ring(context)) as ring:
        keys = ring.all()
    if as_json:
        print_json([key.to_data() for key in keys])
        return
    for key in keys:
        say_cut((key.id, "cyan"), f"  {key.rights:<5}  {key.space}  ", (_state(key), "dim"), f"  {one_line(key.name)}")
    say(f"{count(len(keys), 'key', 'keys')}.")


@app.command()
def revoke(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as the list shows it.")],
    as_json: Json = False,
) -> None:
    """End a key at once."""
    with closing(_ring(context)) as ring:
        if not ring.revoke(id):
            raise NotFound("There is no such key to revoke", remedy="Look it up with `memorist keys list`.")
    if as_json:
        print_json({"revoked": id})
    else:
        say(("✓ ", "green"), f"Key {one_line(id)} is revoked.")


def _ring(context: typer.Context) -> KeyRing:
    from memorist.surfaces.keys import KeyRing, keys_file

    return KeyRing(keys_file(target(context).settings().db))


def _state(key: Key) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at.date()}"
    return "for ever" if key.expires_at is None else f"until {key.expires_at.date()}"
