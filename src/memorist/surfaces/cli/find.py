"""Commands that find and look: recall, why-not, show, list, pinned, history, stats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from memorist.model import Filters, Recall, RecallOptions, to_data
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import (
    MemoryId,
    argument,
    command,
    filter_options,
    find_memory,
    flag,
    option,
    recall_options,
)
from memorist.surfaces.cli.output import (
    item_line,
    memory_line,
    one_line,
    print_explanation,
    print_raw,
    readable,
    recall_line,
    say,
    say_cut,
    size,
    until,
    visible,
)

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


app = typer.Typer()


Question = Annotated[str, argument("QUERY", "The question, in your own words.")]
Explain = Annotated[bool, flag("--explain", "Explain the rank of each memory.", "Output")]
OnlyContext = Annotated[bool, flag("--context", "Print only the context, for a prompt.", "Output")]


@command(app, options=recall_options())
def recall(
    target: Target,
    query: Question,
    as_json: bool,
    explain: Explain = False,
    only_context: OnlyContext = False,
    **options: Unpack[RecallOptions],
) -> Iterator[object]:
    """Find the memories that matter for a question."""
    yield from answer(target, lambda engine: engine.recall(query, **options), as_json, explain, only_context)


def answer(
    target: Target, ask: Callable[[Engine], Recall], as_json: bool, explain: bool, only_context: bool
) -> Iterator[object]:
    """The answer of a recall as data; after that, it is printed."""
    if only_context and (as_json or explain):
        raise typer.BadParameter("--context cannot be combined with --json (which includes it) or --explain.")
    with target.open() as engine:
        found = ask(engine)
        reasons = [to_data(engine.explain(found, item.memory.id)) for item in found.items if explain]
    data = to_data(found)
    for item, reason in zip(data["items"], reasons, strict=False):
        item["explanation"] = reason
    yield data
    if only_context:
        print_raw(found.context)
    else:
        _print_recall(found, reasons)


def _print_recall(found: Recall, reasons: list[dict[str, Any]]) -> None:
    for memory in found.standing:
        say_cut(("standing  ", "yellow"), *memory_line(memory))
    for place, item in enumerate(found.items):
        say(*item_line(item))
        say(one_line(item.memory.text), indent=4)
        for note in item.notes:
            say((one_line(note), "dim"), indent=4)
        for detail in reasons[place]["details"] if reasons else ():
            print_explanation(detail, indent=4)
    if not found.items:
        say("Nothing found.")
    for kind, text in to_data(found.reasoned).items():
        if text is not None:
            say((f"{kind}: ", "bold"), one_line(text))
    if found.cites_sources:
        say()
        print_raw(f"{visible(found.context)}\n")
    say(*recall_line(found))


@command(app, "why-not", recall_options())
def why_not(
    engine: Engine,
    id: MemoryId,
    query: Annotated[str, argument("QUERY", "The question that did not find it.")],
    **options: Unpack[RecallOptions],
) -> Iterator[object]:
    """Explain why a recall does not return a memory: which stage dropped it, and what it lacked."""
    absence = engine.why_not(query, find_memory(engine, id).id, **options)
    yield absence
    say(one_line(str(absence)))


@command(app)
def show(engine: Engine, id: MemoryId) -> Iterator[object]:
    """Print one memory with all its fields."""
    data = to_data(find_memory(engine, id))
    yield data
    say((visible(data.pop("text")), "bold"))
    for name, value in data.items():
        if value not in (None, [], {}):
            say((f"{name:<15}", "dim"), one_line(readable(value)))


@command(app, "list", filter_options())
def list_(
    engine: Engine,
    limit: Annotated[int, option("NUMBER", "The most memories to print. Default: 100.", min=1)] = 100,
    cursor: Annotated[str | None, option("TEXT", "Continue after the page that ended with this cursor.")] = None,
    **filters: Unpack[Filters],
) -> Iterator[object]:
    """Print memories in the order they were written."""
    page = engine.list(limit, cursor, **filters)
    yield page
    for memory in page.items:
        say_cut(*memory_line(memory))
    if page.cursor is not None:
        say((f"More: --cursor {page.cursor}", "dim"))
    elif not page.items:
        say("No memories here." if cursor is None else "No more memories.")


@command(app, options=filter_options())
def pinned(
    engine: Engine,
    limit: Annotated[int, option("NUMBER", "The most memories to print. Default: 100.", min=1)] = 100,
    **filters: Unpack[Filters],
) -> Iterator[object]:
    """Print the pinned memories, newest first."""
    found = engine.pinned(limit, **filters)
    yield found
    for memory in found:
        say_cut(*memory_line(memory))
    if not found:
        say("Nothing is pinned here.")


@command(app)
def history(
    engine: Engine, name: Annotated[str, argument("NAME", "A memory's id, or the name of an entity.")]
) -> Iterator[object]:
    """Print every version of a memory, or of each fact about an entity, newest knowledge first."""
    versions = engine.history(name)
    yield versions
    for memory in versions:
        say_cut(*memory_line(memory), (until(memory), "dim"))


@command(app)
def stats(engine: Engine) -> Iterator[object]:
    """Print the size of the space."""
    found = engine.stats()
    yield found
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
