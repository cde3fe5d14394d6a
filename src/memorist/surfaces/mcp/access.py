"""Who calls: in which session, with which key, and how much they may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mcp.server.mcpserver import Context

from memorist.errors import Error
from memorist.surfaces.keys import Key

if TYPE_CHECKING:
    from starlette.requests import Request

KEY = "memorist.key"
"""Where the check of a request's key leaves it for the tools."""
SESSION_HEADER = "mcp-session-id"
SESSION_META = "memorist/session"
"""How a client names its conversation where the protocol has no sessions."""

LONGEST_SESSION = 200


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the start of the server fixed for every call."""

    space: str
    session: str
    max_classification: int = 2


@dataclass(frozen=True, slots=True)
class Caller:
    """One call's key, session and bounds."""

    space: str
    session: str | None
    max_classification: int
    key: Key | None = None

    def may(self, right: str) -> bool:
        """Whether the call's key, if it needed one, has a right."""
        return self.key is None or self.key.allows(self.space, right)

    def require(self, right: str) -> None:
        """Refuse a call whose key lacks a right."""
        if not self.may(right):
            raise Error(
                f"This key may not {right} here",
                remedy=f"Ask for one that may: memorist keys create {self.space} --rights {right}",
            )


def caller(context: Context[Any, Any], bounds: Bounds) -> Caller:
    """Who makes this call: over stdio the one client there is, over HTTP whoever the request names."""
    request = cast("Request | None", context.request_context.request)
    if request is None:
        return Caller(bounds.space, bounds.session, bounds.max_classification)
    key: Key | None = request.scope.get(KEY)
    most = bounds.max_classification if key is None else min(bounds.max_classification, key.max_classification)
    named = request.headers.get(SESSION_HEADER) or (context.request_context.meta or {}).get(SESSION_META)
    return Caller(bounds.space, _session(named, key), most, key)


def _session(named: object, key: Key | None) -> str | None:
    """A session's name in the store; two keys that use the same one do not share it."""
    if not isinstance(named, str) or not named:
        return None
    return f"mcp:{key.id if key else ''}:{named[:LONGEST_SESSION]}"
