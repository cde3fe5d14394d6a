"""SQLite's errors in our words, with a remedy."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from memorist.errors import StoreBusy, StoreError
from memorist.stores.rows import unreadable
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
def translate_failures(path: Path) -> Generator[None]:
    """Raise our errors for the SQLite errors that a user can act on; all others pass unchanged."""
    try:
        yield
    except apsw.Error as error:
        failure = failure_for(error, _FAILURES)
        if failure is None:
            raise
        raise failure.raises(f"{path} {failure.problem} ({error})", remedy=failure.remedy) from error
    except UnicodeDecodeError as error:
        raise unreadable(f"{path} holds a text that is not UTF-8; `memorist doctor` says where") from error
