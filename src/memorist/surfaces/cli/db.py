"""Commands for a PostgreSQL database: look at it, bring it up to date, spread it over machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from memorist.errors import InvalidInput
from memorist.opening import open_database
from memorist.surfaces.cli.lines import count
from memorist.surfaces.cli.options import Json
from memorist.surfaces.cli.output import one_line, print_json, say
from memorist.surfaces.cli.target import target

if TYPE_CHECKING:
    from memorist.opening import Administration

app = typer.Typer(help="Look after a PostgreSQL database that holds memories.")


@app.command()
def status(context: typer.Context, as_json: Json = False) -> None:
    """Print what the server has, and whether the tables are up to date; changes nothing."""
    found = _database(context).status()
    if as_json:
        print_json(asdict(found))
        return
    say(f"PostgreSQL {one_line(found.server)}, database {one_line(found.database)}")
    say(f"pgvector   {found.pgvector or 'not installed yet'}")
    say(f"Citus      {found.citus or 'not installed'}" + (", tables distributed" if found.distributed else ""))
    say(f"tables     {'lack ' + ', '.join(found.pending) if found.pending else 'up to date'}")
    if found.spaces is not None:
        say(f"spaces     {found.spaces:,}")


@app.command()
def migrate(context: typer.Context, as_json: Json = False) -> None:
    """Bring the tables up to date, as opening a memory does; for those who may, where programs may not."""
    taken = _database(context).migrate()
    if as_json:
        print_json({"migrated": taken})
    else:
        say(("✓ ", "green"), f"Took {count(len(taken), 'step', 'steps')}." if taken else "Up to date already.")


@app.command()
def distribute(context: typer.Context, as_json: Json = False) -> None:
    """Spread the tables over the nodes of a Citus cluster, a space whole on one of them."""
    done = _database(context).distribute()
    if as_json:
        print_json({"distributed": done})
    else:
        say(("✓ ", "green"), f"Distributed {count(len(done), 'table', 'tables')} by space.")


def _database(context: typer.Context) -> Administration:
    url = target(context).settings().db
    if url is None:
        raise InvalidInput("No database is named", remedy="Give it before the command: --db postgresql://….")
    return open_database(url)
