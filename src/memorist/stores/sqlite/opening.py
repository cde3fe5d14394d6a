"""Opening a file, creating it, copying it, and checking its content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import apsw

from memorist.errors import Remedy, SpaceMismatch, StoreError, UnreadableMemory, VerbCall
from memorist.files import alone, refusing, scratch, sync
from memorist.ports import Damage
from memorist.stores.index import entry_of
from memorist.stores.rows import read_memory, readable
from memorist.stores.sql.reads import Reads
from memorist.stores.sqlite.connection import SqliteConnections, SqliteDatabase, use_write_ahead_log
from memorist.stores.sqlite.failures import translate_failures
from memorist.stores.sqlite.place import clear, has_log_of_another
from memorist.stores.sqlite.schema import migrate, pending_migrations
from memorist.stores.sqlite.statements import SQLITE

VECTORS_OF_WRONG_LENGTH = """
    SELECT DISTINCT id FROM memories JOIN vectors USING (row)
    WHERE generation = ? AND length(data) <> ? ORDER BY row
"""
WORDS_OF = "SELECT words, original_words FROM memories WHERE row = ?"
USAGE_WITHOUT_MEMORY = "SELECT id FROM usage WHERE id NOT IN (SELECT id FROM memories)"


def prepare(connections: SqliteConnections, *, asked: str | None) -> str:
    """Migrate the file if needed, and return the name of its space."""
    if not connections.path.exists():
        _create(connections.path, asked or connections.path.stem)
    elif has_log_of_another(connections.path):
        _clear(connections.path)
    connections.connect()
    with connections.reading() as db:
        if pending_migrations(db, connections.path):
            use_write_ahead_log(db)
            with connections.writing():
                migrate(db, connections.path)
                _name(db, asked or connections.path.stem)
        found = str(db.value("SELECT name FROM space"))
    if asked is not None and asked != found:
        raise SpaceMismatch(
            f"{connections.path.name} holds the space {found!r}, not {asked!r}",
            remedy=f"Name the file {found}.db again. To have its memories in {asked!r} too, take the file out of the "
            "folder, and copy it back with `memorist move`.",
        )
    return found


def _name(db: SqliteDatabase, space: str) -> None:
    db.execute("INSERT INTO space (name, seq, epoch) SELECT ?, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM space)", (space,))


def _create(path: Path, space: str) -> None:
    """Create a file with all its tables, private to this user; nobody sees it before it is complete."""
    with refusing(path), scratch(path, home=path) as folder:
        new = SqliteConnections(folder / path.name)
        new.create()
        with new.reading() as db:
            use_write_ahead_log(db)
            with new.writing():
                migrate(db, path)
                _name(db, space)
        new.close()
        sync(new.path)
        with alone(folder.parent):  # otherwise we might take away the log of a process that was faster
            if not path.exists():
                clear(path)
                _place(new.path, path)


def _clear(path: Path) -> None:
    """Take away the log of another file, unless another process was faster and has begun one of this file."""
    with refusing(path), alone(path.parent):
        if has_log_of_another(path):
            clear(path)


def _place(made: Path, path: Path) -> None:
    """Give a complete file its name, unless another process was faster."""
    try:
        path.hardlink_to(made)
    except FileExistsError:
        return
    except OSError:  # a disk without hard links
        if not path.exists():
            made.rename(path)
    sync(path.parent)


def copy(db: SqliteDatabase, path: Path, source: Path) -> None:
    """Copy an open file, and check the copy."""
    with translate_failures(path):
        db.copy_to(path)
        with closing(SqliteDatabase(path, create=False)) as made:
            found = _readable(_damage(made))
    if found:
        raise damaged_file(source, found)


def damaged_file(file: Path, problems: Sequence[Damage]) -> StoreError:
    """The error for a file that failed its checks."""
    return StoreError(
        f"{file} is damaged. {problems[0]}",
        remedy=Remedy("Restore an older backup; ", VerbCall("export"), " may save what can still be read."),
    )


def problems(db: SqliteDatabase) -> list[Damage]:
    """The problems of a file, as far as it can be read."""
    return _readable(_problems(db))


def _readable(problems: Iterator[Damage]) -> list[Damage]:
    found: list[Damage] = []
    try:
        found.extend(problems)
    except apsw.CorruptError as error:
        found.append(Damage(f"The file cannot be read further: {error}."))
    return found


def _problems(db: SqliteDatabase) -> Iterator[Damage]:
    from memorist.stores.sqlite.damage import damaged_rows

    yield from _damage(db)
    yield from (Damage(str(row)) for row in damaged_rows(db))
    yield from _counted("not searched by the words of their text", _with_other_words(db), of_words=True)
    generation = Reads(db, SQLITE).generation()
    if generation is not None:
        wrong = db.execute(VECTORS_OF_WRONG_LENGTH, (generation.id, 2 * generation.dim))
        yield from _counted("with a vector of the wrong length", (id for (id,) in wrong))
    yield from _counted("counted as recalled but not there", (id for (id,) in db.execute(USAGE_WITHOUT_MEMORY)))


def _damage(db: SqliteDatabase) -> Iterator[Damage]:
    for (report,) in db.execute("PRAGMA integrity_check"):
        if report != "ok":
            yield Damage(f"SQLite reports: {report}.")
    for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
        yield Damage(f"Row {row} of {table} points at nothing in {parent}.")


def _with_other_words(db: SqliteDatabase) -> Iterator[str]:
    every = SQLITE.read.scan.format(condition="TRUE")
    for row in readable(db.execute(every, {"after": 0, "limit": -1})):
        with suppress(UnreadableMemory, UnicodeDecodeError):  # reported already
            memory = read_memory(row).memory
            entry = entry_of(memory, {})
            if (entry.words, entry.original) != db.first(WORDS_OF, (row[0],)):
                yield memory.id


def _counted(what: str, ids: Iterator[str], *, of_words: bool = False) -> Iterator[Damage]:
    first = next(ids, None)
    if first is not None:
        yield Damage(f"Memories {what}: {1 + sum(1 for _ in ids)}, such as {first}.", of_words)
