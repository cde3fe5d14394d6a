"""Rewriting the tables of a server, so that their files hold nothing that was erased.

A server keeps an erased row in its files: vacuum frees the place without overwriting it. `VACUUM FULL` writes the
tables, their long values and their indexes anew, but keeps rows that an older transaction may still read. On a cluster,
the coordinator passes it on to the nodes; everything else is asked of each node.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress

from psycopg import errors, sql

from memorist.errors import StoreError
from memorist.ports import SCRUB
from memorist_server.postgres.database import Connection
from memorist_server.postgres.schema import ANSWERS, DISTRIBUTED, INDEX_TABLES

LARGEST = 256 * 1024 * 1024
"""Bytes of tables that are rewritten without being asked; nobody can use a table while it is rewritten."""
PAUSE = 0.05

SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::text FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'memorist' AND c.relkind IN ('r', 'p') AND c.relname NOT LIKE 'index%'
"""
"""Without published indexes, which are removed first."""
_SELF = "extract(epoch FROM pg_postmaster_start_time())::text"
NEWEST = f"""
    SELECT json_build_array({_SELF}, (pg_snapshot_xmax(pg_current_snapshot())::text::numeric % 4294967296)::text)::text
"""
"""A server and its next transaction number."""
OLDER = f"""
    SELECT count(*)::text FROM (
        SELECT coalesce(backend_xmin, backend_xid) AS seen FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
        UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()
        UNION ALL SELECT xmin FROM pg_replication_slots
        UNION ALL SELECT backend_xmin FROM pg_stat_replication
    ) AS others WHERE seen IS NOT NULL AND age(seen) > age(({{newest}}::json ->> {_SELF})::xid)
"""  # noqa: S608 - made of our own words
"""Transactions, standbys and slots for which a server keeps rows that were erased before its transaction number."""
CLUSTER = "SELECT 1 FROM pg_extension WHERE extname = 'citus'"
ON_NODES = "SELECT success, result FROM run_command_on_workers(%s)"
ASKED = "SELECT space, subject, due FROM memorist.jobs WHERE task = %s"
OUTDATE_INDEXES = (
    "UPDATE memorist.spaces SET indexes = seq::text",
    *(f"DELETE FROM memorist.{table}" for table in INDEX_TABLES),  # noqa: S608 - names of our own
)
DONE = "DELETE FROM memorist.jobs WHERE task = %s AND space = %s AND subject = %s AND due = %s"


def rewrite(connection: Connection, *, wait: float, largest: int | None = None) -> bool:
    """Rewrite every table of ours; False if they are too large, or others read what was erased or hold a table.

    The statistics of the planner hold sample texts, so they are made anew, too. Jobs that asked for this are done.
    """
    if largest is not None and sum(map(int, _everywhere(connection, SIZE))) > largest:
        return False
    asked = connection.execute(ASKED, (SCRUB,)).fetchall()
    if not _readers_are_gone(connection, wait):
        return False
    connection.execute(f"SET lock_timeout = {int(wait * 1000)}".encode())
    try:
        for statement in OUTDATE_INDEXES:
            connection.execute(statement.encode())
        for table in (*DISTRIBUTED, ANSWERS):
            connection.execute(f"VACUUM (FULL, ANALYZE) memorist.{table}".encode())
    except errors.LockNotAvailable:
        return False
    for statement in ("VACUUM FULL pg_catalog.pg_statistic", "CHECKPOINT"):  # removes old files; the log can be reused
        with suppress(errors.InsufficientPrivilege):
            _everywhere(connection, statement)
    for job in asked:
        connection.execute(DONE, (SCRUB, *job))
    return True


def _readers_are_gone(connection: Connection, wait: float) -> bool:
    """Wait until no transaction reads the state of now or an older one."""
    newest = json.dumps(dict(map(json.loads, _everywhere(connection, NEWEST))))
    older = sql.SQL(OLDER).format(newest=sql.Literal(newest)).as_string(connection)
    deadline = time.monotonic() + wait
    while any(map(int, _everywhere(connection, older))):
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE)
    return True


def _everywhere(connection: Connection, statement: str) -> list[str]:
    """Run a statement on the server, and on the other nodes if it is a cluster; returns the first value of each."""
    cursor = connection.execute(statement.encode())
    answers: list[str] = [row[0] for row in cursor] if cursor.description else []
    if connection.execute(CLUSTER).fetchone() is not None:
        for done, answer in connection.execute(ON_NODES, (statement,)).fetchall():
            if not done:
                raise StoreError(
                    f"a node of the cluster did not do its part ({answer})",
                    remedy="Check that every node runs and that this user has the same rights there; then try again.",
                )
            answers.append(answer)
    return answers
