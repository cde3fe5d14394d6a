"""Answers to writes that carried an Idempotency-Key, kept for a day in a file that all workers share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memorist.stores.sqlite.connection import Connections, use_write_ahead_log
from memorist.surfaces.rest.problems import RETRY_SOON, REUSED_KEY, UNDER_WAY, Refusal

FILE = ".answers.db"
"""No space can have this name: theirs begin with a letter or a digit."""
KEPT = 24 * 3600.0
"""Seconds an answer is kept."""
_TABLE = """CREATE TABLE IF NOT EXISTS answers (
    caller TEXT NOT NULL, key TEXT NOT NULL, space TEXT NOT NULL, request TEXT NOT NULL, at REAL NOT NULL,
    status INTEGER, body BLOB, PRIMARY KEY (caller, key)) STRICT"""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request that is to be answered once: who asks, under which key, and what exactly."""

    caller: str
    key: str
    space: str
    request: str


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What was answered."""

    status: int
    body: bytes


class Answers:
    """The answers that were given; safe for several threads and processes."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / FILE
        path.touch(mode=0o600)
        self._connections = Connections(path)
        self._connections.create()
        self._clock = clock
        with self._connections.reading() as db:
            use_write_ahead_log(db)
        with self._connections.writing() as db:
            db.execute(_TABLE)

    def begin(self, ticket: Ticket, patience: float) -> StoredAnswer | None:
        """The answer that was given before; None when it is to be found now.

        One that has been under way for more than `patience` seconds is begun again: its worker may have been killed.
        """
        now = self._clock()
        with self._connections.writing() as db:
            db.execute("DELETE FROM answers WHERE at < ?", (now - KEPT,))
            row = db.first(
                "SELECT request, at, status, body FROM answers WHERE caller = ? AND key = ?",
                (ticket.caller, ticket.key),
            )
            if row is not None:
                request, at, status, body = row
                if request != ticket.request:
                    raise Refusal(REUSED_KEY)
                if status is not None:
                    return StoredAnswer(status, body)
                if now - at < patience:
                    raise Refusal(UNDER_WAY, headers={"Retry-After": str(RETRY_SOON)})
            values = (ticket.caller, ticket.key, ticket.space, ticket.request, now)
            db.execute("INSERT OR REPLACE INTO answers (caller, key, space, request, at) VALUES (?,?,?,?,?)", values)
        return None

    def keep(self, ticket: Ticket, answer: StoredAnswer) -> None:
        """Keep the answer that was given."""
        with self._connections.writing() as db:
            values = (answer.status, answer.body, ticket.caller, ticket.key)
            db.execute("UPDATE answers SET status = ?, body = ? WHERE caller = ? AND key = ?", values)

    def drop(self, ticket: Ticket) -> None:
        """Let the request be tried again: it was refused, or failed."""
        with self._connections.writing() as db:
            db.execute(
                "DELETE FROM answers WHERE caller = ? AND key = ? AND status IS NULL", (ticket.caller, ticket.key)
            )

    def forget(self, space: str) -> None:
        """Erase what was answered about a space: after a forget no copy may stay."""
        with self._connections.writing() as db:
            db.execute("DELETE FROM answers WHERE space = ? AND status IS NOT NULL", (space,))
        self._connections.checkpoint(wait=1.0)

    def close(self) -> None:
        """Release the file."""
        self._connections.close()
