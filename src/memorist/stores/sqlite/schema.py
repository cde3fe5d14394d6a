"""The tables and their migrations; times are microseconds since 1970, UTC."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memorist.errors import StoreError
from memorist.stores.rows import text_fingerprint
from memorist.stores.sql.database import Migration, missing_migrations
from memorist.stores.sqlite.connection import SqliteDatabase
from memorist.stores.sqlite.place import APPLICATION_ID

FIRST_TABLES = """
CREATE TABLE space (            -- one row
    name TEXT NOT NULL,
    seq INTEGER NOT NULL,       -- raised by every transaction that changes content
    epoch INTEGER NOT NULL      -- raised when caches must be loaded again
) STRICT;

CREATE TABLE memories (
    row INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order of writing; never used twice
    seq INTEGER NOT NULL,                   -- space.seq when this row last changed
    version INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    original TEXT,
    keywords TEXT NOT NULL,                 -- JSON
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    tier TEXT NOT NULL,
    topic TEXT,
    valid_from INTEGER NOT NULL,
    ingested_at INTEGER NOT NULL,
    valid_to INTEGER,
    expired_at INTEGER,
    expires_at INTEGER,
    importance REAL NOT NULL,
    confidence REAL NOT NULL,
    salience REAL NOT NULL,
    trust INTEGER NOT NULL,
    credibility INTEGER NOT NULL,
    classification INTEGER NOT NULL,
    emotion REAL NOT NULL,
    emotion_tags TEXT NOT NULL,             -- JSON
    flags TEXT NOT NULL,                    -- JSON
    relevance REAL NOT NULL,
    source TEXT,
    session TEXT,
    position INTEGER,
    speaker TEXT,
    key TEXT,
    mentions TEXT NOT NULL,                 -- JSON: [text, start, end] each
    subject TEXT,
    relation TEXT,
    object TEXT,
    metadata TEXT NOT NULL,                 -- JSON
    version_of TEXT,
    superseded_by TEXT,
    words TEXT NOT NULL,                    -- the text as it is searched
    original_words TEXT
) STRICT;
CREATE INDEX memories_by_seq ON memories (seq);
CREATE INDEX memories_by_session ON memories (session, position) WHERE session IS NOT NULL;
CREATE INDEX memories_by_version ON memories (version_of) WHERE version_of IS NOT NULL;

CREATE TABLE generations (      -- of embeddings; vectors of different ones are never compared
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dim INTEGER NOT NULL,
    active INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX generations_active ON generations (active) WHERE active;

CREATE TABLE vectors (
    row INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
    view TEXT NOT NULL,
    data BLOB NOT NULL,         -- float16, little-endian
    UNIQUE (row, generation, view)
) STRICT;

CREATE TABLE usage (            -- no row: never recalled; recalls NULL: unknown
    id TEXT PRIMARY KEY,
    recalls INTEGER,
    last_recall INTEGER,
    recall_times TEXT NOT NULL, -- JSON
    reward_count INTEGER NOT NULL,
    reward_total REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE links (
    source TEXT NOT NULL,
    relation TEXT NOT NULL,
    target TEXT NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (source, relation, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_target ON links (target);

CREATE TABLE entities (id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE aliases (          -- includes the entity's own name, at place 0
    folded TEXT NOT NULL,
    entity TEXT NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    alias TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (entity, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_by_name ON aliases (folded);

CREATE TABLE shown (            -- the memories that a session was shown
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX shown_by_id ON shown (id);
CREATE TABLE noise (row INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE deletions (id TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX deletions_by_seq ON deletions (seq);
"""

FACTS_JOBS_AND_JOURNAL = """
ALTER TABLE memories ADD COLUMN retracted_at INTEGER;
CREATE INDEX memories_by_key ON memories (key) WHERE key IS NOT NULL;

CREATE TABLE jobs (             -- pending jobs
    task TEXT NOT NULL,
    subject TEXT NOT NULL,
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT,
    PRIMARY KEY (task, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_by_due ON jobs (due);

CREATE TABLE journal (          -- decisions and changes, with the data to undo them
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    verb TEXT NOT NULL,
    data TEXT NOT NULL          -- JSON
) STRICT;
CREATE INDEX journal_by_verb ON journal (verb, row);
CREATE TABLE journal_subjects (
    entry INTEGER NOT NULL REFERENCES journal (row) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (entry, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_by_subject ON journal_subjects (subject);
"""

SAYING = """
ALTER TABLE memories ADD COLUMN said TEXT;  -- equal for texts that are the same; see rows.said
CREATE INDEX memories_by_saying ON memories (said) WHERE version_of IS NULL;
"""

INDEX_FILES = """
ALTER TABLE space ADD COLUMN indexes TEXT NOT NULL DEFAULT '';  -- a seq and tokens; see Write.list_index_file
"""


def _fill_saying(db: SqliteDatabase) -> None:
    last = 0
    while page := list(db.execute("SELECT row, text FROM memories WHERE row > ? ORDER BY row LIMIT 500", (last,))):
        rows = [{"row": row, "said": text_fingerprint(text)} for row, text in page]
        db.execute_many("UPDATE memories SET said = :said WHERE row = :row", rows)
        last = page[-1][0]


MIGRATIONS = (
    Migration("m001_first_tables", f"PRAGMA application_id = {APPLICATION_ID};\n{FIRST_TABLES}"),
    Migration("m002_facts_jobs_and_journal", FACTS_JOBS_AND_JOURNAL),
    Migration("m003_saying", SAYING, _fill_saying),
    Migration("m004_index_files", INDEX_FILES),
)


def pending_migrations(db: SqliteDatabase, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """The migrations that a file lacks; refuses files of other programs and of newer versions."""
    return missing_migrations(_recorded(db, path), migrations, str(path))


def migrate(db: SqliteDatabase, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply the migrations that a file lacks, inside the caller's transaction."""
    missing = pending_migrations(db, path, migrations)  # another process may have been faster
    db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID")
    for migration in missing:
        db.execute(migration.sql)
        if migration.fill is not None:
            migration.fill(db)
        db.execute("INSERT INTO migrations VALUES (?)", (migration.name,))


def _recorded(db: SqliteDatabase, path: Path) -> set[str]:
    tables: set[str] = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
    if not tables:
        return set()
    if "migrations" not in tables or db.value("PRAGMA application_id") != APPLICATION_ID:
        raise StoreError(
            f"{path} is an SQLite database of another program",
            remedy="Give the path of a store, or of a file that does not exist yet.",
        )
    return {name for (name,) in db.execute("SELECT name FROM migrations")}
