"""What a server reports, in our words and with a remedy; a password is never among them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

import psycopg
import psycopg_pool
from psycopg import errors

from memorist.errors import Error, InvalidInput, StoreBusy, StoreError


class _Failure(NamedTuple):
    causes: tuple[type[psycopg.Error], ...]
    raises: type[Error]
    problem: str
    remedy: str


_FAILURES = (
    _Failure(
        (errors.LockNotAvailable, errors.SerializationFailure, errors.DeadlockDetected),
        StoreBusy,
        "the space is being written by others",
        "Try again in a moment; a process that writes for long should write smaller batches.",
    ),
    _Failure(
        (psycopg_pool.TooManyRequests, psycopg_pool.PoolTimeout, errors.TooManyConnections),
        StoreBusy,
        "no connection to the database became free",
        "Try again in a moment, check that the server runs, or raise its `max_connections`.",
    ),
    _Failure(
        (errors.InsufficientPrivilege,),
        StoreError,
        "this user may not do that in the database",
        "Grant CREATE on the database, or let its owner run `memorist db migrate` once.",
    ),
    _Failure(
        (errors.FeatureNotSupported, errors.UndefinedFile),
        StoreError,
        "the server lacks something we need",
        "Install pgvector 0.7 or later on the server; PostgreSQL must be 15 or later.",
    ),
    _Failure(
        (errors.DiskFull, errors.OutOfMemory),
        StoreError,
        "the server is out of room. Nothing of this write was kept",
        "Free some space and write it again.",
    ),
    _Failure(
        (errors.ReadOnlySqlTransaction,),
        StoreError,
        "the server only lets us read. Nothing was written",
        "Give the URL of the primary server, not of a standby.",
    ),
    _Failure(
        (errors.ProgramLimitExceeded,),
        InvalidInput,
        "an id, key, session or name is too long for an index",
        "Keep them below 2,000 bytes; texts may be as long as they are.",
    ),
    _Failure(
        (psycopg.DataError, psycopg.IntegrityError),
        InvalidInput,
        "a value of the batch cannot be kept",
        "Remove NaN from numbers and vectors, and keep integers below 2⁶³.",
    ),
    _Failure(
        (psycopg.OperationalError, psycopg.InterfaceError),
        StoreError,
        "the database does not answer",
        "Check that the server runs, and the host, database, user and password of the URL; then try again.",
    ),
)


@contextmanager
def translated() -> Generator[None]:
    """Raise our errors for those of the server that a user can act on; mistakes of ours pass unchanged."""
    try:
        yield
    except psycopg.Error as error:
        failure = next((failure for failure in _FAILURES if isinstance(error, failure.causes)), None)
        if failure is None:
            raise
        raise failure.raises(f"{failure.problem} ({_first_line(error)})", remedy=failure.remedy) from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise InvalidInput(
            f"a value cannot be kept ({error})",
            remedy="Remove lone surrogates from texts, and keep integers below 2⁶³.",
        ) from error


def _first_line(error: psycopg.Error) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
