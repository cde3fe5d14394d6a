"""One memory: all that is known about it, its versions, and what can be done to it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from memorist.engine.engine import Engine
from memorist.errors import InvalidInput
from memorist.model import CITES, Changes, Memory, Tier, keywords_of, to_data
from memorist.model.memory import DENIES, STATES
from memorist_server.inspector.access import Form
from memorist_server.inspector.browse import changes, changes_called, known, now_of
from memorist_server.inspector.calls import Administering, Changing, Reading, back, home_of, sees_journal
from memorist_server.inspector.difference import difference
from memorist_server.inspector.pages import show
from memorist_server.inspector.views.memories import ACTIONS, VERDICTS, act

router = APIRouter(prefix="/inspect/{space}")
LONG = 20_000
"""Characters of a text that a page shows unless all are asked for."""
ENTRIES = 50
RELATED = 50
MOST_VERSIONS = 20
NUMBERS = ("importance", "confidence", "salience", "trust", "credibility", "emotion")
LISTS = ("keywords", "flags", "emotion_tags")
TEXTS = ("topic", "speaker", "original", "expires_at")


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a memory, and how its text differs from the one before: pieces that are kept, added or removed."""

    memory: Memory
    pieces: tuple[tuple[str, str], ...] | None


@router.get("/memories/{id}")
async def memory(request: Request, call: Reading, id: str) -> Response:
    """The page."""
    done = request.query_params.getlist("done")[:ENTRIES] if sees_journal(call) else None
    found = await call.run(lambda engine: _found(engine, id, done))
    return show(
        request,
        "memory.html",
        view="memories",
        whole=request.query_params.get("all") == "1",
        most=LONG,
        saved=request.query_params.get("saved"),
        did=request.query_params.get("did"),
        actions=ACTIONS,
        verdicts=VERDICTS,
        **found,
    )


def _found(engine: Engine, id: str, done: list[str] | None) -> dict[str, Any]:
    """What the page shows; the journal only if `done`, the entries to tell about, is given."""
    one = known(engine, id)
    history = engine.history(one.version_of or id)
    links = engine.store.links([id])
    related = engine.store.get(list({end for link in links for end in (link.source, link.target)} - {id})[:RELATED])
    return {
        "memory": one,
        "data": to_data(one),
        "versions": versions(history[: MOST_VERSIONS + 1])[:MOST_VERSIONS],
        "older": max(0, len(history) - MOST_VERSIONS),
        "ended": is_over(one, engine),
        "facts": [related[link.target] for link in links if link.relation == STATES and link.target in related],
        "denied": [related[link.target] for link in links if link.relation == DENIES and link.target in related],
        "sources": _sources(links, related, id),
        "entries": None if done is None else changes(engine, id, ENTRIES),
        "done": [] if done is None else changes_called(engine, done),
    }


def _sources(links: Sequence[Any], related: Mapping[str, Memory], id: str) -> list[Memory]:
    """What a fact or note rests on."""
    stating = {link.source for link in links if link.target == id and link.relation in (STATES, DENIES)}
    cited = {link.target for link in links if link.source == id and link.relation == CITES}
    return [related[id] for id in sorted(stating | cited) if id in related]


def is_over(memory: Memory, engine: Engine) -> bool:
    """Whether a memory is history: an old version, taken back, or no longer true."""
    times, now = memory.times, now_of(engine)
    ends = (times.valid_to, times.expires_at, times.retracted_at)
    return memory.version_of is not None or any(end is not None and end <= now for end in ends)


def versions(history: Sequence[Memory]) -> list[Version]:
    """The versions of a memory, newest first, each compared with the one before."""
    if not history:
        return []
    compared = [Version(after, difference(before.text, after.text)) for after, before in pairwise(history)]
    return [*compared, Version(history[-1], None)]


# Changes


@router.get("/memories/{id}/edit")
async def edit_page(request: Request, call: Changing, id: str) -> Response:
    """The form to edit a memory."""
    found = await call.run(lambda engine: known(engine, id))
    return show(
        request,
        "edit.html",
        view="memories",
        memory=found,
        values=form_of(found),
        meanings=keywords_of(Changes),
        numbers=NUMBERS,
        lists=LISTS,
        texts=TEXTS,
        tiers=[str(tier) for tier in Tier],
    )


@router.post("/memories/{id}/edit")
async def edit(request: Request, call: Changing, id: str) -> Response:
    """Save a memory as a new version, if nobody else has changed it meanwhile."""
    form: Form = request.state.form
    done = await call.run(lambda engine: _edited(engine, id, form), adds=True)
    return back(call, f"{home_of(call.space)}/memories/{id}", saved=done)


def _edited(engine: Engine, id: str, form: Form) -> str:
    before = known(engine, id)
    if form.get("version", "") != str(before.version):
        raise InvalidInput(
            "Somebody changed this memory while you edited it", remedy="Open it again and repeat your change."
        )
    text, changed = changed_fields(before, form)
    return str(engine.update(id, text, **changed).outcome)


def form_of(memory: Memory) -> dict[str, str]:
    """The fields of a memory that can be edited, as the form shows them."""
    data = to_data(memory)
    return {
        "text": memory.text,
        "tier": str(memory.tier),
        "metadata": json.dumps(data["metadata"], ensure_ascii=False, indent=2) if data["metadata"] else "",
        **{name: "" if data[name] is None else str(data[name]) for name in (*NUMBERS, *TEXTS)},
        **{name: ", ".join(data[name]) for name in LISTS},
    }


def changed_fields(before: Memory, form: Form) -> tuple[str | None, Changes]:
    """The text and the keywords of `update` for what differs in a form from the memory as it was shown."""
    shown = form_of(before)
    given = {name: form[name].replace("\r\n", "\n") for name in shown if name in form}
    differing = {name: value for name, value in given.items() if value != shown[name].replace("\r\n", "\n")}
    text, found, clear = differing.pop("text", None), dict[str, Any](), list[str]()
    for name, value in differing.items():
        if not value.strip() and name not in NUMBERS:
            clear.append(name)
        else:
            found[name] = _read(name, value.strip())
    return text, cast("Changes", {**found, "clear": clear} if clear else found)


def _read(name: str, value: str) -> Any:
    if name in LISTS:
        return [part.strip() for part in value.split(",") if part.strip()]
    if name not in (*NUMBERS, "metadata"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        kind = "a JSON object" if name == "metadata" else "a number"
        raise InvalidInput(f"{name} is not {kind}", remedy="Correct it and save again.") from None


@router.post("/memories/{id}/restore")
async def restore(request: Request, call: Changing, id: str) -> Response:
    """Make an old version the newest one again."""
    form: Form = request.state.form
    wanted = form.get("version", "")

    def restored(engine: Engine) -> str:
        old = next((version for version in engine.history(id) if str(version.version) == wanted), None)
        if old is None:
            raise InvalidInput("There is no such version", remedy="Choose one of the versions of this memory.")
        now, values = known(engine, id), form_of(old)
        text, changed = changed_fields(now, Form(list(values.items())))
        return str(engine.update(id, text, **changed).outcome)

    return back(call, f"{home_of(call.space)}/memories/{id}", saved=await call.run(restored, adds=True))


@router.post("/memories/{id}/do/{action}")
async def change(request: Request, call: Changing, id: str, action: str) -> Response:
    """Pin, rate or end a memory."""
    if action not in ACTIONS:
        raise InvalidInput("There is no such action", remedy=f"Choose one of {', '.join(ACTIONS)}.")
    done = await call.run(lambda engine: act(engine, id, action))
    return back(call, f"{home_of(call.space)}/memories/{id}", done, did=action)


@router.post("/undo")
async def undo(request: Request, call: Administering) -> Response:
    """Undo entries of the journal, the newest first."""
    form: Form = request.state.form
    entries = [*dict.fromkeys(form.getlist("entry"))][:ENTRIES]
    place = form.get("back", "")
    await call.run(lambda engine: [engine.undo(entry) for entry in reversed(entries)])
    return back(call, place, entries)
