"""Bench: the runs of a folder of results, and two recipes compared question by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from memorist.errors import InvalidInput
from memorist_server.inspector.calls import Reading
from memorist_server.inspector.pages import show
from memorist_server.rest.server import Server

if TYPE_CHECKING:
    from memorist_bench.kept import BenchFolder
    from memorist_bench.results import Difference

router = APIRouter(prefix="/inspect/{space}/bench")
Choice = tuple[str, str]
"""A file and one of its recipes."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A difference, with the places of its interval on a line from 0 to 100 whose middle is no difference."""

    found: Difference
    low: float
    middle: float
    high: float


@router.get("")
async def bench(request: Request, call: Reading) -> Response:
    """The runs, and the comparison that the address asks for."""
    server: Server = request.app.state.server
    given = request.query_params
    shown: dict[str, Any] = {"runs": None, "one": _choice(given.get("one")), "other": _choice(given.get("other"))}
    if server.settings.bench is not None:
        shown |= await to_thread.run_sync(_results, server.settings.bench, shown["one"], shown["other"])
    return show(request, "bench.html", view="bench", **shown)


def _results(place: str, one: Choice | None, other: Choice | None) -> dict[str, Any]:
    """The runs of a folder, the comparison of two recipes, and the words for their figures."""
    from memorist_bench.kept import KeptRun
    from memorist_bench.report.table import chance, interval_text, percent, points
    from memorist_bench.results import WITH_INTERVALS

    folder = _folder(place)
    runs = folder.runs()
    return {
        "runs": [run for run in runs if isinstance(run, KeptRun)],
        "unread": [run for run in runs if not isinstance(run, KeptRun)],
        "compared": [] if one is None or other is None else _placed(folder.compare(one, other)),
        "measures": WITH_INTERVALS,
        "percent": percent,
        "interval": interval_text,
        "points": points,
        "chance": chance,
    }


@cache
def _folder(place: str) -> BenchFolder:
    """The folder that a server was started with; its figures are shared by all requests."""
    from memorist_bench.kept import BenchFolder

    return BenchFolder(Path(place))


def _choice(given: str | None) -> Choice | None:
    """A file and a recipe, written with a slash between them."""
    if not given:
        return None
    file, slash, recipe = given.partition("/")
    if not slash:
        raise InvalidInput("A run is named by a file and a recipe", remedy="Choose one of the list.")
    return file, recipe


def _placed(found: Sequence[Difference]) -> list[Compared]:
    widest = max((abs(end) for difference in found for end in (difference.low, difference.high)), default=0.0) or 1.0
    return [
        Compared(
            difference,
            *(round(50 + 48 * end / widest, 2) for end in (difference.low, difference.difference, difference.high)),
        )
        for difference in found
    ]
