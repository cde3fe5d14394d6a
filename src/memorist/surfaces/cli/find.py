"""Commands that find and look, from recall and wake-up to journal and stats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
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
    ID_SHOWN,
    count,
    item_line,
    memory_line,
    one_line,
    print_explanation,
    print_raw,
    readable,
    recall_line,
    say,
    say_cut,
    say_table,
    size,
    stage_lines,
    until,
    visible,
)

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


NOTHING = "Nothing is known yet."
app = typer.Typer()
SUBJECTS_SHOWN = 3
"""Memories named per entry of the journal; `--json` has all of them."""


Question = Annotated[str, argument("QUERY", "The question, in your own words.")]
Explain = Annotated[bool, flag("--explain", "Explain the rank of each memory.", "Output")]
Stages = Annotated[bool, flag("--stages", "Print what each signal found, and how long it took.", "Output")]
OnlyContext = Annotated[bool, flag("--context", "Print only the context, for a prompt.", "Output")]


@command(app, options=recall_options)
def recall(
    target: Target,
    query: Question,
    as_json: bool,
    explain: Explain = False,
    stages: Stages = False,
    only_context: OnlyContext = False,
    **options: Unpack[RecallOptions],
) -> Iterator[object]:
    """Find the memories that matter for a question."""
    yield from answer(target, lambda engine: engine.recall(query, **options), as_json, explain, only_context, stages)


def answer(
    target: Target,
    ask: Callable[[Engine], Recall],
    as_json: bool,
    explain: bool,
    only_context: bool,
    stages: bool = False,
) -> Iterator[object]:
    """The answer of a recall as data; after that, it is printed."""
    if only_context and (as_json or explain or stages):
        raise typer.BadParameter("--context cannot be combined with --json (which includes it), --explain or --stages.")
    with target.open(ahead=True) as engine:
        found = ask(engine)
        reasons = [to_data(engine.explain(found, item.memory.id)) for item in found.items if explain]
        load = getattr(engine.store, "index_load", None)
    data = to_data(found)
    for item, reason in zip(data["items"], reasons, strict=False):
        item["explanation"] = reason
    yield data
    if only_context:
        print_raw(found.context)
    else:
        _print_recall(found, reasons)
        for line in stage_lines(found) if stages else ():
            say((line, "dim"))
        if load is not None:
            say((f"Reading {load.rows:,} memories took {load.seconds:.1f} s: there was no index file yet.", "dim"))


def _print_recall(found: Recall, reasons: list[dict[str, Any]]) -> None:
    for memory in found.standing:
        say_cut(("standing  ", "yellow"), *memory_line(memory))
    if found.abstained:
        _print_abstention(found)
    for place, item in enumerate(found.items):
        say(*item_line(item))
        say(one_line(item.memory.text), indent=4)
        for note in item.notes:
            say((one_line(note), "dim"), indent=4)
        for detail in reasons[place]["details"] if reasons else ():
            print_explanation(detail, indent=4)
    if found.shown_before:
        if not found.items:
            say("Nothing new found.")
        say((f"Already shown in this session: {', '.join(found.shown_before)}", "dim"))
    for kind, text in to_data(found.reasoned).items():
        if text is not None:
            say((f"{kind}: ", "bold"), one_line(text))
    for note in found.remarks:
        say((note, "dim"))
    if found.cites_sources:
        say()
        print_raw(f"{visible(found.context)}\n")
    say(*recall_line(found))


def _print_abstention(found: Recall) -> None:
    nearest = " These are only the nearest memories:" if found.items else ""
    say((f"Abstained: nothing here answers the question.{nearest}", "yellow"))
    if found.why_abstained is not None:
        say((one_line(found.why_abstained), "dim"), indent=2)


@command(app, "wake-up", filter_options)
def wake_up(
    engine: Engine,
    max_tokens: Annotated[int, option("NUMBER", "The longest context, in tokens. Default: 800.", min=0)] = 800,
    speaker: Annotated[
        str | None, option("TEXT", "Who will ask: memories by and about them come first. Default: not stated.")
    ] = None,
    **filters: Unpack[Filters],
) -> Iterator[object]:
    """Print what an agent should know at its start: pinned memories, then the most important and newest others."""
    known = engine.wake_up(max_tokens, speaker=speaker, **filters)
    yield known
    print_raw(known.context or NOTHING)


@command(app, "why-not", recall_options)
def why_not(
    engine: Engine,
    query: Annotated[str, argument("QUERY", "The question that did not find it.")],
    id: MemoryId,
    **options: Unpack[RecallOptions],
) -> Iterator[object]:
    """Explain why a recall does not return a memory: which stage dropped it, and what it lacked."""
    absence = engine.why_not(query, find_memory(engine, id).id, **options)
    yield absence
    say(one_line(str(absence)))


@command(app)
def show(
    engine: Engine,
    ids: Annotated[list[str], argument("ID…", "The ids of memories, or the beginnings of them.")],
) -> Iterator[object]:
    """Print memories with all their fields."""
    memories = [find_memory(engine, id) for id in ids]
    found = [to_data(memory) for memory in memories]
    yield found if len(found) > 1 else found[0]
    for place, (memory, data) in enumerate(zip(memories, found, strict=True)):
        if place:
            say()
        say((visible(data.pop("text")), "bold"))
        if ahead := memory.times.planned(datetime.now(UTC)):
            say((ahead, "yellow"))
        shown = {name: one_line(readable(value)) for name, value in data.items() if value not in (None, [], {})}
        say_table(((name, "dim"), value) for name, value in shown.items())


@command(app, "list", filter_options)
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


@command(app, options=filter_options)
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


@command(app, options=filter_options)
def entities(
    engine: Engine,
    prefix: Annotated[str | None, argument("PREFIX", "The beginning of the names. Default: all names.")] = None,
    limit: Annotated[int, option("NUMBER", "The most names to print. Default: 100.", min=1)] = 100,
    kind: Annotated[str | None, option("TEXT", "Only names of this kind, such as person or place.")] = None,
    **filters: Unpack[Filters],
) -> Iterator[object]:
    """Print the names that memories mention, most mentioned first."""
    found = engine.entities(prefix, limit, kind, **filters)
    yield found
    for entity in found:
        counts = f"{count(entity.memories, 'memory', 'memories')}, {count(entity.facts, 'fact', 'facts')}"
        told = f"{counts}, last {entity.last.date()}"
        say_cut((one_line(entity.name), "bold"), f"  {entity.kind}" if entity.kind else "", (f"  {told}", "dim"))
    if not found:
        say("No names here.")


@command(app, options=filter_options)
def neighbours(
    engine: Engine,
    entity: Annotated[str, argument("NAME", "The name of an entity.")],
    hops: Annotated[int, option("NUMBER", "How far to walk, from 1 to 3. Default: 1.", min=1, max=3)] = 1,
    limit: Annotated[int, option("NUMBER", "The most relations to print. Default: 50.", min=1)] = 50,
    **filters: Unpack[Filters],
) -> Iterator[object]:
    """Print the names and relations reached from an entity, with what each relation rests on."""
    found = engine.neighbours(entity, hops, limit, **filters)
    yield found
    if not found.known:
        say(f"No memory mentions {one_line(entity)}.")
    for edge in found.edges:
        say_cut((one_line(edge.source), "bold"), f" {edge.relation} ", (one_line(edge.target), "bold"))
        for support in edge.support:
            say_cut((f"    {support.id[:8]} {support.at.date()} ", "dim"), one_line(support.text))
    if found.more:
        say(("There are more: --limit shows them.", "dim"))


@command(app)
def journal(
    engine: Engine,
    verb: Annotated[str | None, option("VERB", "Only entries of this verb, such as gate or feedback.")] = None,
    subject: Annotated[str | None, option("ID", "Only entries about this memory, by its id.")] = None,
    limit: Annotated[int, option("NUMBER", "The most entries to print. Default: 100.", min=1)] = 100,
    cursor: Annotated[str | None, option("TEXT", "Continue after this entry, the last of a page.")] = None,
    since: Annotated[str | None, option("WHEN", "Only entries from this moment on.")] = None,
) -> Iterator[object]:
    """Print what gates, feedback and upkeep decided and changed, newest first; `memorist undo` takes an entry back."""
    about = None if subject is None else find_memory(engine, subject).id
    entries = engine.journal(verb, about, limit, cursor, since=since)
    yield entries
    say_table(
        ((entry.id, "cyan"), (f"{entry.at:%Y-%m-%d %H:%M}", "dim"), one_line(entry.verb), one_line(_told(entry)))
        for entry in entries
    )
    if len(entries) == limit:
        say((f"More: --cursor {entries[-1].id}", "dim"))
    elif not entries:
        say("No entries here." if cursor is None else "No more entries.")


def _told(entry: Any) -> str:
    """What an entry decided, about which memories, and whether it was undone."""
    names = ("decision", "verdict", "gate", "rule", "reason")
    parts = [str(entry.data[name]) for name in names if isinstance(entry.data.get(name), str)]
    about = [id[:ID_SHOWN] for id in entry.subjects[:SUBJECTS_SHOWN]]
    undone = [f"undone {entry.data['undone']}"] if "undone" in entry.data else []
    return " · ".join([*parts, *([", ".join(about)] if about else []), *undone])


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
    say_table(((name, "dim"), one_line(value)) for name, value in rows.items())
