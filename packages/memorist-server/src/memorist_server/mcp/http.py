"""Streamable HTTP: access is checked by key, by Host and by Origin."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import NoReturn

import anyio.to_thread
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from memorist.errors import Error, InvalidInput
from memorist.surfaces.remedies import as_tool
from memorist_server.access.keys import Key, KeyRing
from memorist_server.mcp.caller import KEY
from memorist_server.mcp.server import LIMITS, MemoryServer
from memorist_server.rest.connections import uvicorn_config
from memorist_server.rest.limits import ConcurrencyLimit, Rate, bound_body
from memorist_server.rest.origin import OwnNames, check_body, is_loopback
from memorist_server.rest.problems import FORBIDDEN, INTERNAL, UNKNOWN_KEY, Refusal, public_wording, status_of
from memorist_server.rest.server import Settings

PATH = "/mcp"
GRACE = 10
"""Seconds that running calls have to finish when the server is stopped."""
_log = logging.getLogger(__name__)


class KeyGate:
    """Admits requests from our own origin whose key opens the space, within the limits of that key.

    If `open`, it also admits requests without a key as long as none was ever created.
    """

    def __init__(
        self, app: ASGIApp, ring: KeyRing, space: str, names: OwnNames, *, open: bool, limits: Settings
    ) -> None:
        self._app = app
        self._ring = ring
        self._space = space
        self._names = names
        self._open = open
        self._limits = limits
        self._rate = Rate(limits.rate)
        self._space_rate = Rate(limits.space_rate)
        self._calls = limits.of_requests()
        self._streams = ConcurrencyLimit(limits.connections // 2, limits.connections // 8)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            key = await self._admitted(scope)
            # A client listens for messages on a stream that stays open.
            room = self._streams if scope["method"] == "GET" else self._calls
            with room.place(key and key.id):
                body = bound_body(receive, self._limits.body_limit, self._limits.timeout)
                await self._app(scope if key is None else _known(scope, key), body, send)
        except Refusal as refusal:
            answer = {"error": refusal.detail, "remedy": refusal.sort.remedy}
            await JSONResponse(answer, refusal.status_code, refusal.headers)(scope, receive, send)

    async def _admitted(self, scope: Scope) -> Key | None:
        headers = Headers(scope=scope)
        self._names.check(headers, scope["scheme"])
        check_body(scope["method"], headers, upload=False)
        try:
            key = await anyio.to_thread.run_sync(self._key, headers.get("authorization"))
        except Error as error:
            _fail(error)
        if key is not None:
            self._rate.take(key.id)
        self._space_rate.take(self._space, "This space has exceeded its rate limit")
        return key

    def _key(self, authorization: str | None) -> Key | None:
        scheme, _, secret = (authorization or "").partition(" ")
        key = self._ring.find(secret.strip()) if scheme.lower() == "bearer" else None
        if key is None and not (self._open and self._ring.empty):
            raise Refusal(UNKNOWN_KEY, headers={"WWW-Authenticate": "Bearer"})
        if key is not None and not key.allows(self._space, "read"):
            raise Refusal(FORBIDDEN, "This key does not open this space", remedy="Use a key that was created for it.")
        return key


def _known(scope: Scope, key: Key) -> Scope:
    """A request with its key; the SDK binds a session to the user that started it."""
    token = AccessToken(token="", client_id=key.id, scopes=[key.rights])
    return {**scope, KEY: key, "user": AuthenticatedUser(token)}


def _fail(error: Error) -> NoReturn:
    """Refuse a request because its key cannot be looked up."""
    _log.error("keys cannot be read: %s", error)
    detail, remedy = public_wording(error, as_tool)
    raise Refusal(replace(INTERNAL, status=status_of(type(error))), detail, remedy=remedy) from None


def app(server: MemoryServer, ring: KeyRing, *, host: str, allow_hosts: list[str]) -> ASGIApp:
    """The whole application; refused for an address that others can reach if there is no key."""
    loopback = is_loopback(host)
    if not loopback and ring.empty:
        raise InvalidInput(
            f"{host} can be reached by others, and there is no key",
            remedy=f"Create one first: memorist keys create {server.space} --rights write",
        )
    ours = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the gate checks Host and Origin
    inner = server.streamable_http_app(streamable_http_path=PATH, transport_security=ours)
    names = OwnNames.of(host, tuple(allow_hosts))
    return KeyGate(inner, ring, server.space, names, open=loopback, limits=server.limits)


def listener(application: ASGIApp, *, host: str, port: int) -> uvicorn.Server:
    """A server that, when it is stopped, finishes the running calls. It does not log requests."""
    config = uvicorn_config(application, LIMITS.of_connections, host=host, port=port, timeout_graceful_shutdown=GRACE)
    return uvicorn.Server(config)
