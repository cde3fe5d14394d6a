"""Streamable HTTP: access is checked by key, by Host and by Origin."""

from __future__ import annotations

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
from memorist.surfaces.rest.server import is_loopback

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
GRACE = 10
"""Seconds that running calls have to finish when the server is stopped."""


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
    """Admits requests whose key opens the space; if `open`, also all requests as long as no key was ever created."""

    def __init__(self, app: ASGIApp, ring: KeyRing, space: str, *, open: bool) -> None:
        self._app = app
        self._ring = ring
        self._space = space
        self._open = open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] == "http":
            found = await anyio.to_thread.run_sync(self._judge, Headers(scope=scope).get("authorization"))
            if isinstance(found, HttpRefusal):
                await _refuse(found)(scope, receive, send)
                return
            if found is not None:
                # The SDK binds a session to the user that started it.
                token = AccessToken(token="", client_id=found.id, scopes=[found.rights])
                scope = {**scope, KEY: found, "user": AuthenticatedUser(token)}
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
    inner = server.streamable_http_app(
        streamable_http_path=PATH, transport_security=_security([*LOOPBACK, host, *allow_hosts])
    )
    return KeyGate(inner, ring, server.space, open=loopback)


def listener(application: ASGIApp, *, host: str, port: int) -> uvicorn.Server:
    """A server that, when it is stopped, finishes the running calls. It does not log requests."""
    return uvicorn.Server(
        uvicorn.Config(application, host=host, port=port, ws="none", access_log=False, timeout_graceful_shutdown=GRACE)
    )


def _security(names: list[str]) -> TransportSecuritySettings:
    """Admit only requests that use one of these host names, which protects against DNS rebinding."""
    hosts = dict.fromkeys(f"[{name}]" if ":" in name and "[" not in name else name for name in names)
    ports = [f"{host}{port}" for host in hosts for port in ("", ":*")]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in ports]
    return TransportSecuritySettings(allowed_hosts=ports, allowed_origins=origins)


def _refuse(refusal: HttpRefusal) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else None
    return JSONResponse({"error": refusal.error, "remedy": refusal.remedy}, status_code=refusal.status, headers=headers)
