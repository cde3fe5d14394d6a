"""The command db: administer a PostgreSQL database of memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from memorist.engine.open import open_database
from memorist.errors import Error, InvalidInput
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import Yes, argument, command, require_answer
from memorist.surfaces.cli.output import count, one_line, say, say_table

app = typer.Typer()
db = typer.Typer(help="Administer a PostgreSQL database of memories.")
app.add_typer(db, name="db")


@command(db)
def status(target: Target) -> Iterator[object]:
    """Print the versions on the server and whether the tables are up to date; changes nothing."""
    found = open_database(_database_url(target)).status()
    yield found
    distributed = ", tables distributed" if found.distributed else ""
    rows = {
        "PostgreSQL": f"{one_line(found.server)}, database {one_line(found.database)}",
        "pgvector": found.pgvector or "not installed yet",
        "Citus": f"{found.citus or 'not installed'}{distributed}",
        "tables": f"missing {', '.join(found.pending)}" if found.pending else "up to date",
        "spaces": None if found.spaces is None else f"{found.spaces:,}",
    }
    say_table((name, value) for name, value in rows.items() if value is not None)


@command(db)
def migrate(target: Target) -> Iterator[object]:
    """Create or update the tables, as opening a memory does; for programs that may not do so themselves."""
    taken = open_database(_database_url(target)).migrate()
    yield {"migrated": taken}
    say(("✓ ", "green"), f"Ran {count(len(taken), 'migration', 'migrations')}." if taken else "Up to date already.")


@command(db)
def distribute(target: Target) -> Iterator[object]:
    """Distribute the tables over the nodes of a Citus cluster; each space stays on one node."""
    done = open_database(_database_url(target)).distribute()
    yield {"distributed": done}
    say(("✓ ", "green"), f"Distributed {count(len(done), 'table', 'tables')} by space.")


@command(db)
def rewrite(target: Target) -> Iterator[object]:
    """Rewrite the tables, so that the server's files hold nothing that was forgotten; others wait meanwhile."""
    open_database(_database_url(target)).rewrite()
    yield {"rewritten": True}
    say(("✓ ", "green"), "Rewrote the tables. The server's write-ahead log, backups and standbys are its own.")


@command(db)
def delete(
    target: Target,
    space: Annotated[str, argument("SPACE", "The space to delete.")],
    as_json: bool,
    yes: Yes = False,
) -> Iterator[object]:
    """Delete a space with everything in it, for good; other spaces are not touched."""
    database = open_database(_database_url(target))
    if not yes:
        require_answer(as_json)
        if not typer.confirm(f"Delete the space {one_line(space)} for good?", err=True):
            raise Error("Nothing was deleted", remedy="Answer y to delete.")
    gone = database.delete(space)
    yield {"deleted": space, "memories": gone}
    say(("✓ ", "green"), f"Deleted {one_line(space)} with {count(gone, 'memory', 'memories')}.")
    say(("The bytes stay in the server's files until `memorist db rewrite`.", "dim"))


def _database_url(target: Target) -> str:
    url = target.settings().db
    if url is None:
        raise InvalidInput("No database was given", remedy="Give it before the command: --db postgresql://….")
    return url
