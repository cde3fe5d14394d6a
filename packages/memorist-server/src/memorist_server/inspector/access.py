"""Access to the inspector: the same names, keys and limits as REST, and sessions for browsers.

Three things differ from REST, here and nowhere else. A cookie may stand for a key. A form may be the body of a request,
so every change must carry the token of its session. A link on a page of another site may lead here: it gets a page that
loads itself again, so that nothing is done or measured at the wish of another site, and the cookie comes along.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from urllib.parse import parse_qsl, quote

from starlette.datastructures import Headers, ImmutableMultiDict, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorist.errors import Error
from memorist_server.inspector.pages import error_page, page_of, show
from memorist_server.inspector.sessions import BrowserSession, BrowserSessions
from memorist_server.rest.auth import Caller, key_in
from memorist_server.rest.limits import bound_body, check_length
from memorist_server.rest.logs import failure
from memorist_server.rest.metrics import route_of
from memorist_server.rest.origin import SAFE
from memorist_server.rest.problems import INTERNAL, UNKNOWN_KEY, UNSUPPORTED, Refusal, Sort
from memorist_server.rest.remote import Lookups
from memorist_server.rest.server import Server

GRAPH_STYLES = (
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",  # empty, as each is added before it is filled
    "'sha256-jtRRMYY2VbEXuBKbHvqM1/fPT8vazFrEooXdvwUK4y8='",
    "'sha256-9xjtvxMT1ApHlgn9ohbh2FNfvK5Tqtzy94BjfXBeMSY='",
)
"""The style sheets that the vendored force-graph adds to a page; no other inline style is admitted."""
HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; script-src 'self'; style-src 'self' {' '.join(GRAPH_STYLES)}; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send forms with an Origin of null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
STATIC, LOGIN = "/static/", "/login"
OPEN = ("/", LOGIN, "/logout")
"""Paths that somebody who has not logged in may use, besides the static files."""
FORM, TOKEN, TOKEN_HEADER = "application/x-www-form-urlencoded", "csrf", "x-csrf-token"
MOST_FIELDS = 5000
LONGEST_ADDRESS = 8192
"""Bytes of the query of an address: pages repeat it in their links."""
Form = ImmutableMultiDict[str, str]
"""The fields of a form; a name may come several times."""
NO_TOKEN = Sort(
    "no-token",
    403,
    "The change did not come from this page",
    "The token of this session is missing or not valid",
    "Load the page again, and repeat what you did. You may have logged in or out in another tab.",
)


TOO_LONG = Sort(
    "address-too-long",
    414,
    "The address is too long",
    f"The address has more than {LONGEST_ADDRESS:,} bytes after its question mark",
    "Ask in fewer words, choose fewer filters, or ask over REST.",
)


class Door:
    """Checks each request before it reaches a view, and adds the headers of a page to each answer."""

    def __init__(self, app: ASGIApp, server: Server, sessions: BrowserSessions) -> None:
        self._app = app
        self._server = server
        self._sessions = sessions
        self._names = server.settings.names
        self._lookups = Lookups(server.keys.waits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        scope["state"] |= {"caller": None, "session": None, "token": "", "form": Form([])}

        begun = False

        async def headed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            response = await self._checked(request, headed)
        except Refusal as refusal:
            response = error_page(request, refusal.sort, refusal.detail, refusal.headers)
        except Error as error:
            if begun:
                raise
            response = page_of(request, error)
        except Exception as error:
            if begun:
                raise  # the page can only be cut off
            id = request.state.request_id
            failure("request failed", error, request_id=id, route=route_of(scope))
            response = error_page(request, replace(INTERNAL, remedy=f"Find `{id}` in the server's log, and report it."))
        if response is not None:
            await response(scope, receive, headed)

    async def _checked(self, request: Request, send: Send) -> Response | None:
        """Run a request; or what to answer instead of a view."""
        headers, path = request.headers, request.url.path
        if _comes_by_a_link(request):
            self._names.check(_without(headers, b"sec-fetch-site"), request.url.scheme)
            return show(request, "bounce.html")
        self._names.check(headers, request.url.scheme)
        if len(request.scope["query_string"]) > LONGEST_ADDRESS:
            raise Refusal(TOO_LONG)
        if path.startswith(STATIC):
            await self._app(request.scope, request.receive, send)
            return None
        caller, session = await self._lookups.run(partial(self._who, headers))
        fresh = session is None
        session = session or self._sessions.new()
        request.scope["state"] |= {"caller": caller, "session": session, "token": self._sessions.token(session)}
        if caller is None and path not in OPEN:
            return _to_login(request)
        who = None if caller is None else caller.id
        if who is not None:
            self._server.rate.take(who)
        with self._server.room.place(who):
            await self._run(request, send, session, fresh)
        return None

    async def _run(self, request: Request, send: Send, session: BrowserSession, fresh: bool) -> None:
        settings = self._server.settings
        check_length(request.headers.get("content-length"), settings.body_limit)
        receive = bound_body(request.receive, settings.body_limit, settings.timeout)
        if request.method not in SAFE:
            request.scope["state"]["form"] = form = await _form(Request(request.scope, receive))
            given = request.headers.get(TOKEN_HEADER) or form.get(TOKEN, "")
            if not self._sessions.admits(session, given):
                raise Refusal(NO_TOKEN)
        keeping = partial(self._keeping, request, session, send) if fresh else send
        await self._app(request.scope, receive, keeping)

    async def _keeping(self, request: Request, session: BrowserSession, send: Send, message: Message) -> None:
        """Send an answer with the cookie of a new session, unless the view has set one."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if "set-cookie" not in headers:
                kept = Response()
                self._sessions.keep(kept, request, session)
                headers["set-cookie"] = kept.headers["set-cookie"]
        await send(message)

    def _who(self, headers: Headers) -> tuple[Caller | None, BrowserSession | None]:
        if key := key_in(headers, self._server):
            return Caller(key), BrowserSession(key.id, 0, key.id)
        session = self._sessions.read(headers)
        anybody = Caller() if self._server.unlocked else None
        return (anybody, None) if session is None else (self._sessions.caller(session), session)


def _comes_by_a_link(request: Request) -> bool:
    """Whether a page of another site leads the whole window here; only browsers that say so are believed."""
    headers = request.headers
    return (
        request.method == "GET"
        and headers.get("sec-fetch-site") in ("cross-site", "same-site")
        and (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    )


def _without(headers: Headers, name: bytes) -> Headers:
    return Headers(raw=[header for header in headers.raw if header[0] != name])


def _to_login(request: Request) -> Response:
    """The way to log in and back; a script is told to go there with the whole window."""
    if request.method not in SAFE:
        raise Refusal(UNKNOWN_KEY, remedy="Log in, and repeat what you did.")
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    place = f"{LOGIN}?next={quote(wanted, safe='')}"
    if "hx-request" in request.headers:
        return Response(status_code=401, headers={"HX-Redirect": place})
    return RedirectResponse(place, 303)


async def _form(request: Request) -> Form:
    """The fields of a form; no other type of body is read."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if body and kind != FORM:
        raise Refusal(UNSUPPORTED, "A form of this page is sent in another way", remedy=f"Send `{FORM}`.")
    try:
        return Form(
            parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
        )
    except ValueError:
        raise Refusal(UNSUPPORTED, "The form has too many fields, or is not UTF-8") from None
