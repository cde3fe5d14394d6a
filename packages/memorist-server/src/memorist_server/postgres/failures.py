"""The errors of a server in our words, with a remedy and never with a password."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
import psycopg_pool
from psycopg import errors

from memorist.errors import InvalidInput, StoreBusy, StoreError, StoreUnavailable
from memorist.stores.sql.database import Failure, failure_for

LOST_NODE = (
    errors.ConnectionException,
    errors.ConnectionDoesNotExist,
    errors.ConnectionFailure,
    errors.SqlclientUnableToEstablishSqlconnection,
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
)
"""What the coordinator of a cluster says about a node that is gone, over a connection that still works."""
_FAILURES = (
    Failure(
        (errors.LockNotAvailable, errors.SerializationFailure, errors.DeadlockDetected),
        StoreBusy,
        "the space is being written by others",
        "Try again in a moment; a process that writes for a long time should write smaller batches.",
    ),
    Failure(
        (psycopg_pool.TooManyRequests, psycopg_pool.PoolTimeout, errors.TooManyConnections),
        StoreBusy,
        "no connection to the database became free",
        "Try again in a moment, check that the server runs, or raise its `max_connections`.",
    ),
    Failure(
        (errors.InsufficientPrivilege,),
        StoreError,
        "this user may not do that in the database",
        "Grant CREATE on the database, or let its owner run `memorist db migrate` once.",
    ),
    Failure(
        (errors.FeatureNotSupported,),
        StoreError,
        "the server cannot run a statement that Memorist needs",
        "PostgreSQL must be 15 or later. On a Citus cluster, run `memorist db distribute` after each upgrade.",
    ),
    Failure(
        (errors.DiskFull, errors.OutOfMemory),
        StoreError,
        "the server is out of space. Nothing was written",
        "Free some space and write it again.",
    ),
    Failure(
        (errors.ReadOnlySqlTransaction,),
        StoreError,
        "the server is read-only. Nothing was written",
        "Give the URL of the primary server, not of a standby.",
    ),
    Failure(
        (errors.ProgramLimitExceeded,),
        InvalidInput,
        "an id, key, session or name is too long for an index",
        "Keep them below 2,000 bytes; texts may have any length.",
    ),
    Failure(
        (psycopg.DataError, psycopg.IntegrityError),
        InvalidInput,
        "a value of the batch cannot be kept",
        "Remove NaN from numbers and vectors, and keep integers below 2⁶³.",
    ),
    Failure(
        LOST_NODE,
        StoreError,
        "the server, or the node of its cluster with this space, does not respond",
        "Start it, or promote its standby; then try again. Spaces on other nodes can be used meanwhile.",
    ),
    Failure(
        (psycopg.OperationalError, psycopg.InterfaceError),
        StoreUnavailable,
        "the database does not respond",
        "Check that the server runs, and the host, database, user and password of the URL; then try again.",
    ),
)


@contextmanager
def translate_failures() -> Generator[None]:
    """Raise our errors for the server errors that a user can act on; all others pass unchanged."""
    try:
        yield
    except psycopg.Error as error:
        failure = failure_for(error, _FAILURES)
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
