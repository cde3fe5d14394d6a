"""Answers to writes that carried an Idempotency-Key, stored for a day where all workers find them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

KEPT = 24 * 3600.0
"""Seconds an answer is kept."""
RECEIPT = {"forgotten", "at", "pending"}
"""The fields of the answer to a forget, which has no text."""
SESSION = {"id", "goal", "gates"}
"""The fields of an opened session."""
TextsOf = Callable[[set[str]], Mapping[str, str]]
Told = tuple[str, str, bytes]
"""A caller, its key and the answer."""


class KeyReused(Exception):
    """The same key came before with another request."""


class RequestUnderWay(Exception):
    """The same request is being answered already."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request to be answered once: the caller, its key, the space, and a digest of the request."""

    caller: str
    key: str
    space: str
    request: str


class Answers(Protocol):
    """The answers sent so far. Safe for several threads, processes and workers."""

    def begin(self, ticket: Ticket, patience: float) -> bytes | None:
        """The stored answer; None if the request is to be answered now.

        A request under way for more than `patience` seconds starts again: its worker may have been killed.
        """
        ...

    def keep(self, ticket: Ticket, body: bytes) -> None:
        """Store the answer that was sent."""
        ...

    def drop(self, ticket: Ticket) -> None:
        """Let the request be tried again, because it was refused or failed."""
        ...

    def forget(self, space: str, texts_of: TextsOf) -> bool:
        """Erase the answers about a space that may hold what was forgotten; False while a file still has a copy.

        What stays is receipts, and memories and sessions that are still stored with the same text or goal, which
        `texts_of` gives by id.
        """
        ...

    def close(self) -> None:
        """Release files and connections; safe to call twice."""
        ...


def outdated_answers(told: Iterable[Told], texts_of: TextsOf) -> list[tuple[str, str]]:
    """The callers and keys of the answers that hold anything but what is still stored."""
    memories = {(caller, key): _memories(body) for caller, key, body in told}
    stored = texts_of({id for memory in memories.values() for id in memory or ()})
    return [
        whose
        for whose, one in memories.items()
        if one is None or any(stored.get(id) != text for id, text in one.items())
    ]


def _memories(body: bytes) -> dict[str, str] | None:
    """The texts of an answer by memory or session; None if it holds anything else."""
    data: Any = json.loads(body)
    if not isinstance(data, dict):
        return None
    told = cast("dict[str, Any]", data)
    if told.keys() >= RECEIPT:
        return {}
    if told.keys() == SESSION:
        return {told["id"]: told["goal"] or ""}
    items: list[Any] = told["items"] if told.keys() == {"items"} else [told]
    whole = all(isinstance(item, dict) and {"id", "text"} <= item.keys() for item in items)
    return {item["id"]: item["text"] for item in items} if whole else None
