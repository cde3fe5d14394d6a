"""Uses of memories that wait to be counted, in a small file beside the index file.

A recall does not wait for the write lock. If another writer has it, the recall adds a line here: ids, a moment, and
perhaps a session. The next write, of any process, counts the lines and removes the file before it commits. A kill in
between loses a few counts; it never counts anything twice.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import suppress
from typing import Any

from memorist.files import PRIVATE, make_folder
from memorist.stores.index.entries import micros, moment
from memorist.stores.index_file import IndexFile
from memorist.stores.sql.bookkeeping import Use

MOST_BYTES = 256 * 1024
"""The largest size of a queue: some thousand recalls. What comes after is not counted."""
PATIENCE = 0.1
"""Seconds to wait for the lock of the file, which others have for as long as it takes to read it."""


class UsageQueue:
    """The file, which has the same owner and mode as the index file."""

    def __init__(self, file: IndexFile) -> None:
        self.path = file.usage
        self._is_ours = file.is_ours
        self._mode = file.mode

    def add(self, use: Use) -> bool:
        """Add a use; False if it cannot be written, or the queue is full."""
        line = json.dumps([list(use.ids), micros(use.at), use.session]).encode() + b"\n"
        with suppress(OSError):
            make_folder(self.path.parent)
            while (file := self._locked(os.O_RDWR | os.O_CREAT | os.O_APPEND)) is not None:
                try:
                    found = os.fstat(file)
                    if found.st_nlink:  # otherwise it was counted while we waited for its lock
                        if found.st_uid == os.getuid():
                            os.fchmod(file, self._mode())
                        return found.st_size + len(line) <= MOST_BYTES and os.write(file, line) == len(line)
                finally:
                    os.close(file)
        return False

    def take(self) -> list[Use]:
        """Every use that waits; the file is removed."""
        return self._read(remove=True)

    def waiting(self) -> list[Use]:
        """Every use that waits."""
        return self._read(remove=False)

    def _read(self, *, remove: bool) -> list[Use]:
        with suppress(OSError):
            file = self._locked(os.O_RDONLY)
            if file is None:
                return []
            try:
                if not os.fstat(file).st_nlink:  # it was counted while we waited for its lock
                    return []
                lines = os.pread(file, MOST_BYTES, 0)
                if remove:
                    self.path.unlink()
            finally:
                os.close(file)
            return [use for line in lines.splitlines() if (use := _use(line)) is not None]
        return []

    def _locked(self, flags: int) -> int | None:
        """The open file with its lock, which nobody holds for longer than a read; None if it is not ours."""
        file = os.open(self.path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, PRIVATE)
        try:
            if self._is_ours(file):
                _lock(file)
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        return None


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
