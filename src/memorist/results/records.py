"""What a store keeps and counts, and hands on to callers as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from memorist.model import Doc, Memory


@dataclass(frozen=True, slots=True)
class Job:
    """A pending job, kept until it is done: when it is due, how often it was tried, and the last error."""

    task: str
    subject: str
    due: datetime
    attempts: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A journal entry: a decision or change, the memories it is about, and the data needed to undo it."""

    id: str
    at: datetime
    verb: str
    subjects: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing, oldest first; `cursor` gets the next page, None means the end."""

    items: tuple[Memory, ...]
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class StoreStats:
    """The size of a store."""

    space: str
    memories: int
    versions: int
    links: int
    entities: int
    bytes: int
    generation: int
    embedding: str | None
    kinds: Mapping[str, int]
    scopes: Mapping[str, int]
    dimension: int | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The forgotten ids and the time; `pending` until the bytes have left the files of the store.

    They stay in a file while another process reads it, and on a server until its tables are rewritten.
    """

    forgotten: tuple[str, ...]
    at: datetime
    pending: bool = False
    run: Annotated[str | None, Doc("The id that undo takes, if they were forgotten softly.")] = None
