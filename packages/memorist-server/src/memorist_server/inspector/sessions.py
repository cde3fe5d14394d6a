"""Sessions of browsers: what a cookie says, who it stands for, and the token that every change must carry.

A session is signed, not stored, so that every worker knows it. It names a key by its id and never holds the secret; the
key is looked up for each request, so a revoked one is out at once.
"""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Literal

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response

from memorist_server.rest.auth import Caller
from memorist_server.rest.server import Server

Kind = Literal["visitor", "owner", "key"]
LASTS = 12 * 3600
"""Seconds until a session ends, whatever happens."""
SECRET = 32
_VISITOR, _OWNER = "visitor", "owner"


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser: its random number, until when it is let in, and what it has shown: a ticket, a key, or nothing."""

    nonce: str
    until: int
    holder: str = _VISITOR
    """`visitor`, `owner`, or the id of a key."""

    @property
    def payload(self) -> str:
        """What is signed."""
        return f"{self.holder}.{self.nonce}.{self.until}"


class BrowserSessions:
    """Makes and reads sessions, all signed with one secret."""

    def __init__(self, server: Server) -> None:
        self._server = server
        settings = server.settings
        self._secret = (settings.session_secret or secrets.token_urlsafe(SECRET)).encode()
        self._ticket = settings.ticket
        self.cookie = f"memorist-{settings.port}"
        """Cookies do not tell ports apart, and several servers may run on one machine."""

    def new(self, holder: str = _VISITOR) -> BrowserSession:
        """A session that begins now."""
        return BrowserSession(secrets.token_urlsafe(16), int(time.time()) + LASTS, holder)

    def read(self, headers: Headers) -> BrowserSession | None:
        """The session of a request; None if it has none, or one that is over or forged."""
        jar = SimpleCookie()
        try:
            jar.load(headers.get("cookie", ""))
        except CookieError:
            return None
        found = jar.get(self.cookie)
        payload, _, signature = (found.value if found is not None else "").rpartition(".")
        holder, _, rest = payload.partition(".")
        nonce, _, until = rest.partition(".")
        if not hmac.compare_digest(self._signed("session", payload), signature) or not until.isdecimal():
            return None
        return BrowserSession(nonce, int(until), holder) if int(until) > time.time() else None

    def token(self, session: BrowserSession) -> str:
        """What each change in this session must carry."""
        return self._signed("change", session.payload)

    def admits(self, session: BrowserSession, token: str) -> bool:
        """Whether a change carries the token of its session."""
        return hmac.compare_digest(self.token(session).encode(), token.encode("utf-8", "surrogatepass"))

    def caller(self, session: BrowserSession) -> Caller | None:
        """Whom a session stands for now; None if it must log in."""
        if session.holder == _OWNER and self._ticket_given:
            return Caller()
        if session.holder not in (_VISITOR, _OWNER):
            key = self._server.keys.called(session.holder)
            return None if key is None else Caller(key)
        return Caller() if self._server.unlocked else None

    @property
    def _ticket_given(self) -> bool:
        return self._server.settings.ticket is not None

    def of_key(self, secret: str) -> BrowserSession | None:
        """A session for the holder of a key; None if the key is unknown, revoked or expired."""
        key = self._server.keys.find(secret.strip())
        return None if key is None else self.new(key.id)

    def of_ticket(self, ticket: str) -> BrowserSession | None:
        """The owner's session, for whoever brings the ticket first; None for anybody else."""
        known = self._ticket
        if known is None or not hmac.compare_digest(known.encode(), ticket.encode("utf-8", "surrogatepass")):
            return None
        self._ticket = None
        return self.new(_OWNER)

    def keep(self, response: Response, request: HTTPConnection, session: BrowserSession) -> None:
        """Give a browser its session: for this server only, unseen by scripts, and until the browser is closed."""
        value = f"{session.payload}.{self._signed('session', session.payload)}"
        secure = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
        response.set_cookie(self.cookie, value, httponly=True, samesite="strict", secure=secure, path="/")

    def end(self, response: Response) -> None:
        """Take the session from a browser."""
        response.delete_cookie(self.cookie, httponly=True, samesite="strict", path="/")

    def _signed(self, use: str, text: str) -> str:
        return hmac.digest(self._secret, f"{use}\n{text}".encode("utf-8", "surrogatepass"), "sha256").hex()
