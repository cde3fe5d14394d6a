"""Uses of memories that wait to be counted, in a small file beside the database.

A recall takes no write lock: it adds a line with ids, a moment, and perhaps a session. Whoever reads usage counts the
lines in, and the next write, of any process, counts them in the database. Before it commits it sets the file aside, and
afterwards it removes it. After a kill in between, the moments in the database tell whether they were counted.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from memorist.files import PRIVATE, make_folder
from memorist.stores.index.entries import micros, moment
from memorist.stores.index_file import IndexFile
from memorist.stores.sql.bookkeeping import Use

MOST_BYTES = 256 * 1024
"""The largest size of a queue: some thousand recalls. The recall that finds it full counts it."""
PATIENCE = 0.1
"""Seconds to wait for the lock of the file, which others have for as long as it takes to add a line."""


class Waiting(NamedTuple):
    """The uses that wait, oldest first, and the moments at which each memory was recalled."""

    lines: bytes
    uses: list[Use]
    recalls: Mapping[str, list[datetime]]


NONE_WAIT = Waiting(b"", [], {})


class UsageQueue:
    """The file, which has the same owner and mode as the index file. Thread-safe."""

    def __init__(self, file: IndexFile) -> None:
        self.path, self._aside = file.usage
        self._is_ours = file.is_ours
        self._mode = file.mode
        self._reading = Lock()
        self._last = NONE_WAIT

    def add(self, use: Use) -> bool:
        """Add a use; False if it cannot be written, or the queue is full."""
        line = json.dumps([list(use.ids), micros(use.at), use.session]).encode() + b"\n"
        with suppress(OSError):
            while (file := self._opened(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)) is not None:
                try:
                    _lock(file)
                    found = os.fstat(file)
                    if _is_at(self.path, found):  # otherwise it was counted while we waited for its lock
                        if found.st_uid == os.getuid():
                            os.fchmod(file, self._mode())
                        return found.st_size + len(line) <= MOST_BYTES and os.write(file, line) == len(line)
                finally:
                    os.close(file)
        return False

    def waiting(self) -> Waiting:
        """Every use that waits. Lines are only ever added, so this needs no lock, and parses what is new."""
        with self._reading:
            lines, last = self._lines(self.path), self._last
            if not lines.startswith(last.lines):
                last = NONE_WAIT
            if lines != last.lines:
                new = _uses(lines[len(last.lines) :])
                last = Waiting(lines, [*last.uses, *new], _with_recalls(last.recalls, new))
            self._last = last
            return last

    def set_aside(self, counted: Waiting) -> list[Use]:
        """Set the file aside until the commit; returns the uses that were added after some were counted.

        If a process that was stopped has the lock, only a line that it is about to add is lost.
        """
        with suppress(FileNotFoundError):  # nothing waits, or somebody removed it; else it must not be counted again
            file = self._opened(self.path, os.O_RDONLY)
            if file is None:
                return []
            try:
                with suppress(OSError):
                    _lock(file)
                lines = _whole(os.pread(file, MOST_BYTES, 0))
                self.path.replace(self._aside)
            finally:
                os.close(file)
            return _uses(lines[len(counted.lines) :])
        return []

    def can_be_set_aside(self) -> bool:
        """Whether this user may remove files from the folder."""
        return os.access(self.path.parent, os.W_OK)

    def aside(self) -> list[Use]:
        """The uses that a killed process set aside, or one that is about to remove them."""
        return _uses(self._lines(self._aside))

    def remove_aside(self) -> None:
        """Remove what was set aside, because it is committed."""
        with suppress(OSError):
            self._aside.unlink()

    def _lines(self, path: Path) -> bytes:
        with suppress(OSError):
            file = self._opened(path, os.O_RDONLY)
            if file is not None:
                try:
                    return _whole(os.pread(file, MOST_BYTES, 0))
                finally:
                    os.close(file)
        return b""

    def _opened(self, path: Path, flags: int) -> int | None:
        """The open file; None if it is not ours."""
        if flags & os.O_CREAT:
            make_folder(path.parent)
        file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, PRIVATE)
        try:
            if self._is_ours(file):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        return None


def _is_at(path: Path, found: os.stat_result) -> bool:
    """Whether a path still leads to an open file."""
    with suppress(OSError):
        return os.path.samestat(os.stat(path, follow_symlinks=False), found)
    return False


def _whole(lines: bytes) -> bytes:
    """The lines that are complete."""
    return lines[: lines.rfind(b"\n") + 1]


def _with_recalls(known: Mapping[str, list[datetime]], uses: Iterable[Use]) -> dict[str, list[datetime]]:
    recalls = dict(known)
    for use in uses:
        for id in set(use.ids) if use.session is None else ():
            recalls[id] = [*recalls.get(id, ()), use.at]
    return recalls


def _uses(lines: bytes) -> list[Use]:
    return [use for line in lines.splitlines() if (use := _use(line)) is not None]


def _lock(file: int) -> None:
    """Lock a file; raises OSError if a process that was stopped has the lock."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(PATIENCE / 100)


def _use(line: bytes) -> Use | None:
    """A use from its line; None if the line is cut off or not one of ours."""
    try:
        ids, at, session = _values(line)
        return Use([id for id in ids if isinstance(id, str)], moment(at), session)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def _values(line: bytes) -> tuple[list[Any], int, str | None]:
    values = json.loads(line)
    ids, at, session = values
    if not isinstance(ids, list) or type(at) is not int or not isinstance(session, str | None):
        raise TypeError
    if b"\0" in (session or "").encode():  # no store holds a NUL, or what has no bytes
        raise ValueError
    return values
