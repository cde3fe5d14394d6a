"""Streamable HTTP: access is checked by key, by Host and by Origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import anyio.to_thread
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from memorist.access.keys import Key, KeyRing
from memorist.errors import InvalidInput
from memorist.surfaces.mcp.server import MemoryServer
from memorist.surfaces.mcp.tools import KEY
from memorist.surfaces.rest.connections import ConnectionLimits, uvicorn_config
from memorist.surfaces.rest.limits import bounded
from memorist.surfaces.rest.origin import OwnNames, check_body, is_loopback
from memorist.surfaces.rest.problems import Refusal

PATH = "/mcp"
GRACE = 10
"""Seconds that running calls have to finish when the server is stopped."""
LARGEST = 32 * 1024 * 1024
"""Bytes of a message."""
LIMITS = ConnectionLimits(connections=512, per_address=256, head_timeout=10.0, read_timeout=60.0)


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """Why a request is refused."""

    status: int
    error: str
    remedy: str


_NO_KEY = HttpRefusal(
    401, "No valid key", "Send one as `Authorization: Bearer rk_…`; `memorist keys create` creates it."
)
_OTHER_SPACE = HttpRefusal(403, "This key does not open this space", "Use a key that was created for it.")


class KeyGate:
    """Admits requests from our own origin whose key opens the space.

    If `open`, it also admits requests without a key as long as none was ever created.
    """

    def __init__(self, app: ASGIApp, ring: KeyRing, space: str, names: OwnNames, *, open: bool) -> None:
        self._app = app
        self._ring = ring
        self._space = space
        self._names = names
        self._open = open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            try:
                self._names.check(headers, scope["scheme"])
                check_body(scope["method"], headers, upload=False)
            except Refusal as refusal:
                sort = refusal.sort
                told = HttpRefusal(sort.status, refusal.detail, sort.remedy)
                await _refuse(told, refusal.headers)(scope, receive, send)
                return
            found = await anyio.to_thread.run_sync(self._judge, headers.get("authorization"))
            if isinstance(found, HttpRefusal):
                await _refuse(found)(scope, receive, send)
                return
            if found is not None:
                # The SDK binds a session to the user that started it.
                token = AccessToken(token="", client_id=found.id, scopes=[found.rights])
                scope = {**scope, KEY: found, "user": AuthenticatedUser(token)}
            receive = bounded(receive, LARGEST, LIMITS.read_timeout)
        await self._app(scope, receive, send)

    def _judge(self, authorization: str | None) -> Key | HttpRefusal | None:
        scheme, _, secret = (authorization or "").partition(" ")
        key = self._ring.find(secret.strip()) if scheme.lower() == "bearer" else None
        if key is not None:
            return key if key.allows(self._space, "read") else _OTHER_SPACE
        return None if self._open and self._ring.empty else _NO_KEY


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
    return KeyGate(inner, ring, server.space, OwnNames.of(host, tuple(allow_hosts)), open=loopback)


def listener(application: ASGIApp, *, host: str, port: int) -> uvicorn.Server:
    """A server that, when it is stopped, finishes the running calls. It does not log requests."""
    config = uvicorn_config(application, LIMITS, host=host, port=port, timeout_graceful_shutdown=GRACE)
    return uvicorn.Server(config)


def _refuse(refusal: HttpRefusal, more: Mapping[str, str] | None = None) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else dict(more or {})
    return JSONResponse({"error": refusal.error, "remedy": refusal.remedy}, status_code=refusal.status, headers=headers)
