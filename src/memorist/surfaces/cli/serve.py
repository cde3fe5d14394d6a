"""Commands that let others reach the memory: serve (REST), mcp, keys."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorist.errors import InvalidInput, MissingExtra, NotFound
from memorist.model import to_data
from memorist.surfaces.cli.app import Target, target
from memorist.surfaces.cli.options import Json, with_options
from memorist.surfaces.cli.output import count, one_line, print_json, print_raw, say, say_cut
from memorist.surfaces.mcp.install import CLIENTS, NAME, ConfigChange, apply, entry, plan

if TYPE_CHECKING:
    from memorist.access.keys import Key, KeyRing
    from memorist.engine.engine import Engine
    from memorist.surfaces.rest.server import Settings


app = typer.Typer()
MIB = 1024 * 1024
IN_MIB = ("body_limit", "upload_limit")


def _limit(kind: type[Any], metavar: str, help: str, least: int, default: int) -> Any:
    info = typer.Option(metavar=metavar, min=least, help=f"{help} Default: {default}.", rich_help_panel="Limits")
    return Annotated[kind, info]


LIMITS = {
    "threads": _limit(int, "NUMBER", "Verbs that run at the same time in a process.", 1, 8),
    "open_spaces": _limit(int, "NUMBER", "Spaces kept open in a process.", 1, 32),
    "concurrency": _limit(int, "NUMBER", "Concurrent requests in a process; 0 means no limit.", 0, 128),
    "rate": _limit(float, "NUMBER", "Requests per second for each key and process; 0 means no limit.", 0, 100),
    "body_limit": _limit(int, "MIB", "The largest request body.", 1, 32),
    "upload_limit": _limit(int, "MIB", "The largest file to ingest or import.", 1, 1024),
    "timeout": _limit(float, "SECONDS", "The longest time that a request may take.", 1, 60),
}


@app.command()
@with_options(LIMITS)
def serve(
    context: typer.Context,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on; keys are required unless it is loopback.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", min=1, max=65535, help="The port to listen on.")] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name that clients use; may be repeated.", show_default=False),
    ] = None,
    workers: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="The number of processes.")] = 1,
    as_json: Json = False,
    **limits: Any,
) -> None:
    """Serve every space of the folder over HTTP: REST at /v1, documented at /docs."""
    for package in ("fastapi", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtra(f"{package} is not installed", remedy="Install it with: pip install 'memorist[server]'")
    from memorist.surfaces.rest.app import check_locked
    from memorist.surfaces.rest.app import serve as run

    settings = _server_settings(context, host=host, port=port, allowed_hosts=tuple(allow_host or ()), **limits)
    check_locked(settings)
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    if as_json:
        print_json({"url": address, "folder": str(settings.folder)})
    else:
        say(f"Serving the spaces of {one_line(str(settings.folder))} at {address}, documented at {address}/docs.")
    sys.stdout.flush()  # the parent process may be waiting for this line
    run(settings, workers)


def _server_settings(context: typer.Context, **given: Any) -> Settings:
    from memorist.surfaces.rest.server import Settings

    chosen = target(context)
    if chosen.space is not None:
        raise InvalidInput("serve serves every space", remedy="Leave --space out, and create keys for single spaces.")
    sizes = {name: given[name] * MIB for name in IN_MIB if name in given}
    return Settings(db=chosen.settings().db, config=chosen.config, embedder=chosen.embedder, **{**given, **sizes})


# MCP

mcp_app = typer.Typer(help="Serve the memory to agents over MCP.", invoke_without_command=True)
app.add_typer(mcp_app, name="mcp")


@mcp_app.callback()
def mcp(
    context: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP instead of standard streams.")] = False,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="The address to listen on with --http. Default: 127.0.0.1.", show_default=False
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="The port to listen on with --http. Default: 8766.", show_default=False),
    ] = 8766,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name that clients use; may be repeated.", show_default=False),
    ] = None,
    max_classification: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            min=0,
            max=3,
            help="The highest classification it may show, 0 to 3. Default: 2.",
            show_default=False,
        ),
    ] = 2,
    cost: Annotated[bool, typer.Option("--cost", help="Print what the tools cost a model in tokens.")] = False,
    as_json: Json = False,
) -> None:
    """Serve one space to an agent over MCP; the agent cannot choose another."""
    if context.invoked_subcommand is not None:
        return
    if as_json and not cost:
        raise typer.BadParameter("--json requires --cost: a server prints nothing.", context)
    from memorist.surfaces.mcp import require_sdk

    require_sdk()
    if cost:
        _print_cost(_cost(max_classification), as_json)
        return
    with target(context).open() as engine:
        if http:
            _serve_http(engine, target(context), host, port, allow_host or [], max_classification)
        else:
            _mcp_server(engine, max_classification).run("stdio")


def _mcp_server(engine: Engine, max_classification: int) -> Any:
    from memorist.surfaces.mcp.server import MemoryServer

    return MemoryServer(engine, max_classification=max_classification)


def _serve_http(
    engine: Engine, chosen: Target, host: str, port: int, allow_hosts: list[str], max_classification: int
) -> None:
    from memorist.surfaces.mcp.http import app as application
    from memorist.surfaces.mcp.http import listener

    with closing(_key_ring(chosen)) as ring:
        server = _mcp_server(engine, max_classification)
        listening = listener(application(server, ring, host=host, allow_hosts=allow_hosts), host=host, port=port)
        signal.signal(signal.SIGTERM, _exit)  # uvicorn raises it again after its shutdown; this closes the engine
        listening.run()


def _exit(_signal: int, _frame: object) -> None:
    raise SystemExit(0)


def _cost(max_classification: int) -> dict[str, Any]:
    import memorist
    from memorist.surfaces.mcp.server import cost

    with memorist.open(":memory:", embedder="none", config={}) as engine:
        return cost(_mcp_server(engine, max_classification))


def _print_cost(tokens: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(tokens)
        return
    for name, number in (*tokens["tools"].items(), ("instructions", tokens["instructions"])):
        say((f"{name:<14}", "bold"), f"{number:>5}")
    say(f"{tokens['total']:,} tokens in total; {tokens['output']:,} more if a client shows the model output schemas.")


@mcp_app.command()
def install(
    context: typer.Context,
    client: Annotated[
        str,
        typer.Argument(metavar="CLIENT", help=f"One of {', '.join(CLIENTS)}.", autocompletion=lambda: list(CLIENTS)),
    ],
    name: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help=f"The name of the server in that client. Default: {NAME}.", show_default=False
        ),
    ] = NAME,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the entry and write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Add the server to a client's settings; the old settings are copied first."""
    if client not in CLIENTS:
        raise InvalidInput(f"There is no client {client!r}", remedy=f"Choose one of {', '.join(CLIENTS)}.")
    chosen, arguments = CLIENTS[client], _mcp_arguments(target(context))
    if dry_run:
        _print_entry(chosen.file(), {chosen.servers: {name: entry(chosen, arguments)}}, as_json)
    else:
        change = plan(chosen, arguments, name=name)
        _print_change(change, apply(change), as_json)


def _mcp_arguments(chosen: Target) -> list[str]:
    """The arguments with which a client starts the server, with absolute paths: it runs in another folder."""
    settings = chosen.settings()
    config = None if chosen.config is None else str(Path(chosen.config).absolute())
    db = None if settings.db is None else _absolute(settings.db)
    given = {"--db": db, "--space": settings.space, "--embedder": chosen.embedder, "--config": config}
    return [*(part for name, value in given.items() if value is not None for part in (name, value)), "mcp"]


def _absolute(db: str) -> str:
    if "://" in db or db == ":memory:":
        return db
    slash = "/" if db.endswith("/") else ""
    return f"{Path(db).expanduser().absolute()}{slash}"


def _print_entry(file: Path, settings: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"file": str(file), "settings": settings, "written": False})
    else:
        say((f"{one_line(str(file))} would contain:", "dim"))
        print_raw(json.dumps(settings, indent=2, ensure_ascii=False))


def _print_change(change: ConfigChange, copy: Path | None, as_json: bool) -> None:
    if as_json:
        shown = {"file": str(change.file), "entry": change.entry, "written": change.needed}
        print_json(shown | {"backup": copy and str(copy)})
    elif not change.needed:
        say(f"{change.client.title} has it already: {one_line(str(change.file))}")
    else:
        say(("✓ ", "green"), f"Written to {one_line(str(change.file))}; restart {change.client.title}.")
        if copy is not None:
            say((f"The old settings are in {one_line(str(copy))}", "dim"), indent=2)


# API keys

keys_app = typer.Typer(help="Create, list and revoke the API keys for access over the network.")
app.add_typer(keys_app, name="keys")


@keys_app.command()
def create(
    context: typer.Context,
    space: Annotated[
        str,
        typer.Argument(metavar="SPACE", help="The space it opens; team-* opens all with that prefix, * all."),
    ],
    rights: Annotated[
        str,
        typer.Option(metavar="RIGHT", help="Its rights: read, write or admin. Default: read.", show_default=False),
    ] = "read",
    expires_at: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When it expires. Default: never.", show_default=False)
    ] = None,
    max_classification: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            min=0,
            max=3,
            help="The highest classification it may see, 0 to 3. Default: 3.",
            show_default=False,
        ),
    ] = 3,
    name: Annotated[str, typer.Option(metavar="TEXT", help="Its name in lists.", show_default=False)] = "",
    as_json: Json = False,
) -> None:
    """Create a key and print its secret, which is shown only once."""
    with closing(_key_ring(target(context))) as ring:
        key, secret = ring.create(
            space=space, rights=rights, expires_at=expires_at, max_classification=max_classification, name=name
        )
    if as_json:
        print_json(to_data(key) | {"secret": secret})
    else:
        print_raw(secret)
        say((f"Key {key.id} may {key.rights} in {key.space}. Its secret is not shown again.", "dim"))


@keys_app.command("list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """Print every key that was ever created, without its secret."""
    with closing(_key_ring(target(context))) as ring:
        keys = ring.all()
    if as_json:
        print_json(to_data(keys))
        return
    for key in keys:
        say_cut((key.id, "cyan"), f"  {key.rights:<5}  {key.space}  ", (_state(key), "dim"), f"  {one_line(key.name)}")
    say(f"{count(len(keys), 'key', 'keys')}.")


@keys_app.command()
def revoke(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `keys list` prints it.")],
    as_json: Json = False,
) -> None:
    """Revoke a key immediately."""
    with closing(_key_ring(target(context))) as ring:
        if not ring.revoke(id):
            raise NotFound("There is no such key to revoke", remedy="Look it up with `memorist keys list`.")
    if as_json:
        print_json({"revoked": id})
    else:
        say(("✓ ", "green"), f"Key {one_line(id)} is revoked.")


def _key_ring(chosen: Target) -> KeyRing:
    from memorist.access.keys import KeyRing, keys_file

    return KeyRing(keys_file(chosen.settings().db))


def _state(key: Key) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at.date()}"
    return "never expires" if key.expires_at is None else f"until {key.expires_at.date()}"
