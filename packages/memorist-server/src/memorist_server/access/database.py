"""A PostgreSQL database of spaces: its list of spaces, and the tables of keys and of stored answers.

Their connections are a small pool of their own: verbs that hold every connection of the stores delay no key.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from psycopg import errors
from psycopg.conninfo import make_conninfo

from memorist.errors import StoreBusy, without_passwords
from memorist.files import cache_folder
from memorist.model import check_space, is_space_name
from memorist.stores.rows import Row
from memorist_server.access.idempotency import KEPT, KeyReused, RequestUnderWay, TextsOf, Ticket, outdated_answers
from memorist_server.access.keys import COLUMNS
from memorist_server.postgres.administration import Administration
from memorist_server.postgres.pool import PostgresConnections, check_conninfo

MOST_CONNECTIONS = 4
CLEARED_EVERY = 60.0
"""Seconds between two clearances of old answers by one worker."""
PAGE = 500
"""Answers that are read at a time."""
ATTEMPTS = 5
"""How often a request is begun while others end the same one."""
_FIELDS = ", ".join(COLUMNS)


class SharedTables:
    """The connections to the tables that all spaces share, and how their statements run."""

    def __init__(self, url: str) -> None:
        own = make_conninfo(check_conninfo(url), application_name="memorist-access")
        self._connections = PostgresConnections(own, most=MOST_CONNECTIONS)

    def rows(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of one statement, which is committed at once. It may run twice if the connection is lost."""
        return self._connections.read(lambda connection: connection.execute(sql.encode(), values).fetchall())

    def close(self) -> None:
        """Release the connections; safe to call twice."""
        self._connections.close()


class DatabaseCatalogue:
    """The spaces of a database."""

    kind = "database"

    def __init__(self, url: str, tables: SharedTables) -> None:
        self.url = url
        self.shown = without_passwords(url)
        self.transit = cache_folder() / "transit"
        self._tables = tables

    def prepare(self) -> list[str]:
        """Apply the missing migrations, one process at a time; returns their names."""
        return Administration(self.url).migrate()

    def names(self) -> list[str]:
        """The names of all spaces, sorted."""
        rows = self._tables.rows("SELECT space FROM memorist.spaces")
        return sorted(name for (name,) in rows if is_space_name(name))

    def has(self, name: str) -> bool:
        """Whether a space exists."""
        found = "SELECT 1 FROM memorist.spaces WHERE space = %(space)s"
        return bool(self._tables.rows(found, {"space": check_space(name)}))

    def check(self) -> None:
        """Raise an error if the database does not answer."""
        self._tables.rows("SELECT 1")

    def close(self) -> None:
        """Release the connections; safe to call twice."""
        self._tables.close()


class DatabaseKeys:
    """The keys in a table. A database without our tables has none; the first key creates them."""

    waits = True

    def __init__(self, url: str, tables: SharedTables) -> None:
        self._url = url
        self._tables = tables

    def add(self, row: Row) -> None:
        """Keep a new key."""
        Administration(self._url).migrate()
        marks = ", ".join(f"%({name})s" for name in COLUMNS)
        sql = f"INSERT INTO memorist.keys ({_FIELDS}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING RETURNING 1"  # noqa: S608
        self._tables.rows(sql, dict(zip(COLUMNS, row, strict=True)))

    def all(self) -> list[Row]:
        """Every row, oldest first."""
        return self._rows(f"SELECT {_FIELDS} FROM memorist.keys ORDER BY created_at, id")  # noqa: S608

    def find(self, id: str) -> Row | None:
        """The row of a key, as of now."""
        rows = self._rows(f"SELECT {_FIELDS} FROM memorist.keys WHERE id = %(id)s", id=id)  # noqa: S608
        return rows[0] if rows else None

    def revoke(self, id: str, at: str) -> bool:
        """Set `revoked_at` unless it is set; False if nothing changed."""
        return bool(
            self._rows(
                "UPDATE memorist.keys SET revoked_at = %(at)s WHERE id = %(id)s AND revoked_at IS NULL RETURNING 1",
                id=id,
                at=at,
            )
        )

    def any(self) -> bool:
        """Whether there is a row."""
        return bool(self._rows("SELECT 1 FROM memorist.keys LIMIT 1"))

    def close(self) -> None:
        """Release the connections; safe to call twice."""
        self._tables.close()

    def _rows(self, sql: str, **values: str) -> list[Row]:
        try:
            return self._tables.rows(sql, values or None)
        except errors.UndefinedTable:
            return []


_NOW = "coalesce(%(now)s::float8, extract(epoch FROM clock_timestamp())::float8)"
"""The clock is the server's: workers on several machines must agree on it."""
_BEGIN = f"""
    INSERT INTO memorist.answers AS known (caller, key, space, request, run, at)
        VALUES (%(caller)s, %(key)s, %(space)s, %(request)s, %(run)s, {_NOW})
    ON CONFLICT (caller, key) DO UPDATE
        SET space = excluded.space, request = excluded.request, run = excluded.run, at = excluded.at, body = NULL
        WHERE known.run = excluded.run OR known.at < excluded.at - %(kept)s::float8 OR (known.body IS NULL
            AND known.request = excluded.request AND known.at <= excluded.at - %(patience)s::float8)
    RETURNING 1
"""  # noqa: S608
"""Takes a key that is new, old, or given up. One statement: of workers that begin at once, one gets a row."""
_KNOWN = "SELECT request, body FROM memorist.answers WHERE caller = %(caller)s AND key = %(key)s"
_KEEP = "UPDATE memorist.answers SET body = %(body)s WHERE caller = %(caller)s AND key = %(key)s RETURNING 1"
_DROP = "DELETE FROM memorist.answers WHERE caller = %(caller)s AND key = %(key)s AND body IS NULL RETURNING 1"
_CLEAR = f"DELETE FROM memorist.answers WHERE at < {_NOW} - %(kept)s::float8 RETURNING 1"  # noqa: S608
_TOLD = f"""
    SELECT caller, key, body FROM memorist.answers WHERE space = %(space)s AND body IS NOT NULL
        AND (caller, key) > (%(caller)s, %(key)s) ORDER BY caller, key LIMIT {PAGE}
"""  # noqa: S608
_ERASE = "DELETE FROM memorist.answers WHERE caller = %(caller)s AND key = %(key)s AND body IS NOT NULL RETURNING 1"


class DatabaseAnswers:
    """The stored answers in a table."""

    def __init__(self, tables: SharedTables, now: float | None = None) -> None:
        """`now` replaces the server's clock."""
        self.now = now
        self._tables = tables
        self._clear_at = 0.0

    def begin(self, ticket: Ticket, patience: float) -> bytes | None:
        self._clear()
        values = {
            **_whose(ticket.caller, ticket.key),
            **{"space": ticket.space, "request": ticket.request, "run": uuid4().hex},
            **{"now": self.now, "kept": KEPT, "patience": patience},
        }
        for _ in range(ATTEMPTS):
            if self._tables.rows(_BEGIN, values):
                return None
            if known := self._tables.rows(_KNOWN, values):
                return _answer(ticket, *known[0])
        raise StoreBusy("Others begin and end the same request", remedy="Try again in a moment.")

    def keep(self, ticket: Ticket, body: bytes) -> None:
        self._tables.rows(_KEEP, {**_whose(ticket.caller, ticket.key), "body": body})

    def drop(self, ticket: Ticket) -> None:
        self._tables.rows(_DROP, _whose(ticket.caller, ticket.key))

    def forget(self, space: str, texts_of: TextsOf) -> bool:
        """Erase the answers about a space that may hold what was forgotten; False while the files may have a copy."""
        last, erased = ("", ""), 0
        while rows := self._tables.rows(_TOLD, {"space": space, **_whose(*last)}):
            for caller, key in outdated_answers([(caller, key, bytes(body)) for caller, key, body in rows], texts_of):
                erased += len(self._tables.rows(_ERASE, _whose(caller, key)))
            last = rows[-1][0], rows[-1][1]
        return not erased

    def close(self) -> None:
        """Release the connections; safe to call twice."""
        self._tables.close()

    def _clear(self) -> None:
        """Erase the answers that are too old, from time to time."""
        if time.monotonic() >= self._clear_at:
            self._clear_at = time.monotonic() + CLEARED_EVERY
            self._tables.rows(_CLEAR, {"now": self.now, "kept": KEPT})


def _whose(caller: str, key: str) -> dict[str, str]:
    return {"caller": caller, "key": key}


def _answer(ticket: Ticket, request: str, body: bytes | None) -> bytes:
    if request != ticket.request:
        raise KeyReused
    if body is None:
        raise RequestUnderWay
    return bytes(body)
