"""What the commands print: lines, JSON, progress."""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from memorist.model import Item, Memory, Recall
from memorist.ports import Progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
PLAIN_SIGNS = {"✓": "+", "✗": "x", "·": "-", "→": "->", "…": "...", "×": "x", "−": "-", "“": '"', "”": '"'}
ERRORS = "memorist.plain"
Part = str | tuple[str, str]
"""A piece of a line: a text, or a text and its style."""


def survive_any_text() -> None:
    """Let the standard streams write anything: what they cannot encode becomes a plain sign or an escape."""
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
    """One document; on a terminal it is indented."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(data, ensure_ascii=not unicode, indent=indent, allow_nan=False) + "\n")


def visible(text: str) -> str:
    """A text whose control characters are shown, so that no memory can steer the terminal."""
    return CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def one_line(text: str) -> str:
    """A text on one line, its control characters shown."""
    return visible(" ".join(text.split()))


def print_raw(text: str) -> None:
    """A text as it is, but for control characters on a terminal."""
    sys.stdout.write((visible(text) if sys.stdout.isatty() else text) + "\n")


@cache
def console() -> Console:
    """Standard output, coloured when it is a terminal."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def styled(*parts: Part) -> Text:
    """A line of its parts."""
    from rich.text import Text

    return Text.assemble(*parts)


def say(*parts: Part, indent: int = 0) -> None:
    """Print a line of parts; a terminal wraps it under its indent, a pipe gets it whole."""
    line = styled(*parts)
    line.rstrip()
    if not line:
        console().print()
    elif console().is_terminal:
        from rich.padding import Padding

        console().print(Padding(line, (0, 0, 0, indent), expand=False))
    else:
        console().print(styled(" " * indent, line.plain), soft_wrap=True)


def say_cut(*parts: Part) -> None:
    """Print a line that a terminal cuts at its edge, with an ellipsis."""
    terminal = console().is_terminal
    console().print(styled(*parts), no_wrap=True, overflow="ellipsis", crop=terminal, soft_wrap=not terminal)


@contextmanager
def progress(label: str, total: int | None, *, quiet: bool) -> Generator[Progress]:
    """Count long work on standard error, if that is a terminal; None where nobody knows how long."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    stderr = Console(stderr=True)
    with Bar(console=stderr, transient=True, disable=quiet or not stderr.is_terminal) as bar:
        task = bar.add_task(label, total=total)
        yield lambda more: bar.advance(task, more)


ID_SHOWN = 8


def memory_line(memory: Memory) -> list[Part]:
    """A memory on one line: the beginning of its id, its day and its text."""
    return [(memory.id[:ID_SHOWN], "cyan"), "  ", (day(memory), "dim"), "  ", one_line(memory.text)]


def item_line(item: Item) -> list[Part]:
    """The first line of a recall's item: its place, score, day and id, and who found it."""
    found_by = " · ".join(f"{name} #{one.rank}" for name, one in item.signals.items())
    return [
        (f"{item.rank:>2}", "bold"),
        (f"  {item.score:.4f}", "green"),
        (f"  {day(item.memory)}", "dim"),
        (f"  {item.memory.id[:ID_SHOWN]}", "cyan"),
        (f"  {found_by}", "dim"),
    ]


def recall_line(recall: Recall) -> list[Part]:
    """The last line of a recall: how much there is, by which recipe, and how large its context is."""
    parts = (
        count(len(recall.items), "memory", "memories"),
        f"recipe {recall.recipe}",
        f"context of {count(recall.tokens, 'token', 'tokens')}",
        f"{recall.trace.total_ms:.1f} ms",
    )
    return [(" · ".join(parts), "dim")]


def day(memory: Memory) -> str:
    """The day a memory is true from."""
    return memory.times.valid_from.date().isoformat()


def count(number: int, one: str, many: str) -> str:
    """A number and what it counts."""
    return f"{number:,} {one if number == 1 else many}"


def size(bytes: int) -> str:
    """A number of bytes, rounded."""
    amount, unit = float(bytes), "B"
    for larger in ("kB", "MB", "GB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{bytes} B" if unit == "B" else f"{amount:.1f} {unit}"


def readable(value: object) -> str:
    """JSON data without its punctuation; what is empty is left out."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return " · ".join(f"{name} {readable(one)}" for name, one in pairs if one not in (None, [], {}))
    if isinstance(value, list):
        return ", ".join(map(readable, cast("list[object]", value)))
    return str(value)
