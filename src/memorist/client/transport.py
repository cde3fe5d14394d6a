"""Requests to a server: headers, safe repeats, and the server's errors raised as their own classes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from memorist import errors
from memorist.errors import Error, InvalidInput
from memorist.http import HttpClient, Outcome, Reply
from memorist.model import error_name

if TYPE_CHECKING:
    import httpx


TYPE = "urn:memorist:"
LONG = 3600.0
"""Seconds to wait for a verb that reads every memory."""
LARGEST = 2**30
"""Bytes of an answer that is not a file."""
UNDER_WAY = b"request-under-way"
BYTES = "application/octet-stream"
_AGAIN = (429, 502, 503, 504)
"""Statuses after which the same request is sent again."""
_KNOWN = {error_name(one): one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, Error)}


class Refused(Error):
    """The server refused a request, for example because of an invalid key or a rate limit."""

    def __init__(self, problem: str, *, remedy: str, status: int, request_id: str | None) -> None:
        super().__init__(problem, remedy=remedy)
        self.status = status
        self.request_id = request_id


class Unreachable(Error):
    """The server does not respond, or is not a Memorist server."""


class Transport(HttpClient):
    """One space of a server. Safe to share between threads."""

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
        super().__init__(
            url,
            what="The server",
            extra="client",
            headers={} if key is None else {"Authorization": f"Bearer {key}"},
            timeout=timeout,
            retries=retries,
            limit=LARGEST,
            sleep=sleep,
        )
        self._url += f"/v1/spaces/{quote(space, safe='')}"

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """The answer to a GET request."""
        return _answer(self.exchange("GET", path, params=_plain(params or {})))

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, long: bool = False) -> Any:
        """The answer to a body. The request may be sent several times; the server performs it once."""
        content = None if body is None else encoded(body)
        patience = LONG if long else None
        return _answer(self.exchange("POST", path, content=content, headers=_headers(content), timeout=patience))

    def delete(self, path: str) -> Any:
        """The answer to a DELETE request."""
        return _answer(self.exchange("DELETE", path, headers=_headers(None)))

    def upload(self, path: str, content: Any, params: Mapping[str, Any]) -> Any:
        """The answer to a file. It is sent once, because a file is read once."""
        headers = {"Content-Type": BYTES}
        with self._open("POST", path, content=content, params=_plain(params), headers=headers, timeout=LONG) as answer:
            return json.loads(answer.read())

    def events(self, path: str, content: Any, params: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The events that arrive while the server works, each with its name and data."""
        kind = "application/json" if isinstance(content, bytes) else BYTES
        headers = {"Accept": "text/event-stream", "Content-Type": kind}
        with self._open("POST", path, content=content, params=_plain(params), headers=headers) as answer:
            name = ""
            for line in answer.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield name, json.loads(value)

    def download(self, path: str, take: Callable[[bytes], object]) -> None:
        """Hand on a file chunk by chunk."""
        with self._open("GET", path, timeout=LONG) as answer:
            for chunk in answer.iter_bytes():
                take(chunk)

    def worth_repeating(self, outcome: Outcome) -> bool:
        """Whether to send the same request again: its idempotency key makes that safe."""
        if not isinstance(outcome, Reply):
            return True
        return outcome.status in _AGAIN or (outcome.status == 409 and UNDER_WAY in outcome.body)

    def unusable(self, what: str) -> Unreachable:
        """The error for an answer that cannot be used."""
        return Unreachable(f"{self._shown} {what}", remedy="Check the address and any proxy.")

    @contextmanager
    def _open(self, method: str, path: str, **request: Any) -> Generator[httpx.Response]:
        import httpx

        try:
            with self.stream(method, path, **request) as answer:
                if answer.is_error:
                    _answer(Reply(answer.status_code, answer.read(), None))
                yield answer
        except httpx.TransportError as error:
            raise _unreachable(error) from error


def encoded(body: Mapping[str, Any]) -> bytes:
    """A body as JSON: moments as ISO 8601, sets and other series as lists."""
    try:
        return json.dumps(body, default=_jsonable, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"A value cannot be sent as JSON ({error})", remedy="Use strings, numbers, lists and mappings."
        ) from None


def raise_problem(problem: Mapping[str, Any]) -> None:
    """Raise the error that a problem document describes, as the class it had on the server."""
    name = str(problem.get("type", "")).removeprefix(TYPE)
    detail = str(problem.get("detail") or problem.get("title") or "The server refused the request")
    remedy = str(problem.get("remedy") or "See the server's log.")
    if (known := _KNOWN.get(name)) is not None:
        raise known(detail, remedy=remedy)
    raise Refused(detail, remedy=remedy, status=int(problem.get("status", 0)), request_id=problem.get("request_id"))


def _answer(outcome: Outcome) -> Any:
    """The decoded answer; raises the server's error if it is a problem document."""
    if not isinstance(outcome, Reply):
        raise _unreachable(outcome) from outcome
    try:
        data: Any = json.loads(outcome.body)
    except (ValueError, RecursionError):
        data = None
    if outcome.ok and data is not None:
        return data
    if not isinstance(data, dict) or not str(data.get("type", "")).startswith(TYPE):  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        raise Unreachable(
            f"The address answered with status {outcome.status}, but it is not a Memorist server",
            remedy="Check the address and any proxy.",
        )
    raise_problem(data)  # pyright: ignore[reportUnknownArgumentType]


def _unreachable(error: Exception) -> Unreachable:
    return Unreachable(
        f"The server does not respond ({type(error).__name__})", remedy="Check the address, and that it is running."
    )


def _headers(content: bytes | None) -> dict[str, str]:
    headers = {"Idempotency-Key": uuid4().hex}
    return headers if content is None else headers | {"Content-Type": "application/json"}


def _jsonable(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return list(value)


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Query parameters without those that are None; moments as ISO 8601, series as lists."""
    return {name: _parameter(value) for name, value in params.items() if value is not None}


def _parameter(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else _jsonable(value)
