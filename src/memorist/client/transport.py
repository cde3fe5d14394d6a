"""Requests to a server: headers, safe repeats, and the server's errors raised as their own classes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote
from uuid import uuid4

from memorist import errors
from memorist.errors import Error, InvalidInput
from memorist.http import HttpClient, Outcome, Response
from memorist.model import error_name, from_data

if TYPE_CHECKING:
    import httpx


TYPE = "urn:memorist:"
LONG = 3600.0
"""Seconds to wait for a verb that reads every memory."""
LARGEST = 256 * 2**20
"""Bytes of an answer that is not a file."""
LONGEST_EVENT = 16 * 2**20
"""Bytes of a line of an event."""
UNDER_WAY = b"request-under-way"
BYTES = "application/octet-stream"
_AGAIN = (429, 502, 503, 504)
"""Statuses after which the same request is sent again."""
T = TypeVar("T")
_KNOWN = {
    error_name(kind): kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Error)
}


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
            headers={"Accept-Encoding": "identity", **_authorization(key)},
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
        content = None if body is None else encode_body(body)
        patience = LONG if long else None
        return _answer(self.exchange("POST", path, content=content, headers=_headers(content), timeout=patience))

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer to a PATCH request; the server performs it once."""
        content = encode_body(body)
        return _answer(self.exchange("PATCH", path, content=content, headers=_headers(content)))

    def delete(self, path: str) -> Any:
        """The answer to a DELETE request."""
        return _answer(self.exchange("DELETE", path, headers=_headers(None)))

    def upload(self, path: str, content: Any, params: Mapping[str, Any]) -> Any:
        """The answer to a file. It is sent once, because a file is read once."""
        headers = {"Content-Type": BYTES}
        with self._open("POST", path, content=content, params=_plain(params), headers=headers, timeout=LONG) as answer:
            return _decoded(self._read(answer, time.monotonic() + LONG))

    def events(self, path: str, content: Any, params: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events that arrive while the server works, each with its name and data."""
        kind = "application/json" if isinstance(content, bytes) else BYTES
        headers = {"Accept": "text/event-stream", "Content-Type": kind}
        with self._open("POST", path, content=content, params=_plain(params), headers=headers) as answer:
            name = ""
            for line in _lines(answer.iter_bytes()):
                field, _, value = line.partition(b": ")
                if field == b"event":
                    name = value.decode(errors="replace")
                elif field == b"data":
                    yield name, _object(_decoded(value))

    def download(self, path: str, take: Callable[[bytes], object]) -> None:
        """Hand on a file chunk by chunk."""
        with self._open("GET", path, timeout=LONG) as answer:
            for chunk in answer.iter_bytes():
                take(chunk)

    def worth_repeating(self, outcome: Outcome) -> bool:
        """Whether to send the same request again: its idempotency key makes that safe."""
        if not isinstance(outcome, Response):
            return True
        return outcome.status in _AGAIN or (outcome.status == 409 and UNDER_WAY in outcome.body)

    def unusable(self, what: str) -> Unreachable:
        return Unreachable(f"{self._shown} {what}", remedy="Check the address and any proxy.")

    @contextmanager
    def _open(self, method: str, path: str, **request: Any) -> Generator[httpx.Response]:
        """An answer that is read piece by piece, if it is a success; a redirection is none."""
        import httpx

        try:
            with self.stream(method, path, **request) as answer:
                if not answer.is_success:
                    _answer(Response(answer.status_code, self._read(answer, time.monotonic() + self._timeout), None))
                yield answer
        except httpx.DecodingError:
            raise self.unusable("sent an answer that cannot be decompressed") from None
        except httpx.TransportError as error:
            raise _unreachable(error) from error


def encode_body(body: Mapping[str, Any]) -> bytes:
    """A body as JSON: moments as ISO 8601, sets and other series as lists."""
    try:
        return json.dumps(body, default=_jsonable, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"A value cannot be sent as JSON ({error})", remedy="Use strings, numbers, lists and mappings."
        ) from None


def read(kind: type[T], data: object, **given: Any) -> T:
    """What a server tells, as a value of a dataclass."""
    try:
        return from_data(kind, data, **given)
    except InvalidInput as error:
        raise unreadable() from error


def read_items(kind: type[T], data: object) -> list[T]:
    """The items of an answer, as values of a dataclass."""
    return [read(kind, item) for item in items_of(data)]


def items_of(data: object) -> list[dict[str, Any]]:
    """The items of an answer."""
    return objects(_object(data).get("items"))


def objects(data: object) -> list[dict[str, Any]]:
    """A list of objects, as JSON has them."""
    if not isinstance(data, list):
        raise unreadable()
    return [_object(value) for value in cast("list[object]", data)]


def raise_problem(problem: Mapping[str, Any]) -> None:
    """Raise the error that a problem document describes, as the class it had on the server."""
    name = str(problem.get("type", "")).removeprefix(TYPE)
    detail = str(problem.get("detail") or problem.get("title") or "The server refused the request")
    remedy = str(problem.get("remedy") or "See the server's log.")
    if (known := _KNOWN.get(name)) is not None:
        raise known(detail, remedy=remedy)
    status, id = problem.get("status"), problem.get("request_id")
    raise Refused(
        detail,
        remedy=remedy,
        status=status if isinstance(status, int) else 0,
        request_id=id if isinstance(id, str) else None,
    )


def _answer(outcome: Outcome) -> Any:
    """The decoded answer; raises the server's error if it is a problem document."""
    if not isinstance(outcome, Response):
        raise _unreachable(outcome) from outcome
    if outcome.ok:
        return _decoded(outcome.body)
    try:
        problem = _object(_decoded(outcome.body))
    except Unreachable:
        problem = {}
    if not str(problem.get("type", "")).startswith(TYPE):
        raise Unreachable(
            f"The address answered with status {outcome.status}, but it is not a Memorist server",
            remedy="Check the address and any proxy.",
        )
    raise_problem(problem)


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise unreadable() from None


def _object(data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise unreadable()
    return cast("dict[str, Any]", data)


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of a stream of events; one without an end does not fill the memory."""
    rest = bytearray()
    for chunk in chunks:
        *whole, last = chunk.split(b"\n")
        for line in whole:
            yield bytes(rest + line).removesuffix(b"\r")
            rest.clear()
        rest += last
        if len(rest) > LONGEST_EVENT:
            raise unreadable()
    if rest:
        yield bytes(rest)


def unreadable() -> Unreachable:
    """The error for an answer that no server of this version sends."""
    return Unreachable(
        "The server sent an answer that is not one of Memorist, or of another version",
        remedy="Check the address and any proxy, and use the same version on both sides.",
    )


def _unreachable(error: Exception) -> Unreachable:
    return Unreachable(
        f"The server does not respond ({type(error).__name__})", remedy="Check the address, and that it is running."
    )


def _authorization(key: str | None) -> dict[str, str]:
    """The header that shows a key. The key itself is in no message."""
    if key is None:
        return {}
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput("The key has characters that no key has", remedy="Copy it as `keys create` printed it.")
    return {"Authorization": f"Bearer {key}"}


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
    """Query parameters without those that are None; moments as ISO 8601, series as lists, mappings as JSON."""
    return {name: _parameter(value) for name, value in params.items() if value is not None}


def _parameter(value: Any) -> Any:
    if isinstance(value, Mapping):
        return encode_body(cast("Mapping[str, Any]", value)).decode()
    return value if isinstance(value, str | int | float | bool) else _jsonable(value)
