"""The commands for agents that speak MCP: the server, and entering it into a client's settings."""

from __future__ import annotations

import signal
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorist.errors import InvalidInput
from memorist.surfaces.cli.options import Json, Target, target
from memorist.surfaces.cli.output import one_line, print_json, print_raw, say

if TYPE_CHECKING:
    from memorist.engine.engine import Engine
    from memorist.surfaces.mcp.install import ConfigChange


NAMES = ("claude-code", "claude-desktop", "cursor", "vscode")
app = typer.Typer(help="Serve the memory to agents over MCP.", invoke_without_command=True)


@app.callback()
def mcp(
    context: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP instead of standard streams.")] = False,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Where to listen with --http. Default: 127.0.0.1.", show_default=False),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="The port to listen on with --http. Default: 8766.", show_default=False),
    ] = 8766,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A name that requests may call the server by; may be repeated.", show_default=False
        ),
    ] = None,
    max_classification: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", help="The most secret memories it may show, 0 to 3. Default: 2.", show_default=False
        ),
    ] = 2,
    cost: Annotated[bool, typer.Option("--cost", help="Print what its tools cost a model, and end.")] = False,
    as_json: Json = False,
) -> None:
    """Serve one space to an agent over MCP; the agent cannot choose another."""
    if context.invoked_subcommand is not None:
        return
    if as_json and not cost:
        raise typer.BadParameter("--json goes with --cost: a server prints nothing.", context)
    from memorist.surfaces.mcp import require_sdk

    require_sdk()
    if cost:
        _print_cost(_cost(max_classification), as_json)
        return
    with target(context).open() as engine:
        if http:
            _serve_http(engine, target(context), host, port, allow_host or [], max_classification)
        else:
            _server(engine, max_classification).run("stdio")


@app.command()
def install(
    context: typer.Context,
    client: Annotated[
        str, typer.Argument(metavar="CLIENT", help=f"One of {', '.join(NAMES)}.", autocompletion=lambda: list(NAMES))
    ],
    name: Annotated[
        str, typer.Option(metavar="TEXT", help="What to call the server there. Default: memorist.", show_default=False)
    ] = "memorist",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the entry and write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Enter the server into a client's settings, beside a copy of what was there."""
    from memorist.surfaces.mcp.install import CLIENTS, apply, entry, plan

    if client not in CLIENTS:
        raise InvalidInput(f"There is no client {client!r}", remedy=f"Choose one of {', '.join(CLIENTS)}.")
    arguments = _arguments(target(context))
    if dry_run:
        _print_entry(
            CLIENTS[client].file(), {CLIENTS[client].servers: {name: entry(CLIENTS[client], arguments)}}, as_json
        )
        return
    change = plan(CLIENTS[client], arguments, name=name)
    _print_change(change, apply(change), as_json)


def _server(engine: Engine, max_classification: int) -> Any:
    from memorist.surfaces.mcp.server import MemoryServer

    return MemoryServer(engine, max_classification=max_classification)


def _serve_http(
    engine: Engine, chosen: Target, host: str, port: int, allow_hosts: list[str], max_classification: int
) -> None:
    from memorist.access.keys import KeyRing, keys_file
    from memorist.surfaces.mcp.http import app as application
    from memorist.surfaces.mcp.http import listener

    with closing(KeyRing(keys_file(chosen.settings().db))) as ring:
        server = _server(engine, max_classification)
        listening = listener(application(server, ring, host=host, allow_hosts=allow_hosts), host=host, port=port)
        signal.signal(signal.SIGTERM, _end)  # which uvicorn raises again when it has ended: the engine is closed too
        listening.run()


def _end(_signal: int, _frame: object) -> None:
    raise SystemExit(0)


def _cost(max_classification: int) -> dict[str, Any]:
    import memorist
    from memorist.surfaces.mcp.server import cost

    with memorist.open(":memory:", embedder="none", config={}) as engine:
        return cost(_server(engine, max_classification))


def _arguments(chosen: Target) -> list[str]:
    """The options before the command as the client has to give them: it starts the server in a folder of its own."""
    settings = chosen.settings()
    given: list[str] = []
    if settings.db is not None:
        given += ["--db", _absolute(settings.db)]
    if settings.space is not None:
        given += ["--space", settings.space]
    if chosen.embedder is not None:
        given += ["--embedder", chosen.embedder]
    if chosen.config is not None:
        given += ["--config", str(Path(chosen.config).absolute())]
    return [*given, "mcp"]


def _absolute(db: str) -> str:
    if "://" in db or db == ":memory:":
        return db
    slash = "/" if db.endswith("/") else ""
    return f"{Path(db).expanduser().absolute()}{slash}"


def _print_cost(tokens: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(tokens)
        return
    for name, count in tokens["tools"].items():
        say((f"{name:<14}", "bold"), f"{count:>5}")
    say((f"{'instructions':<14}", "bold"), f"{tokens['instructions']:>5}")
    say(f"{tokens['total']:,} tokens in all; {tokens['output']:,} more where a client shows the model output schemas.")


def _print_entry(file: Path, settings: dict[str, Any], as_json: bool) -> None:
    import json

    if as_json:
        print_json({"file": str(file), "settings": settings, "written": False})
    else:
        say((f"{one_line(str(file))} would hold:", "dim"))
        print_raw(json.dumps(settings, indent=2, ensure_ascii=False))


def _print_change(change: ConfigChange, copy: Path | None, as_json: bool) -> None:
    if as_json:
        shown = {"file": str(change.file), "entry": change.entry, "written": change.needed}
        print_json(shown | {"backup": copy and str(copy)})
    elif not change.needed:
        say(f"{change.client.title} knows it already: {one_line(str(change.file))}")
    else:
        say(("✓ ", "green"), f"Written to {one_line(str(change.file))}; restart {change.client.title}.")
        if copy is not None:
            say((f"What was there is in {one_line(str(copy))}", "dim"), indent=2)
