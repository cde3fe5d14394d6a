"""Who calls a tool, and what was fixed when the server was started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mcp.server.mcpserver import Context

from memorist.model import USUAL_CLASSIFICATION
from memorist_server.access.keys import Key
from memorist_server.rest.problems import FORBIDDEN, Refusal

if TYPE_CHECKING:
    from starlette.requests import Request

KEY = "memorist.key"
"""The entry of the ASGI scope that holds the request's key."""
SESSION_HEADER = "mcp-session-id"
SESSION_META = "memorist/session"
"""The metadata field with which a client names its conversation, if the protocol has no sessions."""

LONGEST_SESSION = 200


@dataclass(frozen=True, slots=True)
class Bounds:
    """What was fixed for every call when the server was started."""

    space: str
    session: str
    max_classification: int = 2
    scope: str | None = None

    @property
    def seen(self) -> list[str] | None:
        """The scopes that a call sees if it names none; None for all."""
        return None if self.scope is None else sorted({self.scope, "global"})


@dataclass(frozen=True, slots=True)
class McpCaller:
    """The key, session and bounds of one call."""

    space: str
    session: str | None
    max_classification: int
    key: Key | None = None
    remote: bool = False
    """Whether it comes over HTTP, where time is limited."""

    @property
    def usual_classification(self) -> int:
        """The classification of what it writes."""
        return min(USUAL_CLASSIFICATION, self.max_classification)

    def may(self, right: str) -> bool:
        """Whether the call has a right; a call without a key has all of them."""
        return self.key is None or self.key.allows(self.space, right)

    def require(self, right: str) -> None:
        """Refuse a call whose key lacks a right."""
        if not self.may(right):
            create = f"Create one that may: memorist keys create {self.space} --rights {right}"
            raise Refusal(FORBIDDEN, f"This key may not {right} here", remedy=create)


def caller(context: Context[Any, Any], bounds: Bounds) -> McpCaller:
    """Who makes this call: over stdio the only client, over HTTP the one that the request names."""
    request = cast("Request | None", context.request_context.request)
    if request is None:
        return McpCaller(bounds.space, bounds.session, bounds.max_classification)
    key: Key | None = request.scope.get(KEY)
    most = bounds.max_classification if key is None else min(bounds.max_classification, key.max_classification)
    named = request.headers.get(SESSION_HEADER) or (context.request_context.meta or {}).get(SESSION_META)
    return McpCaller(bounds.space, _session(named, key), most, key, remote=True)


def _session(named: object, key: Key | None) -> str | None:
    """The name of a session in the store; two keys that use the same name do not share a session."""
    if not isinstance(named, str) or not named:
        return None
    return f"mcp:{key.id if key else ''}:{named[:LONGEST_SESSION]}"
