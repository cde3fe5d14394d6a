"""Requests to a server: the right headers, repeats that do nothing twice, and errors as what they were there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from memorist import errors
from memorist.errors import Error, InvalidInput, MissingExtra
from memorist.serialize import error_name

if TYPE_CHECKING:
    import httpx


TYPE = "urn:memorist:"
LONG = 3600.0
"""Seconds to wait for what looks at every memory."""
UNDER_WAY = "request-under-way"
_AGAIN = (429, 502, 503, 504)
"""Statuses after which the same request is sent again."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
_KNOWN = {error_name(one): one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, Error)}


class Refused(Error):
    """The server refused a request by itself: a key that does not fit, or too much at once."""

    def __init__(self, problem: str, *, remedy: str, status: int, request_id: str | None) -> None:
        super().__init__(problem, remedy=remedy)
        self.status = status
        self.request_id = request_id


class Unreachable(Error):
    """The server does not answer, or something that is no Memorist server does."""


class Transport:
    """One space of a server; safe to share between threads."""

    def __init__(
        self,
        url: str,
        space: str,
        key: str | None,
        *,
        timeout: float,
        retries: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        httpx = _httpx()
        if not url.startswith(("http://", "https://")):
            raise InvalidInput(
                "The server's address is no URL", remedy="Give one such as http://127.0.0.1:8765."
            )  # not repeated: it may hold a password
        headers = {"User-Agent": "memorist"} | ({} if key is None else {"Authorization": f"Bearer {key}"})
        base = f"{url.rstrip('/')}/v1/spaces/{quote(space, safe='')}"
        self._client: httpx.Client = httpx.Client(base_url=base, headers=headers, timeout=timeout)
        self._retries = retries
        self._sleep = sleep

    def close(self) -> None:
        """Release the connections; twice is harmless."""
        self._client.close()

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """What a path holds."""
        return self._exchange("GET", path, params=_plain(params or {})).json()

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, long: bool = False) -> Any:
        """What comes of posting a body; repeated until it is answered, and done once."""
        content = None if body is None else _body(body)
        patience = {"timeout": LONG} if long else {}
        return self._exchange("POST", path, content=content, headers=_headers(content), **patience).json()

    def delete(self, path: str) -> Any:
        """What comes of deleting what a path names."""
        return self._exchange("DELETE", path, headers=_headers(None)).json()

    def upload(self, path: str, content: Any, params: Mapping[str, Any]) -> Any:
        """What comes of sending a file; not repeated, because a file is read once."""
        with self._told():
            answer = self._client.post(path, content=content, params=_plain(params), timeout=LONG)
        _require_success(answer)
        return answer.json()

    def events(self, path: str, content: Any, params: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The events that come while something is done, each its name and data."""
        json_body = isinstance(content, bytes)
        headers = {"Accept": "text/event-stream"} | ({"Content-Type": "application/json"} if json_body else {})
        with (
            self._told(),
            self._client.stream("POST", path, content=content, params=_plain(params), headers=headers) as answer,
        ):
            if answer.is_error:
                answer.read()
                _require_success(answer)
            name = ""
            for line in answer.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield name, json.loads(value)

    def download(self, path: str, take: Callable[[bytes], object]) -> None:
        """Hand on a file piece by piece."""
        with self._told(), self._client.stream("GET", path, timeout=LONG) as answer:
            if answer.is_error:
                answer.read()
                _require_success(answer)
            for piece in answer.iter_bytes():
                take(piece)

    def _exchange(self, method: str, path: str, **request: Any) -> httpx.Response:
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                answer = self._client.request(method, path, **request)
            except _httpx().TransportError as error:
                if last:
                    raise _unreachable(error) from error
                self._sleep(_pause(attempt))
                continue
            if last or not _worth_repeating(answer):
                _require_success(answer)
                return answer
            self._sleep(_pause(attempt, answer.headers.get("retry-after")))
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def _told(self) -> Generator[None]:
        try:
            yield
        except _httpx().TransportError as error:
            raise _unreachable(error) from error


def encoded(body: Mapping[str, Any]) -> bytes:
    """A body as JSON; moments as ISO 8601, sets and other series as lists."""
    return _body(body)


def raise_problem(problem: Mapping[str, Any]) -> None:
    """Raise the error that a problem document tells of, as the class it had on the server."""
    name = str(problem.get("type", "")).removeprefix(TYPE)
    detail = str(problem.get("detail") or problem.get("title") or "The server refused the request")
    remedy = str(problem.get("remedy") or "Look into the server's log.")
    if (known := _KNOWN.get(name)) is not None:
        raise known(detail, remedy=remedy)
    raise Refused(detail, remedy=remedy, status=int(problem.get("status", 0)), request_id=problem.get("request_id"))


def _require_success(answer: httpx.Response) -> None:
    if not answer.is_error:
        return
    try:
        problem: Any = answer.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict) or not str(problem.get("type", "")).startswith(TYPE):  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        raise Unreachable(
            f"Something that is no Memorist server answered with status {answer.status_code}",
            remedy="Check the address, and what stands between.",
        )
    raise_problem(problem)  # pyright: ignore[reportUnknownArgumentType]


def _worth_repeating(answer: httpx.Response) -> bool:
    under_way = answer.status_code == 409 and UNDER_WAY in answer.text
    return under_way or answer.status_code in _AGAIN


def _pause(attempt: int, told: str | None = None) -> float:
    wanted = float(told) if told is not None and told.isdigit() else _FIRST_PAUSE * 2**attempt
    return min(_LONGEST_PAUSE, wanted)


def _headers(content: bytes | None) -> dict[str, str]:
    headers = {"Idempotency-Key": uuid4().hex}
    return headers if content is None else headers | {"Content-Type": "application/json"}


def _body(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, default=_jsonable, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"A value cannot be sent as JSON ({error})", remedy="Use strings, numbers, lists and mappings."
        ) from None


def _jsonable(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return list(value)


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Query parameters as text; what is None is left out."""
    return {name: _parameter(value) for name, value in params.items() if value is not None}


def _parameter(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool) else list(value)


def _unreachable(error: Exception) -> Unreachable:
    return Unreachable(
        f"The server does not answer ({type(error).__name__})", remedy="Check the address, and that it is running."
    )


def _httpx() -> ModuleType:
    try:
        import httpx
    except ImportError as error:
        raise MissingExtra(
            "Connecting to a server needs httpx", remedy="Run: pip install 'memorist[client]'"
        ) from error
    return httpx
