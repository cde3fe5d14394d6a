"""The formulas that the figures of adaptive.py ask for, and their plot: `python benchmarks/adaptive_fit.py`.

pool = 30 · (first + more · log2(n / 100)): `first` and `more` with the best mean of recall@10 and any@5 over the sizes.
minimum = 0.3 · (1 − less · log2(n / 100)): the smallest `less` that drops at most a hundredth of the gold in that pool,
as a mean over the sizes. What ships is rounded from these by hand; the table compares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import log2, log10
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from common import options

from memorist.recall.stage import LARGEST, SMALLEST, minimum_share, pool_share
from memorist_bench.report.plots import Markup, concat, tag

ROOT = Path(__file__).parents[1]
FIXED_POOL, FIXED_MINIMUM, LIMIT = 30, 0.3, 10
GOLD_LOST = 0.01
NEAR = 0.015
FIRSTS = [step / 20 for step in range(4, 31)]
MORES = [step / 30 for step in range(13)]
LESSES = [step / 100 for step in range(11)]
COLOURS = ("#4477aa", "#228833", "#b58900", "#cc5533", "#aa3377", "#777777")
BESIDE = ((4, -12, "start"), (0, 20, "end"), (0, -12, "end"), (4, -12, "start"), (4, 20, "start"), (4, 20, "start"))
"""Where the name of a curve stands beside its dot."""


@dataclass(frozen=True)
class Curve:
    """What every pool gave at one size."""

    split: str
    memories: int
    pools: Sequence[float]
    points: Sequence[dict[str, Any]]

    def at(self, pool: float, figure: str) -> float:
        """A figure between the pools that were measured, straight over the logarithm of the pool."""
        values = [point[figure] for point in self.points]
        return float(np.interp(log2(max(pool, LIMIT)), [log2(size) for size in self.pools], values))

    def dropped(self, pool: float, minimum: float, minima: Sequence[float], of: str) -> float:
        """The share of the candidates, of gold or noise, that a minimum drops; straight between those measured."""
        shares = [float(np.interp(minimum, minima, point["by_minimum"][f"{of}_dropped"])) for point in self.points]
        return float(np.interp(log2(max(pool, LIMIT)), [log2(size) for size in self.pools], shares))

    def quality(self, pool: float) -> float:
        """The mean of recall@10 and any@5."""
        return (self.at(pool, "recall@10") + self.at(pool, "any@5")) / 2

    def best(self) -> float:
        """The measured pool with the best quality, the smallest of equals."""
        return max(self.pools, key=lambda pool: (self.quality(pool), -pool))

    def good(self) -> tuple[float, float]:
        """The smallest and the largest measured pool within a point and a half of the best quality."""
        near = [pool for pool in self.pools if self.quality(pool) >= self.quality(self.best()) - NEAR]
        return near[0], near[-1]


def curves(results: dict[str, Any], part: str) -> list[Curve]:
    """One for each size of the splits whose name ends so, the smallest first; every search brings a whole pool."""
    rows = [row for row in results["sweep"] if row["split"].endswith(part) and not row["hits"]]
    sizes = sorted({(row["memories"], row["split"]) for row in rows})
    grouped = [[row for row in rows if (row["memories"], row["split"]) == size] for size in sizes]
    return [
        Curve(split, size, [row["pool"] for row in group], group)
        for (size, split), group in zip(sizes, grouped, strict=True)
    ]


def doublings(size: float) -> float:
    """Since a hundred memories."""
    return log2(max(size, SMALLEST) / SMALLEST)


def fitted_pool(measured: Sequence[Curve]) -> list[tuple[float, float, float]]:
    """Mean quality, `first` and `more`, the best first; of equals the narrower."""

    def quality(first: float, more: float) -> float:
        return fmean(curve.quality(FIXED_POOL * (first + more * doublings(curve.memories))) for curve in measured)

    tried = [(quality(first, more), first, more) for first, more in product(FIRSTS, MORES)]
    return sorted(tried, key=lambda one: (-round(one[0], 4), one[1] + one[2]))


def fitted_minimum(measured: Sequence[Curve], minima: Sequence[float]) -> float:
    """The smallest `less` that costs no more gold than allowed in the shipped pool."""

    def lost(less: float) -> float:
        return fmean(
            curve.dropped(shipped_pool(curve), FIXED_MINIMUM * (1 - less * doublings(curve.memories)), minima, "gold")
            for curve in measured
        )

    return next((less for less in LESSES if lost(less) <= GOLD_LOST), LESSES[-1])


def shipped_pool(curve: Curve) -> int:
    """The pool that the recipe takes at a size."""
    return max(LIMIT, round(FIXED_POOL * pool_share(curve.memories)))


def told(results: dict[str, Any]) -> Iterator[str]:
    """The fit, and at every size what the fixed and the shipped pool give."""
    measured, minima = curves(results, "fit"), results["minima"]
    yield "quality first more"
    yield from (f"{quality:.4f} {first:.2f} {more:.2f}" for quality, first, more in fitted_pool(measured)[:10])
    yield f"less {fitted_minimum(measured, minima):.2f}"
    yield "split memories | pool, best | quality: fixed, shipped, best | minimum | gold, noise below it and below 0.3"
    for curve in measured:
        pool, minimum = shipped_pool(curve), FIXED_MINIMUM * minimum_share(curve.memories)
        quality = " ".join(f"{curve.quality(at):.4f}" for at in (FIXED_POOL, pool, curve.best()))
        dropped = " ".join(
            f"{curve.dropped(pool, at, minima, of):.4f}" for at in (minimum, FIXED_MINIMUM) for of in ("gold", "noise")
        )
        yield f"{curve.split} {curve.memories} | {pool} {curve.best():g} | {quality} | {minimum:.3f} | {dropped}"


# The plot


@dataclass(frozen=True)
class Panel:
    """A part of the picture with its own scales, both given as the values at its ends; across is logarithmic."""

    left: float
    across: tuple[float, float]
    up: tuple[float, float]
    width: float = 250
    top: float = 34
    height: float = 210

    def x(self, value: float) -> float:
        """Where a value lies from the left."""
        low, high = map(log10, self.across)
        return self.left + self.width * (log10(value) - low) / (high - low)

    def y(self, value: float) -> float:
        """Where a value lies from the top."""
        low, high = self.up
        return self.top + self.height * (high - value) / (high - low)

    def frame(self, title: str, below: str, ticks: Sequence[float], levels: Sequence[float], shown: str) -> Markup:
        """Title, axes and their figures."""
        bottom = self.top + self.height
        uprights = [text(self.x(tick), bottom + 16, f"{tick:,g}", "middle") for tick in ticks]
        lines = [
            concat(
                tag(
                    "line", x1=self.left, x2=self.left + self.width, y1=self.y(level), y2=self.y(level), stroke="#8884"
                ),
                text(self.left - 6, self.y(level) + 4, format(level, shown), "end"),
            )
            for level in levels
        ]
        middle = self.left + self.width / 2
        return concat(*lines, *uprights, text(middle, 16, title, "middle"), text(middle, bottom + 36, below, "middle"))

    def line(self, points: Sequence[tuple[float, float]], colour: str, **more: object) -> Markup:
        """A line through points."""
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        return tag("polyline", points=path, fill="none", stroke=colour, stroke_width=2, **more)

    def dot(self, x: float, y: float, colour: str, radius: float = 4) -> Markup:
        """A point."""
        return tag("circle", cx=f"{self.x(x):.1f}", cy=f"{self.y(y):.1f}", r=radius, fill=colour)


def text(x: float, y: float, content: str, anchor: str = "start", colour: str = "#777") -> Markup:
    """Words in a colour that reads on a light and on a dark page."""
    return tag("text", content, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, fill=colour)


def picture(results: dict[str, Any]) -> Markup:
    """Quality by pool at every size, with the shipped pool marked; pool and minimum by size, with what was measured."""
    measured = curves(results, "fit")
    panels = (qualities(measured), pools(measured), minima(measured))
    style = tag("style", "text{font:12px system-ui,sans-serif}")
    label = "mnemo's pool and minimum score by the size of the store"
    return tag(
        "svg",
        tag("title", label),
        style,
        *panels,
        xmlns="http://www.w3.org/2000/svg",
        viewBox="0 0 1020 290",
        role="img",
    )


def qualities(measured: Sequence[Curve]) -> Markup:
    """The first panel."""
    panel = Panel(46, (10, 60), (0.55, 0.85))
    marks = list[Markup]()
    for one, colour, (right, down, anchor) in zip(measured, COLOURS, BESIDE, strict=False):
        pool = shipped_pool(one)
        marks.append(panel.line([(pool, one.quality(pool)) for pool in one.pools], colour))
        marks.append(panel.dot(pool, one.quality(pool), colour, 6))
        x, y = panel.x(pool) + right, panel.y(one.quality(pool)) + down
        marks.append(text(x, y, f"{one.split.partition('-')[0]} {one.memories:,}", anchor, colour))
    title = "quality by pool; dot = the formula"
    return concat(panel.frame(title, "pool", (10, 20, 30, 45, 60), (0.6, 0.7, 0.8), ".1f"), *marks)


def pools(measured: Sequence[Curve]) -> Markup:
    """The second panel."""
    return _by_size(
        Panel(400, (SMALLEST, LARGEST), (0, 75)), "pool: formula, and what is near the best",
        (0, 15, 30, 45, 60, 75), "g", lambda size: FIXED_POOL * pool_share(size),
        [(curve.memories, *curve.good()) for curve in measured],
    )  # fmt: skip


def minima(measured: Sequence[Curve]) -> Markup:
    """The third panel."""
    kept = [curve.at(shipped_pool(curve), "highest_minimum") for curve in measured]
    return _by_size(
        Panel(740, (SMALLEST, LARGEST), (0, 0.5)), "minimum: formula, and what keeps 99 % of gold",
        (0, 0.1, 0.2, 0.3, 0.4, 0.5), ".1f", lambda size: FIXED_MINIMUM * minimum_share(size),
        [(one.memories, at, at) for one, at in zip(measured, kept, strict=True)],
    )  # fmt: skip


def _by_size(
    panel: Panel,
    title: str,
    levels: Sequence[float],
    shown: str,
    formula: Callable[[int], float],
    ranges: Sequence[tuple[int, float, float]],
) -> Markup:
    ticks = (100, 1_000, 10_000, 100_000)
    line = panel.line([(size, formula(size)) for size in ticks], COLOURS[0])
    marks = [
        concat(
            panel.line([(size, low), (size, high)], COLOURS[3]),
            *(panel.dot(size, value, COLOURS[3]) for value in (low, high)),
        )
        for size, low, high in ((min(size, LARGEST), low, high) for size, low, high in ranges)
    ]
    return concat(panel.frame(title, "memories", ticks, levels, shown), line, *marks)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "adaptive.json", help="the figures")
    parser.add_argument("--plot", type=Path, default=ROOT / "docs" / "explanation" / "adaptive.svg", help="the picture")
    given = parser.parse_args()
    results = json.loads(given.results.read_text(encoding="utf-8"))
    print(*told(results), sep="\n")
    given.plot.write_text(f"{picture(results)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
