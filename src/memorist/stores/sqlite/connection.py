"""Connections to a file."""

from __future__ import annotations

import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import apsw

from memorist.errors import Closed, Error, StoreBusy
from memorist.files import make_file
from memorist.stores.rows import Row
from memorist.stores.sqlite.failures import translate_failures
from memorist.stores.sqlite.place import Identity, file_moved, identity, log_identity, mark_log

Values = Sequence[Any] | Mapping[str, Any]
"""Parameters by position or by name; a list is bound as JSON, for `json_each`."""


Synchronous = Literal["normal", "full"]

PATIENCE = 10.0
"""Seconds that a write waits for another writer, in this process and in others together; a recall does not wait."""
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.025
"""Seconds between two looks at a lock that another process holds; each pause is twice the one before."""
LAST_PATIENCE = 1.0
"""Seconds that the end of a program waits for a thread that still uses a connection."""

LOOK_EVERY = 1.0
"""Seconds after which a read checks again that its file is still in place; a write always does."""

JOURNAL_LIMIT = 64 * 1024 * 1024
CACHE_KIB = 16 * 1024
LOG_PAGES = 4000
"""Pages of the log after which it is moved into the file; a page that many writes change is then moved once."""


class SqliteDatabase:
    """A connection; statements are compiled once and cached by their text."""

    def __init__(self, path: Path, *, create: bool) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        self._connection = apsw.Connection(str(path), flags=flags)

    def execute(self, sql: str, values: Values = ()) -> Iterator[Row]:
        """Run a statement; its rows are read as they are iterated."""
        return self._connection.execute(sql, _bound(values))  # pyright: ignore[reportUnknownMemberType]

    def each(self, sql: str, values: Values = ()) -> Iterator[Row]:
        """Run a statement; its rows are read as they are iterated."""
        return self.execute(sql, values)

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        given = list(rows)
        if given and _bound(given[0]) is not given[0]:  # all rows have values of the same types
            given = [_bound(row) for row in given]
        if given:
            self._connection.executemany(sql, given)  # pyright: ignore[reportUnknownMemberType]

    def change(self, sql: str, values: Values = ()) -> int:
        self.execute(sql, values)
        return self._connection.changes()

    def first(self, sql: str, values: Values = ()) -> Row | None:
        return next(iter(self.execute(sql, values)), None)

    def value(self, sql: str, values: Values = ()) -> Any:
        ((value,),) = self.execute(sql, values)
        return value

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

    @property
    def has_log(self) -> bool:
        """Whether the file has a write-ahead log."""
        return self.value("PRAGMA journal_mode") == "wal"

    @property
    def nbytes(self) -> int:
        """The bytes of the pages and the schema that it keeps in memory."""
        kinds = apsw.SQLITE_DBSTATUS_CACHE_USED, apsw.SQLITE_DBSTATUS_SCHEMA_USED, apsw.SQLITE_DBSTATUS_STMT_USED
        return sum(self._connection.status(kind)[0] for kind in kinds)

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

    def close(self, *, tidy: bool = False) -> None:
        """Close the connection; safe to call twice. With `tidy`, the last one of a file empties and removes its log."""
        if tidy:
            self._keep_log(False)
        self._connection.close()

    def configure(self, synchronous: Synchronous) -> None:
        """Set what every connection needs. The log is named like the file, and stays until the file is checked."""
        self.wait_for(PATIENCE)
        self._keep_log(True)
        self.execute(f"PRAGMA synchronous = {synchronous}")
        self.execute("PRAGMA foreign_keys = ON")
        self.execute("PRAGMA secure_delete = ON")
        self.execute(f"PRAGMA journal_size_limit = {JOURNAL_LIMIT}")
        self.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        self.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")

    def _keep_log(self, keep: bool) -> None:
        self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(keep))


def _bound(values: Values) -> Values:
    if isinstance(values, dict) and list in map(type, values.values()):
        return {name: json.dumps(value) if isinstance(value, list) else value for name, value in values.items()}
    return values


class _Handle:
    """A connection, with a lock that lets `close` wait for the thread that uses it."""

    def __init__(self, db: SqliteDatabase) -> None:
        self.db = db
        self.lock = threading.RLock()
        self.nbytes = 0
        """The bytes that it took when it was last free."""
        self.log: tuple[Identity, ...] | None = None
        """The files of the log that this connection writes, known from its first write on."""


class SqliteConnections:
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
        self._closing = self._closed = False
        self._file: Identity = None
        self._looked = 0.0

    def create(self) -> None:
        """Connect the calling thread, and create the file for this user only if there is none."""
        make_file(self.path)
        self.connect()

    def connect(self) -> None:
        """Connect the calling thread; from now on, the path must lead to the same file."""
        with translate_failures(self.path):
            self._connect()

    @contextmanager
    def reading(self) -> Generator[SqliteDatabase]:
        """This thread's connection; each statement sees the newest commit."""
        handle = self._handle()
        with handle.lock, translate_failures(self.path):
            if self._closed:
                raise _closed()
            self._look_again()
            yield handle.db

    @contextmanager
    def snapshot(self) -> Generator[SqliteDatabase]:
        """This thread's connection; all statements see one state."""
        with self.reading() as db:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")  # nothing was written; a commit can fail on a damaged file

    @contextmanager
    def writing(self, wait: float = PATIENCE) -> Generator[SqliteDatabase]:
        """This thread's connection inside a transaction, which is committed completely or not at all."""
        self._check()
        deadline = time.monotonic() + wait
        if not self._writer.acquire(timeout=wait):
            raise StoreBusy(f"{self.path} is being written by another thread", remedy="Try again in a moment.")
        try:
            with self.reading() as db:
                self._begin(db, deadline)
                try:
                    yield db
                    self._check_place(self._handle())
                    db.execute("COMMIT")
                finally:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
        finally:
            self._writer.release()

    def _begin(self, db: SqliteDatabase, deadline: float) -> None:
        """Take the write lock, with patience until the deadline; the thread that closes need not wait for this one."""
        with _patience(db, 0):
            _persist(lambda: db.execute("BEGIN IMMEDIATE"), deadline, self._check_open)

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

    def close(self, *, tidy: bool = True, wait: float = -1) -> None:
        """Close the connection of every thread, as soon as the thread is between two operations.

        `wait` is how many seconds to wait for a thread; -1 for as long as it takes.
        """
        if os.getpid() != self._pid:
            self._closed = True  # the connections are the parent's
            return
        with self._guard:
            if self._closing:
                return  # without waiting: the thread that closes may wait for this one
            self._closing = True
        if tidy:
            self._tidy_up()
        self._closed = True
        in_place = all(self._is_in_place(handle) for handle in self._open_handles())
        for handle in self._open_handles():
            if handle.lock.acquire(timeout=wait):
                try:
                    handle.db.close(tidy=in_place)
                finally:
                    handle.lock.release()

    @property
    def nbytes(self) -> int:
        """The bytes that the connections of all threads keep in memory; one in use counts as before."""
        handles = self._open_handles()
        for handle in handles:
            if handle.lock.acquire(blocking=False):
                try:
                    handle.nbytes = 0 if self._closed else handle.db.nbytes
                finally:
                    handle.lock.release()
        return sum(handle.nbytes for handle in handles)

    def _open_handles(self) -> list[_Handle]:
        with self._guard:
            return list(self._handles)

    def _tidy_up(self) -> None:
        """Do what helps the next process, unless another process writes: closing never waits for a lock."""
        with suppress(Error):  # nor may a full disk or a damaged file keep us from closing
            with self.reading() as db, _patience(db, 0):
                db.execute("PRAGMA optimize")
            self.checkpoint(wait=0)

    def _check_open(self) -> None:
        if self._closing:
            raise _closed()

    def _check(self) -> None:
        if os.getpid() != self._pid:
            raise Closed("This store was opened before a fork", remedy="Open it again in the child process.")
        if self._closed:
            raise _closed()

    def _handle(self) -> _Handle:
        self._check()
        handle: _Handle | None = getattr(self._local, "handle", None)
        if handle is None:
            with translate_failures(self.path):
                handle = self._connect()
        return handle

    def _connect(self) -> _Handle:
        if self._file is not None:
            self._check_file()
        handle = _Handle(SqliteDatabase(self.path, create=False))
        self._file = self._file or identity(self.path)
        handle.db.configure(self._synchronous)
        with self._guard:
            self._handles.add(handle)
        self._local.handle = handle
        return handle

    def _look_again(self) -> None:
        """Check the place of the file before a read, if the last check was a while ago."""
        now = time.monotonic()
        if now - self._looked > LOOK_EVERY:
            self._check_file()
            self._looked = now

    def _check_file(self) -> None:
        if identity(self.path) != self._file:
            raise file_moved(self.path, "The file")

    def _check_place(self, handle: _Handle) -> None:
        """Refuse to commit to a file or a log that nobody finds any more."""
        self._check_file()
        log = log_identity(self.path)
        if handle.log is None and (None not in log or not handle.db.has_log):
            handle.log = log
            mark_log(self.path)
        if log != handle.log:
            raise file_moved(self.path, "The log of")

    def _is_in_place(self, handle: _Handle) -> bool:
        """Whether the path still leads to our file, and no other process has begun another log for it."""
        now = log_identity(self.path)
        ours = handle.log is None or all(there in (None, here) for there, here in zip(now, handle.log, strict=True))
        return ours and identity(self.path) == self._file


def use_write_ahead_log(db: SqliteDatabase, *, wait: float = PATIENCE) -> None:
    """Switch a file to WAL; SQLite itself does not wait when two processes switch at once."""
    _persist(lambda: db.execute("PRAGMA journal_mode = WAL"), time.monotonic() + wait)


def _persist(take: Callable[[], object], deadline: float, look: Callable[[], object] = lambda: None) -> None:
    """Try until a lock is free, or a moment has passed; `look` is called in between, and may raise."""
    pause = FIRST_PAUSE
    while True:
        try:
            take()
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            look()
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        else:
            return


@contextmanager
def _patience(db: SqliteDatabase, wait: float) -> Generator[None]:
    db.wait_for(wait)
    try:
        yield
    finally:
        db.wait_for(PATIENCE)


def _closed() -> Closed:
    return Closed("This store is closed", remedy="Open it again.")
