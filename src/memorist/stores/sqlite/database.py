"""One SQLite connection with the few calls we make, typed once: apsw's own types need Python 3.12."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from memorist.stores.rows import Row

Value = str | int | float | bytes | None
Values = Sequence[Value] | Mapping[str, Value]


class Database:
    """A connection; statements are compiled once and kept by their text."""

    def __init__(self, path: Path, *, create: bool) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        self._connection = apsw.Connection(str(path), flags=flags)

    def execute(self, sql: str, values: Values = ()) -> Iterator[Row]:
        """Run a statement, and give its rows as they are asked for."""
        return self._connection.execute(sql, values)  # pyright: ignore[reportUnknownMemberType]

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        """Run a statement once for each row of values."""
        self._connection.executemany(sql, rows)  # pyright: ignore[reportUnknownMemberType]

    def first(self, sql: str, values: Values = ()) -> Row | None:
        """The first row, if there is one."""
        return next(iter(self.execute(sql, values)), None)

    def value(self, sql: str, values: Values = ()) -> Any:
        """The only value of the only row."""
        ((value,),) = self.execute(sql, values)
        return value

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

    def wait_for(self, seconds: float) -> None:
        """How long to wait for a lock that another connection holds."""
        self._connection.set_busy_timeout(int(seconds * 1000))

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file and empty it."""
        self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def copy_to(self, path: Path) -> None:
        """Copy the whole database as of one moment; in one step, so that no writer makes it begin again."""
        target = apsw.Connection(str(path))
        try:
            with target.backup("main", self._connection, "main") as backup:
                backup.step(-1)
        finally:
            target.close()

    def close(self) -> None:
        """Close the connection; twice is harmless."""
        self._connection.close()
