"""The command that shows a memory in a browser."""

from __future__ import annotations

import secrets
import signal
import sys
import webbrowser
from dataclasses import replace
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Annotated
from urllib.parse import urlencode

import typer

from memorist.engine.open import locate, missing, nothing_yet, on_server
from memorist.errors import InvalidInput
from memorist.files import make_file
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import argument, command, flag, option
from memorist.surfaces.cli.output import print_json, say
from memorist_server.commands.serve import Bench, ReadOnly, bench_folder, exit_quietly, require_server

app = typer.Typer()
HERE = "127.0.0.1"


@command(app)
def inspect(
    target: Target,
    as_json: bool,
    file: Annotated[str | None, argument("FILE", "The file, folder or database; that of --db if left out.")] = None,
    port: Annotated[int, option("PORT", "The port to listen on. Default: a free one.", min=0, max=65535)] = 0,
    ask: Annotated[str | None, option("QUESTION", "Open the recall lab with this question.")] = None,
    no_open: Annotated[bool, flag("--no-open", "Print the address and open no browser.")] = False,
    read_only: ReadOnly = False,
    bench: Bench = None,
) -> None:
    """Look at a memory in a browser: what it remembers, where each came from, and how to correct it.

    The address works once, in one browser, so that nobody else on this machine gets in.
    """
    require_server()
    from memorist_server.inspector.app import QUIET_FACTORY, with_secret
    from memorist_server.rest.app import listening_socket, serve_on
    from memorist_server.rest.server import Settings

    target = target if file is None else replace(target, db=file)
    db, only = _place(target)
    results = bench_folder(bench)
    ticket = secrets.token_urlsafe(32)
    with listening_socket(HERE, port) as door, TemporaryDirectory(prefix="memorist-") as folder:
        port = door.getsockname()[1]
        settings = Settings(db, only, target.config, target.models, target.embedder, port=port)
        settings = replace(settings, ticket=ticket, read_only=read_only, bench=results)
        address = f"http://{HERE}:{port}/?key={ticket}{page_of(ask, only or target.space)}"
        if as_json:
            print_json({"url": address})
        else:
            say(f"Look at it in a browser, once: {address}")
            say(("Press Ctrl-C to stop.", "dim"))
        sys.stdout.flush()  # the parent process may be waiting for this line
        door.listen()  # so that the browser waits for the server, which starts now
        if not no_open:
            Thread(target=_open, args=(Path(folder) / "open.html", address), daemon=True).start()
        signal.signal(signal.SIGTERM, exit_quietly)  # uvicorn raises it again after its shutdown
        serve_on(door, with_secret(settings), 1, QUIET_FACTORY)


def page_of(question: str | None, space: str | None) -> str:
    """The part of an address that leads to a question in the lab of a space; nothing without a question."""
    if question is None:
        return ""
    if space is None:
        raise InvalidInput("A question is asked of one space", remedy="Name it with --space.")
    page = f"/inspect/{space}/lab?{urlencode({'q': question})}"
    return f"&{urlencode({'next': page})}"


def _place(target: Target) -> tuple[str | None, str | None]:
    """The database to look at, and the name of its space if it is a single file."""
    db, space = target.chosen_db(), target.space
    if db is not None and on_server(db):
        if space is not None:
            raise InvalidInput("A database is shown with all its spaces", remedy="Leave --space out, and choose there.")
        return db, None
    path, in_folder = locate(db, space)
    if in_folder and space is None:
        if not path.parent.is_dir():
            raise nothing_yet() if db is None else missing(path.parent)
        return db, None
    with replace(target, db=str(path)).open() as engine:
        return str(path), engine.space


def _open(page: Path, address: str) -> None:
    webbrowser.open(write_page(page, address).as_uri())


def write_page(page: Path, address: str) -> Path:
    """A page that only this user can read and that leads to an address: others can see what a command is given."""
    make_file(page)
    address = escape(address)
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={address}">'
        f'<title>Memorist</title><a href="{address}">Look at the memory</a>\n',
        encoding="utf-8",
    )
    return page
