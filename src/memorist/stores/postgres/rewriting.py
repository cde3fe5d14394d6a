"""Rewriting the tables of a server, so that their files hold nothing that was erased.

A server keeps an erased row in its files: vacuum frees the place without overwriting it. `VACUUM FULL` writes the
tables, their long values and their indexes anew, but keeps rows that an older transaction may still read.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from psycopg import errors

from memorist.ports import SCRUB
from memorist.stores.postgres.database import Connection
from memorist.stores.postgres.schema import DISTRIBUTED

LARGEST = 256 * 1024 * 1024
"""Bytes of tables that are rewritten without being asked; nobody can use a table while it is rewritten."""
PAUSE = 0.05

SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'memorist' AND c.relkind IN ('r', 'p')
"""
NEWEST = "SELECT (pg_snapshot_xmax(pg_current_snapshot())::text::numeric % 4294967296)::text"
OLDER = """
    SELECT count(*) FROM (
        SELECT coalesce(backend_xmin, backend_xid) AS seen FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
        UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()
        UNION ALL SELECT xmin FROM pg_replication_slots
        UNION ALL SELECT backend_xmin FROM pg_stat_replication
    ) AS others WHERE seen IS NOT NULL AND age(seen) > age(%s::xid)
"""
"""Transactions, standbys and slots for which the server keeps rows that were erased before a transaction number."""
ASKED = "SELECT space, subject, due FROM memorist.jobs WHERE task = %s"
OUTDATE_INDEX_FILES = "UPDATE memorist.spaces SET indexes = seq::text"
DONE = "DELETE FROM memorist.jobs WHERE task = %s AND space = %s AND subject = %s AND due = %s"


def rewrite(connection: Connection, *, wait: float, largest: int | None = None) -> bool:
    """Rewrite every table of ours; False if they are too large, or others read what was erased or hold a table.

    The statistics of the planner hold sample texts, so they are made anew, too. Jobs that asked for this are done.
    """
    if largest is not None and _value(connection, SIZE) > largest:
        return False
    asked = connection.execute(ASKED, (SCRUB,)).fetchall()
    if not _readers_are_gone(connection, wait):
        return False
    connection.execute(f"SET lock_timeout = {int(wait * 1000)}".encode())
    try:
        connection.execute(OUTDATE_INDEX_FILES)
        for table in DISTRIBUTED:
            connection.execute(f"VACUUM (FULL, ANALYZE) memorist.{table}".encode())
    except errors.LockNotAvailable:
        return False
    with suppress(errors.InsufficientPrivilege):
        connection.execute("VACUUM FULL pg_catalog.pg_statistic")
    with suppress(errors.InsufficientPrivilege):
        connection.execute("CHECKPOINT")  # removes the old files, and lets the log be reused
    for job in asked:
        connection.execute(DONE, (SCRUB, *job))
    return True


def _readers_are_gone(connection: Connection, wait: float) -> bool:
    """Wait until no transaction reads the state of now or an older one."""
    newest, deadline = _value(connection, NEWEST), time.monotonic() + wait
    while _value(connection, OLDER, newest):
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE)
    return True


def _value(connection: Connection, sql: str, *values: str) -> Any:
    row = connection.execute(sql.encode(), values or None).fetchone()
    assert row is not None
    return row[0]
