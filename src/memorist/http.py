"""HTTP with time limits, bounded retries and bounded answers, for model vendors and for servers of Memorist."""

from __future__ import annotations

import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from random import SystemRandom
from typing import TYPE_CHECKING, Any

from memorist.errors import Closed, Error, InvalidInput, MissingExtra

if TYPE_CHECKING:
    import ssl

    import httpx


CONNECT_TIMEOUT = 5.0
RETRY_AFTER_CAP = 30.0
ANSWER_LIMIT = 64 * 2**20
_BACKOFF_FIRST, _BACKOFF_CAP = 0.25, 8.0
_random = SystemRandom()


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer."""

    status: int
    body: bytes
    retry_after: str | None

    @property
    def ok(self) -> bool:
        """Whether the request succeeded."""
        return 200 <= self.status < 300


Outcome = Response | Exception
"""What came of an attempt: an answer, or the `httpx.TransportError` in its place."""


class HttpClient(ABC):
    """A base address and its connections. Safe to share between threads.

    Subclasses say which outcomes are worth another attempt, and which errors they raise. Messages never hold what was
    sent or answered, nor an address's user and password.
    """

    def __init__(
        self,
        url: str,
        *,
        what: str,
        headers: Mapping[str, str] | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        limit: int = ANSWER_LIMIT,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`what` names the other side in messages."""
        self._url, self._shown = _checked_url(url, what)
        self._client = _client({"user-agent": "memorist", **(headers or {})}, timeout)
        self._timeout = timeout
        self._retries = retries
        self._limit = limit
        self._sleep = sleep
        self._finalizer = weakref.finalize(self, self._client.close)

    def close(self) -> None:
        """Release the connections. Safe to call twice."""
        self._finalizer()

    @abstractmethod
    def worth_repeating(self, outcome: Outcome) -> bool:
        """Whether the same request may succeed a little later."""

    @abstractmethod
    def unusable(self, what: str) -> Error:
        """The error for an answer that cannot be used."""

    def exchange(self, method: str, path: str, *, timeout: float | None = None, **request: Any) -> Outcome:
        """The outcome of a request, after up to `retries` more attempts; `request` is what `httpx` takes."""
        patience = self._timeout if timeout is None else timeout
        for attempt in range(self._retries):
            outcome = self._attempt(method, path, patience, request)
            if not self.worth_repeating(outcome):
                return outcome
            self._sleep(_delay(outcome, attempt))
        return self._attempt(method, path, patience, request)

    @contextmanager
    def stream(self, method: str, path: str, **request: Any) -> Generator[httpx.Response]:
        """An answer that is read piece by piece; sent once, and of any size."""
        with self._still_open(), self._client.stream(method, self._url + path, **request) as response:
            yield response

    @contextmanager
    def _still_open(self) -> Generator[None]:
        """Raise `Closed` for what fails because this was closed, before or meanwhile."""
        closed = Closed("This connection is closed", remedy="Connect again.")
        if not self._finalizer.alive:
            raise closed
        try:
            yield
        except Exception as error:
            if not self._finalizer.alive and not isinstance(error, Error):
                raise closed from error
            raise

    def _attempt(self, method: str, path: str, timeout: float, request: Mapping[str, Any]) -> Outcome:
        import httpx

        end = time.monotonic() + timeout
        limits = httpx.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT))
        try:
            with self.stream(method, path, timeout=limits, **request) as response:
                body = self._read(response, end)
                return Response(response.status_code, body, response.headers.get("retry-after"))
        except httpx.DecodingError:
            raise self.unusable("sent an answer that cannot be decompressed") from None
        except httpx.TransportError as error:
            return error

    def _read(self, response: httpx.Response, end: float) -> bytes:
        import httpx

        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > self._limit:
                raise self.unusable(f"sent an answer of more than {self._limit:,} bytes")
            # httpx limits the time of each chunk only; some servers send blank lines while they are busy.
            if time.monotonic() > end:
                raise httpx.ReadTimeout("the whole answer took too long")
        return bytes(body)


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


def _checked_url(url: str, what: str) -> tuple[str, str]:
    """The address without a final slash, and its host and port, the only parts that messages show."""
    import httpx

    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.fragment:
        raise InvalidInput(
            f"The address of {what[0].lower()}{what[1:]} is not a plain http or https URL",
            remedy="Write it as https://host:port/path.",
        )
    return url.rstrip("/"), parsed.netloc.decode()


def _delay(outcome: Outcome, attempt: int) -> float:
    """Seconds to wait: Retry-After, at most 30; else min(8, 0.25 · 2ⁿ), reduced by up to half at random."""
    asked = _seconds(outcome.retry_after) if isinstance(outcome, Response) else None
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
