"""The commands in the order of `memorist --help`, and the options before a command, which choose a memory.

A command's module is imported when the command is run, helped or completed, and not before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

import memorist
from memorist import config
from memorist.config import SETTINGS
from memorist.errors import InvalidInput, MissingExtra
from memorist.surfaces.cli.output import complain, print_raw

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from memorist.engine.engine import Engine


GLOBAL_OPTIONS = ("--db", "--space", "--models", "--embedder", "--config")

COMMANDS = {
    "Start here": {
        "demo": ("demo", "Play a short story: remember, recall, travel in time, explain."),
    },
    "Write": {
        "remember": ("write", "Store one memory, word for word."),
        "ingest": ("write", "Store chats, notes, logs and exports."),
        "relate": ("write", "Write a fact; a new value replaces the old one."),
        "session": ("sessions", "Keep the steps of an agent's run, learn from them, and recall in its context."),
        "forget": ("write", "Erase memories for good."),
    },
    "Change": {
        "update": ("write", "Change a memory as a new version."),
        "feedback": ("write", "Rate a memory, which moves its ranking."),
        "pin": ("write", "Keep a memory at the head of every context."),
        "unpin": ("write", "Keep a memory there no longer."),
        "invalidate": ("write", "Say when a memory stopped being true."),
        "undo": ("write", "Undo a change, by its journal entry."),
    },
    "Look": {
        "recall": ("find", "Find the memories that matter for a question."),
        "wake-up": ("find", "Print what an agent should know at its start."),
        "why-not": ("find", "Explain why a recall does not return a memory."),
        "show": ("find", "Print memories with all their fields."),
        "list": ("find", "Print memories in the order they were written."),
        "pinned": ("find", "Print the pinned memories, newest first."),
        "history": ("find", "Print every version of a memory, or of the facts about an entity."),
        "entities": ("find", "Print the names that memories mention."),
        "neighbours": ("find", "Print what a name is related to."),
        "journal": ("find", "Print what was decided and changed, newest first; undo takes an entry back."),
        "stats": ("find", "Print the size of the space."),
        "inspect": ("", "Look at a memory in a browser."),
    },
    "Upkeep": {
        "recipes": ("recipes", "Print the recipes, or one of them in detail."),
        "bench": ("", "Measure recipes on a dataset: quality, speed and tokens."),
        "tune": ("", "Fit a recipe's numbers to your feedback and judged questions; a dry run without --apply."),
        "audit": ("upkeep", "Find duplicates, contradictions, secrets and drift; report or fix them."),
        "sleep": ("upkeep", "Consolidate, tidy and audit as one run; a dry run without --apply."),
        "tidy": ("upkeep", "Move tiers, merge, expire and clean up; a dry run without --apply."),
        "consolidate": ("upkeep", "Write notes on past days, weeks and quarters."),
        "reembed": ("upkeep", "Compute all vectors again."),
        "doctor": ("doctor", "Check the installation, the settings and the memory."),
        "trust": ("trust", "Trust the settings file of a project, or list the trusted ones."),
    },
    "Move": {
        "backup": ("move", "Copy the memory to a file while it is in use."),
        "restore": ("move", "Replace a memory with a backup."),
        "export": ("move", "Write everything as JSON lines."),
        "import": ("move", "Read an export."),
        "move": ("move", "Copy a memory to another store and compare the two."),
        "sync": ("", "Keep machines together through a shared folder."),
    },
    "Serve": {
        "serve": ("", "Serve every space over HTTP."),
        "db": ("", "Administer a PostgreSQL database of memories."),
        "mcp": ("", "Serve the memory to agents over MCP."),
        "install": ("", "Give a coding agent or editor the memory: its MCP entry and hooks."),
        "uninstall": ("", "Take the entry and hooks out of a client's settings."),
        "hook": ("", "Handle an event of a coding agent; clients call it."),
        "keys": ("", "Create, list and revoke API keys."),
    },
}
"""For each panel of the help: the commands, each with its summary and, unless it is one of `EXTRAS`, its module."""
EXTRAS = {
    **dict.fromkeys(("bench", "tune"), "bench"),
    **dict.fromkeys(("install", "uninstall", "hook"), "agents"),
    "sync": "import",
    **dict.fromkeys(("serve", "inspect", "keys"), "server"),
    "mcp": "mcp",
    "db": "postgres",
}
"""The commands of other distributions, each with the extra that brings it."""
ENTRY_POINTS = "memorist.commands"
"""The group of entry points in which a distribution names the Typer application of each of its commands."""


class LazyGroup(TyperGroup):
    """A group whose `commands` hold only a name and a summary until one of them is used."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name, with its module imported."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and self.load(str(name)), rest

    def load(self, name: str) -> Any:
        """The complete command: its options, its help and what it does."""
        every, one = _application(name), typer.Typer()
        one.registered_commands = [info for info in every.registered_commands if info.name == name]
        one.registered_groups = [info for info in every.registered_groups if info.name == name]
        return typer.main.get_group(one).commands[name]

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands that are installed, in the order of the help."""
        return [name for name in super().list_commands(ctx) if name not in EXTRAS or _offered(name)]


def _application(name: str) -> Any:
    """The Typer application that has a command."""
    if name not in EXTRAS:
        [module] = (commands[name][0] for commands in COMMANDS.values() if name in commands)
        return import_module(f"memorist.surfaces.cli.{module}").app
    for entry_point in _offered(name):
        return entry_point.load()
    extra = f"pip install 'memorist[{EXTRAS[name]}]'"
    raise MissingExtra(f"`memorist {name}` is not installed", remedy=f"Install it with: {extra}")


def _offered(name: str) -> EntryPoints:
    """The entry points of a command; empty if no distribution that is installed has it."""
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINTS, name=name)


app = typer.Typer(
    cls=LazyGroup,
    help="The memory of AI agents: remembers what an agent learns, and finds it again.",
    epilog="Settings also come from the environment and from memorist.toml; options win.",
    context_settings={"help_option_names": ["--help", "-h"]},
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)

for panel, commands in COMMANDS.items():
    for name, (_, summary) in commands.items():
        app.command(name, help=summary, rich_help_panel=panel)(lambda: None)


def all_commands() -> tuple[Any, dict[str, Any]]:
    """The options before the command, and every command by its words, such as `keys create`; imports them all."""
    root: Any = typer.main.get_command(app)
    found: dict[str, Any] = {}
    for name in root.commands:
        command = root.load(name)
        inner = getattr(command, "commands", {})
        if not inner or command.invoke_without_command:
            found[name] = command
        found |= {f"{name} {word}": one for word, one in inner.items()}
    return root, found


@dataclass(frozen=True, slots=True)
class Target:
    """The memory to open; None means that the environment or a file decides."""

    db: str | None = field(default=None, repr=False)  # it may hold a password
    space: str | None = None
    models: str | None = None
    embedder: str | None = None
    config: str | None = None

    def open(self, *, create: bool = False, ahead: bool = False, background: bool = True) -> Engine:
        """Open it. A command that adds memories may create it; all others refuse one that does not exist.

        `ahead` loads the embedder meanwhile, for a command that embeds for certain.
        """
        from memorist.engine.open import open_engine

        return open_engine(self.settings(), ahead=ahead, background=background, create=create)

    def settings(self) -> config.Config:
        """The settings it is opened with; those that are ignored are named on standard error, once."""
        chosen = config.load(self.config, db=self.db, space=self.space, models=self.models, embedder=self.embedder)
        if chosen.untrusted is not None and chosen.untrusted.ignored:
            _say_ignored(chosen.untrusted.message)
        return chosen

    def chosen_db(self) -> str | None:
        """The database, to be served or to get keys; an untrusted file may not choose it.

        Keys lie beside a database: with its own database, a project could bring a key of its author.
        """
        chosen = self.settings()
        if chosen.untrusted is not None and "db" in chosen.untrusted.used:
            raise InvalidInput(
                f"{chosen.untrusted.file} chooses the database, and it is not trusted",
                remedy="Give --db, or run `memorist trust` if you trust the file.",
            )
        return chosen.db


@cache
def _say_ignored(message: str) -> None:
    complain(message)


def setting(name: str) -> Any:
    """The option for a setting, which can also come from the environment or a file."""
    known = next(known for known in SETTINGS if known.name == name)
    return typer.Option(f"--{name}", metavar=name.upper(), help=f"{known.meaning} Also {known.variable}.")


def _print_version(wanted: bool) -> None:
    if wanted:
        print_raw(f"memorist {memorist.__version__}")
        raise typer.Exit


@app.callback()
def choose_target(
    context: typer.Context,
    *,
    db: Annotated[str | None, setting("db")] = None,
    space: Annotated[str | None, setting("space")] = None,
    models: Annotated[str | None, setting("models")] = None,
    embedder: Annotated[str | None, setting("embedder")] = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE", help="The settings file to read instead of memorist.toml.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep the options before the command; without a command, print the help."""
    context.obj = Target(db, space, models, embedder, config)
    if context.invoked_subcommand is None:
        print_raw(context.get_help())
