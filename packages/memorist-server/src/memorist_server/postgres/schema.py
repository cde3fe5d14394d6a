"""The tables of a server; times are microseconds since 1970, UTC.

The space is the first column of every table, key and index, so that a cluster can distribute the tables by it. Numbers
are drawn from the space's own row; no sequence is shared. Texts compare by their bytes, as in every store.
"""

DISTRIBUTED = (
    "spaces",
    "memories",
    "generations",
    "vectors",
    "usage",
    "links",
    "entities",
    "aliases",
    "shown",
    "noise",
    "deletions",
    "jobs",
    "journal",
    "journal_subjects",
    "index_lists",
    "index_pages",
)
"""The tables with a space's content, the counters first."""

FIRST_TABLES = """
CREATE TABLE memorist.spaces (
    space TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seq BIGINT NOT NULL,        -- raised by every transaction that changes content
    epoch BIGINT NOT NULL,      -- raised when caches must be loaded again
    last BIGINT NOT NULL        -- the last number drawn, for rows of every table
);

CREATE TABLE memorist.memories (
    space TEXT COLLATE "C" NOT NULL,
    row BIGINT NOT NULL,                    -- the order of writing; never used twice
    seq BIGINT NOT NULL,                    -- spaces.seq when this row last changed
    version BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    original TEXT COLLATE "C",
    keywords TEXT COLLATE "C" NOT NULL,     -- JSON text, not JSONB, to keep it exactly
    kind TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    topic TEXT COLLATE "C",
    valid_from BIGINT NOT NULL,
    ingested_at BIGINT NOT NULL,
    valid_to BIGINT,
    expired_at BIGINT,
    expires_at BIGINT,
    retracted_at BIGINT,
    importance DOUBLE PRECISION NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    salience DOUBLE PRECISION NOT NULL,
    trust BIGINT NOT NULL,
    credibility BIGINT NOT NULL,
    classification BIGINT NOT NULL,
    emotion DOUBLE PRECISION NOT NULL,
    emotion_tags TEXT COLLATE "C" NOT NULL, -- JSON
    flags TEXT COLLATE "C" NOT NULL,        -- JSON
    relevance DOUBLE PRECISION NOT NULL,
    source TEXT COLLATE "C",
    session TEXT COLLATE "C",
    position BIGINT,
    speaker TEXT COLLATE "C",
    key TEXT COLLATE "C",
    mentions TEXT COLLATE "C" NOT NULL,     -- JSON: [text, start, end] each
    subject TEXT COLLATE "C",
    relation TEXT COLLATE "C",
    object TEXT COLLATE "C",
    metadata TEXT COLLATE "C" NOT NULL,     -- JSON
    version_of TEXT COLLATE "C",
    superseded_by TEXT COLLATE "C",
    words TEXT COLLATE "C" NOT NULL,        -- the text as it is searched
    original_words TEXT COLLATE "C",
    PRIMARY KEY (space, row)
);
CREATE UNIQUE INDEX memories_by_id ON memorist.memories (space, id);
CREATE INDEX memories_by_seq ON memorist.memories (space, seq);
CREATE INDEX memories_by_session ON memorist.memories (space, session, position) WHERE session IS NOT NULL;
CREATE INDEX memories_by_version ON memorist.memories (space, version_of) WHERE version_of IS NOT NULL;
CREATE INDEX memories_by_key ON memorist.memories (space, key) WHERE key IS NOT NULL;

CREATE TABLE memorist.generations (    -- of embeddings; vectors of different ones are never compared
    space TEXT COLLATE "C" NOT NULL,
    id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    dim BIGINT NOT NULL,
    active BOOLEAN NOT NULL,
    PRIMARY KEY (space, id),
    UNIQUE (space, name)
);
CREATE UNIQUE INDEX generations_active ON memorist.generations (space) WHERE active;

CREATE TABLE memorist.vectors (
    space TEXT COLLATE "C" NOT NULL,
    row BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    view TEXT COLLATE "C" NOT NULL,
    data HALFVEC NOT NULL,
    PRIMARY KEY (space, row, generation, view)
);

CREATE TABLE memorist.usage (          -- no row: never recalled; recalls NULL: unknown
    space TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    recalls BIGINT,
    last_recall BIGINT,
    recall_times TEXT COLLATE "C" NOT NULL, -- JSON
    reward_count BIGINT NOT NULL,
    reward_total DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (space, id)
);

CREATE TABLE memorist.links (
    space TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    relation TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    weight DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (space, source, relation, target)
);
CREATE INDEX links_by_target ON memorist.links (space, target);

CREATE TABLE memorist.entities (
    space TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C",
    PRIMARY KEY (space, id)
);
CREATE TABLE memorist.aliases (        -- includes the entity's own name, at place 0
    space TEXT COLLATE "C" NOT NULL,
    entity TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    alias TEXT COLLATE "C" NOT NULL,
    folded TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, entity, place)
);
CREATE INDEX aliases_by_name ON memorist.aliases (space, folded);

CREATE TABLE memorist.shown (          -- the memories that a session was shown
    space TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (space, session, id)
);
CREATE INDEX shown_by_id ON memorist.shown (space, id);
CREATE INDEX shown_by_time ON memorist.shown (space, at);
CREATE TABLE memorist.noise (
    space TEXT COLLATE "C" NOT NULL,
    row BIGINT NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, row)
);

CREATE TABLE memorist.deletions (
    space TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (space, id)
);
CREATE INDEX deletions_by_seq ON memorist.deletions (space, seq);

CREATE TABLE memorist.jobs (           -- pending jobs
    space TEXT COLLATE "C" NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    due BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    error TEXT COLLATE "C",
    PRIMARY KEY (space, task, subject)
);
CREATE INDEX jobs_by_due ON memorist.jobs (space, due);

CREATE TABLE memorist.journal (        -- decisions and changes, with the data to undo them
    space TEXT COLLATE "C" NOT NULL,
    row BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    verb TEXT COLLATE "C" NOT NULL,
    data TEXT COLLATE "C" NOT NULL,     -- JSON
    PRIMARY KEY (space, row)
);
CREATE UNIQUE INDEX journal_by_id ON memorist.journal (space, id);
CREATE INDEX journal_by_verb ON memorist.journal (space, verb, row);
CREATE TABLE memorist.journal_subjects (
    space TEXT COLLATE "C" NOT NULL,
    entry BIGINT NOT NULL,
    place BIGINT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, entry, place)
);
CREATE INDEX journal_by_subject ON memorist.journal_subjects (space, subject);
"""

SAYING = """
ALTER TABLE memorist.memories ADD COLUMN said TEXT COLLATE "C";  -- equal for texts that are the same; see rows.said
CREATE INDEX memories_by_saying ON memorist.memories (space, said) WHERE version_of IS NULL;
"""

ANSWERS = "answers"
"""The table with texts that is not distributed; see `ACCESS`."""
ACCESS = """
CREATE TABLE memorist.keys (           -- of all spaces; the secrets are not here
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    space TEXT COLLATE "C" NOT NULL,    -- or a prefix with *
    rights TEXT COLLATE "C" NOT NULL,
    max_classification BIGINT NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C",
    revoked_at TEXT COLLATE "C",
    salt BYTEA NOT NULL,
    digest BYTEA NOT NULL
);
CREATE TABLE memorist.answers (        -- to writes with an Idempotency-Key; body NULL: being answered
    caller TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    space TEXT COLLATE "C" NOT NULL,
    request TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" NOT NULL,      -- who answers it
    at DOUBLE PRECISION NOT NULL,
    body BYTEA,
    PRIMARY KEY (caller, key)
);
CREATE INDEX answers_by_space ON memorist.answers (space, caller, key);
CREATE INDEX answers_by_time ON memorist.answers (at);
"""
"""Small tables that all spaces share. A cluster keeps them on its coordinator; no statement joins them to others."""

INDEX_TABLES = DISTRIBUTED[-2:]
INDEX_PAGES = """
CREATE TABLE memorist.index_lists (    -- published indexes, the newest with the highest number
    space TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    rows BIGINT NOT NULL,
    listing BYTEA NOT NULL,             -- JSON
    digests BYTEA NOT NULL,             -- of the pages, in order
    PRIMARY KEY (space, number)
);
CREATE TABLE memorist.index_pages (    -- a small page lies in one block with its key, and is one read
    space TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (space, digest)
) WITH (toast_tuple_target = 8160);
ALTER TABLE memorist.index_lists ALTER COLUMN digests SET STORAGE EXTERNAL;
ALTER TABLE memorist.index_pages ALTER COLUMN data SET STORAGE EXTERNAL;
"""

INDEX_FILES = """
ALTER TABLE memorist.spaces ADD COLUMN indexes TEXT COLLATE "C" NOT NULL DEFAULT '';  -- a seq and tokens; see Write
"""
