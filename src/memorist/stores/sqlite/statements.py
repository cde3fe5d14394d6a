"""The SQL of SQLite; a list is passed as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memorist.stores.rows import USAGE_COLUMNS
from memorist.stores.sql.database import (
    CHECKED,
    ENTRY_COLUMNS,
    MEMORY_COLUMNS,
    SELECTED,
    Dialect,
    ReadStatements,
    WriteStatements,
)


def pack(vector: NDArray[np.float16]) -> bytes:
    """A vector as it is kept: float16, little-endian."""
    return vector.astype("<f2", copy=False).tobytes()


def _unpack(data: bytes) -> NDArray[Any]:
    return np.frombuffer(data, "<f2")


def _parameter(name: str) -> str:
    return f":{name}"


def _among(column: str, name: str) -> str:
    return f"{column} IN (SELECT value FROM json_each(:{name}))"


def _parameters(names: tuple[str, ...]) -> str:
    return ", ".join(f":{name}" for name in names)


# ruff: noqa: S608 - the statements are made of names of our own
_SELECT = f"SELECT {SELECTED} FROM memories AS m LEFT JOIN usage AS u ON u.id = m.id"
_JOBS = "SELECT task, subject, due, attempts, error FROM jobs"
_LINKS = "SELECT source, relation, target, weight FROM links"
_ENTITIES = """
    SELECT e.id, e.name, e.kind, a.alias FROM entities AS e LEFT JOIN aliases AS a ON a.entity = e.id AND a.place > 0
"""
_BY_PLACE = "ORDER BY e.id, a.place"
_WITHOUT_VECTORS = "NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.row = m.row AND v.generation = :generation)"

_READ = ReadStatements(
    counters="SELECT epoch, seq, g.id, g.name, g.dim FROM space LEFT JOIN generations AS g ON g.active",
    index_files="SELECT indexes FROM space",
    active_generation="SELECT id, name, dim FROM generations WHERE active",
    named_generation="SELECT id, name, dim FROM generations WHERE name = :name",
    by_ids=f"{_SELECT} WHERE {_among('m.id', 'ids')}",
    history=f"{_SELECT} WHERE m.id = :id OR m.version_of = :id ORDER BY m.version DESC",
    by_keys=f"{_SELECT} WHERE {_among('m.key', 'keys')} ORDER BY m.row",
    by_text=f"{_SELECT} WHERE {_among('m.said', 'said')} AND m.version_of IS NULL ORDER BY m.row",
    by_position=f"""
        {_SELECT} WHERE m.session = :session AND m.position BETWEEN :first AND :last AND m.version_of IS NULL
        ORDER BY m.position, m.row
    """,
    last_position="SELECT max(position) FROM memories WHERE session = :session AND version_of IS NULL",
    scan=f"{_SELECT} WHERE m.row > :after AND {{condition}} ORDER BY m.row LIMIT :limit",
    checked=f"""
        SELECT m.row, m.id, {CHECKED} FROM memories AS m
        WHERE m.row > :after AND {{condition}} ORDER BY m.row LIMIT :limit
    """,
    around=f"""
        SELECT asked.id, near.id FROM memories AS asked JOIN memories AS near ON near.row IN (
            SELECT asked.row
            UNION ALL SELECT row FROM (
                SELECT row FROM memories WHERE session = asked.session AND version_of IS NULL
                AND (position, row) < (asked.position, asked.row) ORDER BY position DESC, row DESC LIMIT :before)
            UNION ALL SELECT row FROM (
                SELECT row FROM memories WHERE session = asked.session AND version_of IS NULL
                AND (position, row) > (asked.position, asked.row) ORDER BY position, row LIMIT :after)
        )
        WHERE {_among("asked.id", "ids")} ORDER BY near.position, near.row
    """,
    vectors=f"""
        SELECT m.id, v.view, v.data FROM memories AS m JOIN vectors AS v ON v.row = m.row
        WHERE {_among("m.id", "ids")} AND v.generation = :generation
    """,
    embedded=f"""
        SELECT DISTINCT m.id FROM memories AS m JOIN vectors AS v ON v.row = m.row
        WHERE {_among("m.id", "ids")} AND v.generation = :generation
    """,
    jobs=f"""
        {_JOBS} WHERE (:task IS NULL OR task = :task) AND (:subject IS NULL OR subject = :subject)
        ORDER BY due, task, subject LIMIT :limit
    """,
    jobs_about=f"{_JOBS} WHERE {_among('subject', 'ids')} ORDER BY task, subject",
    jobs_about_no_memory=f"{_JOBS} WHERE subject NOT IN (SELECT id FROM memories) ORDER BY task, subject",
    journal="""
        SELECT row, id, at, verb, data FROM journal
        WHERE (:verb IS NULL OR verb = :verb)
            AND (:subject IS NULL OR row IN (SELECT entry FROM journal_subjects WHERE subject = :subject))
        ORDER BY row DESC LIMIT :limit
    """,
    journal_subjects=f"""
        SELECT entry, subject FROM journal_subjects WHERE {_among("entry", "entries")} ORDER BY entry, place
    """,
    links="""
        WITH asked AS MATERIALIZED (SELECT value FROM json_each(:ids)), found AS (
            SELECT source, relation, target, weight FROM links WHERE source IN asked
            UNION SELECT source, relation, target, weight FROM links WHERE target IN asked
        )
        SELECT * FROM found WHERE :relations IS NULL OR relation IN (SELECT value FROM json_each(:relations))
        ORDER BY source, relation, target
    """,
    all_links=f"{_LINKS} ORDER BY source, relation, target",
    entities_named=f"""
        {_ENTITIES} WHERE e.id IN (SELECT entity FROM aliases WHERE {_among("folded", "names")}) {_BY_PLACE}
    """,
    # CROSS keeps the order of the join: SQLite would otherwise read all aliases for each prefix.
    entities_prefixed=f"""
        {_ENTITIES} WHERE e.id IN (
            SELECT entity FROM json_each(:names) AS asked CROSS JOIN aliases
            ON folded >= asked.value AND folded < asked.value || char(0x10FFFF)
        ) {_BY_PLACE}
    """,
    entity_ids="SELECT id FROM entities ORDER BY id",
    entities=f"{_ENTITIES} WHERE {_among('e.id', 'ids')} {_BY_PLACE}",
    shown="SELECT id FROM shown WHERE session = :session AND at >= :since",
    all_shown="SELECT session, id, at FROM shown ORDER BY at, session, id",
    noise="SELECT row, text FROM noise ORDER BY row",
    count="SELECT count(*) FROM memories",
    counts="""
        SELECT (SELECT count(*) FROM memories),
            (SELECT count(*) FROM memories WHERE version_of IS NOT NULL),
            (SELECT count(*) FROM links), (SELECT count(*) FROM entities)
    """,
    held="""
        SELECT count(*), coalesce(sum(octet_length(text) + coalesce(octet_length(original), 0)), 0)
        FROM memories WHERE seq > :seen
    """,
    labels="SELECT kind, scope, count(*) FROM memories WHERE version_of IS NULL GROUP BY 1, 2",
    changed=f"""
        SELECT m.row, {ENTRY_COLUMNS}, v.view, v.data
        FROM memories AS m LEFT JOIN vectors AS v ON v.row = m.row AND v.generation = :generation
        WHERE m.seq > :seen ORDER BY m.seq, m.row
    """,
    entity_links=f"""
        SELECT source, relation, target FROM links WHERE {_among("relation", "relations")}
        ORDER BY source, relation, target
    """,
    # CROSS keeps the order of the join: SQLite would otherwise read all links for the few memories that changed.
    changed_links=f"""
        SELECT l.source, l.relation, l.target FROM memories AS m CROSS JOIN links AS l ON l.source = m.id
        WHERE m.seq > :seen AND {_among("l.relation", "relations")} ORDER BY l.source, l.relation, l.target
    """,
    deleted="SELECT id FROM deletions WHERE seq > :seen",
    without_vectors=f"{_SELECT} WHERE {_WITHOUT_VECTORS} ORDER BY m.row LIMIT :limit",
    any_without_vectors=f"SELECT 1 FROM memories AS m WHERE {_WITHOUT_VECTORS} LIMIT 1",
)

_WRITE = WriteStatements(
    lock="SELECT seq, epoch, (SELECT coalesce(max(seq), 0) FROM sqlite_sequence) FROM space",
    raise_counters="UPDATE space SET seq = :seq, epoch = :epoch",  # AUTOINCREMENT remembers the last row number
    drop_published=(),
    list_index_files="UPDATE space SET indexes = :listed",
    insert_memory=f"""
        INSERT INTO memories (row, seq, {", ".join(MEMORY_COLUMNS)}) VALUES (:row, :seq, {_parameters(MEMORY_COLUMNS)})
    """,
    update_memory=f"""
        UPDATE memories SET seq = :seq, {", ".join(f"{name} = :{name}" for name in MEMORY_COLUMNS)} WHERE row = :row
    """,
    archive_memory="""
        UPDATE memories SET seq = :seq, id = :id, version_of = :version_of, superseded_by = :superseded_by,
            valid_to = :valid_to, expired_at = :expired_at WHERE row = :row
    """,
    drop_rows=f"DELETE FROM memories WHERE {_among('row', 'rows')}",
    stamp_ids=f"UPDATE memories SET seq = :seq WHERE {_among('id', 'ids')}",
    stamp_rows=f"UPDATE memories SET seq = :seq WHERE {_among('row', 'rows')}",
    with_versions=f"""
        SELECT row, id FROM memories WHERE {_among("id", "ids")} OR {_among("version_of", "ids")} ORDER BY row
    """,
    erase=(
        f"DELETE FROM shown WHERE {_among('id', 'ids')}",
        f"DELETE FROM usage WHERE {_among('id', 'ids')}",
        f"DELETE FROM links WHERE {_among('source', 'ids')}",
        f"DELETE FROM links WHERE {_among('target', 'ids')}",
        f"DELETE FROM memories WHERE {_among('id', 'ids')}",
        f"DELETE FROM deletions WHERE {_among('id', 'ids')}",
    ),
    insert_deletion="INSERT INTO deletions VALUES (:id, :seq)",
    count_deletions="SELECT count(*) FROM deletions",
    clear_deletions="DELETE FROM deletions",
    links_from=f"{_LINKS} WHERE {_among('source', 'sources')}",
    put_link="INSERT OR REPLACE INTO links VALUES (:source, :relation, :target, :weight)",
    delete_link="DELETE FROM links WHERE source = :source AND relation = :relation AND target = :target",
    move_links=f"UPDATE OR REPLACE links SET source = :past WHERE source = :id AND {_among('relation', 'relations')}",
    insert_entity="INSERT INTO entities VALUES (:id, :name, :kind)",
    insert_alias="INSERT INTO aliases (folded, entity, alias, place) VALUES (:folded, :entity, :alias, :place)",
    drop_entities=(f"DELETE FROM entities WHERE {_among('id', 'ids')}",),  # with their aliases
    insert_vector="INSERT INTO vectors VALUES (:row, :generation, :view, :data)",
    views=f"SELECT row, view FROM vectors WHERE {_among('row', 'rows')} AND generation = :generation",
    drop_vectors=f"DELETE FROM vectors WHERE {_among('row', 'rows')}",
    drop_vector="DELETE FROM vectors WHERE row = :row AND generation = :generation AND view = :view",
    insert_generation="INSERT INTO generations (name, dim, active) VALUES (:name, :dim, :active)",
    activate_generation=(
        "UPDATE generations SET active = 0 WHERE active",
        "UPDATE generations SET active = 1 WHERE id = :id",
    ),
    drop_other_generations=("DELETE FROM generations WHERE id <> :id",),  # with their vectors
    usages=f"""
        SELECT m.id, u.id, {", ".join(f"u.{name}" for name in USAGE_COLUMNS)}
        FROM memories AS m LEFT JOIN usage AS u ON u.id = m.id WHERE {_among("m.id", "ids")}
    """,
    put_usage=f"""
        INSERT OR REPLACE INTO usage (id, {", ".join(USAGE_COLUMNS)}) VALUES (:id, {_parameters(USAGE_COLUMNS)})
    """,
    drop_job="DELETE FROM jobs WHERE task = :task AND subject = :subject",
    insert_job="INSERT INTO jobs VALUES (:task, :subject, :due, :attempts, :error)",
    entry_row="SELECT row FROM journal WHERE id = :id",
    entries_about=f"SELECT DISTINCT entry FROM journal_subjects WHERE {_among('subject', 'ids')}",
    drop_entries=(f"DELETE FROM journal WHERE {_among('row', 'rows')}",),  # with their subjects
    insert_entry="INSERT INTO journal (row, id, at, verb, data) VALUES (:row, :id, :at, :verb, :data)",
    insert_entry_subject="INSERT INTO journal_subjects VALUES (:row, :place, :subject)",
    drop_shown=f"DELETE FROM shown WHERE at < :old OR (session = :session AND {_among('id', 'ids')})",
    insert_shown="INSERT INTO shown VALUES (:session, :id, :at)",
    drop_noise=f"DELETE FROM noise WHERE {_among('row', 'rows')}",
    insert_noise="INSERT INTO noise (text) VALUES (:text)",
)

SQLITE = Dialect(read=_READ, write=_WRITE, parameter=_parameter, among=_among, unpack=_unpack)
