"""Overview: how much is remembered, of what sort and since when, what was saved lately, and what waits to be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memorist.engine.engine import Engine
from memorist.model import MOST_CLASSIFIED
from memorist_server.inspector.browse import decisions, newest, tally
from memorist_server.inspector.calls import Reading, home_of, sees_journal
from memorist_server.inspector.pages import show
from memorist_server.inspector.selection import EVER
from memorist_server.inspector.views.lab import questions

router = APIRouter(prefix="/inspect/{space}")
RECENT = 6
ASKED = 3
"""Questions to begin with."""
FEW = 8
"""Rows of a table of counts."""
MOST_BARS = 92
SPANS = (1, 7, 30, 91, 365)
"""Days that one bar of the chart may stand for."""
WIDTH, HEIGHT = 720, 120


@router.get("")
async def home(call: Reading) -> Response:
    """A space opens with its overview."""
    return RedirectResponse(f"{home_of(call.space)}/overview", 303)


@router.get("/overview")
async def overview(request: Request, call: Reading) -> Response:
    """The page."""
    whole = call.caller.max_classification == MOST_CLASSIFIED
    found = await call.run(lambda engine: _found(engine, journal=sees_journal(call)))
    return show(request, "overview.html", view="overview", whole=whole, **found)


@router.get("/overview/sizes")
async def sizes(request: Request, call: Reading) -> Response:
    """The figures that take a count of all rows, for the page to load after the others."""
    stats = await call.run(lambda engine: engine.stats())
    return show(request, "sizes.html", stats=stats)


def _found(engine: Engine, *, journal: bool) -> dict[str, Any]:
    counted = tally(engine, max_classification=MOST_CLASSIFIED)
    every = tally(engine, max_classification=MOST_CLASSIFIED, include_expired=True, as_of=EVER, known_at=EVER)
    jobs = engine.jobs()
    decided = decisions(engine, RECENT) if journal else None
    return {
        "tally": counted,
        "ended": every.memories - counted.memories,
        "chart": chart(every.days),
        "counts": {
            "Kinds": ("kind", few(counted.kinds)),
            "Tiers": ("tier", few(counted.tiers)),
            "Scopes": ("scope", few(counted.scopes)),
        },
        "secret": counted.classifications,
        "embedding": engine.store.embedding,
        "jobs": jobs[:RECENT],
        "waiting": len(jobs),
        "failing": [job for job in jobs if job.attempts][:RECENT],
        "recent": newest(engine, RECENT, max_classification=MOST_CLASSIFIED).items,
        "suggested": questions(engine, ASKED),
        "decided": decided,
        "memories": engine.store.get([entry.subjects[0] for entry in decided or () if entry.subjects]),
    }


@dataclass(frozen=True, slots=True)
class Count:
    """A label, how many there are, and the share of the most frequent one."""

    label: str
    number: int
    share: float


def few(counts: Mapping[str, int]) -> tuple[list[Count], int]:
    """The most frequent labels, and the number of the others."""
    most = max(counts.values(), default=1)
    shown = [Count(label, number, number / most) for label, number in list(counts.items())[:FEW]]
    return shown, len(counts) - len(shown)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the chart: the days it stands for, how many memories, and where it is drawn."""

    start: date
    end: date
    number: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Memories by the time they became known."""

    bars: tuple[Bar, ...]
    most: int
    days: int
    """The days that one bar stands for."""
    first: date
    last: date


def chart(days: Mapping[date, int]) -> Chart | None:
    """A chart of all days from the first to the last, in at most `MOST_BARS` bars; None without memories."""
    if not days:
        return None
    first, last = min(days), max(days)
    length = (last - first).days + 1
    span = next((days for days in SPANS if length / days <= MOST_BARS), -(-length // MOST_BARS))
    number = max(-(-length // span), 12)
    first = max(date.min, last - timedelta(days=min(number * span - 1, (last - date.min).days)))
    sums = [0] * number
    for day, count in days.items():
        sums[min((day - first).days // span, number - 1)] += count
    most, step = max(sums), WIDTH / number
    bars = tuple(
        Bar(
            first + timedelta(days=place * span),
            min(last, first + timedelta(days=place * span + span - 1)),
            count,
            round(place * step + 1, 2),
            round(HEIGHT - _height(count, most), 2),
            round(step - 2, 2),
            _height(count, most),
        )
        for place, count in enumerate(sums)
    )
    return Chart(bars, most, span, first, last)


def _height(count: int, most: int) -> float:
    """The height of a bar; whatever is not nothing can be seen."""
    return round(max(3.0, HEIGHT * count / most), 2) if count else 0.0
