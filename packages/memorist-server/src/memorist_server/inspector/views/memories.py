"""Memories: search, filter, and change several at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from memorist.engine.engine import Engine
from memorist.errors import InvalidInput
from memorist.model import Kind, Memory, Tier
from memorist_server.inspector.access import Form
from memorist_server.inspector.browse import changes, changes_called, newest, with_words
from memorist_server.inspector.calls import Changing, Reading, back, own_place, sees_journal
from memorist_server.inspector.pages import show
from memorist_server.inspector.selection import Selection, selection

router = APIRouter(prefix="/inspect/{space}/memories")
PAGE = 50
RECALLED = 20
"""Memories that a search by recall shows."""
FORGET = "forget"
VERDICTS = ("useful", "wrong", "outdated", "hide")
ACTIONS = ("pin", "unpin", *VERDICTS, "invalidate")
"""What can be done to a memory and undone; each writes an entry of the journal."""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory in a list, with its score if it was searched for by a recall."""

    memory: Memory
    score: float | None = None


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of a list."""

    rows: tuple[MemoryRow, ...]
    cursor: str | None = None
    abstained: bool = False


@router.get("")
async def memories(request: Request, call: Reading) -> Response:
    """The list."""
    chosen = selection(request.query_params)
    done = request.query_params.getlist("done")[:PAGE]
    told = done if sees_journal(call) else []
    found, entries = await call.run(lambda engine: (_found(engine, chosen), changes_called(engine, told)))
    return show(
        request,
        "memories.html",
        view="memories",
        found=found,
        chosen=chosen,
        done=entries,
        did=request.query_params.get("did"),
        kinds=[str(kind) for kind in Kind],
        tiers=[str(tier) for tier in Tier],
        actions=(*ACTIONS, FORGET),
    )


def _found(engine: Engine, chosen: Selection) -> ListPage:
    if not chosen.query:
        page = newest(engine, PAGE, chosen.cursor, **chosen.filters)
        return ListPage(tuple(map(MemoryRow, page.items)), page.cursor)
    if chosen.how == "recall":
        recall = engine.recall(chosen.query, limit=RECALLED, track=False, **chosen.filters)
        return ListPage(tuple(MemoryRow(item.memory, item.score) for item in recall.items), None, recall.abstained)
    skip = int(chosen.cursor) if chosen.cursor and chosen.cursor.isdecimal() and len(chosen.cursor) < 6 else 0
    page = with_words(engine, chosen.query, PAGE, skip, **chosen.filters)
    return ListPage(tuple(map(MemoryRow, page.items)), page.cursor)


@router.post("/change")
async def change_several(request: Request, call: Changing) -> Response:
    """Do one thing to the selected memories; forgetting is confirmed first."""
    form: Form = request.state.form
    ids, action = [*dict.fromkeys(form.getlist("id"))], form.get("action", "")
    place = own_place(call, form.get("back", ""))
    if not ids:
        raise InvalidInput("No memory is selected", remedy="Select memories with their boxes, or with x.")
    if action == FORGET:
        return await _forget(request, call, ids, place)
    if action not in ACTIONS:
        raise InvalidInput("There is no such action", remedy=f"Choose one of {', '.join(ACTIONS)}.")
    done = await call.run(lambda engine: [entry for id in ids for entry in act(engine, id, action)])
    return back(call, place, done, did=action)


def act(engine: Engine, id: str, action: str) -> Sequence[str]:
    """Do something to a memory; returns the id of its entry in the journal, if it changed anything."""
    before = [change.id for change in changes(engine, id, 1)]
    if action in VERDICTS:
        engine.feedback(id, action)
    else:
        {"pin": engine.pin, "unpin": engine.unpin, "invalidate": engine.invalidate}[action](id)
    return [change.id for change in changes(engine, id, 1) if change.id not in before]


async def _forget(request: Request, call: Changing, ids: list[str], place: str) -> Response:
    """Ask, or do it and show the receipt."""
    if request.state.form.get("confirmed") != "yes":
        there = await call.run(lambda engine: [memory for memory in engine.get(ids) if memory is not None])
        return show(request, "forget.html", view="memories", memories=there, back=place, receipt=None)
    receipt = await call.answer(lambda engine: engine.forget(ids), erases=True, long=True)
    return show(request, "forget.html", view="memories", memories=[], back=place, receipt=receipt)
