"""Commands that find and look: recall, why-not, show, list, history, stats."""

from __future__ import annotations

from typing import Annotated, Any, Unpack

import typer

from memorist.model import Filters, Recall, RecallOptions, to_data
from memorist.surfaces.cli.app import opened
from memorist.surfaces.cli.options import Json, MemoryId, filter_options, find_memory, recall_options, with_options
from memorist.surfaces.cli.output import (
    item_line,
    memory_line,
    one_line,
    print_explanation,
    print_json,
    print_raw,
    readable,
    recall_line,
    say,
    say_cut,
    size,
    until,
    visible,
)

app = typer.Typer()


@app.command()
@with_options(recall_options())
def recall(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, in your own words.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain the rank of each memory.", rich_help_panel="Output")
    ] = False,
    only_context: Annotated[
        bool,
        typer.Option("--context", help="Print only the context, for a prompt.", rich_help_panel="Output"),
    ] = False,
    as_json: Json = False,
    **options: Unpack[RecallOptions],
) -> None:
    """Find the memories that matter for a question."""
    if only_context and (as_json or explain):
        raise typer.BadParameter("--context cannot be combined with --json (which includes it) or --explain.", context)
    with opened(context) as engine:
        found = engine.recall(query, **options)
        reasons = [to_data(engine.explain(found, item.memory.id)) for item in found.items if explain]
    if as_json:
        data = to_data(found)
        for item, reason in zip(data["items"], reasons, strict=False):
            item["explanation"] = reason
        print_json(data)
    elif only_context:
        print_raw(found.context)
    else:
        _print_recall(found, reasons)


def _print_recall(found: Recall, reasons: list[dict[str, Any]]) -> None:
    for place, item in enumerate(found.items):
        say(*item_line(item))
        say(one_line(item.memory.text), indent=4)
        for detail in reasons[place]["details"] if reasons else ():
            print_explanation(detail, indent=4)
    if not found.items:
        say("Nothing found.")
    say(*recall_line(found))


@app.command("why-not")
@with_options(recall_options())
def why_not(
    context: typer.Context,
    id: MemoryId,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question that did not find it.")],
    as_json: Json = False,
    **options: Unpack[RecallOptions],
) -> None:
    """Explain why a recall does not return a memory: which stage dropped it, and what it lacked."""
    with opened(context) as engine:
        absence = engine.why_not(query, find_memory(engine, id).id, **options)
    if as_json:
        print_json(to_data(absence))
    else:
        say(one_line(str(absence)))


@app.command()
def show(context: typer.Context, id: MemoryId, as_json: Json = False) -> None:
    """Print one memory with all its fields."""
    with opened(context) as engine:
        data = to_data(find_memory(engine, id))
    if as_json:
        print_json(data)
        return
    say((visible(data.pop("text")), "bold"))
    for name, value in data.items():
        if value not in (None, [], {}):
            say((f"{name:<15}", "dim"), one_line(readable(value)))


@app.command("list")
@with_options(filter_options())
def list_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="The most memories to print.")] = 100,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Continue after the page that ended with this cursor.")
    ] = None,
    as_json: Json = False,
    **filters: Unpack[Filters],
) -> None:
    """Print memories in the order they were written."""
    with opened(context) as engine:
        page = engine.list(limit, cursor, **filters)
    if as_json:
        print_json(to_data(page))
        return
    for memory in page.items:
        say_cut(*memory_line(memory))
    if page.cursor is not None:
        say((f"More: --cursor {page.cursor}", "dim"))
    elif not page.items:
        say("No memories here." if cursor is None else "No more memories.")


@app.command()
def history(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A memory's id, or the name of an entity.")],
    as_json: Json = False,
) -> None:
    """Print every version of a memory, or of each fact about an entity, newest knowledge first."""
    with opened(context) as engine:
        versions = engine.history(name)
    if as_json:
        print_json([to_data(memory) for memory in versions])
        return
    for memory in versions:
        say_cut(*memory_line(memory), (until(memory), "dim"))


@app.command()
def stats(context: typer.Context, as_json: Json = False) -> None:
    """Print the size of the space."""
    with opened(context) as engine:
        found = engine.stats()
    if as_json:
        print_json(to_data(found))
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
