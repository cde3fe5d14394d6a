"""Our exceptions: each says what happened and what to do about it."""

from __future__ import annotations


class Error(Exception):
    """The base of every error that Memorist raises on purpose."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        super().__init__(f"{problem.rstrip('.')}. {remedy}")
        self.problem = problem
        self.remedy = remedy


class InvalidInput(Error, ValueError):
    """A value the caller gave is refused; nothing was written."""


class NotFound(Error, KeyError):
    """No memory, space or recipe of that name."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would print the message in quotes


class MissingService(Error):
    """A recipe needs an embedder, reranker or language model that is not configured."""


class ModelUnavailable(Error):
    """A model's files are absent or damaged, or its endpoint does not answer."""


class MissingExtra(Error, ImportError):
    """An optional package is not installed."""


class StoreError(Error):
    """The store cannot be opened, read or written."""


class StoreBusy(StoreError):
    """Another process held the store's write lock for longer than we wait."""


class NewerStore(StoreError):
    """The file was written by a newer Memorist; it is left untouched."""


class SpaceMismatch(StoreError):
    """A file holds one space, and it is another one."""


class EmbeddingMismatch(StoreError):
    """The store's vectors come from another embedding model than the one given."""


class Closed(Error):
    """The engine was closed, or opened before a fork."""
