"""Our exceptions. Each message states the problem and a remedy."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

_USER = r"(?<=://)[^\s/@'\"][^\s'\"]{0,300}(?=@)"
_PARAMETER = r"(?i)(?<=[?&])((?:ssl)?password|pwd|token|secret|(?:api_?|access_?)?key)=[^\s&'\"]{1,300}"


def without_passwords(text: str) -> str:
    """A text with `…` in place of the user and password of each URL, and of passwords among its parameters."""
    return re.sub(_PARAMETER, r"\1=…", re.sub(_USER, "…", text)) if "://" in text else text


def has_password(url: str) -> bool:
    """Whether the URL of a database holds a password."""
    if "://" not in url:
        return False
    from urllib.parse import parse_qs, urlsplit

    parts = urlsplit(url)
    return parts.password is not None or not parse_qs(parts.query).keys().isdisjoint(("password", "sslpassword"))


class VerbCall(NamedTuple):
    """A call of a verb that a remedy advises; as text, it is Python: `` `audit(fix=True)` ``."""

    verb: str
    given: Mapping[str, object] = {}

    def __str__(self) -> str:
        return f"`{self.verb}({', '.join(f'{name}={value!r}' for name, value in self.given.items())})`"


class Remedy(str):
    """What to do about an error. As text it is for Python; its parts are texts, and calls that each surface words."""

    __slots__ = ("parts",)
    parts: tuple[str | VerbCall, ...]

    def __new__(cls, *parts: str | VerbCall) -> Remedy:
        """The remedy with these parts, one after another."""
        made = super().__new__(cls, "".join(map(str, parts)))
        made.parts = parts
        return made


class Error(Exception):
    """The base class of all errors that Memorist raises. No message holds the password of a URL."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        self.problem = without_passwords(problem)
        self.remedy = remedy
        super().__init__(f"{self.problem.rstrip('.')}. {remedy}")


class InvalidInput(Error, ValueError):
    """An argument or setting is invalid; nothing was written."""


class NotFound(Error, KeyError):
    """There is no memory, space or recipe with this id or name."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would print the message in quotes


def no_memory(*ids: str) -> NotFound:
    """The error for ids that no memory has."""
    return NotFound(
        f"There is no memory {', '.join(map(repr, ids))}", remedy=Remedy("Look it up with ", VerbCall("list"), ".")
    )


def no_session(id: str) -> NotFound:
    """The error for an id that no session has."""
    return NotFound(f"There is no session {id!r}", remedy=Remedy("Open one with ", VerbCall("session"), "."))


class TooClassified(Error):
    """The caller may not see or keep memories of this classification; nothing was written."""


class QuotaExceeded(Error):
    """The space is full: it has as many memories, or as much text, as its operator allows; nothing was written."""


class MissingService(Error):
    """A recipe needs an embedder, reranker or language model that is not configured."""


class ModelUnavailable(Error):
    """The files of a model are missing or damaged, or its endpoint does not answer."""


@contextmanager
def failures_of(model: str) -> Generator[None]:
    """Turn any exception of a model's code into ModelUnavailable. It names the type only: a message may hold texts."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        raise ModelUnavailable(
            f"{model} failed with {type(error).__name__}", remedy="Check the model or its adapter."
        ) from error


class MissingExtra(Error, ImportError):
    """An optional package is not installed."""


class StoreError(Error):
    """The store cannot be opened, read or written."""


class StoreBusy(StoreError):
    """The store is busy: others held its write lock for too long, or no connection to it became free."""


class StoreUnavailable(StoreError):
    """The database server does not respond, or went away during a write; try again."""


class StoreMoved(StoreError):
    """The file or the space was deleted, moved or replaced while it was open; open it again."""


class UnreadableMemory(StoreError):
    """The stored form of a memory is damaged; other memories can still be read."""


class NewerStore(StoreError):
    """The file was written by a newer version of Memorist; it was not changed."""


class SpaceMismatch(StoreError):
    """The file holds another space than the one requested."""


class EmbeddingMismatch(StoreError):
    """The vectors in the store come from another embedding model than the configured one."""


class Closed(Error):
    """The engine was closed, or was opened before a fork."""
