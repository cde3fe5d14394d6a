"""Commands that write: remember, ingest, relate, forget."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Unpack

import typer

from memorist.errors import Error, InvalidInput
from memorist.model import Memory, to_data
from memorist.recall.request import Filters
from memorist.remember.ingest import FORMATS, IngestReport
from memorist.remember.record import Fields
from memorist.surfaces.cli.options import FILTERS, RELATE, REMEMBER, Json, Yes, chosen, memory_called, opened, taking
from memorist.surfaces.cli.output import count, memory_line, print_json, progress, say, say_cut

SHOWN = 3


@taking(REMEMBER)
def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember; - reads standard input.")],
    as_json: Json = False,
    **fields: Unpack[Fields],
) -> None:
    """Keep one memory, word for word."""
    whole = _standard_input() if text == "-" else text
    with opened(context) as engine:
        memory = engine.remember(whole, **fields)
    if as_json:
        print_json(to_data(memory))
    else:
        say_cut(("✓ ", "green"), *memory_line(memory))


@taking(RELATE)
def relate(
    context: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Who or what the fact is about.")],
    relation: Annotated[str, typer.Argument(metavar="RELATION", help="What is said of it, such as lives_in.")],
    object: Annotated[str, typer.Argument(metavar="OBJECT", help="The value, such as Stockholm.")],
    as_json: Json = False,
    **given: Any,
) -> None:
    """Write a fact; a new value of a one-valued relation supersedes the old one."""
    with opened(context) as engine:
        memory = engine.relate(subject, relation, object, **given)
    if as_json:
        print_json(to_data(memory))
    else:
        say_cut(("✓ ", "green"), *memory_line(memory))


def _standard_input() -> str:
    """All of it, without the newlines at its end: a shell adds them, as to the output of `$(…)`."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidInput("Standard input is not UTF-8", remedy="Convert it, as with iconv.") from None


@taking(FILTERS)
def forget(
    context: typer.Context,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="A memory's id, or the beginning of it.")] = None,
    yes: Yes = False,
    as_json: Json = False,
    **filters: Unpack[Filters],
) -> None:
    """Erase one memory, or all that the options choose, for good."""
    if (id is None) == (not filters):
        raise typer.BadParameter("Give either an ID or options that choose memories.", context)
    if not yes and (as_json or not sys.stdin.isatty()):
        raise typer.BadParameter("Nobody can be asked for confirmation here: add --yes.", context)
    with opened(context) as engine:
        memory = None if id is None else memory_called(engine, id)
        if not yes:
            _confirm([memory] if memory else list(chosen(engine, filters)))
        receipt = engine.forget(memory.id) if memory else engine.forget(**filters)
    if as_json:
        print_json(to_data(receipt))
    else:
        say(f"Forgot {count(len(receipt.forgotten), 'memory', 'memories')}.")
        if receipt.pending:
            say("  pending: another process still reads the file as it was; its bytes are overwritten later")


def _confirm(memories: list[Memory]) -> None:
    for memory in memories[:SHOWN]:
        say_cut("  ", *memory_line(memory))
    if len(memories) > SHOWN:
        say(("  …", "dim"))
    if not typer.confirm(f"Forget {count(len(memories), 'memory', 'memories')} for good?", err=True):
        raise Error("Nothing was forgotten", remedy="Answer y to erase.")


NAMED = 5
"""Reasons and places shown; `--json` has more."""


def ingest(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Files, folders or exports to read.")],
    session: Annotated[str | None, typer.Option(metavar="NAME", help="The session the texts belong to.")] = None,
    format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help=f"How to read them, where it is not seen: {', '.join(FORMATS)}."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Keep chats, notes, logs and exports; run twice, the second time adds nothing."""
    with opened(context) as engine, progress("Reading", None, quiet=as_json) as more:
        reports = {str(path): engine.ingest(path, session=session, format=format, progress=more) for path in paths}
    if as_json:
        print_json({path: to_data(report) for path, report in reports.items()})
        return
    for path, report in reports.items():
        _tell(path, report)


def _tell(path: str, report: IngestReport) -> None:
    kept = count(report.kept, "memory", "memories")
    facts = count(report.facts, "fact", "facts")
    say(f"{path}: kept {kept} with {facts}, {report.known} known already, from {count(report.files, 'file', 'files')}.")
    for what, reasons in (("skipped", report.skipped_by_reason), ("cleaned", report.cleaned_by_reason)):
        for reason, times in sorted(reasons.items(), key=lambda pair: -pair[1])[:NAMED]:
            say((f"  {what} {times}: {reason}", "dim"))
