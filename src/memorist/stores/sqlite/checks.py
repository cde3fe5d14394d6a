"""Whether a file is sound: SQLite's own checks, and that what is searched matches what is stored."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from memorist.stores.index import entry_of
from memorist.stores.rows import read
from memorist.stores.sqlite.database import Database
from memorist.stores.sqlite.reads import active_generation
from memorist.stores.sqlite.rows import SELECT

OF_WRONG_LENGTH = """
    SELECT DISTINCT id FROM memories JOIN vectors USING (row)
    WHERE generation = ? AND length(data) <> ? ORDER BY row
"""
USAGE_OF_NOTHING = "SELECT id FROM usage WHERE id NOT IN (SELECT id FROM memories)"


def problems(db: Database) -> list[str]:
    """What is wrong, one sentence each, as far as the file can be read."""
    found: list[str] = []
    try:
        found.extend(_damage(db))
        found.extend(_mismatches(db))
    except apsw.CorruptError as error:
        found.append(f"The file cannot be read further: {error}.")
    return found


def damage(db: Database) -> list[str]:
    """What SQLite itself finds wrong."""
    try:
        return list(_damage(db))
    except apsw.CorruptError as error:
        return [f"The file cannot be read further: {error}."]


def _mismatches(db: Database) -> Iterator[str]:
    yield from _told("not searched by the words of their text", _drifted(db))
    generation = active_generation(db)
    if generation is not None:
        wrong = db.execute(OF_WRONG_LENGTH, (generation.id, 2 * generation.dim))
        yield from _told("with a vector of the wrong length", (id for (id,) in wrong))
    yield from _told("counted as recalled but not there", (id for (id,) in db.execute(USAGE_OF_NOTHING)))


def _damage(db: Database) -> Iterator[str]:
    for (report,) in db.execute("PRAGMA integrity_check"):
        if report != "ok":
            yield f"SQLite reports: {report}."
    for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
        yield f"Row {row} of {table} points at nothing in {parent}."


def _drifted(db: Database) -> Iterator[str]:
    kept = db.execute("SELECT words, original_words FROM memories ORDER BY row")
    for row, words in zip(db.execute(f"{SELECT} ORDER BY row"), kept, strict=True):
        memory = read(row).memory
        entry = entry_of(memory, {})
        if (entry.words, entry.original) != words:
            yield memory.id


def _told(what: str, ids: Iterator[str]) -> Iterator[str]:
    first = next(ids, None)
    if first is not None:
        yield f"Memories {what}: {1 + sum(1 for _ in ids)}, such as {first}."
