"""HTML elements and SVG plots of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape


class Markup(str):
    """HTML that must not be escaped again."""

    __slots__ = ()


def tag(name: str, *content: str, **attributes: object) -> Markup:
    """An element; `class_` becomes `class`, `stroke_width` becomes `stroke-width`, and None omits an attribute."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_shown(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{concat(*content)}</{name}>")


def concat(*content: str) -> Markup:
    """Concatenated pieces; plain strings are escaped."""
    return Markup("".join(piece if isinstance(piece, Markup) else escape(piece) for piece in content))


def section(title: str, note: str, *content: str) -> Markup:
    """A heading, a note and content."""
    return concat(tag("h2", title), tag("p", note, class_="soft"), *content)


def table_of(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """A table that scrolls if it is too wide; the first cell of a row is its name, other cells may be elements."""
    head = tag("thead", tag("tr", *(tag("th", name) for name in columns)))
    body = (tag("tr", tag("th", name), *map(_cell, cells)) for name, *cells in rows)
    return tag("div", tag("table", head, tag("tbody", *body)), class_="scroll")


def _cell(content: str) -> Markup:
    return content if isinstance(content, Markup) else tag("td", content)


def _shown(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


WIDTH = 480
LEFT, RIGHT, TOP, BOTTOM = 34, 150, 12, 40
ROW = 26
LABEL_GAP = 15
LONGEST_NAME = 17
_Scale = Callable[[float], float]
COLOURS = 9
"""Colours in the style sheet; with more series they repeat."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A named value with its interval, from 0 to 1."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Series:
    """The named values of a curve, one per tick of the axis, or the lengths of the segments of a stacked bar."""

    name: str
    values: Sequence[float]


def interval_plot(estimates: Sequence[Estimate], label: str) -> Markup:
    """One row per estimate: the interval as a line, the value as a dot and as a number."""
    height = TOP + ROW * len(estimates) + BOTTOM
    left, right = 140, WIDTH - 52
    top = _ceiling(max(estimate.high for estimate in estimates))

    def across(share: float) -> float:
        return left + (right - left) * share / top

    grid = [_upright(across(tick), height - BOTTOM, _percent(tick)) for tick in _ticks(top)]
    rows = [_interval(one, TOP + ROW * (place + 0.5), across, place, right) for place, one in enumerate(estimates)]
    return _figure(height, label, *grid, *rows, _axis(left, right, height, label))


def curve_plot(series: Sequence[Series], places: Sequence[str], label: str, below: str) -> Markup:
    """One line per series over evenly spaced ticks, with its name at the end."""
    height = 300
    right, bottom = WIDTH - RIGHT, height - BOTTOM
    top = _ceiling(max((value for curve in series for value in curve.values), default=1.0))

    def across(place: int) -> float:
        return LEFT + 8 + (right - LEFT - 16) * place / max(1, len(places) - 1)

    def up(share: float) -> float:
        return bottom - (bottom - TOP) * share / top

    grid = [_level(up(tick), right, _percent(tick)) for tick in _ticks(top)]
    marks = [_text(across(place), bottom + 16, name, anchor="middle") for place, name in enumerate(places)]
    lines = [
        _curve(one, number, [(across(place), up(value)) for place, value in enumerate(one.values)], places)
        for number, one in enumerate(series)
    ]
    names = _names(series, [up(curve.values[-1]) for curve in series], right, bottom)
    return _figure(height, label, *grid, *marks, *lines, *names, _axis(LEFT, right, height, below))


def stack_plot(bars: Sequence[Series], legend: Sequence[str], label: str) -> Markup:
    """One stacked bar per row, with its sum as a number."""
    head = 24
    height = head + ROW * len(bars) + 26
    left, right = 140, WIDTH - 62
    top = max((sum(bar.values) for bar in bars), default=0.0) or 1.0
    scale = (right - left) / top
    rows = [_stack(one, head + ROW * (place + 0.5), left, scale, legend) for place, one in enumerate(bars)]
    return _figure(height, label, *_keys(legend), *rows, _axis(left, right, height, label))


def _figure(height: float, label: str, *content: str) -> Markup:
    title = tag("title", label)
    return tag("svg", title, *content, viewBox=f"0 0 {WIDTH} {height:g}", role="img", aria_label=label)


def _axis(left: float, right: float, height: float, label: str) -> Markup:
    return _text((left + right) / 2, height - 6, label, anchor="middle", class_="axis")


def _interval(one: Estimate, y: float, across: _Scale, place: int, right: float) -> Markup:
    hint = f"{one.name}: {_percent(one.value, 1)}, 95 % interval {_percent(one.low, 1)} to {_percent(one.high, 1)}"
    colour = f"c{place % COLOURS}"
    return tag(
        "g",
        tag("title", hint),
        _text(132, y + 4, _short(one.name), anchor="end"),
        tag("line", x1=across(one.low), x2=across(one.high), y1=y, y2=y, class_=f"{colour} interval"),
        tag("circle", cx=across(one.value), cy=y, r=5, class_=f"{colour} dot"),
        _text(right + 10, y + 4, _percent(one.value, 1), class_="value"),
    )


def _curve(one: Series, number: int, points: Sequence[tuple[float, float]], places: Sequence[str]) -> Markup:
    colour = f"c{number % COLOURS}"
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    hints = [f"{one.name} at {place}: {_percent(value, 1)}" for place, value in zip(places, one.values, strict=True)]
    dots = [
        tag("circle", tag("title", hint), cx=x, cy=y, r=3.5, class_=f"{colour} dot")
        for (x, y), hint in zip(points, hints, strict=True)
    ]
    return concat(tag("polyline", points=path, class_=f"{colour} curve"), *dots)


def _names(series: Sequence[Series], ends: Sequence[float], right: float, bottom: float) -> list[Markup]:
    """The names of curves beside their ends, moved apart if they would overlap."""
    order = sorted(range(len(series)), key=lambda number: ends[number])
    places = _apart([ends[number] for number in order], TOP, bottom)
    return [
        concat(
            tag("line", x1=right - 4, x2=right + 6, y1=ends[number], y2=y, class_=f"c{number % COLOURS} leader"),
            _text(right + 10, y + 4, _short(series[number].name), class_=f"c{number % COLOURS} name"),
        )
        for number, y in zip(order, places, strict=True)
    ]


def _apart(wanted: Sequence[float], first: float, last: float) -> list[float]:
    """Ascending positions near the wanted ones, a gap apart and not beyond `last` if there is room."""
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + LABEL_GAP if places else first))
    limit = last
    for number in range(len(places) - 1, -1, -1):
        places[number] = min(places[number], limit)
        limit = places[number] - LABEL_GAP
    return places


def _stack(one: Series, y: float, left: float, scale: float, legend: Sequence[str]) -> Markup:
    x, segments = left, list[Markup]()
    for number, (length, name) in enumerate(zip(one.values, legend, strict=True)):
        hint = tag("title", f"{one.name}, {name}: {length:.1f} ms")
        segments.append(tag("rect", hint, x=x, y=y - 8, width=length * scale, height=16, class_=f"s{number}"))
        x += length * scale
    total = _text(x + 6, y + 4, f"{sum(one.values):.1f} ms", class_="value")
    return tag("g", _text(132, y + 4, _short(one.name), anchor="end"), *segments, total)


def _keys(legend: Sequence[str]) -> list[Markup]:
    keys, x = list[Markup](), 8.0
    for number, name in enumerate(legend):
        keys.append(tag("rect", x=x, y=4, width=11, height=11, class_=f"s{number}"))
        keys.append(_text(x + 16, 14, name))
        x += 34 + 7.2 * len(name)
    return keys


def _upright(x: float, bottom: float, name: str) -> Markup:
    line = tag("line", x1=x, x2=x, y1=TOP, y2=bottom, class_="grid")
    return concat(line, _text(x, bottom + 16, name, anchor="middle"))


def _level(y: float, right: float, name: str) -> Markup:
    line = tag("line", x1=LEFT, x2=right, y1=y, y2=y, class_="grid")
    return concat(line, _text(LEFT - 6, y + 4, name, anchor="end"))


def _text(x: float, y: float, content: str, *, anchor: str | None = None, class_: str | None = None) -> Markup:
    return tag("text", content, x=x, y=y, text_anchor=anchor, class_=class_)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _ceiling(most: float) -> float:
    """The next tenth above a share, from 0.1 to 1."""
    return min(10, max(1, int(most * 10 - 1e-9) + 1)) / 10


def _ticks(top: float) -> list[float]:
    step = 2 if top > 0.5 else 1
    return [tenth / 10 for tenth in range(0, round(top * 10) + 1, step)]


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f}"
