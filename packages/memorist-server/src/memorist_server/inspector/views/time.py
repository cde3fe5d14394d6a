"""Time: facts as intervals, what followed what, and what the answer was, or would have been, at other moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from fastapi import APIRouter
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from memorist.engine.engine import Engine
from memorist.model import Memory, Recall, RecallOptions, instant
from memorist_server.inspector.browse import now_of
from memorist_server.inspector.calls import Reading
from memorist_server.inspector.dry_recall import Trial, usual_recipe
from memorist_server.inspector.facts import facts_about, facts_behind, names_lately
from memorist_server.inspector.pages import show
from memorist_server.inspector.selection import EVER
from memorist_server.inspector.timeline import Scale, lanes, patches, scale_of

router = APIRouter(prefix="/inspect/{space}")
ANSWERS = 5
WIDELY = 20
"""Items of a recall at any time whose facts are drawn."""
QUICK = "mnemosyne-hybrid"
"""The recipe of that recall: it reads nothing again, and what is drawn is in the order of time."""
SAID = 8
"""Items that are no facts and are drawn too."""
SUGGESTED = 6


@dataclass(frozen=True, slots=True)
class TimeQuery:
    """What an address asks for: a name or a question, a moment on each clock, and a fact to look at closely."""

    query: str
    as_of: datetime | None
    known_at: datetime | None
    fact: str | None


def asked(params: QueryParams) -> TimeQuery:
    """What an address asks for; empty fields count as left out."""
    return TimeQuery(
        params.get("q", "").strip(), _moment(params, "as_of"), _moment(params, "known_at"), params.get("fact") or None
    )


def _moment(params: QueryParams, name: str) -> datetime | None:
    """A moment as ISO 8601, or as the number of a day, which a slider gives."""
    text = params.get(name, "").strip()
    if text.isdecimal() and 5 <= len(text) <= 7 and 0 < int(text) < date.max.toordinal():
        return instant(date.fromordinal(int(text)))
    return instant(text) if text else None


@router.get("/time")
async def time(request: Request, call: Reading) -> Response:
    """The page."""
    given = asked(request.query_params)
    found = await call.run(lambda engine: _found(engine, given))
    return show(request, "time.html", view="time", asked=given, **found)


def _found(engine: Engine, given: TimeQuery) -> dict[str, Any]:
    if not given.query:
        return {"facts": None, "names": names_lately(engine, SUGGESTED)}
    about = facts_about(engine, given.query)
    answer = _answer(engine, given) if about is None else None
    shown = about if answer is None else _behind(engine, given.query, answer)
    if not shown:
        return {"facts": [], "names": []}
    facts = [memory for memory in shown if memory.fact is not None]
    scale = scale_of(shown)
    handles = _Handles(scale, given, now_of(engine))
    drawn = lanes(shown, scale, handles.as_of, handles.known_at)
    return {
        "facts": shown,
        "number": len(facts),
        "names": [],
        "scale": scale,
        "handles": handles,
        "lanes": drawn,
        "held": [span.memory for lane in drawn for span in lane.spans if span.state == "held"],
        "answer": answer,
        **_closely(facts, given.fact, scale),
    }


def _behind(engine: Engine, query: str, answer: Recall) -> Sequence[Memory]:
    """The facts behind what answers a question then or at any time, and the best of those answers that are no facts."""
    options: RecallOptions = {"limit": WIDELY, "as_of": EVER, "known_at": EVER}
    ever = Trial(engine, query, options, QUICK, {}).recall()
    found = list({item.memory.id: item.memory for item in (*answer.items, *ever.items)}.values())
    said = [memory for memory in found if memory.fact is None and memory.version_of is None][:SAID]
    return [*facts_behind(engine, found), *said]


def _answer(engine: Engine, given: TimeQuery) -> Recall:
    options: RecallOptions = {"limit": ANSWERS, "as_of": given.as_of, "known_at": given.known_at}
    return Trial(engine, given.query, options, usual_recipe(engine), {}).recall()


class _Handles:
    """Where the two handles stand; at the far end they stand for now."""

    def __init__(self, scale: Scale, given: TimeQuery, now: datetime) -> None:
        self.as_of, self.known_at = given.as_of or now, given.known_at or now
        self.as_of_x = scale.x(given.as_of)
        self.known_at_x = scale.x(given.known_at)
        self.low, self.high = scale.first.toordinal(), scale.last.toordinal()
        self.as_of_day = self._day(given.as_of)
        self.known_at_day = self._day(given.known_at)

    def _day(self, at: datetime | None) -> int:
        return self.high if at is None else min(self.high, max(self.low, at.astimezone(UTC).date().toordinal()))


def _closely(facts: Sequence[Memory], id: str | None, scale: Scale) -> dict[str, Any]:
    """One fact and the other values of its relation, on both clocks."""
    chosen = next((fact for fact in facts if fact.id == id), None)
    if chosen is None or chosen.fact is None:
        return {"chosen": None}
    slot = (chosen.fact.subject, chosen.fact.relation)
    same = [fact for fact in facts if fact.fact is not None and (fact.fact.subject, fact.fact.relation) == slot]
    ordered = sorted(same, key=lambda one: (one.times.valid_from, one.id))
    return {"chosen": chosen, "values": ordered, "patches": patches(ordered, scale)}
