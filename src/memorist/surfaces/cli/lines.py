"""Memories, recalls and numbers as readable lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from memorist.model import Item, Memory, Recall
from memorist.surfaces.cli.output import Part, one_line

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
