"""JSON over HTTP to the endpoint of a model, with errors that name the remedy."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypedDict, Unpack, cast

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.http import ANSWER_LIMIT, HttpClient, Outcome, Response
from memorist.text.patterns import lazy

_DETAIL_LIMIT = 4096
_IDENTIFIER = lazy(r"[A-Za-z_]{3,40}")
_CHECK_NAME = "Check the address and the model's name."
_REMEDIES = {
    402: "Check the account's balance.",
    413: "Send less at a time, or shorter texts.",
    429: "Wait a while, or raise the account's limit.",
}


class RequestRefused(ModelUnavailable):
    """The endpoint answered with an error status.

    `detail` is the body of the answer. It may repeat our texts or the key, so it is for programs to inspect and never
    part of the message.
    """

    def __init__(self, problem: str, *, remedy: str, status: int, detail: str) -> None:
        super().__init__(problem, remedy=remedy)
        self.status = status
        self.detail = detail


def bearer(key: str | None) -> dict[str, str]:
    """The usual header for a key; none without a key."""
    return {"authorization": f"Bearer {key}"} if key else {}


@dataclass(frozen=True, slots=True)
class Service:
    """A vendor's server: its address, the variable with its key, and the remedies to suggest."""

    url: str
    key_env: str | None = None
    headers: Callable[[str | None], dict[str, str]] = bearer
    not_found: str = _CHECK_NAME
    unreachable: str = "Check the address and the network."


OPENAI = Service("https://api.openai.com/v1", "OPENAI_API_KEY")
SILICONFLOW = Service("https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY")
LMSTUDIO = Service("http://localhost:1234/v1")
VLLM = Service("http://localhost:8000/v1")
LLAMACPP = Service("http://localhost:8080/v1")
OLLAMA = Service(
    "http://localhost:11434",
    not_found="Fetch it with `ollama pull {model}`.",
    unreachable="Start it with `ollama serve`, or check the address.",
)


class Connection(TypedDict, total=False):
    """How to reach a service, where it differs from the service's own values."""

    url: str | None
    key: str | None
    key_env: str | None
    timeout: float
    sleep: Callable[[float], None]


def _never(detail: str) -> bool:
    return False


class Endpoint(HttpClient):
    """A service that accepts and returns JSON. Safe to share between threads.

    It repeats a request after 429, 5xx and broken connections, but not after other refusals, and not after a read
    time-out: the caller has waited once, and the server may still be working on the request. Nothing is sent to the
    service's own address without its key.
    """

    def __init__(
        self,
        service: Service,
        model: str = "",
        *,
        retries: int = 3,
        limit: int = ANSWER_LIMIT,
        permanent: Callable[[str], bool] = _never,
        **connection: Unpack[Connection],
    ) -> None:
        """`permanent` recognises a 5xx answer that repeating cannot change."""
        self._key_env = connection.get("key_env", service.key_env)
        key = find_key(connection.get("key"), self._key_env)
        own_address = bool(connection.get("url"))  # a proxy or a server of one's own may need no key
        self._missing_key = None if key or own_address else self._key_env
        self._model = model
        super().__init__(
            connection.get("url") or service.url,
            what="This model",
            headers=service.headers(key),
            timeout=connection.get("timeout", 60.0),
            retries=retries,
            limit=limit,
            sleep=connection.get("sleep", time.sleep),
        )
        self._remedies = {**_REMEDIES, 404: service.not_found.format(model=model)}
        self._unreachable = service.unreachable
        self._permanent = permanent

    def post(self, path: str, body: Mapping[str, object]) -> object:
        """The decoded answer to a JSON body."""
        self._check_key()
        # A lone surrogate has no UTF-8 form: it becomes a question mark instead of an exception.
        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        return self._decoded(self.exchange("POST", path, content=content, headers={"content-type": "application/json"}))

    def get(self, path: str) -> object:
        """The decoded answer to a GET request."""
        self._check_key()
        return self._decoded(self.exchange("GET", path))

    def unusable(self, what: str, *, remedy: str = _CHECK_NAME) -> ModelUnavailable:
        return ModelUnavailable(f"{self._shown} {what}", remedy=remedy)

    def worth_repeating(self, outcome: Outcome) -> bool:
        import httpx

        if isinstance(outcome, Response):
            if outcome.status == HTTPStatus.TOO_MANY_REQUESTS:
                return True
            return outcome.status >= 500 and not self._permanent(_words(outcome.body))
        return not isinstance(outcome, httpx.ReadTimeout | httpx.UnsupportedProtocol | httpx.LocalProtocolError)

    def _check_key(self) -> None:
        if self._missing_key is not None:
            raise ModelUnavailable(
                f"No key for {self._model} on {self._shown}",
                remedy=f"Give a valid key in the environment variable {self._missing_key}.",
            )

    def _decoded(self, outcome: Outcome) -> object:
        if not isinstance(outcome, Response):
            raise self._failure(outcome) from None
        if not outcome.ok:
            raise self._refusal(outcome)
        try:
            return json.loads(outcome.body)
        except (ValueError, RecursionError):
            raise self.unusable("sent an answer that is not JSON") from None

    def _failure(self, error: Exception) -> ModelUnavailable:
        import httpx

        if isinstance(error, httpx.ReadTimeout):
            return ModelUnavailable(
                f"{self._shown} did not answer within {self._timeout:g} seconds",
                remedy="Raise `timeout`, or send less at a time.",
            )
        # Only these messages come from the system; others may quote what was sent.
        reason = str(error) if isinstance(error, httpx.ConnectError) else type(error).__name__
        return ModelUnavailable(f"{self._shown} cannot be reached ({reason})", remedy=self._unreachable)

    def _refusal(self, reply: Response) -> RequestRefused:
        code = _code(reply.body)
        problem = f"{self._shown} answered {reply.status}" + (f" ({code})" if code else "")
        remedy = self._remedy(reply.status)
        return RequestRefused(problem, remedy=remedy, status=reply.status, detail=_words(reply.body))

    def _remedy(self, status: int) -> str:
        if status in (401, 403):
            where = f"the environment variable {self._key_env}" if self._key_env else "`key_env`"
            return f"Give a valid key in {where}."
        if status in self._remedies:
            return self._remedies[status]
        if 300 <= status < 400:
            return "Give the address it redirects to; redirects are not followed, so that a key stays with its host."
        return "Try again later." if status >= 500 else "Check the model's name and the options."


def find_key(key: str | None, key_env: str | None) -> str | None:
    """The given key, else the one in the environment, else None."""
    found = (key or (os.environ.get(key_env) if key_env else None) or "").strip()
    if found and not (found.isascii() and found.isprintable()):
        raise InvalidInput(
            f"The key{f' in {key_env}' if key_env else ''} has characters that a header cannot carry",
            remedy="Copy it again, without line breaks or quotation marks.",
        )
    return found or None


def member(value: object, name: str) -> object:
    """A member of a JSON object; None if it is absent, or the value is not an object."""
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


def list_member(value: object, name: str) -> list[object] | None:
    """A member of a JSON object that is an array, else None."""
    found = member(value, name)
    return cast("list[object]", found) if isinstance(found, list) else None


def _words(body: bytes) -> str:
    return body[:_DETAIL_LIMIT].decode("utf-8", "replace")


def _code(body: bytes) -> str | None:
    """The machine name of an error, such as `insufficient_quota`: letters only, so that no key slips in."""
    try:
        error = member(json.loads(body), "error")
    except (ValueError, RecursionError):
        return None
    for name in ("code", "type"):
        found = member(error, name)
        if isinstance(found, str) and _IDENTIFIER.fullmatch(found):
            return found
    return None
