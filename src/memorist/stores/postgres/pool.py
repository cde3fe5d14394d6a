"""Connections: one pool for each server and process, shared by all its spaces; none across a fork."""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool

from memorist.errors import Closed, InvalidInput, StoreError
from memorist.stores.postgres.database import Connection
from memorist.stores.postgres.failures import translated
from memorist.stores.postgres.rows import adapt

T = TypeVar("T")
Pool = ConnectionPool[Any]

PATIENCE = 10.0
"""Seconds a reader or writer waits for a connection, and a writer for another one."""
MOST_CONNECTIONS = 8
LONGEST_PAUSE = 0.2
"""Seconds between two attempts of a transaction that lost its connection, or lost to another, before its commit."""
LOST_RACES = (errors.SerializationFailure, errors.DeadlockDetected)


def checked(url: str) -> str:
    """A connection string, read once so that a mistake in it is told without repeating it."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise InvalidInput(
            "The URL of the database cannot be read",
            remedy="Write it as postgresql://user:password@host:5432/database, with %-escapes for odd characters.",
        ) from None  # libpq quotes the URL, and with it the password
    return make_conninfo("", **{"application_name": "memorist", "connect_timeout": 10, **given})


class _Pools:
    """The pools of this process, each with how many stores use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[int, str], tuple[Pool, int]] = {}

    def take(self, url: str) -> Pool:
        """The pool of a URL, made when nobody has it yet."""
        key = os.getpid(), url
        with self._lock:
            pool, users = self._open.get(key, (None, 0))
            if pool is None:
                pool = _made(url)
            self._open[key] = pool, users + 1
        return pool

    def give_back(self, url: str) -> None:
        """Close the pool of a URL when its last user has gone."""
        key = os.getpid(), url
        with self._lock:
            pool, users = self._open.pop(key)
            if users > 1:
                self._open[key] = pool, users - 1
        if users == 1:
            pool.close()


POOLS = _Pools()
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # a lost connection is replaced: no news for stderr


def _made(url: str) -> Pool:
    return ConnectionPool(
        url,
        kwargs={"autocommit": True},
        min_size=0,
        max_size=MOST_CONNECTIONS,
        timeout=PATIENCE,
        configure=_configure,
        open=True,
        name="memorist",
    )


def _configure(connection: Connection) -> None:
    connection.execute(f"SET lock_timeout = {int(PATIENCE * 1000)}".encode())
    connection.execute("SET plan_cache_mode = force_custom_plan")  # a plan made for an empty table stays while it fills
    adapt(connection)


class Connections:
    """What one store needs of a pool."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pid = os.getpid()
        self._pool: Pool | None = POOLS.take(url)

    def read(self, job: Callable[[Connection], T]) -> T:
        """Do something on a connection, each statement seeing the newest commit."""
        return self._tried(job)

    def write(self, job: Callable[[Connection], T]) -> T:
        """Do something in a transaction that is kept whole or not at all; it may be done more than once."""
        return self._tried(lambda connection: _committed(connection, job))

    def read_still(self, job: Callable[[Connection], T]) -> T:
        """Do something on a connection, all statements seeing one state."""
        return self._tried(lambda connection: _rolled_back(_begun(connection), job))

    @contextmanager
    def snapshot(self) -> Generator[Connection]:
        """A connection all whose statements see one state, for as long as it takes."""
        pool = self._current()
        with translated():
            connection = self._tried(_begun, keep=True)
            try:
                yield connection
            finally:
                _ended(connection)
                pool.putconn(connection)

    def close(self) -> None:
        """Release the pool; twice is harmless."""
        if self._pool is not None and os.getpid() == self._pid:
            POOLS.give_back(self._url)
        self._pool = None

    def _current(self) -> Pool:
        if os.getpid() != self._pid:
            raise Closed("This store was opened before a fork", remedy="Open it again in the child process.")
        if self._pool is None:
            raise Closed("This store is closed", remedy="Open it again.")
        return self._pool

    def _tried(self, job: Callable[[Connection], T], *, keep: bool = False) -> T:
        """A connection may be dead when it comes out of the pool: it is thrown away, and the next one tried."""
        pool, deadline, pause = self._current(), time.monotonic() + PATIENCE, 0.01
        with translated():
            while True:
                connection = pool.getconn()
                try:
                    done = job(connection)
                except BaseException as error:
                    again = _passing(error, connection) and time.monotonic() < deadline
                    pool.putconn(connection)
                    if not again:
                        raise
                else:
                    if not keep:
                        pool.putconn(connection)
                    return done
                time.sleep(random.uniform(0, pause))  # noqa: S311 - spreads writers, no secret
                pause = min(2 * pause, LONGEST_PAUSE)


def _passing(error: BaseException, connection: Connection) -> bool:
    """Whether another attempt may succeed: the connection was lost, or the transaction lost to another."""
    return isinstance(error, LOST_RACES) or (isinstance(error, psycopg.Error) and connection.closed)


def _begun(connection: Connection) -> Connection:
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    return connection


def _rolled_back(connection: Connection, job: Callable[[Connection], T]) -> T:
    try:
        return job(connection)
    finally:
        _ended(connection)


def _ended(connection: Connection) -> None:
    with suppress(psycopg.Error):  # a lost connection has ended its transaction itself
        connection.rollback()


def _committed(connection: Connection, job: Callable[[Connection], T]) -> T:
    connection.execute("BEGIN")
    try:
        done = job(connection)
    except BaseException:
        _ended(connection)
        raise
    try:
        connection.execute("COMMIT")
    except LOST_RACES:
        raise
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise StoreError(
            "the connection was lost while the server was committing: the write may be kept or not",
            remedy="Write it again; what is there already is not written twice.",
        ) from error
    return done
