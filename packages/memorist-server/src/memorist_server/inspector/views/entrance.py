"""The way in and out: the list of spaces, logging in with a key or a ticket, and logging out."""

from __future__ import annotations

from functools import partial

from anyio import to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memorist_server.inspector.access import Form
from memorist_server.inspector.calls import home_of
from memorist_server.inspector.pages import show
from memorist_server.inspector.sessions import BrowserSessions
from memorist_server.rest.auth import Caller
from memorist_server.rest.server import Server

router = APIRouter()


@router.get("/")
async def spaces(request: Request, key: str | None = None, next: str = "/") -> Response:
    """The spaces that the caller may read; the only one at once. A ticket is exchanged for a session here."""
    if key is not None:
        return _enter_with_ticket(request, key, next)
    caller: Caller | None = request.state.caller
    if caller is None:
        return RedirectResponse("/login", 303)
    server: Server = request.app.state.server
    names = [name for name in await to_thread.run_sync(server.home.catalogue.names) if caller.allows(name, "read")]
    if len(names) == 1 and "all" not in request.query_params:
        return RedirectResponse(home_of(names[0]), 303)
    return show(request, "spaces.html", names=names)


def _enter_with_ticket(request: Request, ticket: str, place: str) -> Response:
    sessions: BrowserSessions = request.app.state.sessions
    session = sessions.of_ticket(ticket)
    if session is None:
        return show(request, "login.html", 403, failed="ticket", next="/", ticketed=True)
    response = RedirectResponse(_own(place), 303)
    sessions.keep(response, request, session)
    return response


@router.get("/login")
async def login_page(request: Request, next: str = "/") -> Response:
    """Where a key is given; whoever needs none goes on."""
    if request.state.caller is not None and request.state.caller.key is None:
        return RedirectResponse(_own(next), 303)
    return show(request, "login.html", failed="", next=_own(next), ticketed=_ticketed(request))


@router.post("/login")
async def login(request: Request) -> Response:
    """Exchange a key for a session."""
    form: Form = request.state.form
    sessions: BrowserSessions = request.app.state.sessions
    session = await to_thread.run_sync(partial(sessions.of_key, form.get("key", "")))
    place = _own(form.get("next", "/"))
    if session is None:
        return show(request, "login.html", 403, failed="key", next=place, ticketed=_ticketed(request))
    response = RedirectResponse(place, 303)
    sessions.keep(response, request, session)
    return response


@router.post("/logout")
async def logout(request: Request) -> Response:
    """End a session."""
    response = RedirectResponse("/login", 303)
    request.app.state.sessions.end(response)
    return response


def _ticketed(request: Request) -> bool:
    return request.app.state.server.settings.ticket is not None


def _own(place: str) -> str:
    """A path of ours, whatever a link says."""
    safe = place.startswith("/") and not place.startswith(("//", "/\\")) and place.isprintable()
    return place if safe else "/"
