"""The default store: one SQLite file holds one space."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TypeVar

import apsw

from memorist.errors import InvalidInput
from memorist.files import sweep, sweep_folder
from memorist.ports import Batch, Damage
from memorist.stores.sql.reads import Noted, Reads
from memorist.stores.sql.store import SqlStore
from memorist.stores.sql.writes import Write
from memorist.stores.sqlite import opening
from memorist.stores.sqlite.connection import LAST_PATIENCE, PATIENCE, SqliteConnections, SqliteDatabase, Synchronous
from memorist.stores.sqlite.place import INDEX_FILE, locate
from memorist.stores.sqlite.statements import SQLITE, pack

T = TypeVar("T")
SCRUB_PATIENCE = 0.25
"""Seconds that erasing waits for readers of the log; what they still use is overwritten later."""


class SqliteWrite(Write[bytes]):
    """A write that also collects traces of what it erases, to look for them in the file afterwards."""

    def __init__(self, db: SqliteDatabase, noted: Noted) -> None:
        super().__init__(db, SQLITE, noted)
        self.traces = set[bytes]()
        self._file = db

    def before_erasing(self, ids: Sequence[str]) -> None:
        """Collect the traces of memories or entities."""
        from memorist.stores.sqlite import remnants

        super().before_erasing(ids)
        self.traces |= remnants.traces_of(self._file, ids)


class SqliteStore(SqlStore[bytes]):
    """Memories in one file. Threads and processes may share it; a fork must open it again."""

    def __init__(self, connections: SqliteConnections, space: str) -> None:
        path = connections.path
        super().__init__(space, pack, path.with_name(path.name + INDEX_FILE), home=path)
        self._connections = connections
        self._traces_lock = Lock()
        self._traces = set[bytes]()
        self._at_exit = weakref.finalize(self, connections.close, wait=LAST_PATIENCE)
        """Closes the file when the program ends, or nobody uses the store any more: the log does not stay behind."""
        self._count_set_aside()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        space: str | None = None,
        create: bool = True,
        synchronous: Synchronous = "normal",
    ) -> SqliteStore:
        """Open a file, or create it with its folder; a new space is named after the file.

        With `synchronous="full"` a write also survives a power cut, at about a sixth of the commits per second.
        """
        file = locate(path, create=create)
        sweep(file)
        connections = SqliteConnections(file, synchronous=synchronous)
        try:
            return cls(connections, opening.prepare(connections, asked=space))
        except BaseException:
            connections.close(tidy=False)
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._connections.path

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory it takes while it is open: its index, and the pages that SQLite keeps."""
        return super().nbytes + self._connections.nbytes

    def delete(self, ids: Sequence[str]) -> list[str]:
        gone = super().delete(ids)
        if gone:
            self.scrub()
        return gone

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Overwrite erased data: empty the log, and rewrite the file if a page kept a copy of an erased row.

        Unfinished copies that killed processes left are removed, too.
        """
        from memorist.stores.sqlite import remnants

        sweep(self.path)
        sweep_folder(self.path.parent)
        if rewrite and not self._outdated_index_files(wait=SCRUB_PATIENCE):
            return False
        if not self._connections.checkpoint(wait=SCRUB_PATIENCE):
            return False
        with self._traces_lock:
            traces = frozenset(self._traces)
        if rewrite or remnants.any_left(self.path, traces):
            rewritten = self._connections.rewrite(wait=SCRUB_PATIENCE)
            if not rewritten or not self._connections.checkpoint(wait=SCRUB_PATIENCE):
                return False
        with self._traces_lock:
            self._traces -= traces
        return True

    def backup(self, path: Path) -> None:
        """Copy the store as of one moment to a new file and check the copy; others may keep writing."""
        self._count_waiting()
        with self._connections.reading() as db:
            opening.copy(db, path, self.path)

    def integrity(self) -> list[Damage]:
        """The problems of the file; empty if there are none."""
        with self._connections.snapshot() as db:
            return opening.problems(db)

    def damaged(self) -> list[str]:
        """The memories and other rows that cannot be read, one sentence each."""
        from memorist.stores.sqlite.damage import damaged_rows

        with self._connections.snapshot() as db:
            return list(map(str, damaged_rows(db)))

    def repair(self) -> None:
        """Repair damaged rows and indexes, as far as possible; what was lost is replaced by something harmless."""
        from memorist.stores.sqlite.damage import repair

        with self._connections.writing() as db:
            changed = repair(db)
        self.update(lambda reader: Batch(revised=list(reader.get(changed).values())))  # with the words of their texts

    def close(self) -> None:
        """Release the file and the connection of every thread; safe to call twice."""
        self._cache.close()
        self._count_waiting()
        self._at_exit.detach()
        self._connections.close()

    def _read(self, question: Callable[[Reads], T]) -> T:
        with self._connections.reading() as db:
            return question(Reads(db, SQLITE, lenient=True, waiting=self._waiting, noted=self._noted))

    def _read_still(self, question: Callable[[Reads], T]) -> T:
        with self._snapshot() as reads:
            return question(reads)

    @contextmanager
    def _snapshot(self) -> Generator[Reads]:
        with self._connections.snapshot() as db:
            yield Reads(db, SQLITE, lenient=True, waiting=self._waiting)

    def _write(self, change: Callable[[Write[bytes]], T], *, wait: float | None = None) -> T:
        with self._connections.writing(PATIENCE if wait is None else wait) as db, _refusals():
            write = SqliteWrite(db, self._noted)
            done = self._carry_out(write, change)
            self._remember_traces(write.traces)
        self._committed(write)
        if write.has_erased:
            self._connections.checkpoint(wait=SCRUB_PATIENCE)  # the log still holds what was erased
        return done

    def _remember_traces(self, traces: set[bytes]) -> None:
        if not traces:
            return
        from memorist.stores.sqlite.remnants import MOST_TRACES

        with self._traces_lock:
            if len(self._traces) <= MOST_TRACES:
                self._traces |= traces

    def _size(self, reads: Reads) -> int:
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())


@contextmanager
def _refusals() -> Generator[None]:
    """Raise our error for values that the file cannot hold."""
    try:
        yield
    except (UnicodeEncodeError, OverflowError, apsw.ConstraintError) as error:
        raise InvalidInput(
            f"a value of the batch cannot be kept ({error})",
            remedy="Remove lone surrogates from texts and NaN from numbers; keep integers below 2⁶³.",
        ) from error
