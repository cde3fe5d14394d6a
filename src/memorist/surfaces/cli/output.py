"""Printing: lines, JSON and progress. Rich is loaded for a terminal; a pipe gets plain lines without it."""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import IO, TYPE_CHECKING, Any, cast

from memorist.text.labels import UNSEEN
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from memorist.model import GateDecision, Item, Memory, Recall, Remembered


CONTROLS = lazy(f"[{UNSEEN}\v\f\r\x1c-\x1f\x85\u2028\u2029]")
PLAIN_SIGNS = {"✓": "+", "✗": "x", "·": "-", "→": "->", "…": "...", "×": "x", "−": "-", "“": '"', "”": '"'}
ERRORS = "memorist.plain"
Part = str | tuple[str, str]
"""A piece of a line: a text, or a text and its style."""


def survive_any_text() -> None:
    """Let the standard streams write any text: a character they cannot encode becomes a plain sign or an escape."""
    codecs.register_error(ERRORS, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    sign = PLAIN_SIGNS.get(error.object[error.start])
    if sign is not None:
        return sign, error.start + 1
    one = UnicodeEncodeError(error.encoding, error.object, error.start, error.start + 1, error.reason)
    return codecs.backslashreplace_errors(one)


def print_json(data: Any) -> None:
    """Print one document, indented on a terminal."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(data, ensure_ascii=not unicode, indent=indent, allow_nan=False)
    sys.stdout.write(CONTROLS.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n")


def visible(text: str) -> str:
    """A text with characters that control a terminal, or do not show, escaped; line breaks and tabs stay."""
    return CONTROLS.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str) -> str:
    """A text on one line, with characters that control a terminal escaped."""
    return visible(" ".join(text.split()))


def print_raw(text: str) -> None:
    """Print a text unchanged; on a terminal, control characters are escaped."""
    sys.stdout.write((visible(text) if sys.stdout.isatty() else text) + "\n")


def complain(message: str) -> None:
    """Print one line on standard error."""
    sys.stderr.write(f"memorist: {one_line(message)}\n")


def terminal() -> Console | None:
    """Standard output with colours, if it is a terminal."""
    return console() if _may_be_terminal(sys.stdout) and console().is_terminal else None


def _may_be_terminal(stream: IO[str]) -> bool:
    """Whether Rich could take a stream for a terminal: it is one, or a variable that Rich reads may say so."""
    return stream.isatty() or any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))


@cache
def console() -> Console:
    """Rich's view of standard output."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def styled(*parts: Part) -> Text:
    """A line made of its parts. No part can control the terminal."""
    from rich.text import Text

    return Text.assemble(*(visible(part) if isinstance(part, str) else (visible(part[0]), part[1]) for part in parts))


def unstyled(*parts: Part) -> str:
    """A line made of its parts, for a pipe."""
    return visible("".join(part if isinstance(part, str) else part[0] for part in parts)).expandtabs()


def say(*parts: Part, indent: int = 0) -> None:
    """Print a line made of parts; a terminal wraps it at its indent, a pipe gets it unwrapped."""
    line = unstyled(*parts).rstrip()
    shown = terminal()
    if not line or shown is None:
        sys.stdout.write(f"{' ' * indent}{line}\n" if line else "\n")
        return
    from rich.padding import Padding

    text = styled(*parts)
    text.rstrip()
    shown.print(Padding(text, (0, 0, 0, indent), expand=False))


def say_cut(*parts: Part) -> None:
    """Print a line that is cut at the edge of a terminal, with an ellipsis."""
    shown = terminal()
    if shown is None:
        sys.stdout.write(f"{unstyled(*parts)}\n")
    else:
        shown.print(styled(*parts), no_wrap=True, overflow="ellipsis", crop=True)


GAP, NARROWEST = 2, 24
"""Spaces between two columns, and the room that the last one needs: with less, it stands below the others."""


def say_table(rows: Iterable[Sequence[Part]], indent: int = 0) -> None:
    """Print rows in columns as wide as their widest cell; a terminal wraps the last column within itself."""
    every = [list(row) for row in rows]
    widths = [max(map(width, column)) for column in zip(*(row[:-1] for row in every), strict=True)]
    for row in every:
        say_row(row, widths, indent)


def say_row(row: Sequence[Part], widths: Sequence[int], indent: int = 0) -> None:
    """Print one row of a table whose columns, all but the last, have these widths."""
    *first, last = row
    line: list[Part] = []
    for cell, room in zip(first, widths, strict=True):
        line += [cell, " " * (max(0, room - width(cell)) + GAP)]
    taken = sum(map(width, line))
    shown = terminal()
    if shown is None:
        say(*line, last, indent=indent)
    elif shown.width - indent - taken >= NARROWEST:
        from rich.table import Table

        grid = Table.grid()
        grid.add_column(width=indent + taken, no_wrap=True)
        grid.add_column()
        grid.add_row(styled(" " * indent, *line), styled(last))
        shown.print(grid)
    else:
        say(*(part for cell in first for part in (cell, " " * GAP)), indent=indent)
        say(last, indent=indent + GAP)


def width(cell: Part) -> int:
    """The columns of a terminal that a cell takes; a Chinese character takes two."""
    from rich.cells import cell_len

    return cell_len(visible(cell if isinstance(cell, str) else cell[0]))


@contextmanager
def progress(label: str, total: Callable[[], int | None], *, quiet: bool) -> Generator[Callable[[int], None]]:
    """Show a progress bar on standard error, if that is a terminal: how much of the total is done, and the time left.

    The total is counted only to be shown; it is None if it cannot be known, and then the speed is shown.
    """
    if quiet or not _may_be_terminal(sys.stderr):
        yield lambda more: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, TaskProgressColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    stderr = Console(stderr=True)
    if not stderr.is_terminal:
        yield lambda more: None
        return
    known = total()
    time = TaskProgressColumn(show_speed=True) if known is None else TimeRemainingColumn()
    description, bar, *_ = Bar.get_default_columns()
    with Bar(description, bar, MofNCompleteColumn(), time, console=stderr, transient=True) as shown:
        task = shown.add_task(label, total=known)
        yield lambda more: shown.advance(task, more)


ID_SHOWN = 8
"""Characters of an id that are printed."""


def memory_line(memory: Memory) -> list[Part]:
    """A memory on one line: the beginning of its id, its day and its text, after a mark if it is still to happen."""
    ahead = memory.times.planned(datetime.now(UTC))
    mark = [(f"({ahead}) ", "yellow")] if ahead else []
    return [(memory.id[:ID_SHOWN], "cyan"), "  ", (day(memory), "dim"), "  ", *mark, one_line(memory.text)]


_OUTCOMES = {
    "kept": ("✓", "Kept"),
    "known": ("·", "Known already"),
    "merged": ("✓", "Merged"),
    "withheld": ("✗", "Not stored"),
}
"""What is printed before the memory that answers for a text, by its outcome."""


def print_remembered(memory: Remembered, note: str = "") -> None:
    """Print what became of a text, the memory that answers for it, and what gates did with it."""
    mark, word = _OUTCOMES[memory.outcome]
    say_cut((f"{mark} ", "green" if mark == "✓" else "yellow"), f"{word}: {note}", *memory_line(memory))
    print_gates(memory.gates)


def print_gates(gates: Iterable[GateDecision]) -> None:
    """Print what gates decided, and how to take it back."""
    for gate in gates:
        again = f" (to undo: memorist undo {gate.entry})" if gate.entry is not None else ""
        say((f"{one_line(str(gate))}{again}", "yellow"), indent=2)


def item_line(item: Item) -> list[Part]:
    """The first line of a recalled item: rank, score, probability, day, id and the signals that found it."""
    ranks = {name: "" if one.rank is None else f" #{one.rank}" for name, one in item.signals.items()}
    found_by = " · ".join(f"{name}{rank}" for name, rank in ranks.items())
    return [
        (f"{item.rank:>2}", "bold"),
        (f"  {item.score:.4f}", "green"),
        (f"  {chance(item.probability):>7}", "dim"),
        (f"  {day(item.memory)}", "dim"),
        (f"  {item.memory.id[:ID_SHOWN]}", "cyan"),
        (f"  {found_by}", "dim"),
    ]


def chance(probability: float | None) -> str:
    """A probability as it is printed."""
    return "unknown" if probability is None else f"{probability:.2f}"


def recall_line(recall: Recall) -> list[Part]:
    """The last line of a recall: the number of items, the recipe, the context, the confidence and the time."""
    told = ["abstained"] if recall.abstained else []
    told += [f"confidence {chance(recall.confidence)}"]
    parts = (
        count(len(recall.items), "memory", "memories"),
        f"recipe {recall.recipe}",
        f"context of {count(recall.tokens, 'token', 'tokens')}",
        *told,
        f"{recall.trace.total_ms:.1f} ms",
    )
    return [(" · ".join(parts), "dim")]


STAGE_NAMES = {"fuzzy": "Sf", "vector": "Se", "signature": "Ss", "notes": "S6", "edges": "S8"}
"""What abmind calls the signals of its cascade."""
RERANKING = {"mmr": "MMR rerank", "rerank": "rerank", "rerank_blend": "rerank"}
MOST_SAID = 60
"""Characters of a text that a line of a stage quotes."""


def stage_lines(recall: Recall) -> list[str]:
    """A line per signal: its hits, its time and what matched, or why it did not search; then what became of them."""
    names = STAGE_NAMES if recall.recipe == "abmind" else {}
    lines = [
        f"Stage {names.get(signal, signal)}: "
        + (f"skipped ({found.skipped})" if found.skipped else _hits(recall, signal))
        for signal, found in recall.trace.found.items()
    ]
    ran = [step.stage for step in recall.trace.steps if step.skipped is None]
    way = dict.fromkeys(RERANKING[stage] for stage in ran if stage in RERANKING)
    ends = (count(recall.trace.candidate_count, "candidate", "candidates"), *way, f"{len(recall.items)} returned")
    return [*lines, f"→ {' → '.join(ends)}"]


def _hits(recall: Recall, signal: str) -> str:
    found = recall.trace.found[signal]
    told = _matched(recall, signal) if found.hits else "no match"
    return f"{count(len(found.hits), 'hit', 'hits')} ({found.ms:.0f} ms) — {told}"


def _matched(recall: Recall, signal: str) -> str:
    """What a signal matched: words of the question, a paragraph, an edge, or how close its best hit is."""
    memories = [
        candidate.memory for step in recall.trace.steps for candidate in step.candidates if signal in candidate.evidence
    ]
    if signal in ("fuzzy", "keyword"):
        from memorist.text.words import query_words, words

        there = {word for memory in memories for word in words(memory.text)}
        shared = [f'"{word}"' for word in dict.fromkeys(query_words(recall.query)) if word in there]
        return f"matches on {', '.join(shared)}" if shared else "matches on parts of words"
    if signal == "edges" and (edge := _best_edge(recall)):
        return edge
    if signal == "notes" and memories:
        return f'{memories[0].origin.source or "note"} mentions "{one_line(memories[0].text)[:MOST_SAID]}"'
    return f"best {recall.trace.found[signal].hits[0].score:.2f}"


def _best_edge(recall: Recall) -> str | None:
    """The first edge that the best candidate with one states, in words."""
    from memorist.model.marks import OnEdge

    found = (candidate for step in reversed(recall.trace.steps) for candidate in step.candidates)
    return next((str(mark) for candidate in found for mark in candidate.marks if isinstance(mark, OnEdge)), None)


def day(memory: Memory) -> str:
    """The day from which a memory is true."""
    return memory.times.valid_from.date().isoformat()


def until(memory: Memory) -> str:
    """The day on which a memory stopped being true, as the end of a line; empty if it is still true."""
    end = memory.times.valid_to
    return f"  until {end.date()}" if end else ""


def print_explanation(explanation: Mapping[str, Any], indent: int) -> None:
    """Print an explanation as a tree, each detail below what it explains."""
    value = "" if explanation["value"] is None else f"{explanation['value']:.4g}  "
    say((value, "green"), (one_line(explanation["description"]), "dim"), indent=indent)
    for detail in explanation["details"]:
        print_explanation(detail, indent + 2)


def count(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many}"


def size(bytes: int) -> str:
    """A number of bytes in a readable unit."""
    amount, unit = float(bytes), "B"
    for larger in ("kB", "MB", "GB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{bytes} B" if unit == "B" else f"{amount:.1f} {unit}"


def readable(value: object) -> str:
    """JSON data as text without punctuation; empty values are left out."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return " · ".join(f"{name} {readable(one)}" for name, one in pairs if one not in (None, [], {}))
    if isinstance(value, list):
        return ", ".join(map(readable, cast("list[object]", value)))
    return str(value)
