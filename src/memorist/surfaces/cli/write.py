"""Commands that write and change memories: remember, ingest, relate, forget, feedback, invalidate, undo."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Unpack

import typer

from memorist.errors import Error, InvalidInput
from memorist.model import FactFields, Fields, Filters, Memory, to_data
from memorist.surfaces.cli.app import opened
from memorist.surfaces.cli.options import (
    Json,
    MemoryId,
    Yes,
    all_memories,
    filter_options,
    find_memory,
    relate_options,
    remember_options,
    require_answer,
    with_options,
)
from memorist.surfaces.cli.output import count, memory_line, one_line, print_json, progress, say, say_cut, until

app = typer.Typer()
FORMATS = ("messages", "jsonl", "json", "markdown", "text", "chatgpt", "claude", "mem0")
"""The formats of `ingest`. They are written out here so that help and completion do not import the readers."""
MEMORIES_SHOWN = 3
"""Memories shown before a confirmation."""
REASONS_SHOWN = 5
"""Reasons shown per file; `--json` has all of them."""


@app.command()
@with_options(remember_options())
def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text to remember; - reads standard input.")],
    as_json: Json = False,
    **fields: Unpack[Fields],
) -> None:
    """Store one memory, word for word."""
    whole = _standard_input() if text == "-" else text
    with opened(context) as engine:
        _print_memory(engine.remember(whole, **fields), as_json)


@app.command()
def ingest(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="The files, folders or exports to read.")],
    session: Annotated[str | None, typer.Option(metavar="NAME", help="The session that the texts belong to.")] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help=f"The format, if it is not detected correctly: {', '.join(FORMATS)}.",
            autocompletion=lambda: list(FORMATS),
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Store chats, notes, logs and exports; texts that are known already are not stored again."""
    with opened(context) as engine, progress("Reading", None, quiet=as_json) as more:
        reports = {
            str(path): to_data(engine.ingest(path, session=session, format=format, progress=more)) for path in paths
        }
    if as_json:
        print_json(reports)
        return
    for path, report in reports.items():
        _print_report(path, report)


@app.command()
@with_options(relate_options())
def relate(
    context: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="The person or thing that the fact is about.")],
    relation: Annotated[str, typer.Argument(metavar="RELATION", help="The relation, such as lives_in.")],
    object: Annotated[str, typer.Argument(metavar="OBJECT", help="The value, such as Stockholm.")],
    text: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The fact as a sentence. Default: made from its parts.", show_default=False),
    ] = None,
    as_json: Json = False,
    **fields: Unpack[FactFields],
) -> None:
    """Write a fact; the new value of a one-valued relation replaces the old one, which stays in the history."""
    with opened(context) as engine:
        _print_memory(engine.relate(subject, relation, object, text, **fields), as_json)


@app.command()
@with_options(filter_options(defaults=False))
def forget(
    context: typer.Context,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The memory's id, or the beginning of it.")] = None,
    yes: Yes = False,
    as_json: Json = False,
    **filters: Unpack[Filters],
) -> None:
    """Erase for good one memory, or all memories that the options choose."""
    if (id is None) == (not filters):
        raise typer.BadParameter("Pass either an ID or options that choose memories, not both.", context)
    if not yes:
        require_answer(context, as_json)
    with opened(context) as engine:
        memory = None if id is None else find_memory(engine, id)
        if not yes:
            _confirm_erasure([memory] if memory else list(all_memories(engine, filters)))
        receipt = engine.forget(memory.id) if memory else engine.forget(**filters)
    if as_json:
        print_json(to_data(receipt))
        return
    say(f"Forgot {count(len(receipt.forgotten), 'memory', 'memories')}.")
    if receipt.pending:
        say("  pending: another process is still reading the old file; the bytes are overwritten when it ends")


@app.command()
def feedback(
    context: typer.Context,
    id: MemoryId,
    verdict: Annotated[str, typer.Argument(metavar="VERDICT", help="Useful, wrong, outdated or hide.")],
    recall: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The output of the `recall --json` that returned it; its query is kept."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Rate a memory, which moves its ranking within limits."""
    given = None if recall is None else _recall_in(recall)
    with opened(context) as engine:
        memory = engine.feedback(find_memory(engine, id).id, verdict, given)
    _print_memory(memory, as_json, f"  relevance {memory.worth.relevance:+g}")


@app.command()
def invalidate(
    context: typer.Context,
    id: MemoryId,
    at: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="When it stopped being true. Default: now.", show_default=False),
    ] = None,
    superseded_by: Annotated[
        str | None, typer.Option(metavar="ID", help="The memory that replaced it, by its id or the beginning of it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say when a memory stopped being true; it stays in the history."""
    with opened(context) as engine:
        successor = superseded_by and find_memory(engine, superseded_by).id
        memory = engine.invalidate(find_memory(engine, id).id, at, successor)
    _print_memory(memory, as_json, until(memory))


@app.command()
def undo(
    context: typer.Context,
    entry: Annotated[
        str, typer.Argument(metavar="ENTRY", help="The journal entry, from `audit --json`, or the run of a tidy.")
    ],
    as_json: Json = False,
) -> None:
    """Undo a change that a gate, a fix, a tidy or feedback made."""
    with opened(context) as engine:
        done = engine.undo(entry)
    if as_json:
        print_json({"undone": done.id, "verb": done.verb, "subjects": list(done.subjects)})
    else:
        say(("✓ ", "green"), f"Undone: {one_line(str(done.data['reason']))}.")


def _print_memory(memory: Memory, as_json: bool, note: str = "") -> None:
    if as_json:
        print_json(to_data(memory))
    else:
        say_cut(("✓ ", "green"), *memory_line(memory), (note, "dim"))


def _standard_input() -> str:
    """The whole input without its final newlines, which the shell adds; `$(…)` drops them too."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidInput("Standard input is not UTF-8", remedy="Convert it, for example with iconv.") from None


def _print_report(path: str, report: dict[str, Any]) -> None:
    kept, facts = count(report["kept"], "memory", "memories"), count(report["facts"], "fact", "facts")
    files = count(report["files"], "file", "files")
    say(f"{path}: stored {kept} with {facts}, {report['known']} known already, from {files}.")
    for what in ("skipped", "cleaned"):
        reasons: dict[str, int] = report[f"{what}_by_reason"]
        for reason, times in sorted(reasons.items(), key=lambda pair: -pair[1])[:REASONS_SHOWN]:
            say((f"  {what} {times}: {reason}", "dim"))


def _confirm_erasure(memories: list[Memory]) -> None:
    for memory in memories[:MEMORIES_SHOWN]:
        say_cut("  ", *memory_line(memory))
    if len(memories) > MEMORIES_SHOWN:
        say(("  …", "dim"))
    if not typer.confirm(f"Forget {count(len(memories), 'memory', 'memories')} for good?", err=True):
        raise Error("Nothing was forgotten", remedy="Answer y to erase.")


def _recall_in(file: Path) -> dict[str, Any]:
    try:
        data: object = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}", remedy="Give the output of `recall --json`.") from None
    return data if isinstance(data, dict) else {}  # pyright: ignore[reportUnknownVariableType]
