"""The shape of a file: numbered steps, each recorded in the file by its name.

A step that has been released never changes; a new shape is a new step at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from memorist.errors import NewerStore, StoreError
from memorist.stores.sqlite.database import Database
from memorist.stores.sqlite.schema import FACTS_JOBS_AND_JOURNAL, FIRST_TABLES

Migration = Callable[[Database], None]

APPLICATION_ID = 0x5EC011EC
"""Marks a file as ours in its header, where `file` and SQLite's own tools read it."""


def m001_first_tables(db: Database) -> None:
    """Memories with their vectors, usage, links and entities; times are microseconds since 1970, UTC."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(FIRST_TABLES)


def m002_facts_jobs_and_journal(db: Database) -> None:
    """Facts that are taken back, memories by their key, what is left to do, and a journal."""
    db.execute(FACTS_JOBS_AND_JOURNAL)


MIGRATIONS: tuple[Migration, ...] = (m001_first_tables, m002_facts_jobs_and_journal)


def name_of(migration: Migration) -> str:
    """The name a migration is recorded by."""
    return getattr(migration, "__name__")  # noqa: B009 - a Callable need not have one, ours do


def pending(db: Database, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """The migrations a file still lacks; refuses another program's file and a newer version's."""
    recorded = _recorded(db, path)
    newer = sorted(recorded - {name_of(migration) for migration in migrations})
    if newer:
        raise NewerStore(
            f"{path} was written by a newer version of Memorist (it has {', '.join(newer)})",
            remedy="Upgrade Memorist to open it; the file was left as it is.",
        )
    return [migration for migration in migrations if name_of(migration) not in recorded]


def migrate(db: Database, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a file up to date, inside the caller's transaction; what another process did meanwhile stays."""
    lacking = pending(db, path, migrations)
    db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID")
    for migration in lacking:
        migration(db)
        db.execute("INSERT INTO migrations VALUES (?)", (name_of(migration),))


def _recorded(db: Database, path: Path) -> set[str]:
    tables: set[str] = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
    if not tables:
        return set()
    if "migrations" not in tables or db.value("PRAGMA application_id") != APPLICATION_ID:
        raise StoreError(
            f"{path} is an SQLite database of another program",
            remedy="Give the path of a store, or of a file that does not exist yet.",
        )
    return {name for (name,) in db.execute("SELECT name FROM migrations")}
