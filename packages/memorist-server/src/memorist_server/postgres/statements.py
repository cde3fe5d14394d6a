"""The SQL of PostgreSQL; every statement names its space, so that a cluster can send it to one node.

No statement needs a unique index over all nodes, so none uses ON CONFLICT: a write has the space to itself.
"""

from __future__ import annotations

from typing import Any

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


def _parameter(name: str) -> str:
    return f"%({name})s"


def _among(column: str, name: str) -> str:
    return f"{column} = ANY(%({name})s)"


def _unpack(data: Any) -> Any:
    return data  # the connection loads a halfvec as an array


def _parameters(names: tuple[str, ...]) -> str:
    return ", ".join(f"%({name})s" for name in names)


# ruff: noqa: S608 - the statements are made of names of our own
_SELECT = f"""
    SELECT {SELECTED} FROM memorist.memories AS m LEFT JOIN memorist.usage AS u ON u.space = m.space AND u.id = m.id
    WHERE m.space = %(space)s
"""
_GENERATION = "SELECT id, name, dim FROM memorist.generations WHERE space = %(space)s"
_JOBS = "SELECT task, subject, due, attempts, error FROM memorist.jobs AS j WHERE j.space = %(space)s"
_LINKS = "SELECT source, relation, target, weight FROM memorist.links WHERE space = %(space)s"
_LINK = "space = %(space)s AND source = %(source)s AND relation = %(relation)s AND target = %(target)s"
_ENTITIES = """
    SELECT e.id, e.name, e.kind, a.alias FROM memorist.entities AS e
    LEFT JOIN memorist.aliases AS a ON a.space = e.space AND a.entity = e.id AND a.place > 0
    WHERE e.space = %(space)s
"""
_BY_PLACE = "ORDER BY e.id, a.place"
_CURRENT = "FROM memorist.memories WHERE space = %(space)s AND version_of IS NULL"
_VECTORS = """
    FROM memorist.memories AS m JOIN memorist.vectors AS v ON v.space = m.space AND v.row = m.row
    WHERE m.space = %(space)s AND m.id = ANY(%(ids)s) AND v.generation = %(generation)s
"""
_WITHOUT_VECTORS = """
    NOT EXISTS (SELECT 1 FROM memorist.vectors AS v
    WHERE v.space = m.space AND v.row = m.row AND v.generation = %(generation)s)
"""
SIZE = """
    SELECT (coalesce((SELECT sum(pg_column_size(text) + coalesce(pg_column_size(original), 0))
            FROM memorist.memories WHERE space = %(space)s), 0)
        + coalesce((SELECT sum(pg_column_size(data)) FROM memorist.vectors WHERE space = %(space)s), 0))::bigint
"""
"""The bytes of texts and vectors."""

CLEAR_LISTS = "DELETE FROM memorist.index_lists WHERE space = %(space)s"
"""Lets nobody begin with an index that was published so far."""

_READ = ReadStatements(
    counters="""
        SELECT s.epoch, s.seq, g.id, g.name, g.dim FROM memorist.spaces AS s
        LEFT JOIN memorist.generations AS g ON g.space = s.space AND g.active WHERE s.space = %(space)s
    """,
    index_files="SELECT indexes FROM memorist.spaces WHERE space = %(space)s",
    active_generation=f"{_GENERATION} AND active",
    named_generation=f"{_GENERATION} AND name = %(name)s",
    by_ids=f"{_SELECT} AND m.id = ANY(%(ids)s)",
    history=f"{_SELECT} AND (m.id = %(id)s OR m.version_of = %(id)s) ORDER BY m.version DESC",
    by_keys=f"{_SELECT} AND m.key = ANY(%(keys)s) ORDER BY m.row",
    by_text=f"{_SELECT} AND m.said = ANY(%(said)s) AND m.version_of IS NULL ORDER BY m.row",
    by_position=f"""
        {_SELECT} AND m.session = %(session)s AND m.position BETWEEN %(first)s AND %(last)s AND m.version_of IS NULL
        ORDER BY m.position, m.row
    """,
    last_position=f"SELECT max(position) {_CURRENT} AND session = %(session)s",
    scan=f"{_SELECT} AND m.row > %(after)s AND {{condition}} ORDER BY m.row LIMIT %(limit)s",
    checked=f"""
        SELECT m.row, m.id, {CHECKED} FROM memorist.memories AS m
        WHERE m.space = %(space)s AND m.row > %(after)s AND {{condition}} ORDER BY m.row LIMIT %(limit)s
    """,
    around="""
        SELECT asked.id, near.id FROM memorist.memories AS asked CROSS JOIN LATERAL (
            SELECT asked.id, asked.position, asked.row
            UNION ALL (
                SELECT m.id, m.position, m.row FROM memorist.memories AS m
                WHERE m.space = %(space)s AND m.session = asked.session AND m.version_of IS NULL
                AND (m.position, m.row) < (asked.position, asked.row)
                ORDER BY m.position DESC, m.row DESC LIMIT %(before)s)
            UNION ALL (
                SELECT m.id, m.position, m.row FROM memorist.memories AS m
                WHERE m.space = %(space)s AND m.session = asked.session AND m.version_of IS NULL
                AND (m.position, m.row) > (asked.position, asked.row)
                ORDER BY m.position, m.row LIMIT %(after)s)
        ) AS near
        WHERE asked.space = %(space)s AND asked.id = ANY(%(ids)s) ORDER BY near.position, near.row
    """,
    vectors=f"SELECT m.id, v.view, v.data {_VECTORS} ORDER BY m.row, v.view",
    embedded=f"SELECT DISTINCT m.id {_VECTORS}",
    jobs=f"""
        {_JOBS} AND (%(task)s::text IS NULL OR task = %(task)s)
        AND (%(subject)s::text IS NULL OR subject = %(subject)s) ORDER BY due, task, subject LIMIT %(limit)s
    """,
    jobs_about=f"{_JOBS} AND subject = ANY(%(ids)s) ORDER BY task, subject",
    jobs_about_no_memory=f"""
        {_JOBS} AND NOT EXISTS (
            SELECT 1 FROM memorist.memories AS m WHERE m.space = %(space)s AND m.id = j.subject)
        ORDER BY task, subject
    """,
    journal="""
        SELECT j.row, j.id, j.at, j.verb, j.data FROM memorist.journal AS j
        WHERE j.space = %(space)s AND (%(verb)s::text IS NULL OR j.verb = %(verb)s)
            AND (%(subject)s::text IS NULL OR EXISTS (SELECT 1 FROM memorist.journal_subjects AS s
                WHERE s.space = %(space)s AND s.entry = j.row AND s.subject = %(subject)s))
        ORDER BY j.row DESC LIMIT %(limit)s
    """,
    journal_subjects="""
        SELECT entry, subject FROM memorist.journal_subjects
        WHERE space = %(space)s AND entry = ANY(%(entries)s) ORDER BY entry, place
    """,
    links=f"""
        {_LINKS} AND (source = ANY(%(ids)s) OR target = ANY(%(ids)s))
        AND (%(relations)s::text[] IS NULL OR relation = ANY(%(relations)s)) ORDER BY source, relation, target
    """,
    all_links=f"{_LINKS} ORDER BY source, relation, target",
    entities_named=f"""
        {_ENTITIES} AND e.id IN (
            SELECT entity FROM memorist.aliases WHERE space = %(space)s AND folded = ANY(%(names)s)
        ) {_BY_PLACE}
    """,
    entities_prefixed=f"""
        {_ENTITIES} AND e.id IN (
            SELECT a.entity FROM unnest(%(names)s::text[]) AS asked (prefix) JOIN memorist.aliases AS a
            ON a.folded >= asked.prefix AND a.folded < asked.prefix || chr(1114111)
            WHERE a.space = %(space)s
        ) {_BY_PLACE}
    """,
    entity_ids="SELECT id FROM memorist.entities WHERE space = %(space)s ORDER BY id",
    entities=f"{_ENTITIES} AND e.id = ANY(%(ids)s) {_BY_PLACE}",
    shown="SELECT id FROM memorist.shown WHERE space = %(space)s AND session = %(session)s AND at >= %(since)s",
    all_shown="SELECT session, id, at FROM memorist.shown WHERE space = %(space)s ORDER BY at, session, id",
    noise="SELECT row, text FROM memorist.noise WHERE space = %(space)s ORDER BY row",
    count="SELECT count(*) FROM memorist.memories WHERE space = %(space)s",
    counts="""
        SELECT (SELECT count(*) FROM memorist.memories WHERE space = %(space)s),
            (SELECT count(*) FROM memorist.memories WHERE space = %(space)s AND version_of IS NOT NULL),
            (SELECT count(*) FROM memorist.links WHERE space = %(space)s),
            (SELECT count(*) FROM memorist.entities WHERE space = %(space)s)
    """,
    held="""
        SELECT count(*), coalesce(sum(octet_length(text) + coalesce(octet_length(original), 0)), 0)::bigint
        FROM memorist.memories WHERE space = %(space)s AND seq > %(seen)s
    """,
    labels=f"SELECT kind, scope, count(*) {_CURRENT} GROUP BY 1, 2",
    changed=f"""
        SELECT m.row, {ENTRY_COLUMNS}, v.view, v.data
        FROM memorist.memories AS m LEFT JOIN memorist.vectors AS v
        ON v.space = m.space AND v.row = m.row AND v.generation = %(generation)s
        WHERE m.space = %(space)s AND m.seq > %(seen)s ORDER BY m.seq, m.row
    """,
    entity_links="""
        SELECT source, relation, target FROM memorist.links WHERE space = %(space)s AND relation = ANY(%(relations)s)
        ORDER BY source, relation, target
    """,
    changed_links="""
        SELECT l.source, l.relation, l.target FROM memorist.memories AS m
        JOIN memorist.links AS l ON l.space = m.space AND l.source = m.id
        WHERE m.space = %(space)s AND m.seq > %(seen)s AND l.relation = ANY(%(relations)s)
        ORDER BY l.source, l.relation, l.target
    """,
    deleted="SELECT id FROM memorist.deletions WHERE space = %(space)s AND seq > %(seen)s",
    without_vectors=f"{_SELECT} AND {_WITHOUT_VECTORS} ORDER BY m.row LIMIT %(limit)s",
    any_without_vectors=(
        f"SELECT 1 FROM memorist.memories AS m WHERE m.space = %(space)s AND {_WITHOUT_VECTORS} LIMIT 1"
    ),
)

_WRITE = WriteStatements(
    lock="SELECT seq, epoch, last FROM memorist.spaces WHERE space = %(space)s FOR UPDATE",
    raise_counters="""
        UPDATE memorist.spaces SET seq = %(seq)s, epoch = %(epoch)s, last = %(last)s WHERE space = %(space)s
    """,
    drop_published=(CLEAR_LISTS,),
    list_index_files="UPDATE memorist.spaces SET indexes = %(listed)s WHERE space = %(space)s",
    insert_memory=f"""
        INSERT INTO memorist.memories (space, row, seq, {", ".join(MEMORY_COLUMNS)})
        VALUES (%(space)s, %(row)s, %(seq)s, {_parameters(MEMORY_COLUMNS)})
    """,
    update_memory=f"""
        UPDATE memorist.memories SET seq = %(seq)s, {", ".join(f"{name} = %({name})s" for name in MEMORY_COLUMNS)}
        WHERE space = %(space)s AND row = %(row)s
    """,
    archive_memory="""
        UPDATE memorist.memories SET seq = %(seq)s, id = %(id)s, version_of = %(version_of)s,
            superseded_by = %(superseded_by)s, valid_to = %(valid_to)s, expired_at = %(expired_at)s
        WHERE space = %(space)s AND row = %(row)s
    """,
    drop_rows="DELETE FROM memorist.memories WHERE space = %(space)s AND row = ANY(%(rows)s)",
    stamp_ids="UPDATE memorist.memories SET seq = %(seq)s WHERE space = %(space)s AND id = ANY(%(ids)s)",
    stamp_rows="UPDATE memorist.memories SET seq = %(seq)s WHERE space = %(space)s AND row = ANY(%(rows)s)",
    with_versions="""
        SELECT row, id FROM memorist.memories
        WHERE space = %(space)s AND (id = ANY(%(ids)s) OR version_of = ANY(%(ids)s)) ORDER BY row
    """,
    erase=(
        "DELETE FROM memorist.shown WHERE space = %(space)s AND id = ANY(%(ids)s)",
        "DELETE FROM memorist.usage WHERE space = %(space)s AND id = ANY(%(ids)s)",
        "DELETE FROM memorist.links WHERE space = %(space)s AND source = ANY(%(ids)s)",
        "DELETE FROM memorist.links WHERE space = %(space)s AND target = ANY(%(ids)s)",
        "DELETE FROM memorist.memories WHERE space = %(space)s AND id = ANY(%(ids)s)",
        "DELETE FROM memorist.deletions WHERE space = %(space)s AND id = ANY(%(ids)s)",
    ),
    insert_deletion="INSERT INTO memorist.deletions VALUES (%(space)s, %(id)s, %(seq)s)",
    count_deletions="SELECT count(*) FROM memorist.deletions WHERE space = %(space)s",
    clear_deletions="DELETE FROM memorist.deletions WHERE space = %(space)s",
    links_from=f"{_LINKS} AND source = ANY(%(sources)s)",
    put_link="""
        INSERT INTO memorist.links VALUES (%(space)s, %(source)s, %(relation)s, %(target)s, %(weight)s)
        ON CONFLICT (space, source, relation, target) DO UPDATE SET weight = excluded.weight
    """,
    delete_link=f"DELETE FROM memorist.links WHERE {_LINK}",
    move_links="""
        UPDATE memorist.links SET source = %(past)s
        WHERE space = %(space)s AND source = %(id)s AND relation = ANY(%(relations)s)
    """,
    insert_entity="INSERT INTO memorist.entities VALUES (%(space)s, %(id)s, %(name)s, %(kind)s)",
    insert_alias="INSERT INTO memorist.aliases VALUES (%(space)s, %(entity)s, %(place)s, %(alias)s, %(folded)s)",
    drop_entities=(
        "DELETE FROM memorist.aliases WHERE space = %(space)s AND entity = ANY(%(ids)s)",
        "DELETE FROM memorist.entities WHERE space = %(space)s AND id = ANY(%(ids)s)",
    ),
    insert_vector="INSERT INTO memorist.vectors VALUES (%(space)s, %(row)s, %(generation)s, %(view)s, %(data)s)",
    views="""
        SELECT row, view FROM memorist.vectors
        WHERE space = %(space)s AND row = ANY(%(rows)s) AND generation = %(generation)s
    """,
    drop_vectors="DELETE FROM memorist.vectors WHERE space = %(space)s AND row = ANY(%(rows)s)",
    drop_vector="""
        DELETE FROM memorist.vectors
        WHERE space = %(space)s AND row = %(row)s AND generation = %(generation)s AND view = %(view)s
    """,
    insert_generation="INSERT INTO memorist.generations VALUES (%(space)s, %(id)s, %(name)s, %(dim)s, %(active)s)",
    activate_generation=(
        "UPDATE memorist.generations SET active = false WHERE space = %(space)s AND active",
        "UPDATE memorist.generations SET active = true WHERE space = %(space)s AND id = %(id)s",
    ),
    drop_other_generations=(
        "DELETE FROM memorist.vectors WHERE space = %(space)s AND generation <> %(id)s",
        "DELETE FROM memorist.generations WHERE space = %(space)s AND id <> %(id)s",
    ),
    usages=f"""
        SELECT m.id, u.id, {", ".join(f"u.{name}" for name in USAGE_COLUMNS)} FROM memorist.memories AS m
        LEFT JOIN memorist.usage AS u ON u.space = m.space AND u.id = m.id
        WHERE m.space = %(space)s AND m.id = ANY(%(ids)s)
    """,
    put_usage=f"""
        INSERT INTO memorist.usage (space, id, {", ".join(USAGE_COLUMNS)})
        VALUES (%(space)s, %(id)s, {_parameters(USAGE_COLUMNS)})
        ON CONFLICT (space, id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in USAGE_COLUMNS)}
    """,
    drop_job="DELETE FROM memorist.jobs WHERE space = %(space)s AND task = %(task)s AND subject = %(subject)s",
    insert_job="""
        INSERT INTO memorist.jobs VALUES (%(space)s, %(task)s, %(subject)s, %(due)s, %(attempts)s, %(error)s)
    """,
    entry_row="SELECT row FROM memorist.journal WHERE space = %(space)s AND id = %(id)s",
    entries_about="""
        SELECT DISTINCT entry FROM memorist.journal_subjects WHERE space = %(space)s AND subject = ANY(%(ids)s)
    """,
    drop_entries=(
        "DELETE FROM memorist.journal WHERE space = %(space)s AND row = ANY(%(rows)s)",
        "DELETE FROM memorist.journal_subjects WHERE space = %(space)s AND entry = ANY(%(rows)s)",
    ),
    insert_entry="INSERT INTO memorist.journal VALUES (%(space)s, %(row)s, %(id)s, %(at)s, %(verb)s, %(data)s)",
    insert_entry_subject="INSERT INTO memorist.journal_subjects VALUES (%(space)s, %(row)s, %(place)s, %(subject)s)",
    drop_shown="""
        DELETE FROM memorist.shown
        WHERE space = %(space)s AND (at < %(old)s OR (session = %(session)s AND id = ANY(%(ids)s)))
    """,
    insert_shown="INSERT INTO memorist.shown VALUES (%(space)s, %(session)s, %(id)s, %(at)s)",
    drop_noise="DELETE FROM memorist.noise WHERE space = %(space)s AND row = ANY(%(rows)s)",
    insert_noise="INSERT INTO memorist.noise VALUES (%(space)s, %(row)s, %(text)s)",
)

POSTGRES = Dialect(read=_READ, write=_WRITE, parameter=_parameter, among=_among, unpack=_unpack)
