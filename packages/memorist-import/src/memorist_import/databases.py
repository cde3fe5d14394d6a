"""SQLite files of other memories, recognised by their tables: opened to read, and nothing in them is run."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from memorist.remember.ingest.decoding import LONGEST_LINE, UnreadableFile
from memorist.remember.ingest.formats import Head, InputFile
from memorist.remember.ingest.model import Found
from memorist.remember.ingest.values import Object
from memorist_import.abmind import ABMIND_TABLES, abmind_rows
from memorist_import.hybrid import HYBRID_TABLES, hybrid_rows

_READERS = {"mnemosyne-hybrid": (HYBRID_TABLES, hybrid_rows), "abmind": (ABMIND_TABLES, abmind_rows)}
"""The tables and columns by which a database is recognised, and the reader of its rows."""
_LOGS = ("-wal", "-journal")
_SETTINGS = ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON")
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})
_SPREAD = 16
"""How many times as many values and characters as the file has bytes its rows may have: names and defaults of columns
are stored once, and what a row leaves out not at all."""
_STEPS = 20_000
"""The most steps of SQLite for the names of the tables, which it compares with each other: some thousand tables."""


def is_database(head: Head) -> bool:
    """Whether a file is a SQLite database."""
    return head.data.startswith(b"SQLite format 3\0")


def database_drafts(file: InputFile) -> Iterator[Found]:
    """The memories and facts in a database, and a note on each table that is not read."""
    with _opened(file.path, file.name) as tables:
        found = _format_of(tables, file.name)
        if file.format not in (None, found):
            reason = f"is a database of {found}, not {file.format}"
            raise UnreadableFile(file.name, reason, remedy="Leave the format out.")
        yield from _READERS[found][1](tables, file.name)


def database_format(file: InputFile) -> str:
    """Whose database it is."""
    with _opened(file.path, file.name) as tables:
        return _format_of(tables, file.name)


def _format_of(tables: Mapping[str, _Rows], name: str) -> str:
    for format, (needed, _) in _READERS.items():
        if all(table in tables and {*columns} <= {*tables[table].columns} for table, columns in needed.items()):
            return format
    shown = ", ".join(sorted(tables)[:5]) or "none"
    raise UnreadableFile(
        name,
        "is a SQLite database of an unknown kind; its tables",
        detail=shown,
        remedy=f"Databases of {' and '.join(_READERS)} are read; export others as JSON or JSONL.",
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of one table, read again each time."""

    connection: sqlite3.Connection
    name: str
    columns: tuple[str, ...]
    most: int

    def __iter__(self) -> Iterator[Object]:
        wanted = ", ".join(map(_quoted, self.columns))
        size = 0
        for values in self.connection.execute(f"SELECT {wanted} FROM {_quoted(self.name)}"):  # noqa: S608  # quoted names
            row = dict(zip(self.columns, values, strict=True))
            size += _size(row)
            if size > self.most:
                raise sqlite3.DatabaseError("more rows than fit into the file")
            yield row


def _size(row: Object) -> int:
    """The values of a row and their characters, with the names of the columns that have one."""
    named = [(name, value) for name, value in row.items() if value is not None]
    return len(row) + sum(len(name) + (len(value) if isinstance(value, str | bytes) else 0) for name, value in named)


@contextmanager
def _opened(path: Path, name: str) -> Generator[Mapping[str, _Rows]]:
    """The tables of a database. A log beside it may have rows that are not in it yet, so that it must be closed."""
    for log in (path.with_name(path.name + end) for end in _LOGS):
        if log.exists() and log.stat().st_size:
            raise UnreadableFile(
                name,
                "is in use",
                detail=f"{log.name} has changes that are not in it yet",
                remedy='Close the program that uses it, or copy it with: sqlite3 FILE ".backup COPY".',
            )
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            yield _tables(connection, path.stat().st_size)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:  # also what it says may not be UTF-8
        many = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
        raise UnreadableFile(
            name,
            "is damaged, or is not a SQLite database",
            detail="too many tables" if many else str(error),
            remedy='Check it with: sqlite3 FILE "PRAGMA integrity_check".',
        ) from None


def _tables(connection: sqlite3.Connection, size: int) -> Mapping[str, _Rows]:
    """The ordinary tables. Views, virtual tables and their parts, generated columns and functions are never run."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_LINE)
    connection.text_factory = _text
    connection.set_progress_handler(lambda: True, _STEPS)  # stops it
    for setting in _SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    named = connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'").fetchall()
    connection.set_progress_handler(None, 0)
    virtual = tuple(f"{name}_" for name, page in named if not page)
    plain = [name for name, page in named if page and not name.startswith(("sqlite_", *virtual))]
    columns = {name: connection.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall() for name in plain}
    connection.set_authorizer(_allowed)
    return {
        name: _Rows(connection, name, tuple(column[1] for column in found if not column[6]), _SPREAD * size)
        for name, found in columns.items()
    }


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _allowed(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
