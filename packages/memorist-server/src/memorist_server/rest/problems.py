"""Errors as problem documents (RFC 9457): one status per error, always with a remedy."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from memorist import errors
from memorist.files import PART
from memorist.model import error_name
from memorist.surfaces.remedies import Speak, as_route, in_words

CONTENT_TYPE = "application/problem+json"
TYPE = "urn:memorist:"
RETRY_SOON = 1
"""Seconds after which a busy server may be asked again."""

STATUS: Mapping[type[errors.Error], int] = {
    errors.InvalidInput: 422,
    errors.NotFound: 404,
    errors.TooClassified: 403,
    errors.QuotaExceeded: 507,
    errors.MissingService: 409,
    errors.ModelUnavailable: 503,
    errors.MissingExtra: 501,
    errors.StoreBusy: 503,
    errors.StoreUnavailable: 503,
    errors.StoreMoved: 503,
    errors.UnreadableMemory: 500,
    errors.NewerStore: 500,
    errors.SpaceMismatch: 409,
    errors.EmbeddingMismatch: 409,
    errors.StoreError: 500,
    errors.Closed: 503,
    errors.Error: 500,
}
"""The status of each error; a subclass that is not listed has that of its nearest parent."""


class Problem(BaseModel):
    """What went wrong, and what to do about it."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(description="A stable name of the problem.")
    title: str = Field(description="A summary, the same for all problems of this type.")
    status: int
    detail: str = Field(description="What happened.")
    remedy: str = Field(description="What to do about it.")
    request_id: str = Field(description="The id of the request in the log.")


@dataclass(frozen=True, slots=True)
class Sort:
    """A kind of problem that the server itself raises, with its default wording."""

    name: str
    status: int
    title: str
    detail: str
    remedy: str


UNKNOWN_KEY = Sort(
    "unauthorized",
    401,
    "The key is missing or not valid",
    "The key is unknown, revoked or expired",
    "Send `Authorization: Bearer rk_…` with a key from `memorist keys create`.",
)
FORBIDDEN = Sort(
    "forbidden",
    403,
    "The key does not allow this",
    "This key does not have the right for this space",
    "Use a key for this space with the necessary right.",
)
READ_ONLY = Sort(
    "read-only",
    403,
    "The server is read-only",
    "This server was started to be looked at, and changes nothing",
    "Start it without --read-only.",
)
FOREIGN_ORIGIN = Sort(
    "foreign-origin",
    403,
    "The request comes from a page of another site",
    "The Origin header names another site",
    "Send the request from a program, or from a page of this server; a proxy must pass the Host header on.",
)
FOREIGN_HOST = Sort(
    "foreign-host",
    421,
    "The request is for another host",
    "The Host header does not name this server",
    "Start the server with --allow-host and the name that you use for it.",
)
REPEATED = Sort(
    "repeated-header",
    400,
    "A header was sent twice",
    "A header was sent twice",
    "Send it once.",
)
AMBIGUOUS = Sort(
    "ambiguous-length",
    400,
    "The length of the body is stated twice",
    "The request has both a Content-Length and a Transfer-Encoding",
    "Send one of them: a proxy could see another request than this server does.",
)
UNSUPPORTED = Sort(
    "unsupported-media-type",
    415,
    "The type of the body is not supported",
    "This route does not read text/plain",
    "Send JSON, with `Content-Type: application/json`.",
)
TOO_LARGE = Sort(
    "too-large",
    413,
    "The body is too large",
    "The body is larger than this server accepts",
    "Send it in parts, or start the server with a larger --body-limit or --upload-limit.",
)
TOO_MANY = Sort(
    "too-many-requests",
    429,
    "Too many requests with this key, or to this space",
    "This key has exceeded its rate limit",
    "Wait for the time in Retry-After.",
)
OVERLOADED = Sort(
    "overloaded",
    503,
    "Too many requests at once",
    "The server has reached its limit of concurrent requests",
    "Wait for the time in Retry-After.",
)
TIMED_OUT = Sort(
    "timed-out",
    504,
    "The request took too long",
    "The request exceeded the time limit; the work it started may still finish",
    "Request less at once, or repeat a write with the same Idempotency-Key.",
)
REUSED_KEY = Sort(
    "idempotency-key-reused",
    422,
    "The Idempotency-Key belongs to another request",
    "This Idempotency-Key was used for another request",
    "Use a new key for each request, and repeat it only with the same body.",
)
UNDER_WAY = Sort(
    "request-under-way",
    409,
    "The same request is running",
    "A request with this Idempotency-Key has not been answered yet",
    "Wait for the time in Retry-After, and repeat it.",
)
STOPPING = Sort(
    "closed",
    503,
    "The server is shutting down",
    "The server is shutting down; the work this request started may still finish",
    "Try again in a moment, and repeat a write with the same Idempotency-Key.",
)
INTERNAL = Sort(
    "internal",
    500,
    "Internal error",
    "An unexpected error occurred",
    "Find the request id in the server's log, and report it.",
)


class Refusal(HTTPException):
    """A request that the server refuses before any verb runs."""

    def __init__(
        self,
        sort: Sort,
        detail: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(sort.status, detail or sort.detail, dict(headers or {}))
        self.sort = sort if remedy is None else replace(sort, remedy=remedy)


def status_of(error: type[errors.Error]) -> int:
    """The status of an error: its own, or that of its nearest parent."""
    return next(STATUS[kind] for kind in error.__mro__ if kind in STATUS)


def type_of(error: type[errors.Error]) -> str:
    """The name of an error in problem documents, such as urn:memorist:not-found."""
    known = next(kind for kind in error.__mro__ if kind in STATUS)
    return TYPE + error_name(known)


def is_private(error: errors.Error) -> bool:
    """Whether the text of an error is for the log alone: it may name a file, a folder or another server."""
    if isinstance(error, errors.EmbeddingMismatch | errors.SpaceMismatch):
        return False
    return isinstance(error, errors.StoreError | errors.ModelUnavailable) or type(error) is errors.Error


def title_of(error: errors.Error) -> str:
    """What errors of this class have in common."""
    return (type(error).__doc__ or "").partition("\n")[0].rstrip(".")


def of_error(error: errors.Error, request_id: str) -> JSONResponse:
    """The response to one of our errors, without paths of the server."""
    status = status_of(type(error))
    headers = {"Retry-After": str(RETRY_SOON)} if status == 503 else {}
    return problem(status, type_of(type(error)), title_of(error), *public_wording(error), request_id, headers)


def public_wording(error: errors.Error, speak: Speak = as_route) -> tuple[str, str]:
    """The problem and the remedy as others may read them: in their words, without paths of the server."""
    detail = title_of(error) if is_private(error) else str(error.problem)
    return without_folders(detail), without_folders(in_words(error.remedy, speak))


def without_folders(text: str) -> str:
    """A text that names files received here without their temporary folders."""
    text = re.sub(rf"{re.escape(tempfile.gettempdir())}[/\\](?:tmp[^/\\\s]*[/\\])?", "", text)
    while PART in text:
        before, _, after = text.partition(PART)
        text = re.split(r"[/\\]", before, maxsplit=1)[0] + re.split(r"[/\\]", after, maxsplit=1)[-1]
    return text


def of_sort(
    sort: Sort, request_id: str, detail: str | None = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """The response to a problem that the server raises."""
    return problem(sort.status, TYPE + sort.name, sort.title, detail or sort.detail, sort.remedy, request_id, headers)


def of_status(status: int, request_id: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The response to what the framework refuses, such as an unknown path."""
    phrase = HTTPStatus(status).phrase
    type_ = TYPE + phrase.lower().replace(" ", "-")
    return problem(status, type_, phrase, phrase, "See /docs for the paths and their methods.", request_id, headers)


def problem(
    status: int,
    type_: str,
    title: str,
    detail: str,
    remedy: str,
    request_id: str,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A problem document."""
    document = Problem(
        type=type_, title=title, status=status, detail=detail, remedy=remedy, request_id=request_id
    ).model_dump()
    return JSONResponse(document, status, dict(headers or {}), media_type=CONTENT_TYPE)


_EXAMPLES: Mapping[int, Mapping[str, Any]] = {
    400: {"type": "bad-request", "title": "Bad Request", "remedy": "See /docs for the paths and their methods."},
    404: {"type": "not-found", "detail": "There is no memory '5f…'", "remedy": "Look it up with `GET /memories`."},
    405: {
        "type": "method-not-allowed",
        "title": "Method Not Allowed",
        "remedy": "See /docs for the paths and their methods.",
    },
    409: {"type": "embedding-mismatch", "remedy": "Run `POST /reembed`."},
    422: {"type": "invalid-input", "detail": "importance 7 is out of range", "remedy": "Give a value from 0 to 1."},
    500: {"type": "store-error", "remedy": "Run `memorist doctor`."},
    501: {"type": "missing-extra", "remedy": "pip install 'memorist[spacy]'"},
    503: {"type": "store-busy", "remedy": "Try again."},
    507: {"type": "quota-exceeded", "remedy": "Forget memories with `POST /forget`, or ask for a higher max_memories."},
}
_SORTS = (UNKNOWN_KEY, FORBIDDEN, FOREIGN_HOST, UNSUPPORTED, TOO_LARGE, TOO_MANY, TIMED_OUT)


def _documented(status: int, example: Mapping[str, Any]) -> dict[str, Any]:
    phrase = HTTPStatus(status).phrase
    filled = {"title": phrase, "detail": phrase, "status": status, "request_id": "0c9e…", **example}
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}, "example": filled}}
    return {"description": f"{filled['title']}.", "content": content}


def _retry(response: dict[str, Any]) -> dict[str, Any]:
    header = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
    return response | {"headers": {"Retry-After": header}}


def problem_responses() -> dict[int | str, dict[str, Any]]:
    """Every problem, as OpenAPI describes responses."""
    found = {status: _documented(status, {**one, "type": TYPE + one["type"]}) for status, one in _EXAMPLES.items()}
    for sort in _SORTS:
        example = {"type": TYPE + sort.name, "title": sort.title, "detail": sort.detail, "remedy": sort.remedy}
        found[sort.status] = _documented(sort.status, example)
    return {status: _retry(one) if status in (429, 503) else one for status, one in sorted(found.items())}
