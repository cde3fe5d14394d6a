"""Connections to one SQLite file: one per thread, none across a fork, every write immediate."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import apsw

from memorist.errors import Closed, Error, StoreBusy
from memorist.stores.sqlite.database import Database
from memorist.stores.sqlite.failures import translated

Synchronous = Literal["normal", "full"]

PATIENCE = 10.0
"""Seconds a reader or writer waits for another process."""

JOURNAL_LIMIT = 64 * 1024 * 1024
CACHE_KIB = 16 * 1024


class _Handle:
    """A connection with the lock that lets `close` wait for the thread that uses it."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.lock = threading.RLock()


class Connections:
    """Hands each thread its own connection, and lets one thread write at a time.

    A deferred transaction that turns into a write fails at once under contention, whatever the busy
    timeout; hence `BEGIN IMMEDIATE` for every write.
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
        """Connect the calling thread, creating the file where there is none."""
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
        """This thread's connection, with all statements inside seeing one state."""
        with self.reading() as db:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")  # nothing was written; a commit can fail on a damaged file

    @contextmanager
    def writing(self, wait: float = PATIENCE) -> Generator[Database]:
        """This thread's connection inside a transaction that is kept whole or not at all."""
        self._check()
        if not self._writer.acquire(timeout=wait):
            raise _busy(self.path)
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
        """Move the write-ahead log into the file and empty it; False when others are using it."""
        with self.reading() as db, _patience(db, wait):
            try:
                db.checkpoint()
            except (apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError):
                return False
        return True

    def rewrite(self, wait: float = PATIENCE) -> bool:
        """Write the whole file anew, with its rows and nothing else; False without room, or while others use it."""
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
        """Close every thread's connection, each when its thread is between two operations."""
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
    """Switch a file to WAL; SQLite does not wait by itself when two processes switch at once."""
    _insist(lambda: db.execute("PRAGMA journal_mode = WAL"), wait=wait)


def _insist(action: Callable[[], object], *, wait: float) -> None:
    deadline = time.monotonic() + wait
    while True:
        try:
            action()
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


def _busy(path: Path) -> StoreBusy:
    return StoreBusy(f"{path} is being written by another thread", remedy="Try again in a moment.")


def _closed() -> Closed:
    return Closed("This store is closed", remedy="Open it again.")
