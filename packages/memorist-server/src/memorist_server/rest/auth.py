"""Access control: the Host and Origin headers, and API keys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from memorist.model import MOST_CLASSIFIED
from memorist_server.access.keys import Key
from memorist_server.rest.limits import bound_body, check_length
from memorist_server.rest.origin import check_body
from memorist_server.rest.problems import UNKNOWN_KEY, Refusal
from memorist_server.rest.remote import Lookups
from memorist_server.rest.server import Server

HEALTH = ("/healthz", "/readyz")
"""Paths that need no key: monitors call them, and they reveal nothing."""
UPLOADS = ("/ingest/file", "/import")
"""The endings of paths that take files."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a key, or anybody on this machine if there are no keys."""

    key: Key | None = None

    @property
    def id(self) -> str | None:
        """The key's id, which is not secret."""
        return self.key and self.key.id

    @property
    def max_classification(self) -> int:
        """The highest classification it may see."""
        return MOST_CLASSIFIED if self.key is None else self.key.max_classification

    def allows(self, space: str, right: str) -> bool:
        """Whether it has a right in a space."""
        return self.key is None or self.key.allows(space, right)


class Auth:
    """Checks each request before it reaches a route."""

    def __init__(self, app: ASGIApp, server: Server) -> None:
        self._app = app
        self._server = server
        self._names = server.settings.names
        self._lookups = Lookups(server.keys.waits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, path = Headers(scope=scope), str(scope["path"])
        self._names.check(headers, scope["scheme"])
        if path in HEALTH:
            await self._app(scope, receive, send)
            return
        caller = scope["state"]["caller"] = await self._lookups.run(partial(self._caller, headers))
        if caller.id is not None:
            self._server.rate.take(caller.id)
        settings, upload = self._server.settings, path.endswith(UPLOADS)
        check_body(scope["method"], headers, upload=upload)
        most = settings.upload_limit if upload else settings.body_limit
        check_length(headers.get("content-length"), most)
        with self._server.room.place(caller.id):
            await self._app(scope, bound_body(receive, most, settings.timeout), send)

    def _caller(self, headers: Headers) -> Caller:
        key = key_in(headers, self._server)
        if key is None and not self._server.unlocked:
            raise unknown_key()
        return Caller(key)


def key_in(headers: Headers, server: Server) -> Key | None:
    """The key that a request sends, None if it sends none; one that does not exist is refused."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    key = server.keys.find(secret.strip()) if scheme.lower() == "bearer" else None
    if scheme and key is None:
        raise unknown_key()
    return key


def unknown_key() -> Refusal:
    """The refusal of a caller whose key is missing or does not exist."""
    return Refusal(UNKNOWN_KEY, headers={"WWW-Authenticate": "Bearer"})
