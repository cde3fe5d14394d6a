"""The table of the results, with ratios to Memorist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

OURS = "Memorist"
WALL = {"cold_wall", "p50", "p95"}
"""Times without a ratio: stores are measured one after the other, and meet different loads of the machine."""
Figures = Mapping[str, Any]
HEADER = (
    "memories", "store", "search", "added per second", "processor each", "bytes each", "first answer", "its processor",
    "p50", "p95", "processor p50", "resident", "private", "best ten",
)  # fmt: skip


def table(results: Iterable[Figures], order: Sequence[str]) -> str:
    """A row for each size, store (in this order) and way to search; in brackets, the figure divided by Memorist's."""
    given = sorted(results, key=lambda one: (one["memories"], order.index(one["store"])))
    ours = {figures["memories"]: figures for figures in given if figures["store"] == OURS}
    lines = [HEADER, *(row for figures in given for row in rows(figures, ours.get(figures["memories"], {})))]
    head, *shown = ("|" + "".join(f" {cell} |" if cell else " |" for cell in line) for line in lines)
    return "\n".join([head, "|" + "---|" * len(HEADER), *shown])


def rows(one: Figures, ours: Figures) -> Iterator[Sequence[str]]:
    """The rows of a store at one size."""
    head = f"{one['memories']:,}", one["store"]
    written = _written(one, ours if one is not ours else {})
    searches = one.get("searches") or {one.get("failed", "–"): {}}
    for place, (mode, figures) in enumerate(searches.items()):
        theirs = ours.get("searches", {}).get(mode, {}) if one is not ours else {}
        yield (*head, mode, *(written if place == 0 else [""] * len(written)), *_searched(figures, theirs))


def _written(one: Figures, ours: Figures) -> list[str]:
    if "add_wall" not in one:
        return ["", "", ""]
    count = one["memories"]
    rate = f"{count / one['add_wall']:,.0f}"
    each = [cell(one, ours, "add_processor", lambda spent: f"{spent / count * 1000:.2f} ms")]
    return [rate, *each, cell(one, ours, "bytes", lambda size: f"{size / count:,.0f}")]


def _searched(one: Figures, ours: Figures) -> list[str]:
    shown = [cell(one, ours, figure, form) for figure, form in SEARCHED.items()]
    return [*shown, f"{one['best_ten']:.3f}" if "best_ten" in one else ""]


def cell(one: Figures, ours: Figures, figure: str, form: Callable[[float], str]) -> str:
    """A figure, and its ratio to ours unless it is a wall-clock time; nothing if it was not measured."""
    if figure not in one:
        return ""
    ratio = f" ({shortest(one[figure] / ours[figure])}×)" if ours.get(figure) and figure not in WALL else ""
    return form(one[figure]) + ratio


def shortest(ratio: float) -> str:
    """Two significant digits, as many as a noisy machine deserves."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"


def _seconds(value: float) -> str:
    return f"{value:.2f} s"


def _milliseconds(value: float) -> str:
    return f"{value * 1000:,.1f} ms"


def _megabytes(value: float) -> str:
    return f"{value / 2**20:,.0f} MB"


SEARCHED: Mapping[str, Callable[[float], str]] = {
    "cold_wall": _seconds,
    "cold_processor": _seconds,
    "p50": _milliseconds,
    "p95": _milliseconds,
    "processor": _milliseconds,
    "resident": _megabytes,
    "private": _megabytes,
}
