"""The commands in the order `memorist --help` shows them, and the options before a command."""

from __future__ import annotations

from typing import Annotated

import typer

from memorist.surfaces.cli import bench, demo, doctor, find, mcp, move, serve, upkeep, write
from memorist.surfaces.cli.options import Target, setting
from memorist.surfaces.cli.output import print_raw

GLOBAL_OPTIONS = ("--db", "--space", "--embedder", "--config")
WRITE, CHANGE, LOOK, UPKEEP, MOVE, START = "Write", "Change", "Look", "Upkeep", "Move", "Start here"
SERVE = "Serve"

app = typer.Typer(
    help="The memory of AI agents: keep what an agent learns, and find it again.",
    epilog="Settings also come from the environment and from memorist.toml; options win.",
    context_settings={"help_option_names": ["--help", "-h"]},
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)

for panel, commands in {
    START: {"demo": demo.demo},
    WRITE: {"remember": write.remember, "ingest": write.ingest, "relate": write.relate, "forget": write.forget},
    CHANGE: {"feedback": upkeep.feedback, "invalidate": upkeep.invalidate, "undo": upkeep.undo},
    LOOK: {
        "recall": find.recall,
        "why-not": find.why_not,
        "show": find.show,
        "list": find.list_,
        "history": find.history,
        "stats": find.stats,
    },
    UPKEEP: {
        "recipes": find.recipes,
        "bench": bench.bench,
        "audit": upkeep.audit,
        "tidy": upkeep.tidy,
        "consolidate": upkeep.consolidate,
        "reembed": move.reembed,
        "doctor": doctor.doctor,
    },
    MOVE: {
        "backup": move.backup,
        "restore": move.restore,
        "export": move.export,
        "import": move.import_,
        "move": move.move,
    },
}.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=panel)(command)

app.command("serve", rich_help_panel=SERVE)(serve.serve)
app.add_typer(move.app, name="db", rich_help_panel=SERVE)
app.add_typer(mcp.app, name="mcp", rich_help_panel=SERVE)
app.add_typer(serve.app, name="keys", rich_help_panel=SERVE)


def _version(wanted: bool) -> None:
    if wanted:
        import memorist

        print_raw(f"memorist {memorist.__version__}")
        raise typer.Exit


@app.callback()
def choose(
    context: typer.Context,
    *,
    db: Annotated[str | None, setting("db")] = None,
    space: Annotated[str | None, setting("space")] = None,
    embedder: Annotated[str | None, setting("embedder")] = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE", help="A settings file to read instead of memorist.toml.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take note of what comes before the command; alone, `memorist` prints its help."""
    context.obj = Target(db, space, embedder, config)
    if context.invoked_subcommand is None:
        print_raw(context.get_help())
