"""Opening a file, and checking what is in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import apsw

from memorist.errors import InvalidInput, NotFound, SpaceMismatch, StoreError
from memorist.stores.index import entry_of
from memorist.stores.rows import read
from memorist.stores.sqlite.connection import Connections, Database, use_write_ahead_log
from memorist.stores.sqlite.reads import active_generation
from memorist.stores.sqlite.rows import SELECT
from memorist.stores.sqlite.schema import migrate, pending

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


def located(path: str | os.PathLike[str], *, create: bool) -> Path:
    """The file a path names; with `create` its folder is made, without it the file must be there."""
    text = os.fspath(path)
    if text in ("", ":memory:"):
        raise InvalidInput(
            f"{text!r} is not a path of a file",
            remedy="Give a file path, or use memorist.stores.memory.MemoryStore to keep nothing on disk.",
        )
    if "\0" in text:
        raise InvalidInput("a path cannot contain a NUL character", remedy="Give the path of a file.")
    file = Path(text).resolve()
    if create:
        _make_folder(file.parent)
    elif not file.exists():
        raise NotFound(f"there is no store at {file}", remedy="Check the path, or let it be created.")
    return file


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be created ({error.strerror})",
            remedy="Choose another folder, or give this user permission to write there.",
        ) from error


def prepare(connections: Connections, *, asked: str | None) -> str:
    """Bring the file up to date and return the name of its space."""
    connections.create()
    with connections.reading() as db:
        if pending(db, connections.path):
            use_write_ahead_log(db)
            with connections.writing():
                migrate(db, connections.path)
                _name(db, asked or connections.path.stem)
        found = str(db.value("SELECT name FROM space"))
    if asked is not None and asked != found:
        raise SpaceMismatch(
            f"{connections.path} holds the space {found!r}, not {asked!r}",
            remedy=f"Open it as {found!r}, or keep {asked!r} in a file of its own.",
        )
    return found


def _name(db: Database, space: str) -> None:
    db.execute("INSERT INTO space SELECT ?, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM space)", (space,))
