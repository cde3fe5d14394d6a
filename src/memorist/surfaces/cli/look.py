"""Commands that look: list, show, history, stats."""

from __future__ import annotations

from typing import Annotated, Unpack

import typer

from memorist.recall.request import Filters
from memorist.surfaces.cli.keywords import taking
from memorist.surfaces.cli.lines import memory_line, readable, size
from memorist.surfaces.cli.options import FILTERS, Json, MemoryId
from memorist.surfaces.cli.output import one_line, print_json, say, say_cut, visible
from memorist.surfaces.cli.target import memory_called, opened
from memorist.wire import memory_to_data, page_to_data, stats_to_data


@taking(FILTERS)
def list_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="The most memories to print.")] = 100,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Go on after a page that ended with this cursor.")
    ] = None,
    as_json: Json = False,
    **filters: Unpack[Filters],
) -> None:
    """Print memories in the order they were written."""
    with opened(context) as engine:
        page = engine.list(limit, cursor, **filters)
    if as_json:
        print_json(page_to_data(page))
        return
    for memory in page.items:
        say_cut(*memory_line(memory))
    if page.cursor is not None:
        say((f"More: --cursor {page.cursor}", "dim"))
    elif not page.items:
        say("No memories here." if cursor is None else "No more memories.")


def show(context: typer.Context, id: MemoryId, as_json: Json = False) -> None:
    """Print one memory with all that is known about it."""
    with opened(context) as engine:
        data = memory_to_data(memory_called(engine, id))
    if as_json:
        print_json(data)
        return
    say((visible(data.pop("text")), "bold"))
    for name, value in data.items():
        if value not in (None, [], {}):
            say((f"{name:<15}", "dim"), one_line(readable(value)))


def history(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A memory's id, or the name of an entity.")],
    as_json: Json = False,
) -> None:
    """Print all versions of a memory, or of every fact about an entity, the newest knowledge first."""
    with opened(context) as engine:
        versions = engine.history(name)
    if as_json:
        print_json([memory_to_data(memory) for memory in versions])
        return
    for memory in versions:
        end = memory.times.valid_to
        say_cut(*memory_line(memory), (f"  until {end.date()}" if end else "", "dim"))


def stats(context: typer.Context, as_json: Json = False) -> None:
    """Print how much the space holds."""
    with opened(context) as engine:
        found = engine.stats()
    if as_json:
        print_json(stats_to_data(found))
        return
    rows = {
        "space": found.space,
        "memories": f"{found.memories:,}",
        "versions": f"{found.versions:,}",
        "kinds": readable(dict(found.kinds)),
        "scopes": readable(dict(found.scopes)),
        "links": f"{found.links:,}",
        "entities": f"{found.entities:,}",
        "size": size(found.bytes),
        "embedding": found.embedding or "none yet",
    }
    for name, value in rows.items():
        say((f"{name:<11}", "dim"), one_line(value))
