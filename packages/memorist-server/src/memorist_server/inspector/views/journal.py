"""Journal and audit: what was decided and changed, what is wrong, and the way back from each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from memorist.engine.engine import Engine
from memorist.errors import InvalidInput
from memorist.model import Memory
from memorist_server.inspector.access import Form
from memorist_server.inspector.browse import JournalItem, changes, changes_called
from memorist_server.inspector.calls import Administering, Reading, back, home_of, sees_journal
from memorist_server.inspector.pages import show

router = APIRouter(prefix="/inspect/{space}")
PAGE = 50
MOST_FINDINGS = 200
"""Findings that a page shows; those beyond are counted."""
VERBS = {
    "gate": "what gates masked, marked, skipped or merged",
    "feedback": "ratings",
    "pin": "pins",
    "invalidate": "ends",
    "audit": "repairs of an audit",
    "tidy": "tidying",
    "facts": "facts that a model read",
    "note": "notes",
}
"""The verbs of entries that can be chosen, as people read them."""


@router.get("/journal")
async def journal(request: Request, call: Reading) -> Response:
    """The journal, newest first."""
    if not sees_journal(call):
        return show(request, "journal.html", view="journal", entries=None)
    given = request.query_params
    verb, about, cursor = (given.get(name) or None for name in ("verb", "about", "cursor"))
    done = given.getlist("done")[:PAGE]

    def found(engine: Engine) -> tuple[list[JournalItem], list[JournalItem], dict[str, Memory]]:
        entries = changes(engine, about, PAGE + 1, verb, cursor)
        subjects = [entry.subjects[0] for entry in entries if entry.subjects]
        return entries, changes_called(engine, done), engine.store.get(subjects)

    entries, told, memories = await call.run(found)
    return show(
        request,
        "journal.html",
        view="journal",
        entries=entries[:PAGE],
        cursor=entries[PAGE - 1].id if len(entries) > PAGE else None,
        memories=memories,
        verb=verb,
        about=about,
        verbs=VERBS,
        done=told,
    )


@router.get("/audit")
async def audit_page(request: Request, call: Reading) -> Response:
    """What an audit and a tidying are, and the buttons to run them."""
    return _audit(request, call)


@router.post("/audit")
async def audit(request: Request, call: Administering) -> Response:
    """Check every memory, and show what is wrong."""
    found = await call.run(_findings, long=True)
    return _audit(request, call, **found)


@router.post("/audit/fix")
async def fix(request: Request, call: Administering) -> Response:
    """Repair the chosen findings, as far as they still hold."""
    form: Form = request.state.form
    chosen = [*dict.fromkeys(form.getlist("finding"))]
    if not chosen:
        raise InvalidInput("No finding is selected", remedy="Select findings with their boxes.")
    kinds = set(form.getlist("kind"))

    def mended(engine: Engine) -> Sequence[str]:
        after = engine.mend(engine.audit(kinds or None), chosen)
        return list(after.fixed.values())

    done = await call.run(mended, long=True)
    return back(call, f"{home_of(call.space)}/journal", done[:PAGE])


@router.post("/tidy")
async def tidy(request: Request, call: Administering) -> Response:
    """Show what tidying would change, or do it."""
    form: Form = request.state.form
    if form.get("confirmed") == "yes":
        done = await call.run(lambda engine: engine.tidy(dry_run=False), long=True)
        return _audit(request, call, tidied=done, subjects={})
    planned = await call.run(_planned, long=True)
    return _audit(request, call, **planned)


def _audit(request: Request, call: Reading, **found: Any) -> Response:
    usual: dict[str, Any] = {"report": None, "plan": None, "tidied": None, "subjects": {}, "most": MOST_FINDINGS}
    may = call.caller.allows(call.space, "admin")
    return show(request, "audit.html", view="audit", may=may, **(usual | found))


def _findings(engine: Engine) -> dict[str, Any]:
    report = engine.audit()
    ids = [id for finding in report.findings[:MOST_FINDINGS] for id in finding.ids[:2]]
    return {"report": report, "subjects": engine.store.get(ids)}


def _planned(engine: Engine) -> dict[str, Any]:
    plan = engine.tidy()
    return {"plan": plan, "subjects": engine.store.get([change.id for change in plan.changes[:MOST_FINDINGS]])}
