"""Commands that serve: serve and keys."""

from __future__ import annotations

import sys
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorist.errors import InvalidInput, MissingExtra, NotFound
from memorist.model import to_data
from memorist.surfaces.cli.options import Json, taking, target
from memorist.surfaces.cli.output import count, one_line, print_json, print_raw, say, say_cut

if TYPE_CHECKING:
    from memorist.access.keys import Key, KeyRing
    from memorist.surfaces.rest.server import Settings


MIB = 1024 * 1024
IN_MIB = ("body_limit", "upload_limit")


def _limit(kind: type[Any], metavar: str, help: str, least: int, default: int) -> Any:
    info = typer.Option(metavar=metavar, min=least, help=f"{help} Default: {default}.", rich_help_panel="How much")
    return Annotated[kind, info]


LIMITS = {
    "threads": _limit(int, "NUMBER", "Verbs that run at once in a process.", 1, 8),
    "open_spaces": _limit(int, "NUMBER", "Spaces kept open in a process.", 1, 32),
    "concurrency": _limit(int, "NUMBER", "Requests under way at once in a process; 0 is no limit.", 0, 128),
    "rate": _limit(float, "NUMBER", "Requests a second for each key and process; 0 is no limit.", 0, 100),
    "body_limit": _limit(int, "MIB", "The largest body.", 1, 32),
    "upload_limit": _limit(int, "MIB", "The largest file to ingest or import.", 1, 1024),
    "timeout": _limit(float, "SECONDS", "The longest a request may take.", 1, 60),
}


@taking(LIMITS)
def serve(
    context: typer.Context,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; any but loopback needs keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", min=1, max=65535, help="The port to listen on.")] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name that this server is called by; may be repeated.", show_default=False),
    ] = None,
    workers: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="Processes that share the work.")] = 1,
    as_json: Json = False,
    **limits: Any,
) -> None:
    """Serve every space of the folder over HTTP: REST at /v1, described at /docs."""
    for package in ("fastapi", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtra(f"Serving needs {package}", remedy="Run: pip install 'memorist[server]'")
    from memorist.surfaces.rest.app import check_locked
    from memorist.surfaces.rest.app import serve as run

    settings = _settings(context, host=host, port=port, allowed_hosts=tuple(allow_host or ()), **limits)
    check_locked(settings)
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    if as_json:
        print_json({"url": address, "folder": str(settings.folder)})
    else:
        say(f"Serving the spaces of {one_line(str(settings.folder))} at {address}, described at {address}/docs.")
    sys.stdout.flush()  # whoever started this may be waiting for the line
    run(settings, workers)


def _settings(context: typer.Context, **given: Any) -> Settings:
    from memorist.surfaces.rest.server import Settings

    chosen = target(context)
    if chosen.space is not None:
        raise InvalidInput("serve serves every space", remedy="Leave --space out, and give out keys for single spaces.")
    sizes = {name: given[name] * MIB for name in IN_MIB if name in given}
    return Settings(db=chosen.settings().db, config=chosen.config, embedder=chosen.embedder, **{**given, **sizes})


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
        print_json(to_data(key) | {"secret": secret})
    else:
        print_raw(secret)
        say((f"Key {key.id} may {key.rights} in {key.space}. Its secret is not shown again.", "dim"))


@app.command("list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """Print every key that was made, without its secret."""
    with closing(_ring(context)) as ring:
        keys = ring.all()
    if as_json:
        print_json(to_data(keys))
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
    from memorist.access.keys import KeyRing, keys_file

    return KeyRing(keys_file(target(context).settings().db))


def _state(key: Key) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at.date()}"
    return "for ever" if key.expires_at is None else f"until {key.expires_at.date()}"
