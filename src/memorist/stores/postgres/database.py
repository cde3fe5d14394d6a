"""One space on one connection: every statement names the space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import psycopg

from memorist.stores.rows import Row

Connection = psycopg.Connection[Row]
Value = object
"""Whatever an adapter of the connection can write."""


class Database:
    """A connection as seen from a space, which every statement knows as `%(space)s`."""

    def __init__(self, connection: Connection, space: str) -> None:
        self.connection = connection
        self.space = space

    def execute(self, sql: str, **values: Value) -> list[Row]:
        """Run a statement, and give its rows."""
        cursor = self._run(sql, values)
        return cursor.fetchall() if cursor.description else []

    def change(self, sql: str, **values: Value) -> int:
        """Run a statement, and tell how many rows it changed."""
        return self._run(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Mapping[str, Value]]) -> None:
        """Run a statement once for each row of values, without waiting in between."""
        given = [{**row, "space": self.space} for row in rows]
        if given:
            with self.connection.cursor(binary=True) as cursor:
                cursor.executemany(sql.encode(), given)

    def first(self, sql: str, **values: Value) -> Row | None:
        """The first row, if there is one."""
        return self._run(sql, values).fetchone()

    def value(self, sql: str, **values: Value) -> Any:
        """The only value of the only row."""
        ((value,),) = self.execute(sql, **values)
        return value

    def _run(self, sql: str, values: Mapping[str, Value]) -> psycopg.Cursor[Row]:
        cursor = self.connection.cursor(binary=True)
        return cursor.execute(sql.encode(), {**values, "space": self.space})
