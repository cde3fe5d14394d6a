"""What SQLite reports, in our words and with a remedy."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from memorist.errors import StoreBusy, StoreError


class _Failure(NamedTuple):
    cause: type[apsw.Error]
    raises: type[StoreError]
    problem: str
    remedy: str


_FAILURES = (
    _Failure(
        apsw.BusyError,
        StoreBusy,
        "is being written by another process",
        "Try again in a moment; a process that writes for long should write smaller batches.",
    ),
    _Failure(apsw.LockedError, StoreBusy, "is locked by another use of this process", "Try again in a moment."),
    _Failure(
        apsw.FullError,
        StoreError,
        "cannot grow: the disk is full. Nothing of this write was kept",
        "Free some space and write it again.",
    ),
    _Failure(
        apsw.ReadOnlyError,
        StoreError,
        "is read-only. Nothing was written",
        "Give this user permission to write the file and its folder.",
    ),
    _Failure(
        apsw.NotADBError,
        StoreError,
        "is not a Memorist store",
        "Give the path of a store, or of a file that does not exist yet.",
    ),
    _Failure(
        apsw.CorruptError,
        StoreError,
        "is damaged",
        "Run `memorist doctor`, and restore the file from a backup.",
    ),
    _Failure(
        apsw.CantOpenError,
        StoreError,
        "cannot be opened",
        "Check that the path is a file, that its folder exists and that this user may write there.",
    ),
    _Failure(
        apsw.PermissionsError,
        StoreError,
        "may not be used by this user",
        "Give this user permission to read and write the file and its folder.",
    ),
    _Failure(
        apsw.IOError,
        StoreError,
        "could not be read or written by the system",
        "Check the disk, then run `memorist doctor`; keep stores off network file systems.",
    ),
)


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Raise our errors for those of SQLite that a user can act on; mistakes of ours pass unchanged."""
    try:
        yield
    except apsw.Error as error:
        failure = next((failure for failure in _FAILURES if isinstance(error, failure.cause)), None)
        if failure is None:
            raise
        raise failure.raises(f"{path} {failure.problem} ({error})", remedy=failure.remedy) from error
