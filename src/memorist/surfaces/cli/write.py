"""Commands that write and change: remember, ingest, relate, update, forget, feedback, pin, invalidate, undo."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from memorist.errors import Error, InvalidInput
from memorist.model import Changes, FactFields, Fields, Filters, Memory, Outcome, Remembered, to_data
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import (
    MemoryId,
    Yes,
    all_memories,
    argument,
    command,
    filter_options,
    find_memory,
    flag,
    input_file,
    memory_options,
    option,
    require_answer,
)
from memorist.surfaces.cli.output import count, memory_line, one_line, print_remembered, progress, say, say_cut, until

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


app = typer.Typer()
MEMORIES_SHOWN = 3
"""Memories shown before a confirmation."""
REASONS_SHOWN, PLACES_SHOWN, FILES_SHOWN = 5, 5, 20
"""Reasons shown per path, texts named for each, and skipped files named; `--json` has more."""


@command(app, options=lambda: memory_options(Fields))
def remember(
    target: Target,
    text: Annotated[str, argument("TEXT", "The text to remember; - reads standard input.")],
    **fields: Unpack[Fields],
) -> Iterator[object]:
    """Store one memory, word for word."""
    with target.open(create=True, ahead=True) as engine:
        memory = engine.remember(_standard_input() if text == "-" else text, **fields)
        before = _version_before(engine, memory)
    yield memory
    print_remembered(memory)
    if before is not None:
        say_cut((f"  version {memory.version}; before: ", "dim"), one_line(before.text))


def _version_before(engine: Engine, memory: Remembered) -> Memory | None:
    """The version that a new text of a memory replaced."""
    past = engine.history(memory.id) if memory.outcome is Outcome.MERGED else []
    return next((row for row in past if row.version < memory.version), None)


def _format_option() -> Any:
    """The option for a format; it is made for this command alone, because the readers are imported for their names."""
    from memorist.engine.vocabulary import format_names

    names = list(format_names())
    help = f"The format, if it is not detected correctly: {', '.join(names)}."
    return option("FORMAT", help, autocompletion=lambda: names)


@command(app, creates=True)
def ingest(
    engine: Engine,
    paths: Annotated[list[Path], input_file("PATH…", "The files, folders or exports to read.")],
    as_json: bool,
    session: Annotated[str | None, option("NAME", "The session that the texts belong to.")] = None,
    format: Annotated[str | None, _format_option()] = None,
) -> Iterator[object]:
    """Store chats, notes, logs and exports; texts that are known already are not stored again."""
    with progress("Ingesting", lambda: _texts_in(paths, format), quiet=as_json) as more:
        reports = {
            str(path): to_data(engine.ingest(path, session=session, format=format, progress=more)) for path in paths
        }
    yield reports
    for path, report in reports.items():
        _print_report(path, report)


@command(app, options=lambda: memory_options(FactFields), creates=True)
def relate(
    engine: Engine,
    subject: Annotated[str, argument("SUBJECT", "The person or thing that the fact is about.")],
    relation: Annotated[str, argument("RELATION", "The relation, such as lives_in.")],
    object: Annotated[str, argument("OBJECT", "The value, such as Stockholm.")],
    text: Annotated[str | None, option("TEXT", "The fact as a sentence. Default: made from its parts.")] = None,
    **fields: Unpack[FactFields],
) -> Iterator[object]:
    """Write a fact; the new value of a one-valued relation replaces the old one, which stays in the history."""
    memory = engine.relate(subject, relation, object, text, **fields)
    yield memory
    print_remembered(memory)


@command(app, options=lambda: memory_options(Changes))
def update(
    engine: Engine,
    id: MemoryId,
    text: Annotated[str | None, argument("TEXT", "The new text; - reads standard input. Default: unchanged.")] = None,
    **changes: Unpack[Changes],
) -> Iterator[object]:
    """Change a memory as a new version; the old one stays in the history."""
    given = _standard_input() if text == "-" else text
    memory = engine.update(find_memory(engine, id).id, given, **changes)
    yield memory
    print_remembered(memory)


@command(app, options=lambda: filter_options(defaults=False))
def forget(
    target: Target,
    as_json: bool,
    id: Annotated[list[str] | None, argument("ID…", "The ids of memories, or the beginnings of them.")] = None,
    soft: Annotated[
        bool, flag("--soft", "Erase nothing: they end now and stay in their history, and undo takes it back.")
    ] = False,
    yes: Yes = False,
    **filters: Unpack[Filters],
) -> Iterator[object]:
    """Erase for good some memories, or all memories that the options choose."""
    if (not id) == (not filters):
        raise typer.BadParameter("Pass either an ID or options that choose memories, not both.")
    asks = not (yes or soft)
    if asks:
        require_answer(as_json)
    with target.open() as engine:
        memories = [find_memory(engine, given) for given in id or ()]
        if asks:
            _confirm_erasure(memories or list(all_memories(engine, filters)))
        receipt = engine.forget([memory.id for memory in memories] or None, soft=soft, **filters)
    yield receipt
    if soft:
        _say_ended(len(receipt.forgotten), receipt.run)
        return
    say_forgotten(len(receipt.forgotten), receipt.pending, target)


def say_forgotten(number: int, pending: bool, target: Target) -> None:
    """How many memories were erased, and what keeps their bytes if they are still there."""
    say(f"Forgot {count(number, 'memory', 'memories')}.")
    if pending:
        say(f"  pending: {_why_pending(target)}")


def _say_ended(number: int, run: str | None) -> None:
    if run is None:
        say("Nothing to end: no current memory was chosen.")
    else:
        say(
            ("✓ ", "green"),
            f"Ended {count(number, 'memory', 'memories')}; nothing was erased. To undo: memorist undo {run}",
        )


def _why_pending(target: Target) -> str:
    from memorist.engine.open import on_server

    db = target.settings().db
    if db is not None and on_server(db):
        return "the server's files keep the bytes until a job or `memorist db rewrite` rewrites its tables"
    return "another process is still reading the old file; the bytes are overwritten when it ends"


@command(app)
def feedback(
    engine: Engine,
    id: MemoryId,
    verdict: Annotated[str, argument("VERDICT", "Useful, wrong, outdated or hide.")],
    recall: Annotated[
        Path | None, option("FILE", "The output of the `recall --json` that returned it; its query is kept.")
    ] = None,
) -> Iterator[object]:
    """Rate a memory, which moves its ranking within limits."""
    given = None if recall is None else _recall_in(recall)
    memory = engine.feedback(find_memory(engine, id).id, verdict, given)
    yield memory
    _print_memory(memory, f"  relevance {memory.worth.relevance:+g}")


@command(app)
def pin(engine: Engine, id: MemoryId) -> Iterator[object]:
    """Keep a memory at the head of every context, whoever said it; read it before you do."""
    memory = engine.pin(find_memory(engine, id).id)
    yield memory
    _print_memory(memory, "  pinned")


@command(app)
def unpin(engine: Engine, id: MemoryId) -> Iterator[object]:
    """Keep a memory no longer at the head of every context."""
    memory = engine.unpin(find_memory(engine, id).id)
    yield memory
    _print_memory(memory, "  unpinned")


@command(app)
def invalidate(
    engine: Engine,
    id: MemoryId,
    at: Annotated[str | None, option("WHEN", "When it stopped being true. Default: now.")] = None,
    superseded_by: Annotated[
        str | None, option("ID", "The memory that replaced it, by its id or the beginning of it.")
    ] = None,
) -> Iterator[object]:
    """Say when a memory stopped being true; it stays in the history."""
    successor = superseded_by and find_memory(engine, superseded_by).id
    memory = engine.invalidate(find_memory(engine, id).id, at, successor)
    yield memory
    _print_memory(memory, until(memory))


@command(app)
def undo(
    engine: Engine,
    entry: Annotated[
        str, argument("ENTRY", "The journal entry, from `audit --json`, or the run of a tidy or a soft forget.")
    ],
) -> Iterator[object]:
    """Undo a change that a gate, a fix, a tidy or feedback made."""
    done = engine.undo(entry)
    yield {"undone": done.id, "verb": done.verb, "subjects": done.subjects}
    say(("✓ ", "green"), f"Undone: {one_line(str(done.data['reason']))}.")


def _print_memory(memory: Memory, note: str = "") -> None:
    say_cut(("✓ ", "green"), *memory_line(memory), (note, "dim"))


def _standard_input() -> str:
    """The whole input without its final newlines, which the shell adds; `$(…)` drops them too."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidInput("Standard input is not UTF-8", remedy="Convert it, for example with iconv.") from None


def _texts_in(paths: list[Path], format: str | None) -> int | None:
    """How many texts there are to keep; None if a path cannot be read, which `ingest` itself explains."""
    from memorist.engine.vocabulary import texts_in

    try:
        return sum(texts_in(path, format) for path in paths)
    except Error:
        return None


def _print_report(path: str, report: dict[str, Any]) -> None:
    kept, facts = count(report["kept"], "memory", "memories"), count(report["facts"], "fact", "facts")
    files = count(report["files"], "file", "files")
    others = {"known": "known already", "merged": "merged as new versions", "withheld": "withheld"}
    told = [f"{report[name]:,} {words}" for name, words in others.items() if report[name] or name == "known"]
    say(f"{path}: stored {kept} with {facts}, {', '.join(told)}, from {files}.")
    unread: list[dict[str, str]] = report["skipped_files"]
    for file in unread[:FILES_SHOWN]:
        say((f"skipped file {one_line(file['where'])}: {one_line(file['reason'])}", "dim"), indent=2)
    if len(unread) > FILES_SHOWN:
        say((f"… and {len(unread) - FILES_SHOWN:,} more files", "dim"), indent=2)
    for what in ("skipped", "cleaned"):
        reasons: dict[str, int] = report[f"{what}_by_reason"]
        for reason, times in sorted(reasons.items(), key=lambda pair: -pair[1])[:REASONS_SHOWN]:
            places = [one_line(entry["where"]) for entry in report[what] if entry["reason"] == reason]
            named = ", ".join([*places[:PLACES_SHOWN], *(["…"] if times > PLACES_SHOWN else [])])
            say((f"{what} {times:,}: {one_line(reason)} ({named})", "dim"), indent=2)


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
