"""Answers to writes that carried an Idempotency-Key, stored for a day in a file that all workers share."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from memorist.stores.sqlite.connection import Connections, use_write_ahead_log

FILE = ".answers.db"
"""No space can have this name, because it starts with a dot."""
KEPT = 24 * 3600.0
"""Seconds an answer is kept."""
_TABLE = """CREATE TABLE IF NOT EXISTS answers (
    caller TEXT NOT NULL, key TEXT NOT NULL, space TEXT NOT NULL, request TEXT NOT NULL, at REAL NOT NULL,
    body BLOB, PRIMARY KEY (caller, key)) STRICT"""


RECEIPT = {"forgotten", "at", "pending"}
"""The fields of the answer to a forget, which has no text."""
SESSION = {"id", "goal", "gates"}
"""The fields of an opened session."""
TextsOf = Callable[[set[str]], Mapping[str, str]]


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


class Answers:
    """The answers sent so far. Safe for several threads and processes."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._connections = Connections(folder / FILE)
        self._connections.create()
        self._clock = clock
        with self._connections.reading() as db:
            use_write_ahead_log(db)
        with self._connections.writing() as db:
            db.execute(_TABLE)

    def begin(self, ticket: Ticket, patience: float) -> bytes | None:
        """The stored answer; None if the request is to be answered now.

        A request under way for more than `patience` seconds starts again: its worker may have been killed.
        """
        now = self._clock()
        with self._connections.writing() as db:
            db.execute("DELETE FROM answers WHERE at < ?", (now - KEPT,))
            row = db.first(
                "SELECT request, at, body FROM answers WHERE caller = ? AND key = ?",
                (ticket.caller, ticket.key),
            )
            if row is not None:
                request, at, body = row
                if request != ticket.request:
                    raise KeyReused
                if body is not None:
                    return body
                if now - at < patience:
                    raise RequestUnderWay
            values = (ticket.caller, ticket.key, ticket.space, ticket.request, now)
            db.execute("INSERT OR REPLACE INTO answers (caller, key, space, request, at) VALUES (?,?,?,?,?)", values)
        return None

    def keep(self, ticket: Ticket, body: bytes) -> None:
        """Store the answer that was sent."""
        with self._connections.writing() as db:
            values = (body, ticket.caller, ticket.key)
            db.execute("UPDATE answers SET body = ? WHERE caller = ? AND key = ?", values)

    def drop(self, ticket: Ticket) -> None:
        """Let the request be tried again, because it was refused or failed."""
        with self._connections.writing() as db:
            db.execute("DELETE FROM answers WHERE caller = ? AND key = ? AND body IS NULL", (ticket.caller, ticket.key))

    def forget(self, space: str, texts_of: TextsOf) -> bool:
        """Erase the answers about a space that may hold what was forgotten; False while the log still has a copy.

        What stays is receipts, and memories and sessions that are still stored with the same text or goal, which
        `texts_of` gives by id.
        """
        with self._connections.reading() as db:
            rows = db.execute("SELECT caller, key, body FROM answers WHERE space = ? AND body IS NOT NULL", (space,))
            told = {(caller, key): _memories(body) for caller, key, body in rows}
        # Outside the lock: the other spaces do not wait until this one has looked up its texts.
        stored = texts_of({id for one in told.values() for id in one or ()})
        gone = [
            ticket
            for ticket, memories in told.items()
            if memories is None or any(stored.get(id) != text for id, text in memories.items())
        ]
        with self._connections.writing() as db:
            db.execute_many("DELETE FROM answers WHERE caller = ? AND key = ?", gone)
        return self._connections.checkpoint(wait=1.0)

    def close(self) -> None:
        """Release the file."""
        self._connections.close()


def _memories(body: bytes) -> dict[str, str] | None:
    """The texts of an answer by memory or session; None if it holds anything else."""
    data: Any = json.loads(body)
    if not isinstance(data, dict):
        return None
    told = cast("dict[str, Any]", data)
    if told.keys() == RECEIPT:
        return {}
    if told.keys() == SESSION:
        return {told["id"]: told["goal"] or ""}
    items: list[Any] = told["items"] if told.keys() == {"items"} else [told]
    whole = all(isinstance(one, dict) and {"id", "text"} <= one.keys() for one in items)
    return {one["id"]: one["text"] for one in items} if whole else None
