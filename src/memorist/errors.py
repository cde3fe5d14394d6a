"""Our exceptions. Each message states the problem and a remedy."""

from __future__ import annotations


class Error(Exception):
    """The base class of all errors that Memorist raises."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        super().__init__(f"{problem.rstrip('.')}. {remedy}")
        self.problem = problem
        self.remedy = remedy


class InvalidInput(Error, ValueError):
    """An argument or setting is invalid; nothing was written."""


class NotFound(Error, KeyError):
    """There is no memory, space or recipe with this id or name."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would print the message in quotes


class TooClassified(Error):
    """The caller may not see or keep memories of this classification; nothing was written."""


class MissingService(Error):
    """A recipe needs an embedder, reranker or language model that is not configured."""


class ModelUnavailable(Error):
    """The files of a model are missing or damaged, or its endpoint does not answer."""


class MissingExtra(Error, ImportError):
    """An optional package is not installed."""


class StoreError(Error):
    """The store cannot be opened, read or written."""


class StoreBusy(StoreError):
    """Another process held the write lock of the store for too long."""


class NewerStore(StoreError):
    """The file was written by a newer version of Memorist; it was not changed."""


class SpaceMismatch(StoreError):
    """The file holds another space than the one requested."""


class EmbeddingMismatch(StoreError):
    """The vectors in the store come from another embedding model than the configured one."""


class Closed(Error):
    """The engine was closed, or was opened before a fork."""
