"""A folder of spaces: a file per space, with the keys and the stored answers in hidden files beside them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from memorist.errors import InvalidInput, StoreError
from memorist.files import make_folder
from memorist.model import check_space, is_space_name
from memorist.stores.rows import Row
from memorist.stores.sqlite.connection import SqliteConnections, use_write_ahead_log
from memorist_server.access.idempotency import KEPT, KeyReused, RequestUnderWay, TextsOf, Ticket, outdated_answers

KEYS_FILE, ANSWERS_FILE = ".keys.db", ".answers.db"
"""No space can have these names, because they start with a dot."""
_FIELDS = "id, name, space, rights, max_classification, created_at, expires_at, revoked_at, salt, digest"
_KEYS = """CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, space TEXT NOT NULL, rights TEXT NOT NULL,
    max_classification INTEGER NOT NULL, created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT,
    salt BLOB NOT NULL, digest BLOB NOT NULL) STRICT"""
_ANSWERS = (
    """CREATE TABLE IF NOT EXISTS answers (
    caller TEXT NOT NULL, key TEXT NOT NULL, space TEXT NOT NULL, request TEXT NOT NULL, at REAL NOT NULL,
    body BLOB, PRIMARY KEY (caller, key)) STRICT""",
    "CREATE INDEX IF NOT EXISTS answers_by_time ON answers (at)",
    "CREATE INDEX IF NOT EXISTS answers_by_space ON answers (space)",
)


class FolderCatalogue:
    """The spaces of a folder."""

    kind = "folder"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"{folder}/"
        self.shown = str(folder)
        self.transit = folder

    def prepare(self) -> list[str]:
        """Create the folder if it does not exist."""
        make_folder(self.folder)
        return []

    def names(self) -> list[str]:
        """The names of all spaces, sorted."""
        return sorted(file.stem for file in self.folder.glob("*.db") if is_space_name(file.stem))

    def has(self, name: str) -> bool:
        """Whether a space exists; a name that leads out of the folder is refused."""
        return (self.folder / f"{check_space(name)}.db").exists()

    def check(self) -> None:
        """Raise an error if the folder is gone."""
        if not self.folder.is_dir():
            raise StoreError("The folder of the spaces is gone", remedy="Mount or restore it.")

    def close(self) -> None:
        """Nothing is held open."""


class FileCatalogue:
    """A single file, which holds one space."""

    kind = "file"

    def __init__(self, file: Path, space: str) -> None:
        self.file = file
        self.space = space
        self.url = self.shown = str(file)
        self._transit = TemporaryDirectory(prefix="memorist-")
        self.transit = Path(self._transit.name)

    def prepare(self) -> list[str]:
        """Nothing to create: the file exists."""
        return []

    def names(self) -> list[str]:
        """The name of its space."""
        return [self.space]

    def has(self, name: str) -> bool:
        """Whether it is the space of the file."""
        return check_space(name) == self.space

    def check(self) -> None:
        """Raise an error if the file is gone."""
        if not self.file.is_file():
            raise StoreError("The file of the memory is gone", remedy="Restore it, and start again.")

    def close(self) -> None:
        """Remove the folder for files in transit."""
        self._transit.cleanup()


class FileKeys:
    """The keys in a file, which is created with the first one; SQLite gives its journal the same private mode."""

    waits = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._open: SqliteConnections | None = None

    def add(self, row: Row) -> None:
        """Keep a new key."""
        marks = ",".join("?" * len(row))
        with self._made().writing() as db:
            db.execute(f"INSERT INTO keys ({_FIELDS}) VALUES ({marks})", row)  # noqa: S608

    def all(self) -> list[Row]:
        """Every row, oldest first."""
        return self._rows(f"SELECT {_FIELDS} FROM keys ORDER BY created_at, id")  # noqa: S608

    def find(self, id: str) -> Row | None:
        """The row of a key, as of now."""
        rows = self._rows(f"SELECT {_FIELDS} FROM keys WHERE id = ?", id)  # noqa: S608
        return rows[0] if rows else None

    def revoke(self, id: str, at: str) -> bool:
        """Set `revoked_at` unless it is set; False if nothing changed."""
        if (connections := self._found()) is None:
            return False
        with connections.writing() as db:
            return db.change("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (at, id)) > 0

    def any(self) -> bool:
        """Whether there is a row."""
        return bool(self._rows("SELECT 1 FROM keys LIMIT 1"))

    def close(self) -> None:
        """Release the file. Safe to call twice."""
        with self._lock:
            if self._open is not None:
                self._open.close(tidy=False)
                self._open = None

    def _rows(self, sql: str, *values: str) -> list[Row]:
        if (connections := self._found()) is None:
            return []
        with connections.reading() as db:
            return list(db.execute(sql, values))

    def _found(self) -> SqliteConnections | None:
        """The open file, if it exists; reading does not create it."""
        if self._open is not None or self._path.exists():
            return self._made()
        return None

    def _made(self) -> SqliteConnections:
        with self._lock:
            if self._open is None:
                self._open = _connected(self._path)
            return self._open


def _connected(path: Path) -> SqliteConnections:
    """The file, created readable for this user only."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder", remedy="Give the path of a file for the keys.")
    connections = SqliteConnections(path, synchronous="full")
    connections.create()
    with connections.reading() as db:
        if db.first("SELECT 1 FROM sqlite_schema WHERE name = 'keys'") is None:
            with connections.writing() as writer:
                writer.execute(_KEYS)
    return connections


class FileAnswers:
    """The stored answers in a file of the folder."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._connections = SqliteConnections(folder / ANSWERS_FILE)
        self._connections.create()
        self._clock = clock
        with self._connections.reading() as db:
            use_write_ahead_log(db)
        with self._connections.writing() as db:
            for statement in _ANSWERS:
                db.execute(statement)

    def begin(self, ticket: Ticket, patience: float) -> bytes | None:
        now = self._clock()
        with self._connections.writing() as db:
            db.execute("DELETE FROM answers WHERE at < ?", (now - KEPT,))
            row = db.first(
                "SELECT request, at, body FROM answers WHERE caller = ? AND key = ?",
                (ticket.caller, ticket.key),
            )
            if row is not None:
                request, at, body = row
                if request != ticket.request:
                    raise KeyReused
                if body is not None:
                    return body
                if now - at < patience:
                    raise RequestUnderWay
            values = (ticket.caller, ticket.key, ticket.space, ticket.request, now)
            db.execute("INSERT OR REPLACE INTO answers (caller, key, space, request, at) VALUES (?,?,?,?,?)", values)
        return None

    def keep(self, ticket: Ticket, body: bytes) -> None:
        with self._connections.writing() as db:
            values = (body, ticket.caller, ticket.key)
            db.execute("UPDATE answers SET body = ? WHERE caller = ? AND key = ?", values)

    def drop(self, ticket: Ticket) -> None:
        with self._connections.writing() as db:
            db.execute("DELETE FROM answers WHERE caller = ? AND key = ? AND body IS NULL", (ticket.caller, ticket.key))

    def forget(self, space: str, texts_of: TextsOf) -> bool:
        """Erase the answers about a space that may hold what was forgotten; False while the log still has a copy."""
        with self._connections.reading() as db:
            rows = db.execute("SELECT caller, key, body FROM answers WHERE space = ? AND body IS NOT NULL", (space,))
            told = [(caller, key, body) for caller, key, body in rows]
        gone = outdated_answers(told, texts_of)  # without the lock: other spaces do not wait while texts are looked up
        with self._connections.writing() as db:
            db.execute_many("DELETE FROM answers WHERE caller = ? AND key = ?", gone)
        return self._connections.checkpoint(wait=1.0)

    def close(self) -> None:
        """Release the file."""
        self._connections.close()
