"""Draws the diagrams of the documentation: `docs/diagrams/NAME.txt` becomes `NAME.svg`; `--check` only compares.

A file with rows is a flow: `row:` lists boxes in a grid (`*` marks what comes from outside or goes there),
`name = note` explains one, and `a > b > c` draws arrows. A file with `x:` and `y:` is a plane of dates with areas and
points.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from html import escape
from itertools import pairwise
from pathlib import Path
from textwrap import wrap

FOLDER = Path(__file__).parent / "diagrams"
BOX, GAP, MARGIN = (148, 62), (34, 40), 14
PLANE, EDGE = (560, 280), 84
STYLE = """text{font:13px system-ui,sans-serif;fill:#1f2933}.n{font-size:11px;fill:#52606d}.t{font-weight:600}
rect{fill:#f5f7fa;stroke:#9aa5b1}.o{fill:#e0f2f1;stroke:#2c7a7b}path{stroke:#52606d;fill:none}.h,circle{fill:#52606d}
.a0{fill:#dbeafe}.a1{fill:#fde9c9}@media(prefers-color-scheme:dark){text{fill:#e4e7eb}.n{fill:#9aa5b1}
rect{fill:#1f2933;stroke:#52606d}.o{fill:#1d4044;stroke:#4fd1c5}path{stroke:#9aa5b1}.h,circle{fill:#9aa5b1}
.a0{fill:#1e3a5f}.a1{fill:#5a4113}}"""
HEAD = "M0,0 L8,4 L0,8 z"


@dataclass
class Diagram:
    """What a text says."""

    title: str = ""
    rows: list[list[str]] = field(default_factory=list[list[str]])
    notes: dict[str, str] = field(default_factory=dict[str, str])
    arrows: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    axes: dict[str, tuple[date, date, str]] = field(default_factory=dict[str, tuple[date, date, str]])
    areas: list[tuple[str, list[date]]] = field(default_factory=list[tuple[str, list[date]]])
    points: list[tuple[str, list[date]]] = field(default_factory=list[tuple[str, list[date]]])


def read(text: str) -> Diagram:
    """The diagram that a text describes."""
    made = Diagram()
    for line in filter(None, map(str.strip, text.splitlines())):
        word, _, rest = line.partition(":")
        cells = [cell.strip() for cell in rest.split("|")]
        if word == "title":
            made.title = rest.strip()
        elif word == "row":
            made.rows.append(cells)
        elif word in ("x", "y"):
            start, end = _dates(cells[0])
            made.axes[word] = (start, end, cells[1])
        elif word in ("area", "point"):
            kept = made.areas if word == "area" else made.points
            kept.append(
                (line.partition(":")[2].split("|")[0].strip(), [day for cell in cells[1:] for day in _dates(cell)])
            )
        elif " = " in line:
            name, note = line.split(" = ", 1)
            made.notes[name] = note
        else:
            names = [name.strip() for name in line.split(">")]
            made.arrows += pairwise(names)
    return made


def _dates(text: str) -> list[date]:
    return [date.fromisoformat(part.strip()) for part in text.split("..")]


def draw(diagram: Diagram) -> str:
    """The picture as SVG."""
    (width, height), shapes = _plane(diagram) if diagram.axes else _flow(diagram)
    title = escape(diagram.title)
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">'
    marker = '<marker id="h" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    head = f'<defs>{marker}<path class="h" d="{HEAD}"/></marker></defs>'
    return "\n".join([start, f"<title>{title}</title><style>{STYLE}</style>{head}", *shapes, "</svg>", ""])


def _flow(diagram: Diagram) -> tuple[tuple[int, int], list[str]]:
    centres: dict[str, tuple[int, int]] = {}
    shapes: list[str] = []
    for down, row in enumerate(diagram.rows):
        for across, cell in enumerate(row):
            name = cell.rstrip("*")
            if name:
                left, top = MARGIN + across * (BOX[0] + GAP[0]), MARGIN + down * (BOX[1] + GAP[1])
                centres[name] = left + BOX[0] // 2, top + BOX[1] // 2
                shapes += _box(left, top, name, diagram.notes.get(name, ""), outside=cell.endswith("*"))
    shapes += [_arrow(centres[one], centres[other]) for one, other in diagram.arrows]
    columns = max(map(len, diagram.rows))
    size = [
        2 * MARGIN + count * (BOX[axis] + GAP[axis]) - GAP[axis]
        for axis, count in enumerate((columns, len(diagram.rows)))
    ]
    return (size[0], size[1]), shapes


def _box(left: int, top: int, name: str, note: str, *, outside: bool) -> Iterator[str]:
    kind = ' class="o"' if outside else ""
    yield f'<rect x="{left}" y="{top}" width="{BOX[0]}" height="{BOX[1]}" rx="8"{kind}/>'
    lines, middle = wrap(note, 24), left + BOX[0] // 2
    first = top + BOX[1] // 2 + 5 - 8 * len(lines)
    yield f'<text class="t" x="{middle}" y="{first}" text-anchor="middle">{escape(name)}</text>'
    for number, line in enumerate(lines, 1):
        yield f'<text class="n" x="{middle}" y="{first + 15 * number}" text-anchor="middle">{escape(line)}</text>'


def _arrow(one: tuple[int, int], other: tuple[int, int]) -> str:
    """Straight within a row or column; otherwise down first and then across."""
    (x, y), (to_x, to_y) = one, other
    if y == to_y:
        side = BOX[0] // 2 if to_x > x else -BOX[0] // 2
        way = f"M{x + side},{y} H{to_x - side}"
    elif x == to_x:
        side = BOX[1] // 2 if to_y > y else -BOX[1] // 2
        way = f"M{x},{y + side} V{to_y - side}"
    else:
        way = f"M{x},{y + BOX[1] // 2} V{(y + to_y) // 2} H{to_x} V{to_y - BOX[1] // 2}"
    return f'<path d="{way}" marker-end="url(#h)"/>'


def _plane(diagram: Diagram) -> tuple[tuple[int, int], list[str]]:
    (left, right, across), (low, high, up) = diagram.axes["x"], diagram.axes["y"]

    def place(day: date, later: date) -> tuple[float, float]:
        share = (day - left).days / (right - left).days, (later - low).days / (high - low).days
        return round(EDGE + share[0] * PLANE[0], 1), round(MARGIN + PLANE[1] * (1 - share[1]), 1)

    shapes: list[str] = []
    kinds = list(dict.fromkeys(name for name, _ in diagram.areas))
    for name, (start, end, known, unknown) in diagram.areas:
        (x, bottom), (to_x, top) = place(start, known), place(end, unknown)
        rectangle = f'x="{x}" y="{top}" width="{round(to_x - x, 1)}" height="{round(bottom - top, 1)}"'
        shapes.append(f'<rect class="a{kinds.index(name)}" {rectangle}/>')
        shapes.append(f'<text class="t" x="{x + 12}" y="{top + 24}">{escape(name)}</text>')
    for name, (day, known) in diagram.points:
        x, y = place(day, known)
        shapes.append(
            f'<circle cx="{x}" cy="{y}" r="5"/><text class="n" x="{x + 11}" y="{y + 4}">{escape(name)}</text>'
        )
    (x, y), (to_x, top) = place(left, low), place(right, high)
    shapes.append(
        f'<path d="M{x},{y} H{to_x + 12}" marker-end="url(#h)"/><path d="M{x},{y} V{top - 8}" marker-end="url(#h)"/>'
    )
    shapes.append(f'<text x="{to_x}" y="{y + 36}" text-anchor="end">{escape(across)}</text>')
    shapes.append(f'<text transform="translate(16 {top}) rotate(-90)" text-anchor="end">{escape(up)}</text>')
    for day in sorted({day for _, days in diagram.areas for day in days[:2]} - {right}):
        shapes.append(f'<text class="n" x="{place(day, low)[0]}" y="{y + 16}">{day:%-d %b}</text>')
    for day in sorted({day for _, days in diagram.areas for day in days[2:]} - {high}):
        shapes.append(f'<text class="n" x="{x - 6}" y="{place(left, day)[1]}" text-anchor="end">{day:%-d %b}</text>')
    return (EDGE + PLANE[0] + 24, MARGIN + PLANE[1] + 44), shapes


def main() -> None:
    """Write every diagram, or complain of one that is not current."""
    for source in sorted(FOLDER.glob("*.txt")):
        picture, made = source.with_suffix(".svg"), draw(read(source.read_text(encoding="utf-8")))
        if "--check" not in sys.argv:
            picture.write_text(made, encoding="utf-8")
        elif not picture.exists() or picture.read_text(encoding="utf-8") != made:
            sys.exit(f"{picture.name} is not current: run `python docs/diagrams.py`")


if __name__ == "__main__":
    main()
