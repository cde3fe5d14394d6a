"""Where a request comes from: the name it uses for the server, the page that sent it, and the type of its body.

A web page can send requests to this machine from a visitor's browser. The browser names the page (`Origin`,
`Sec-Fetch-Site`), and asks first (with a preflight, which is refused here) unless the body has one of three old types.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self

from starlette.datastructures import Headers

from memorist.text.patterns import lazy
from memorist_server.rest.problems import AMBIGUOUS, FOREIGN_HOST, FOREIGN_ORIGIN, REPEATED, UNSUPPORTED, Refusal

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
ONCE = ("host", "origin", "content-type", "content-length", "content-encoding", "authorization", "sec-fetch-site")
"""Headers that a request may have only once: two readers could choose different ones."""
PORTS = {"http": "80", "https": "443"}
OWN_HEADERS = ("authorization", "idempotency-key", "x-request-id")
"""Headers that a page of another site can only send after a preflight."""
SAFE = ("GET", "HEAD", "OPTIONS")
JSON, BYTES = "application/json", "application/octet-stream"
_HOST = lazy(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_TYPE = lazy(r"([\w.+!#$&^-]+/[\w.+!#$&^-]+)((?:\s*;\s*[\w-]+=(?:[\w.+-]+|\"[\w.+-]+\"))*)\s*")
_CHARSET = lazy(r"(?i);\s*charset=\"?([\w.+-]+)")


def is_loopback(host: str) -> bool:
    """Whether a name or address is loopback."""
    return host in LOOPBACK_NAMES or (is_address(host) and ip_address(host).is_loopback)


def is_address(host: str) -> bool:
    """Whether it is an address, not a name: DNS rebinding needs a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class OwnNames:
    """The names by which requests may call a server; if `addresses`, also any bare address."""

    names: frozenset[str]
    addresses: bool

    @classmethod
    def of(cls, host: str, allowed: tuple[str, ...]) -> Self:
        """Loopback, the address it listens on, and the names that were allowed."""
        everywhere = is_address(host) and ip_address(host).is_unspecified
        return cls(frozenset(name.lower().strip("[]") for name in (host, *allowed)), everywhere)

    def includes(self, name: str) -> bool:
        """Whether a request may use this name."""
        return is_loopback(name) or name in self.names or (self.addresses and is_address(name))

    def check(self, headers: Headers, scheme: str) -> None:
        """Refuse another server's name, since a page may have rebound its name to us, and pages of other origins."""
        for header in ONCE:
            if len(headers.getlist(header)) > 1:
                raise Refusal(REPEATED, f"The header {header} was sent twice")
        if "content-length" in headers and "transfer-encoding" in headers:
            raise Refusal(AMBIGUOUS, headers={"Connection": "close"})
        host = _HOST.fullmatch(headers.get("host", ""))
        if host is None or not self.includes(host[1].lower().strip("[]")):
            raise Refusal(FOREIGN_HOST)
        origin = headers.get("origin")
        if origin is not None and not _same_origin(origin, scheme, host[1], host[2]):
            raise Refusal(FOREIGN_ORIGIN)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refusal(FOREIGN_ORIGIN, "The browser says that a page of another site sent this")


def _same_origin(origin: str, scheme: str, name: str, port: str | None) -> bool:
    """Whether an origin is this server as the request calls it; a proxy may have taken TLS off."""
    theirs, _, place = origin.lower().partition("://")
    if theirs not in {scheme, "https"} or (found := _HOST.fullmatch(place)) is None:
        return False
    usual = PORTS.get(theirs)
    return (found[1], found[2] or usual) == (name.lower(), port or usual)


def check_body(method: str, headers: Headers, *, upload: bool) -> None:
    """Refuse a write whose body has a type that a form of any page could send, or that we do not read."""
    if method in SAFE:
        return
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(UNSUPPORTED, "The body is compressed", remedy="Send it uncompressed, without Content-Encoding.")
    given, wanted = headers.get("content-type"), BYTES if upload else JSON
    if given is None:
        empty = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
        if empty and (method != "POST" or any(name in headers for name in OWN_HEADERS)):
            return
        raise Refusal(UNSUPPORTED, "The header Content-Type is missing", remedy=f"Send `Content-Type: {wanted}`.")
    found = _TYPE.fullmatch(given)
    kind = found[1].lower() if found is not None else ""
    if found is None or not _is_read(kind, upload=upload):
        raise Refusal(UNSUPPORTED, f"This route does not read {kind or 'such a Content-Type'}", remedy=_remedy(upload))
    charset = _CHARSET.search(found[2])
    if not upload and charset is not None and charset[1].lower() not in ("utf-8", "utf8", "us-ascii"):
        raise Refusal(UNSUPPORTED, "The body is not UTF-8", remedy="Send JSON as UTF-8.")


def _is_read(kind: str, *, upload: bool) -> bool:
    if upload:
        simple = ("text/plain", "application/x-www-form-urlencoded")
        return kind not in simple and not kind.startswith("multipart/")
    return kind == JSON or (kind.startswith("application/") and kind.endswith("+json"))


def _remedy(upload: bool) -> str:
    if upload:
        return f"Send the file itself as the body, with `Content-Type: {BYTES}`, not as a form."
    return f"Send JSON, with `Content-Type: {JSON}`."
