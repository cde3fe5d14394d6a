"""The command that serves spaces over HTTP."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorist.errors import InvalidInput, MissingExtra
from memorist.surfaces.cli.keywords import taking
from memorist.surfaces.cli.options import Json
from memorist.surfaces.cli.output import one_line, print_json, say
from memorist.surfaces.cli.target import target

if TYPE_CHECKING:
    from memorist.surfaces.rest.settings import Settings

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
    from memorist.surfaces.rest.run import check_locked
    from memorist.surfaces.rest.run import serve as run

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
    from memorist.surfaces.rest.settings import Settings

    chosen = target(context)
    if chosen.space is not None:
        raise InvalidInput("serve serves every space", remedy="Leave --space out, and give out keys for single spaces.")
    sizes = {name: given[name] * MIB for name in IN_MIB if name in given}
    return Settings(db=chosen.settings().db, config=chosen.config, embedder=chosen.embedder, **{**given, **sizes})
