"""Commands that find: recall, and why-not for what it did not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from memorist.model import Recall
from memorist.recall.request import RecallOptions
from memorist.surfaces.cli.keywords import taking
from memorist.surfaces.cli.lines import item_line, recall_line
from memorist.surfaces.cli.options import RECALL, Json, MemoryId
from memorist.surfaces.cli.output import one_line, print_json, print_raw, say
from memorist.surfaces.cli.target import memory_called, opened
from memorist.wire import absence_to_data, explanation_to_data, recall_to_data

if TYPE_CHECKING:
    from memorist.recall.explain import Explanation


@taking(RECALL)
def recall(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, in your own words.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Say how each memory got its place.", rich_help_panel="Output")
    ] = False,
    only_context: Annotated[
        bool,
        typer.Option("--context", help="Print only the context, for a prompt.", rich_help_panel="Output"),
    ] = False,
    as_json: Json = False,
    **options: Unpack[RecallOptions],
) -> None:
    """Find what matters for a question."""
    if only_context and (as_json or explain):
        raise typer.BadParameter("--context goes with neither --json, which has it, nor --explain.", context)
    with opened(context) as engine:
        found = engine.recall(query, **options)
        reasons = [engine.explain(found, item.memory.id) for item in found.items] if explain else []
    if as_json:
        print_json(_data(found, reasons))
    elif only_context:
        print_raw(found.context)
    else:
        _print(found, reasons)


@taking(RECALL)
def why_not(
    context: typer.Context,
    id: MemoryId,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question that did not find it.")],
    as_json: Json = False,
    **options: Unpack[RecallOptions],
) -> None:
    """Say which stage left a memory out of an answer, and what would have been enough."""
    with opened(context) as engine:
        absence = engine.why_not(query, memory_called(engine, id).id, **options)
    if as_json:
        print_json(absence_to_data(absence))
    else:
        say(one_line(str(absence)))


def _data(found: Recall, reasons: list[Explanation]) -> dict[str, object]:
    data = recall_to_data(found)
    for item, reason in zip(data["items"], reasons, strict=False):
        item["explanation"] = explanation_to_data(reason)
    return data


def _print(found: Recall, reasons: list[Explanation]) -> None:
    for place, item in enumerate(found.items):
        say(*item_line(item))
        say(one_line(item.memory.text), indent=4)
        if reasons:
            print_tree(reasons[place])
    if not found.items:
        say("Nothing found.")
    say(*recall_line(found))


def print_tree(reason: Explanation, indent: int = 4) -> None:
    """An explanation's details, each under what it explains."""
    for detail in reason.details:
        value = "" if detail.value is None else f"{detail.value:.4g}  "
        say((value, "green"), (one_line(detail.description), "dim"), indent=indent)
        print_tree(detail, indent + 2)
