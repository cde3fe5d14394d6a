"""Commands for coding agents: install, uninstall, and hook, which the agents call."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorist.errors import InvalidInput
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import argument, command, flag, option
from memorist.surfaces.cli.output import one_line, print_raw, say
from memorist_agents.clients import CLIENTS, EVENTS, AgentClient, Start

if TYPE_CHECKING:
    from memorist_agents.install import FileChange


app = typer.Typer()

ClientName = Annotated[str, argument("CLIENT", f"One of {', '.join(CLIENTS)}.", autocompletion=lambda: list(CLIENTS))]
Name = Annotated[str, option("TEXT", "The name of the MCP server in that client. Default: memorist.")]
InProject = Annotated[
    bool, flag("--project", "Write this project's files, in the working folder; without it, the user's own.")
]
DryRun = Annotated[bool, flag("--dry-run", "Print what would change and write nothing.")]
NoHooks = Annotated[bool, flag("--no-hooks", "Write the MCP entry alone.")]


@command(app)
def install(
    target: Target,
    client: ClientName,
    name: Name = "memorist",
    project: InProject = False,
    no_hooks: NoHooks = False,
    dry_run: DryRun = False,
) -> Iterator[object]:
    """Give a client the memory: an MCP entry and, where it has them, hooks; the old settings are copied first."""
    from memorist_agents import install as agents
    from memorist_server.mcp import require_sdk

    require_sdk()  # otherwise the client would start a server that cannot run, and show nobody why
    start = _start(target, hooks=not no_hooks and _client(client).hooks is not None)
    with nullcontext() if dry_run else agents.alone():
        changes = _changes(client, start, name, project, no_hooks)
        copies = [None for _ in changes] if dry_run else agents.write_all(changes)
    yield [
        {**one, "settings": change.settings, "diff": change.diff}
        for one, change in zip(_report(changes, dry_run, copies), changes, strict=True)
    ]
    if dry_run:
        _print_plan(changes)
        return
    _print_written(changes, copies, client)
    if any(change.secret for change in changes):
        say((_BEWARE, "yellow"), indent=2)
    if any(change.needed for change in changes) and _client(client).after and not no_hooks:
        say(_client(client).after, indent=2)


@command(app)
def uninstall(
    client: ClientName, name: Name = "memorist", project: InProject = False, dry_run: DryRun = False
) -> Iterator[object]:
    """Take the entry and the hooks out of a client's settings; everything else stays as it is."""
    from memorist_agents import install as agents

    entries = agents.entries_of(_client(client), Start(()), name, project=_folder(project), hooks=True)
    with nullcontext() if dry_run else agents.alone():
        changes = [agents.plan_removal(file, some, name) for file, some in entries.items()]
        for edit in () if dry_run else changes:
            agents.take_out(edit)
    yield [{**one, "diff": change.diff} for one, change in zip(_report(changes, dry_run), changes, strict=True)]
    done = [edit for edit in changes if edit.needed]
    for edit in done:
        would = "would be removed from" if dry_run else "removed from"
        say(("✓ ", "green"), f"{would.capitalize()} {one_line(str(edit.file))}.")
        if dry_run:
            print_raw(edit.diff)
    if not done:
        say(f"{_client(client).title} has no entry {one_line(name)} and no hooks of ours.")


@command(app)
def hook(
    target: Target,
    event: Annotated[str, argument("EVENT", f"One of {', '.join(EVENTS)}.", autocompletion=lambda: list(EVENTS))],
    client: Annotated[
        str, option("NAME", "The client that calls, whose JSON is on standard input. Default: claude-code.")
    ] = "claude-code",
) -> None:
    """Handle an event of a coding agent: read its JSON on standard input, and print what the agent shall read.

    A failure never reaches the agent: nothing is printed, the status is 0, and a log says what happened.
    """
    from memorist.surfaces.cli import guard

    with guard.noting():
        from memorist.project import project_of
        from memorist_agents import hooks, payload

        given = payload.read(sys.stdin.buffer)
        call = hooks.HookCall(_event(event), client, given, project_of(given.folder))
        if answer := hooks.handled(call, target):
            guard.answer(answer)


def _event(name: str) -> str:
    if name not in EVENTS:
        raise InvalidInput(f"There is no event {name!r}", remedy=f"Choose one of {', '.join(EVENTS)}.")
    return name


def _client(name: str) -> AgentClient:
    if name not in CLIENTS:
        raise InvalidInput(f"There is no client {name!r}", remedy=f"Choose one of {', '.join(CLIENTS)}.")
    return CLIENTS[name]


def _folder(project: bool) -> Path | None:
    return Path.cwd() if project else None


def _changes(client: str, start: Start, name: str, project: bool, no_hooks: bool) -> list[FileChange]:
    from memorist_agents import install as agents

    chosen = _client(client)
    entries = agents.entries_of(chosen, start, name, project=_folder(project), hooks=not no_hooks)
    secret = start.secret_db is not None
    return [agents.plan(file, some, name, secret=secret) for file, some in entries.items()]


def _report(changes: Sequence[FileChange], dry_run: bool, copies: Sequence[Path | None] = ()) -> list[dict[str, Any]]:
    return [
        {"file": one.file, "written": one.needed and not dry_run, "backup": copy}
        for one, copy in zip_longest(changes, copies)
    ]


def _print_plan(changes: Sequence[FileChange]) -> None:
    for change in changes:
        say((f"{one_line(str(change.file))} {'would change' if change.needed else 'needs no change'}.", "dim"))
        if change.needed:
            print_raw(change.diff)


def _print_written(changes: Sequence[FileChange], copies: Sequence[Path | None], client: str) -> None:
    title = _client(client).title
    for one, copy in zip(changes, copies, strict=True):
        if not one.needed:
            say(f"{title} has it already: {one_line(str(one.file))}")
            continue
        say(("✓ ", "green"), f"Written to {one_line(str(one.file))}; restart {title}.")
        if copy is not None:
            say((f"The old settings are kept in {one_line(str(copy))}", "dim"), indent=2)


_BEWARE = """The file now holds the password of the database, and only you can read it.
Better keep the password in ~/.pgpass, leave it out of --db, and install again."""


def _start(target: Target, *, hooks: bool) -> Start:
    """How a client starts us: with absolute paths, because it runs in another folder, and with the memory named.

    Otherwise the settings file of a project could choose another memory than this one.
    """
    from memorist.config import default_db, resolve_database
    from memorist.engine.open import locate, on_server
    from memorist.errors import has_password

    settings = target.settings()
    db = resolve_database(settings.db or f"{default_db()}/", Path.cwd())
    secret = db if has_password(db) else None
    if secret and hooks:
        raise InvalidInput(
            "Hooks cannot be given the password of a database: other users could read it",
            remedy="Keep it in ~/.pgpass and leave it out of --db, or add --no-hooks.",
        )
    space = settings.space
    if space is None and not on_server(db) and db != ":memory:":
        path, in_folder = locate(db, None)
        space = path.stem if in_folder else None
    given = {
        "--db": None if secret else db,
        "--space": space,
        "--models": target.models,
        "--embedder": target.embedder,
        "--config": target.config and str(Path(target.config).absolute()),
    }
    return Start([part for name, value in given.items() if value is not None for part in (name, value)], secret)
