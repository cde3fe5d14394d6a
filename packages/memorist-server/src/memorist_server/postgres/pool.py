"""Connections: one pool per server and process, shared by all its spaces, but not across a fork."""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from weakref import WeakSet

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool

from memorist.errors import Closed, InvalidInput, StoreUnavailable
from memorist_server.postgres.database import Connection, adapt
from memorist_server.postgres.failures import LOST_NODE, translate_failures

T = TypeVar("T")
Pool = ConnectionPool[Any]

PATIENCE = 10.0
"""Seconds to wait for a connection, or for another writer."""
MOST_CONNECTIONS = 8
DEFAULTS = {
    "application_name": "memorist",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Settings of a connection, unless the URL has others: a machine that is gone is noticed within half a minute."""
LONGEST_PAUSE = 0.2
"""The longest pause in seconds before a transaction is retried after a lost connection or a lost race."""
LOST_RACES = (errors.SerializationFailure, errors.DeadlockDetected)


def check_conninfo(url: str) -> str:
    """A connection string, parsed here so that the error for a bad one does not repeat it."""
    given: dict[str, Any] | None = None
    with suppress(psycopg.ProgrammingError):
        given = conninfo_to_dict(url)
    if given is None:  # raised here, because the error of libpq quotes the URL, and with it the password
        raise InvalidInput(
            "The URL of the database is invalid",
            remedy="Write it as postgresql://user:password@host:5432/database, with %-escapes for special characters.",
        )
    return make_conninfo("", **{**DEFAULTS, **given})


CLUSTERS = WeakSet[Connection]()
"""Connections to the coordinator of a cluster: its nodes are told only what is set within a transaction."""


class _Pools:
    """The pools of this process, each with the number of stores that use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[int, str], tuple[Pool, int]] = {}

    def take(self, url: str, most: int) -> Pool:
        """The pool of a URL, opened on first use with so many connections at most."""
        key = os.getpid(), url
        with self._lock:
            pool, users = self._open.get(key, (None, 0))
            if pool is None:
                pool = _open_pool(url, most)
            self._open[key] = pool, users + 1
        return pool

    def give_back(self, url: str) -> None:
        """Close the pool of a URL after its last user."""
        key = os.getpid(), url
        with self._lock:
            pool, users = self._open.pop(key)
            if users > 1:
                self._open[key] = pool, users - 1
        if users == 1:
            pool.close()


POOLS = _Pools()
logging.getLogger("psycopg.pool").addHandler(
    logging.NullHandler()
)  # a lost connection is replaced, so it is not worth a line on stderr


def _open_pool(url: str, most: int) -> Pool:
    return ConnectionPool(
        url,
        kwargs={"autocommit": True},
        min_size=0,
        max_size=most,
        timeout=PATIENCE,
        reconnect_timeout=PATIENCE,  # then the next caller tries again, instead of waiting for ever longer pauses
        configure=_configure,
        open=True,
        name="memorist",
    )


def _configure(connection: Connection) -> None:
    connection.execute(f"SET lock_timeout = {_milliseconds(PATIENCE)}".encode())
    connection.execute(
        "SET plan_cache_mode = force_custom_plan"
    )  # a generic plan made for an empty table would stay in use while it fills
    if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone() is not None:
        connection.execute("SET citus.propagate_set_commands = 'local'")
        CLUSTERS.add(connection)
    adapt(connection)


def _milliseconds(seconds: float) -> int:
    return max(1, int(seconds * 1000))  # 0 would mean no limit


def _begin(connection: Connection, kind: str = "", *, wait: float = PATIENCE) -> None:
    """Begin a transaction whose waits for locks are bounded."""
    connection.execute(f"BEGIN {kind}".encode())
    if wait != PATIENCE or connection in CLUSTERS:
        connection.execute(f"SET LOCAL lock_timeout = {_milliseconds(wait)}".encode())


class PostgresConnections:
    """The connections of one store, from a shared pool."""

    def __init__(self, url: str, most: int = MOST_CONNECTIONS) -> None:
        self.url = url
        self._pid = os.getpid()
        self._pool: Pool | None = POOLS.take(url, most)

    def read(self, job: Callable[[Connection], T]) -> T:
        """Run a job on a connection; each statement sees the newest commit."""
        return self._retried(job)

    def write(self, job: Callable[[Connection], T], *, wait: float | None = None) -> T:
        """Run a job in a transaction, which is committed completely or not at all; the job may run more than once.

        `wait` is how many seconds it may wait for each lock.
        """
        patience = PATIENCE if wait is None else wait
        return self._retried(lambda connection: _committed(connection, job, patience))

    def read_still(self, job: Callable[[Connection], T]) -> T:
        """Run a job on a connection; all statements see one state."""
        return self._retried(lambda connection: _rolled_back(_begun(connection), job))

    @contextmanager
    def snapshot(self) -> Generator[Connection]:
        """A connection whose statements all see one state, for as long as the context lasts."""
        pool = self._current()
        with translate_failures():
            connection = self._retried(_begun, keep=True)
            try:
                yield connection
            finally:
                _ended(connection)
                pool.putconn(connection)

    def close(self) -> None:
        """Release the pool; safe to call twice."""
        if self._pool is not None and os.getpid() == self._pid:
            POOLS.give_back(self.url)
        self._pool = None

    def _current(self) -> Pool:
        if os.getpid() != self._pid:
            raise Closed("This store was opened before a fork", remedy="Open it again in the child process.")
        if self._pool is None:
            raise Closed("This store is closed", remedy="Open it again.")
        return self._pool

    def _retried(self, job: Callable[[Connection], T], *, keep: bool = False) -> T:
        """Run a job, with retries: a connection from the pool may be dead, and is then replaced by the next one."""
        pool, deadline, pause = self._current(), time.monotonic() + PATIENCE, 0.01
        with translate_failures():
            while True:
                connection = pool.getconn()
                try:
                    done = job(connection)
                except BaseException as error:
                    again = _transient(error, connection) and time.monotonic() < deadline
                    pool.putconn(connection)
                    if not again:
                        raise
                else:
                    if not keep:
                        pool.putconn(connection)
                    return done
                time.sleep(random.uniform(0, pause))  # noqa: S311 - spreads writers, not a secret
                pause = min(2 * pause, LONGEST_PAUSE)


def _transient(error: BaseException, connection: Connection) -> bool:
    """Whether another attempt may succeed: a connection was lost, ours or a node's, or another won a race."""
    return isinstance(error, (*LOST_RACES, *LOST_NODE)) or (isinstance(error, psycopg.Error) and connection.closed)


def _begun(connection: Connection) -> Connection:
    _begin(connection, "ISOLATION LEVEL REPEATABLE READ READ ONLY")
    return connection


def _rolled_back(connection: Connection, job: Callable[[Connection], T]) -> T:
    try:
        return job(connection)
    finally:
        _ended(connection)


def _ended(connection: Connection) -> None:
    with suppress(psycopg.Error):  # a lost connection has already ended its transaction
        connection.rollback()


def _committed(connection: Connection, job: Callable[[Connection], T], wait: float) -> T:
    _begin(connection, wait=wait)
    try:
        done = job(connection)
    except BaseException:
        _ended(connection)
        raise
    try:
        connection.execute("COMMIT")
    except LOST_RACES:
        raise
    except (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError) as error:
        raise StoreUnavailable(  # a coordinator calls it an internal error if a node is lost meanwhile
            "the connection was lost during the commit, so the write may or may not have been kept",
            remedy="Write it again; nothing is written twice.",
        ) from error
    return done
