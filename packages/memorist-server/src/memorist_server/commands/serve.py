"""Commands that let others reach the memory: serve (REST), mcp, keys."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorist.errors import InvalidInput, MissingExtra, NotFound, has_password
from memorist.model import to_data
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import Json, argument, command, flag, option
from memorist.surfaces.cli.output import complain, count, one_line, print_json, print_raw, say, say_table

if TYPE_CHECKING:
    from memorist.engine.engine import Engine
    from memorist_server.access.keys import Key, KeyRing
    from memorist_server.mcp.server import MemoryServer
    from memorist_server.rest.server import Settings


app = typer.Typer()
MIB = 1024 * 1024
IN_MIB = ("body_limit", "upload_limit", "memory_budget")


Host = Annotated[
    str,
    option("ADDRESS", "The address to listen on; keys are required unless it is loopback. Default: 127.0.0.1."),
]
ReadOnly = Annotated[bool, flag("--read-only", "Let nobody change anything, whatever the rights of a key.")]
Bench = Annotated[Path | None, option("FOLDER", "A folder of results of bench --out, to compare in the inspector.")]
AllowHost = Annotated[list[str] | None, option("NAME", "A host name that clients use; may be repeated.")]


def _limit(kind: type[Any], metavar: str, help: str, least: int, default: int) -> Any:
    return Annotated[kind, option(metavar, f"{help} Default: {default}.", panel="Limits", min=least)]


def _classification(default: int) -> Any:
    help = f"The highest classification it may show, 0 to 3. Default: {default}."
    return option("NUMBER", help, min=0, max=3)


SpaceRate = Annotated[
    float,
    option("NUMBER", "Requests per second to one space; 0, the default, means any.", panel="Limits", min=0),
]
MaxMemories = Annotated[
    int,
    option("NUMBER", "Memories of one space, in all versions; 0, the default, means any.", panel="Limits", min=0),
]
MaxBytes = Annotated[int, option("BYTES", "Text of one space; 0, the default, means any.", panel="Limits", min=0)]
LIMITS = {
    "threads": _limit(int, "NUMBER", "Verbs that run at the same time in a process, of one key at most half.", 1, 8),
    "open_spaces": _limit(int, "NUMBER", "Spaces kept open in a process.", 1, 32),
    "memory_budget": Annotated[
        int,
        option(
            "MIB",
            "Memory for open spaces in a process; 0 means no limit. Default: a quarter of the machine's.",
            panel="Limits",
            min=0,
        ),
    ],
    "concurrency": _limit(int, "NUMBER", "Concurrent requests in a process; 0 means no limit.", 0, 128),
    "key_concurrency": _limit(int, "NUMBER", "Concurrent requests of one key; 0 means no limit.", 0, 32),
    "connections": _limit(int, "NUMBER", "Connections to a process; 0 means no limit.", 0, 512),
    "address_connections": _limit(int, "NUMBER", "Connections from one address; 0 means no limit.", 0, 256),
    "rate": _limit(float, "NUMBER", "Requests per second for each key and process; 0 means no limit.", 0, 100),
    "space_rate": SpaceRate,
    "max_memories": MaxMemories,
    "max_bytes": MaxBytes,
    "body_limit": _limit(int, "MIB", "The largest request body.", 1, 32),
    "upload_limit": _limit(int, "MIB", "The largest file to ingest or import.", 1, 1024),
    "head_timeout": _limit(float, "SECONDS", "The longest time to send the head of a request.", 1, 10),
    "timeout": _limit(float, "SECONDS", "The longest time for a request, its body, or reading its answer.", 1, 60),
    "drain": _limit(float, "SECONDS", "How long it serves on after SIGTERM, while /readyz answers 503.", 0, 0),
}


@command(app, options=lambda: LIMITS)
def serve(
    target: Target,
    as_json: bool,
    db: Annotated[str | None, argument("DB", "The folder or PostgreSQL database; that of --db if left out.")] = None,
    host: Host = "127.0.0.1",
    port: Annotated[int, option("PORT", "The port to listen on. Default: 8765.", min=1, max=65535)] = 8765,
    allow_host: AllowHost = None,
    workers: Annotated[int, option("NUMBER", "The number of processes. Default: 1.", min=1)] = 1,
    read_only: ReadOnly = False,
    bench: Bench = None,
    **limits: Any,
) -> None:
    """Serve every space of a folder or a PostgreSQL database over HTTP: REST at /v1, and an inspector for people at /.

    REST is documented at /docs.
    """
    require_server()
    from memorist_server.inspector.app import serve as run
    from memorist_server.rest.app import prepare

    target = target if db is None else replace(target, db=db)
    listening = {"host": host, "port": port, "allowed_hosts": tuple(allow_host or ()), "read_only": read_only}
    settings = _server_settings(target, **listening, bench=bench_folder(bench), **limits)
    place = prepare(settings)
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    if target.db and has_password(target.db):
        complain(_SEEN)
    if as_json:
        print_json({"url": address, place.kind: place.shown})
    else:
        say(f"Serving the spaces of {one_line(place.shown)} at {address}, documented at {address}/docs.")
        say(f"Look at them in a browser: {address}")
    sys.stdout.flush()  # the parent process may be waiting for this line
    run(settings, workers)


def bench_folder(folder: Path | None) -> str | None:
    """The whole path of a folder of results, which must exist."""
    if folder is None:
        return None
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder}", remedy="Name the folder that bench --out wrote to.")
    if find_spec("memorist_bench") is None:
        raise MissingExtra("memorist-bench is not installed", remedy="Install it with: pip install 'memorist[bench]'")
    return str(folder.resolve())


def require_server() -> None:
    """Refuse to serve without the packages for it."""
    for package in ("fastapi", "uvicorn", "jinja2"):
        if find_spec(package) is None:
            raise MissingExtra(f"{package} is not installed", remedy="Install it with: pip install 'memorist[server]'")


_SEEN = (
    "Other users of this machine can read the password in the list of processes. "
    "Give the URL as MEMORIST_DB instead, or keep the password in ~/.pgpass."
)


def _server_settings(target: Target, **given: Any) -> Settings:
    from memorist_server.rest.server import Settings

    if target.space is not None:
        raise InvalidInput("serve serves every space", remedy="Leave --space out, and create keys for single spaces.")
    sizes = {name: given[name] * MIB for name in IN_MIB if name in given}
    chosen = {"config": target.config, "models": target.models, "embedder": target.embedder}
    return Settings(db=target.chosen_db(), **chosen, **{**given, **sizes})


# MCP

mcp_app = typer.Typer(help="Serve the memory to agents over MCP.", invoke_without_command=True)
app.add_typer(mcp_app, name="mcp")


@mcp_app.callback()
def mcp(
    context: typer.Context,
    http: Annotated[bool, flag("--http", "Serve streamable HTTP instead of standard streams.")] = False,
    host: Host = "127.0.0.1",
    port: Annotated[int, option("PORT", "The port to listen on with --http. Default: 8766.", min=1, max=65535)] = 8766,
    allow_host: AllowHost = None,
    max_classification: Annotated[int, _classification(2)] = 2,
    space_rate: SpaceRate = 0.0,
    max_memories: MaxMemories = 0,
    max_bytes: MaxBytes = 0,
    project: Annotated[
        bool, flag("--project", "Keep and find memories of the project in the working folder, and global ones.")
    ] = False,
    cost: Annotated[bool, flag("--cost", "Print what the tools cost a model in tokens.")] = False,
    as_json: Json = False,
) -> None:
    """Serve one space to an agent over MCP; the agent cannot choose another."""
    if context.invoked_subcommand is not None:
        return
    if as_json and not cost:
        raise typer.BadParameter("--json requires --cost: a server prints nothing.")
    from memorist_server.mcp import require_sdk

    require_sdk()
    if cost:
        _print_cost(_cost(max_classification), as_json)
        return
    target: Target = context.obj
    with target.open(create=True) as engine:
        quotas = {"space_rate": space_rate, "max_memories": max_memories, "max_bytes": max_bytes}
        server = _mcp_server(engine, max_classification, _project_scope() if project else None, **quotas)
        if http:
            _serve_http(server, target, host, port, allow_host or [])
        else:
            server.run("stdio")


def _mcp_server(engine: Engine, max_classification: int, scope: str | None = None, **quotas: Any) -> MemoryServer:
    from memorist_server.mcp.server import LIMITS, MemoryServer

    limits = replace(LIMITS, **quotas)
    return MemoryServer(engine, max_classification=max_classification, limits=limits, scope=scope)


def _project_scope() -> str:
    from memorist.project import project_of, scope_of

    return scope_of(project_of())


def _serve_http(server: MemoryServer, target: Target, host: str, port: int, allow_hosts: list[str]) -> None:
    from memorist_server.mcp.http import app as application
    from memorist_server.mcp.http import listener
    from memorist_server.rest.threads import end_soon

    with closing(_key_ring(target)) as ring:
        listening = listener(application(server, ring, host=host, allow_hosts=allow_hosts), host=host, port=port)
        signal.signal(signal.SIGTERM, exit_quietly)  # uvicorn raises it again at the end; this closes the engine
        try:
            listening.run()
        finally:
            end_soon()


def exit_quietly(_signal: int, _frame: object) -> None:
    """End the process by way of every `finally`."""
    raise SystemExit(0)


def _cost(max_classification: int) -> dict[str, Any]:
    import memorist
    from memorist_server.mcp.server import cost

    with memorist.open(":memory:", embedder="none", config={}) as engine:
        return cost(_mcp_server(engine, max_classification))


def _print_cost(tokens: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(tokens)
        return
    costs = {**tokens["tools"], "instructions": tokens["instructions"]}
    say_table(((name, "bold"), f"{number:>5}") for name, number in costs.items())
    say(f"{tokens['total']:,} tokens in total; {tokens['output']:,} more if a client shows the model output schemas.")


# API keys

keys_app = typer.Typer(help="Create, list and revoke the API keys for access over the network.")
app.add_typer(keys_app, name="keys")


@command(keys_app)
def create(
    target: Target,
    space: Annotated[str, argument("SPACE", "The space it opens; team-* opens all with that prefix, * all.")],
    rights: Annotated[str, option("RIGHT", "Its rights: read, write or admin. Default: read.")] = "read",
    expires_at: Annotated[str | None, option("WHEN", "When it expires. Default: never.")] = None,
    max_classification: Annotated[int, _classification(3)] = 3,
    name: Annotated[str, option("TEXT", "Its name in lists.")] = "",
) -> Iterator[object]:
    """Create a key and print its secret, which is shown only once."""
    with closing(_key_ring(target)) as ring:
        key, secret = ring.create(
            space=space, rights=rights, expires_at=expires_at, max_classification=max_classification, name=name
        )
    yield to_data(key) | {"secret": secret}
    print_raw(secret)
    say((f"Key {key.id} may {key.rights} in {key.space}. Its secret is not shown again.", "dim"))


@command(keys_app, "list")
def list_(target: Target) -> Iterator[object]:
    """Print every key that was ever created, without its secret."""
    with closing(_key_ring(target)) as ring:
        keys = ring.all()
    yield keys
    say_table(
        ((key.id, "cyan"), key.rights, one_line(key.space), (_state(key), "dim"), one_line(key.name)) for key in keys
    )
    say(f"{count(len(keys), 'key', 'keys')}.")


@command(keys_app)
def revoke(
    target: Target, id: Annotated[str, argument("ID", "The key's id, as `keys list` prints it.")]
) -> Iterator[object]:
    """Revoke a key immediately."""
    with closing(_key_ring(target)) as ring:
        if not ring.revoke(id):
            raise NotFound("There is no such key to revoke", remedy="Look it up with `memorist keys list`.")
    yield {"revoked": id}
    say(("✓ ", "green"), f"Key {one_line(id)} is revoked.")


def _key_ring(target: Target) -> KeyRing:
    from memorist_server.access.home import key_ring

    return key_ring(target.chosen_db())


def _state(key: Key) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at.date()}"
    return "never expires" if key.expires_at is None else f"until {key.expires_at.date()}"
