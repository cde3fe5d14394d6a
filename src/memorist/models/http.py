"""JSON over HTTP to a model's endpoint: time-outs, bounded retries, and failures that say what to do."""

from __future__ import annotations

import json
import os
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from importlib import import_module
from random import SystemRandom
from typing import TYPE_CHECKING, cast

from memorist.errors import InvalidInput, MissingExtra, ModelUnavailable
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    import ssl

    import httpx


CONNECT_TIMEOUT = 5.0
RETRY_AFTER_CAP = 30.0
ANSWER_LIMIT = 64 * 2**20
_BACKOFF_FIRST, _BACKOFF_CAP = 0.25, 8.0
_DETAIL_LIMIT = 4096
_IDENTIFIER = lazy(r"[A-Za-z_]{3,40}")
_random = SystemRandom()

_REMEDIES = {
    402: "Check the account's balance.",
    404: "Check the address and the model's name.",
    413: "Send less at a time, or shorter texts.",
    429: "Wait a while, or raise the account's limit.",
}


class RequestRefused(ModelUnavailable):
    """The endpoint answered with an error status.

    `detail` holds the server's own words. They may repeat our texts or the key, so that they are for
    programs to look into and never part of the message.
    """

    def __init__(self, problem: str, *, remedy: str, status: int, detail: str) -> None:
        super().__init__(problem, remedy=remedy)
        self.status = status
        self.detail = detail


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    body: bytes
    retry_after: str | None


def _never(detail: str) -> bool:
    return False


class Endpoint:
    """A base address that takes and gives JSON; safe to share between threads.

    We try again after 429, 5xx and broken connections, but not after other refusals, and not after a
    read time-out: the caller has waited once, and the server may still be busy with the request.
    """

    def __init__(
        self,
        url: str,
        *,
        extra: str,
        headers: Mapping[str, str] | None = None,
        key_env: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        limit: int = ANSWER_LIMIT,
        remedies: Mapping[int, str] | None = None,
        unreachable: str = "Check the address and the network.",
        permanent: Callable[[str], bool] = _never,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Remedies given replace ours, by status; `permanent` tells a 5xx answer that will not get better."""
        _require_httpx(extra)
        self._url, self._shown = _checked_url(url)
        self._client = _client({"user-agent": "memorist", **(headers or {})}, timeout)
        self._timeout = timeout
        self._key_env = key_env
        self._retries = retries
        self._limit = limit
        self._remedies = {**_REMEDIES, **(remedies or {})}
        self._unreachable = unreachable
        self._permanent = permanent
        self._sleep = sleep
        self._finalizer = weakref.finalize(self, self._client.close)

    def post(self, path: str, body: Mapping[str, object]) -> object:
        """The decoded answer to a JSON body."""
        # A lone surrogate has no UTF-8 form: it becomes a question mark rather than an exception.
        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        return self._exchange("POST", path, content)

    def get(self, path: str) -> object:
        """The decoded answer to a plain request."""
        return self._exchange("GET", path, None)

    def close(self) -> None:
        """Release the connections; twice is harmless."""
        self._finalizer()

    def invalid(self, what: str, *, remedy: str = "Check the address and the model's name.") -> ModelUnavailable:
        """The error for an answer that came, but is not the expected one."""
        return ModelUnavailable(f"{self._shown} {what}", remedy=remedy)

    def _exchange(self, method: str, path: str, content: bytes | None) -> object:
        for attempt in range(self._retries):
            outcome = self._attempt(method, path, content)
            if not self._passing(outcome):
                return self._judge(outcome)
            self._sleep(_delay(outcome, attempt))
        return self._judge(self._attempt(method, path, content))

    def _attempt(self, method: str, path: str, content: bytes | None) -> _Reply | httpx.TransportError:
        import httpx

        headers = {"content-type": "application/json"} if content is not None else None
        end = time.monotonic() + self._timeout
        try:
            with self._client.stream(method, self._url + path, content=content, headers=headers) as response:
                body = self._read(response, end)
                return _Reply(response.status_code, body, response.headers.get("retry-after"))
        except httpx.DecodingError:
            raise self.invalid("sent an answer that cannot be decompressed") from None
        except httpx.TransportError as error:
            return error

    def _read(self, response: httpx.Response, end: float) -> bytes:
        import httpx

        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > self._limit:
                raise self.invalid(f"sent an answer of more than {self._limit:,} bytes")
            # httpx bounds each piece; some servers send blank lines for as long as they are busy.
            if time.monotonic() > end:
                raise httpx.ReadTimeout("the whole answer took too long")
        return bytes(body)

    def _passing(self, outcome: _Reply | httpx.TransportError) -> bool:
        import httpx

        if isinstance(outcome, _Reply):
            if outcome.status == HTTPStatus.TOO_MANY_REQUESTS:
                return True
            return outcome.status >= 500 and not self._permanent(_words(outcome.body))
        return not isinstance(outcome, httpx.ReadTimeout | httpx.UnsupportedProtocol | httpx.LocalProtocolError)

    def _judge(self, outcome: _Reply | httpx.TransportError) -> object:
        if not isinstance(outcome, _Reply):
            raise self._failure(outcome) from None
        if not 200 <= outcome.status < 300:
            raise self._refusal(outcome)
        try:
            return json.loads(outcome.body)
        except (ValueError, RecursionError):
            raise self.invalid("sent an answer that is not JSON") from None

    def _failure(self, error: httpx.TransportError) -> ModelUnavailable:
        import httpx

        if isinstance(error, httpx.ReadTimeout):
            return ModelUnavailable(
                f"{self._shown} did not answer within {self._timeout:g} seconds",
                remedy="Raise `timeout`, or send less at a time.",
            )
        # Only these messages come from the system; others may quote what was sent.
        reason = str(error) if isinstance(error, httpx.ConnectError) else type(error).__name__
        return ModelUnavailable(f"{self._shown} cannot be reached ({reason})", remedy=self._unreachable)

    def _refusal(self, reply: _Reply) -> RequestRefused:
        detail = _words(reply.body)
        code = _code(reply.body)
        problem = f"{self._shown} answered {reply.status}" + (f" ({code})" if code else "")
        return RequestRefused(problem, remedy=self._remedy(reply.status), status=reply.status, detail=detail)

    def _remedy(self, status: int) -> str:
        if status in (401, 403):
            where = f"the environment variable {self._key_env}" if self._key_env else "`key_env`"
            return f"Give a valid key in {where}."
        if status in self._remedies:
            return self._remedies[status]
        if 300 <= status < 400:
            return "Give the address it redirects to; we do not follow, so that a key stays with its host."
        return "Try again later." if status >= 500 else "Check the model's name and the options."


def bearer(key: str | None) -> dict[str, str]:
    """The usual header for a key; none without a key."""
    return {"authorization": f"Bearer {key}"} if key else {}


def find_key(key: str | None, key_env: str | None) -> str | None:
    """The key given, else the one in the environment; None where there is neither."""
    found = (key or (os.environ.get(key_env) if key_env else None) or "").strip()
    if found and not (found.isascii() and found.isprintable()):
        raise InvalidInput(
            f"The key{f' in {key_env}' if key_env else ''} has characters that a header cannot carry",
            remedy="Copy it again, without line breaks or quotation marks.",
        )
    return found or None


def member(value: object, name: str) -> object:
    """A JSON object's member; None where there is none, or no object."""
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


def listed(value: object, name: str) -> list[object] | None:
    """A JSON object's member that is an array; None where there is none."""
    found = member(value, name)
    return cast("list[object]", found) if isinstance(found, list) else None


def _require_httpx(extra: str) -> None:
    try:
        import_module("httpx")
    except ImportError:
        raise MissingExtra(
            "This model is reached over HTTP, and httpx is not installed",
            remedy=f"Install it with: pip install 'memorist[{extra}]'",
        ) from None


def _client(headers: Mapping[str, str], timeout: float) -> httpx.Client:
    import httpx

    limits = httpx.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT))
    try:
        return httpx.Client(headers=headers, timeout=limits, verify=_tls())
    except ImportError:
        raise MissingExtra(
            "The environment names a SOCKS proxy, for which httpx lacks a package",
            remedy="Install it with: pip install 'httpx[socks]'",
        ) from None


@cache
def _tls() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()  # reading the certificates is most of the cost of a client


def _checked_url(url: str) -> tuple[str, str]:
    """The address without a final slash, and its host and port, which are all that messages show."""
    import httpx

    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.fragment:
        raise InvalidInput(
            "A model's address must be a plain http or https URL",
            remedy="Write it as https://host:port/path.",
        )
    return url.rstrip("/"), parsed.netloc.decode()


def _delay(outcome: _Reply | httpx.TransportError, attempt: int) -> float:
    """Seconds to wait: what the server asks for, capped, else min(8, 0.25·2ⁿ) with up to half taken off."""
    asked = _seconds(outcome.retry_after) if isinstance(outcome, _Reply) else None
    if asked is not None:
        return min(asked, RETRY_AFTER_CAP)
    return min(_BACKOFF_CAP, _BACKOFF_FIRST * 2**attempt) * _random.uniform(0.5, 1.0)


def _seconds(retry_after: str | None) -> float | None:
    """A Retry-After header as seconds from now: it holds a number or a date (RFC 9110, section 10.2.3)."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _words(body: bytes) -> str:
    return body[:_DETAIL_LIMIT].decode("utf-8", "replace")


def _code(body: bytes) -> str | None:
    """The error's machine name, such as `insufficient_quota`: letters only, so that no key slips in."""
    try:
        error = member(json.loads(body), "error")
    except (ValueError, RecursionError):
        return None
    for name in ("code", "type"):
        found = member(error, name)
        if isinstance(found, str) and _IDENTIFIER.fullmatch(found):
            return found
    return None
