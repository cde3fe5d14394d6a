"""Calls of verbs from a view: who may, and how what happened is told on the next page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import Depends
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memorist_server.rest.auth import Caller
from memorist_server.rest.calls import Call, SpaceName
from memorist_server.rest.problems import FORBIDDEN, READ_ONLY, Refusal, Sort
from memorist_server.rest.server import Server

NO_SPACE = Sort(
    "no-space",
    404,
    "There is no such space",
    "There is no space with this name, or this key does not open it",
    "Choose another space, or log in with another key.",
)


MOST_TOLD = 50
"""Journal entries that the next page tells about."""


def _call_with(right: str) -> Callable[[Request, str], Awaitable[Call]]:
    async def call(request: Request, space: SpaceName) -> Call:
        caller: Caller = request.state.caller
        server: Server = request.app.state.server
        if not caller.allows(space, "read") or not await to_thread.run_sync(server.home.catalogue.has, space):
            raise Refusal(NO_SPACE)
        if right != "read" and server.settings.read_only:
            raise Refusal(READ_ONLY)
        if not caller.allows(space, right):
            raise Refusal(FORBIDDEN, f"This key may not {right} in this space")
        server.space_rate.take(space, "This space has exceeded its rate limit")
        return Call(server, request, caller, space, right)

    return call


Reading = Annotated[Call, Depends(_call_with("read"))]
"""`call: Reading` in a view: `await call.run(lambda engine: …)` gives it the engine up to the caller's cap."""
Changing = Annotated[Call, Depends(_call_with("write"))]
"""The same for a change; the token of the session has been checked before."""
Administering = Annotated[Call, Depends(_call_with("admin"))]


def sees_journal(call: Call) -> bool:
    """Whether the caller may read the journal, which needs an admin key as it does over REST."""
    return call.caller.allows(call.space, "admin")


def home_of(space: str) -> str:
    """The path of a space."""
    return f"/inspect/{space}"


def own_place(call: Call, place: str) -> str:
    """A page of this space, whatever a form says; its list of memories if that is none."""
    home = home_of(call.space)
    return place if place.startswith(f"{home}/") and place.isprintable() else f"{home}/memories"


def back(call: Call, place: str, done: Sequence[str] = (), **more: str) -> Response:
    """The way to a page of this space, which tells what was done: the journal entries `done`, each with its undo."""
    path = own_place(call, place)
    told = [*(("done", what) for what in done[:MOST_TOLD]), *more.items()]
    joint = "&" if "?" in path else "?"
    return RedirectResponse(f"{path}{joint}{urlencode(told)}" if told else path, 303)
