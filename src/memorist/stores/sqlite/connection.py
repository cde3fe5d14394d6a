"""Connections to a file, and SQLite's errors in our words."""

from __future__ import annotations

import json
import os
import threading
import time
import weakref
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import apsw

from memorist.errors import Closed, Error, StoreBusy, StoreError
from memorist.stores.rows import Row
from memorist.stores.sql.database import Failure, failure_for

_FAILURES = (
    Failure(
        (apsw.BusyError,),
        StoreBusy,
        "is being written by another process",
        "Try again in a moment; a process that writes for a long time should write smaller batches.",
    ),
    Failure((apsw.LockedError,), StoreBusy, "is locked by another use in this process", "Try again in a moment."),
    Failure(
        (apsw.FullError,),
        StoreError,
        "cannot grow because the disk is full. Nothing was written",
        "Free some space and write it again.",
    ),
    Failure(
        (apsw.ReadOnlyError,),
        StoreError,
        "is read-only. Nothing was written",
        "Give this user permission to write the file and its folder.",
    ),
    Failure(
        (apsw.NotADBError,),
        StoreError,
        "is not a Memorist store",
        "Give the path of a store, or of a file that does not exist yet.",
    ),
    Failure(
        (apsw.CorruptError,),
        StoreError,
        "is damaged",
        "Run `memorist doctor`, and restore the file from a backup.",
    ),
    Failure(
        (apsw.CantOpenError,),
        StoreError,
        "cannot be opened",
        "Check that the path is a file, that its folder exists and that this user may write there.",
    ),
    Failure(
        (apsw.PermissionsError,),
        StoreError,
        "may not be used by this user",
        "Give this user permission to read and write the file and its folder.",
    ),
    Failure(
        (apsw.IOError,),
        StoreError,
        "could not be read or written by the system",
        "Check the disk, then run `memorist doctor`; keep stores off network file systems.",
    ),
)


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Raise our errors for the SQLite errors that a user can act on; all others pass unchanged."""
    try:
        yield
    except apsw.Error as error:
        failure = failure_for(error, _FAILURES)
        if failure is None:
            raise
        raise failure.raises(f"{path} {failure.problem} ({error})", remedy=failure.remedy) from error


Values = Sequence[Any] | Mapping[str, Any]
"""Parameters by position or by name; a list is bound as JSON, for `json_each`."""


class Database:
    """A connection; statements are compiled once and cached by their text."""

    def __init__(self, path: Path, *, create: bool) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        self._connection = apsw.Connection(str(path), flags=flags)

    def execute(self, sql: str, values: Values = ()) -> Iterator[Row]:
        """Run a statement; its rows are read as they are iterated."""
        return self._connection.execute(sql, _bound(values))  # pyright: ignore[reportUnknownMemberType]

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        """Run a statement once per row of values."""
        self._connection.executemany(sql, map(_bound, rows))  # pyright: ignore[reportUnknownMemberType]

    def change(self, sql: str, values: Values = ()) -> int:
        """Run a statement and return the number of rows that it changed."""
        self.execute(sql, values)
        return self._connection.changes()

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
        """Set how long to wait for a lock that another connection holds."""
        self._connection.set_busy_timeout(int(seconds * 1000))

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file and empty it."""
        self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def copy_to(self, path: Path) -> None:
        """Copy the whole database as of one moment, in one step, so that no writer makes it start again."""
        target = apsw.Connection(str(path))
        try:
            with target.backup("main", self._connection, "main") as backup:
                backup.step(-1)
        finally:
            target.close()

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        self._connection.close()


def _bound(values: Values) -> Values:
    if isinstance(values, dict) and any(type(value) is list for value in values.values()):
        return {name: json.dumps(value) if isinstance(value, list) else value for name, value in values.items()}
    return values


Synchronous = Literal["normal", "full"]

PATIENCE = 10.0
"""Seconds a reader or writer waits for another process."""

JOURNAL_LIMIT = 64 * 1024 * 1024
CACHE_KIB = 16 * 1024


class _Handle:
    """A connection, with a lock that lets `close` wait for the thread that uses it."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.lock = threading.RLock()


class Connections:
    """One connection per thread, and one writing thread at a time.

    A deferred transaction that turns into a write fails at once under contention, whatever the busy timeout. So every
    write starts with `BEGIN IMMEDIATE`.
    """

    def __init__(self, path: Path, *, synchronous: Synchronous = "normal") -> None:
        self.path = path
        self._synchronous: Synchronous = synchronous
        self._pid = os.getpid()
        self._local = threading.local()
        self._handles: weakref.WeakSet[_Handle] = weakref.WeakSet()
        self._guard = threading.Lock()
        self._writer = threading.Lock()
        self._closed = False

    def create(self) -> None:
        """Connect the calling thread, and create the file if there is none."""
        with translated(self.path):
            self._connect(create=True)

    @contextmanager
    def reading(self) -> Generator[Database]:
        """This thread's connection; each statement sees the newest commit."""
        handle = self._handle()
        with handle.lock, translated(self.path):
            if self._closed:
                raise _closed()
            yield handle.db

    @contextmanager
    def snapshot(self) -> Generator[Database]:
        """This thread's connection; all statements see one state."""
        with self.reading() as db:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")  # nothing was written; a commit can fail on a damaged file

    @contextmanager
    def writing(self, wait: float = PATIENCE) -> Generator[Database]:
        """This thread's connection inside a transaction, which is committed completely or not at all."""
        self._check()
        if not self._writer.acquire(timeout=wait):
            raise StoreBusy(f"{self.path} is being written by another thread", remedy="Try again in a moment.")
        try:
            with self.reading() as db, _patience(db, wait):
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                    db.execute("COMMIT")
                finally:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
        finally:
            self._writer.release()

    def checkpoint(self, wait: float = PATIENCE) -> bool:
        """Move the write-ahead log into the file and empty it; False while others use it."""
        with self.reading() as db, _patience(db, wait):
            try:
                db.checkpoint()
            except (apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError):
                return False
        return True

    def rewrite(self, wait: float = PATIENCE) -> bool:
        """Rewrite the file with its rows and nothing else; False without disk space, or while others use it."""
        if not self._writer.acquire(timeout=wait):
            return False
        try:
            with self.reading() as db, _patience(db, wait):
                try:
                    db.execute("VACUUM")
                except (apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError, apsw.FullError):
                    return False
        finally:
            self._writer.release()
        return True

    def close(self, *, tidy: bool = True) -> None:
        """Close the connection of every thread, as soon as the thread is between two operations."""
        if self._closed:
            return
        if os.getpid() != self._pid:
            self._closed = True  # the connections are the parent's
            return
        if tidy:
            self._tidy_up()
        self._closed = True
        for handle in self._open_handles():
            with handle.lock:
                handle.db.close()

    def _open_handles(self) -> list[_Handle]:
        with self._guard:
            return list(self._handles)

    def _tidy_up(self) -> None:
        try:
            with self.reading() as db:
                db.execute("PRAGMA optimize")
            self.checkpoint(wait=0.25)
        except Error:
            return  # a full disk or a damaged file must not keep us from closing

    def _check(self) -> None:
        if os.getpid() != self._pid:
            raise Closed("This store was opened before a fork", remedy="Open it again in the child process.")
        if self._closed:
            raise _closed()

    def _handle(self) -> _Handle:
        self._check()
        handle: _Handle | None = getattr(self._local, "handle", None)
        if handle is None:
            with translated(self.path):
                handle = self._connect(create=False)
        return handle

    def _connect(self, *, create: bool) -> _Handle:
        handle = _Handle(Database(self.path, create=create))
        _configure(handle.db, self._synchronous)
        with self._guard:
            self._handles.add(handle)
        self._local.handle = handle
        return handle


def use_write_ahead_log(db: Database, *, wait: float = PATIENCE) -> None:
    """Switch a file to WAL; SQLite itself does not wait when two processes switch at once."""
    deadline = time.monotonic() + wait
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _configure(db: Database, synchronous: Synchronous) -> None:
    db.wait_for(PATIENCE)
    db.execute(f"PRAGMA synchronous = {synchronous}")
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA secure_delete = ON")
    db.execute(f"PRAGMA journal_size_limit = {JOURNAL_LIMIT}")
    db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")


@contextmanager
def _patience(db: Database, wait: float) -> Generator[None]:
    db.wait_for(wait)
    try:
        yield
    finally:
        db.wait_for(PATIENCE)


def _closed() -> Closed:
    return Closed("This store is closed", remedy="Open it again.")
