"""API keys: what each may do, and the file that stores them."""

from __future__ import annotations

import hmac
import secrets
import threading
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, get_args

from memorist.config import default_db
from memorist.engine.open import locate
from memorist.errors import InvalidInput
from memorist.model import SPACE_PATTERN, When, at_least, fields_of, from_data, instant, isoformat, to_data, within
from memorist.ports import Clock
from memorist.ports.models import SystemClock
from memorist.stores.rows import Row
from memorist.stores.sqlite.connection import Connections
from memorist.text.patterns import lazy

Right = Literal["read", "write", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)
"""What a key may do; each right includes the ones before it."""
ANY = "*"
LONGEST_NAME = 100
_SPACES = lazy(rf"\*|{SPACE_PATTERN}\*?")


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret."""

    id: str
    name: str
    space: str
    rights: Right
    max_classification: int
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def allows(self, space: str, right: str) -> bool:
        """Whether it may do this in a space. A key for `team*` covers every space whose name starts with `team`."""
        return opens(self.space, space) and right in RIGHTS[: RIGHTS.index(self.rights) + 1]

    def usable(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def opens(pattern: str, space: str) -> bool:
    """Whether a key for `pattern` covers a space."""
    return space.startswith(pattern[:-1]) if pattern.endswith(ANY) else space == pattern


def check(key: Key) -> Key:
    """The key, if all its fields are valid."""
    if not _SPACES.fullmatch(key.space):
        raise InvalidInput(
            f"{key.space!r} is not a space", remedy="Give the name of a space, a prefix followed by *, or * for all."
        )
    checked_right(key.rights)
    within("max_classification", at_least("max_classification", key.max_classification, 0), 0, 3)
    if len(key.name) > LONGEST_NAME or not key.name.isprintable():
        raise InvalidInput(
            "The key's name is too long or unprintable", remedy=f"Use one line, up to {LONGEST_NAME} characters."
        )
    if key.expires_at is not None and key.expires_at <= key.created_at:
        raise InvalidInput("The key would already have expired", remedy="Give a time in the future.")
    return key


def checked_right(right: str) -> Right:
    """A right by its name."""
    if right not in RIGHTS:
        raise InvalidInput(f"Unknown right {right!r}", remedy=f"Choose one of {', '.join(RIGHTS)}.")
    return right


FILE = ".keys.db"
"""No space can have this name, because it starts with a dot."""
PREFIX = "rk"
_SALT, _SECRET = 16, 32
_TABLE = """CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, space TEXT NOT NULL, rights TEXT NOT NULL,
    max_classification INTEGER NOT NULL, created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT,
    salt BLOB NOT NULL, digest BLOB NOT NULL) STRICT"""
_COLUMNS = tuple(fields_of(Key))
_FIELDS = ", ".join(_COLUMNS)


def keys_file(db: str | None) -> Path:
    """The file with the keys for a database URL: beside its spaces, or in the user's folder if those are not files.

    A path without a suffix that does not exist yet counts as a folder, as it does for `memorist serve`.
    """
    if db is not None and (db == ":memory:" or ("://" in db and not db.startswith("sqlite:"))):
        return default_db() / FILE
    path, in_folder = locate(db, None)
    to_be_folder = not (in_folder or path.suffix or path.exists())
    return (path if to_be_folder else path.parent) / FILE


class KeyRing:
    """Creates, finds and revokes keys; thread-safe, and safe beside other processes.

    A secret has 256 random bits, which cannot be guessed: a salted HMAC-SHA-256 protects it as well as a slow hash
    would, at no cost per request. The secret itself is shown once and never stored.
    """

    def __init__(self, path: str | Path, *, clock: Clock | None = None) -> None:
        self._path = Path(path)
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._open: Connections | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the file. Safe to call twice."""
        with self._lock:
            if self._open is not None:
                self._open.close(tidy=False)
                self._open = None

    def create(
        self,
        *,
        space: str,
        rights: str,
        expires_at: When | None = None,
        max_classification: int = 3,
        name: str = "",
    ) -> tuple[Key, str]:
        """A new key and its secret, which is shown only here."""
        now, end = self._clock.now(), None if expires_at is None else instant(expires_at)
        id = secrets.token_hex(6)
        key = check(Key(id, name, space, checked_right(rights), max_classification, now, end))
        secret = f"{PREFIX}_{id}_{secrets.token_urlsafe(_SECRET)}"
        salt = secrets.token_bytes(_SALT)
        row = (*to_data(key).values(), salt, _digest(salt, secret))
        marks = ",".join("?" * len(row))
        with self._made().writing() as db:
            db.execute(f"INSERT INTO keys ({_FIELDS}, salt, digest) VALUES ({marks})", row)  # noqa: S608
        return key, secret

    def all(self) -> list[Key]:
        """Every key ever created, oldest first."""
        return [_key(row) for row in self._rows(f"SELECT {_FIELDS} FROM keys ORDER BY created_at, id")]  # noqa: S608

    def revoke(self, id: str) -> bool:
        """Revoke a key now; False if there is no such key or it was revoked before."""
        if (connections := self._found()) is None:
            return False
        now = isoformat(self._clock.now())
        with connections.writing() as db:
            ended = db.execute(
                "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING id", (now, id)
            )
            return bool(list(ended))

    def find(self, secret: str) -> Key | None:
        """The key with this secret, compared in constant time; None if it is unknown, revoked or expired."""
        parts = secret.split("_", 2)
        rows = self._rows(f"SELECT {_FIELDS}, salt, digest FROM keys WHERE id = ?", parts[1]) if len(parts) == 3 else []  # noqa: S608
        *fields, salt, digest = rows[0] if rows else _NOBODY
        same = hmac.compare_digest(_digest(salt, secret), digest)
        key = _key(tuple(fields)) if rows and same else None
        return key if key is not None and key.usable(self._clock.now()) else None

    @property
    def empty(self) -> bool:
        """Whether no key was ever created. Revoked keys count: revoking the last one must not unlock the server."""
        return not self._rows("SELECT 1 FROM keys LIMIT 1")

    def _rows(self, sql: str, *values: str) -> list[Row]:
        if (connections := self._found()) is None:
            return []
        with connections.reading() as db:
            return list(db.execute(sql, values))

    def _found(self) -> Connections | None:
        """The open file, if it exists; reading does not create it."""
        if self._open is not None or self._path.exists():
            return self._made()
        return None

    def _made(self) -> Connections:
        with self._lock:
            if self._open is None:
                self._open = _connected(self._path)
            return self._open


def _connected(path: Path) -> Connections:
    """The file, created readable for this user only; SQLite gives its journal the same mode."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder", remedy="Give the path of a file for the keys.")
    connections = Connections(path, synchronous="full")
    connections.create()
    with connections.reading() as db:
        if db.first("SELECT 1 FROM sqlite_schema WHERE name = 'keys'") is None:
            with connections.writing() as writer:
                writer.execute(_TABLE)
    return connections


def _digest(salt: bytes, secret: str) -> bytes:
    return hmac.digest(salt, secret.encode("utf-8", "surrogatepass"), "sha256")


def _key(row: Row) -> Key:
    """The key that a row holds: its columns have the JSON form of its fields."""
    return from_data(Key, dict(zip(_COLUMNS, row, strict=True)))


_NOBODY: Row = (*(None,) * len(_COLUMNS), bytes(_SALT), bytes(32))
"""The row that an unknown secret is compared with."""
